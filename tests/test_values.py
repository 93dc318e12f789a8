import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.language import numerals
from memops.language.values import found
from memops.statements.hints import hints


def forms(text):
    return [f"{v.kind}={v.form}" for v in found(unicodedata.normalize("NFKC", text))]


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


def test_what_a_text_may_hold_leaves_out_no_reader_that_fits():
    said = [
        "Probe 12 measures 40 degrees", "柜子 3 的密码是 4411", "at 9:30 p.m. on 3 May 2026", "一天吃两次药",
        "5 dollars, thirty euros, 30%, 三成", "v1.2.3 of release/2.3 on 10.0.0.7", "押金一万二，周四上午十点",
        "mail a@x.com or www.example.com/x, call +86 138-0000-1111", "every two days for half a year",
    ]  # fmt: skip
    for text, may in zip(said, hints(said), strict=True):
        assert found(text) == found(text, may) != []


def test_a_number_that_only_numbers_a_text_is_a_counter():
    assert forms("User likes jazz (4)") == ["counter=4"]
    assert forms("the gateway listens on port 42617") == ["amount=42617"]


def test_chinese_and_english_numbers_are_read():
    assert [numerals.han(n) for n in ("十二", "两百五", "三十五万", "一亿两千万", "半")] == [
        12, 250, 350_000, 120_000_000, 0.5,
    ]  # fmt: skip
    assert [numerals.english(n) for n in ("twenty-five", "two thousand", "a dozen")] == [
        25,
        2000,
        12,
    ]


ALPHABET = st.sampled_from(
    "0123456789.:-/%$€ 年月日点半一二三十百千万亿零两周号度元天次每kgKGamp @#()[]vth"
)


@settings(deadline=None, max_examples=300)
@given(st.text(st.one_of(ALPHABET, st.characters(codec="utf-8")), max_size=60))
def test_any_text_is_read_and_no_value_overlaps_another(text):
    plain = unicodedata.normalize("NFKC", text)
    spans = sorted({(v.start, v.end) for v in found(plain)})
    assert all(0 <= start < end <= len(plain) for start, end in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
