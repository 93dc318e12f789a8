"""Values come apart into what statements are compared by, one form for each however written."""

import pytest

from memops.language.vocabulary import plainly
from memops.statements.said import said_in, spoken
from memops.values import read
from memops.values.saying import saying


def parts(text):
    plain = plainly(text)
    return said_in(plain, saying(plain, read(plain)).values)


def forms(text):
    return [f"{v.kind}={v.form}" for v in parts(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the budget is 1,000", "预算是一千"),
        ("５０００", "5000"),
        ("at 10:00", "上午十点"),
        ("at 7:30 p.m.", "晚上七点半"),
        ("call +86 138-0000-1111", "打 13800001111"),
        ("on May 14", "5 月 14 日"),
        ("on 14 May", "五月十四号"),
        ("2026-05-14", "2026年5月14日"),
        ("for 90 minutes", "一个半小时"),
        ("for half a year", "六个月"),
        ("2500 g", "2.5 公斤"),
        ("125 斤", "62.5 kg"),
        ("twice a day", "一天吃两次"),
        ("every two days", "隔天"),
        ("three times a week", "每周三次"),
        ("once a week", "一周一次"),
        ("3 days a week", "每周三天"),
        ("每六个月", "半年一换"),
        ("on Wednesday", "周三回家"),
        ("30%", "三成"),
        ("$400", "400 美元"),
        ("押金一万二", "押金 12000"),
        ("on Thursday", "周四"),
        ("port 8080", "端口是8080"),
        ("at 9:30", "改到9:30开会"),
        ("邮箱：a@x.com", "邮箱是a@x.com吗"),
        ("see example.com", "网址是example.com的"),
        ("call 13800001111", "电话是13800001111"),
    ],
)
def test_one_value_has_one_form(one, other):
    assert set(forms(one)) == set(forms(other)) != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("port 5432", "port 5433"),
        ("at 9:30", "at 19:30"),
        ("on 3 May", "on 13 May"),
        ("release/2.3", "release/2.4"),
        ("一万二", "一万两百"),
        ("5 元", "5.5 元"),
        ("-65 °C", "65 °C"),
        ("1:500", "1:2000"),
        ("端口是8080", "端口是9090"),
        ("version 1.2.3", "version 1.2.4"),
        ("is 1.2.3", "is 1.2.4"),
    ],
)
def test_two_values_have_two_forms(one, other):
    assert set(forms(one)) != set(forms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the mast is 30 feet high", "the mast is 9.14 m high"),
        ("a bag of 7 pounds", "a bag of about 3.18 kg"),
        ("two thirds of the seats", "67% of the seats"),
        ("open every day except Sunday", "open Monday to Saturday"),
        ("pay before 8 June", "pay by 7 June"),
    ],
)
def test_what_people_round_and_leave_out_has_one_form(one, other):
    assert set(forms(one)) == set(forms(other)) != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the mast is 30 feet high", "the mast is 31 feet high"),
        ("pay by 7 June", "pay after 7 June"),
        ("the end of May", "the beginning of May"),
        ("noted on 3 May: due tomorrow", "noted on 3 May: due yesterday"),
    ],
)
def test_what_rounding_leaves_apart_has_two_forms(one, other):
    assert set(forms(one)) != set(forms(other))


def test_a_number_that_only_numbers_a_text_is_a_counter():
    assert forms("User likes jazz (4)") == ["counter=4"]
    assert forms("the gateway listens on port 42617") == ["amount=42617"]


def test_a_value_comes_apart_into_what_two_texts_may_share():
    assert forms("it costs $500 a month") == ["amount=500", "currency=USD", "per=mo"]
    assert forms("at most 20 people") == ["amount=20", "limit=<"]
    assert forms("on 14 May 2026") == ["date=05-14", "year=2026"]
    assert "day=15" in forms("每月15号发工资")
    assert forms("10 to 12 kg") == ["mass range=10000..12000"]
    assert parts("for three months")[0].near == ("7776000",)
    assert parts("for one year")[0].near == ("31536000",)


def test_what_says_no_more_than_the_words_around_it_is_left_out():
    assert forms("let us meet tomorrow") == []
    assert forms("at first we met every Thursday") == ["weekday=Thu"]


def test_a_value_stands_among_the_words_as_one_token():
    assert [t.concept for t in spoken("rent rose to 900 euros a month")][-1] == "amount=900"
