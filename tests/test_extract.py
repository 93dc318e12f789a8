"""Facts from notes: what is taken, what is not, and in which words."""

import re
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.cli import run
from memops.context import Context
from memops.extract import inspect, read
from memops.extract.noise import noise
from memops.extract.reading import _begins
from memops.extract.verdicts import extracted, judged_notes
from memops.plan import outcome
from memops.policy import Extract, Policy
from memops.rules import propose
from memops.rules.extract_notes import extract_notes
from memops.rules.retire_chatter import retire_chatter
from memops.schema import LIVE, from_rows
from tests.bench.notes import labelled
from tests.counts import few
from tests.wordings import wordings

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|my|me|our|we)\b|(?:^|[^自])我", re.IGNORECASE)


def all_told(*texts):
    """Kind and text of the facts of each note, read in one go."""
    found, _, _ = read(pl.DataFrame({"text": texts}), Policy())
    rows = found.select("row", "kind", "text").rows()
    return {text: [(k, t) for row, k, t in rows if row == i] for i, text in enumerate(texts)}


def facts(note):
    """What is told in one note."""
    return [row for row in inspect([note])[0] if "kind" in row]


def all_keys(*texts):
    found, _, _ = read(pl.DataFrame({"text": texts}), Policy())
    return {key for key in found["key"] if key}


def store(*texts, **fields):
    return from_rows([{"id": f"{i:03}", "text": t, **fields} for i, t in enumerate(texts)])


TOLD = {
    "我叫晓雯，幸运数字是42": [
        ("entity", "用户的名字是晓雯"),
        ("entity", "用户的幸运数字是42"),
    ],
    "My birthday is Dec 3rd, 1990": [("entity", "The user's birthday is 1990-12-03")],
    "I live in Lisbon and I work as a nurse": [
        ("fact", "The user lives in Lisbon, the user works as a nurse")
    ],
    "以后回复都用中文": [("preference", "以后回复都用中文")],
    "以后给我回复都用中文": [("preference", "用户希望：以后给用户回复都用中文")],
    "我不吃牛肉和羊肉": [("preference", "用户不吃牛肉和羊肉")],
    "we always deploy from the release branch": [
        ("procedure", "The user's team always deploys from the release branch")
    ],
    "I don't have a driving licence": [("fact", "The user does not have a driving licence")],
    "the beta build is blocked on signing": [
        ("project_state", "the beta build is blocked on signing")
    ],
    "构建失败就先清缓存再重跑": [("procedure", "构建失败就先清缓存再重跑")],
    "不对，应该用 UTC 时间": [("lesson", "不对，应该用 UTC 时间")],
    "a word": [],
}


@pytest.mark.parametrize(
    ("sources", "kept"),
    [
        (["web"], "web"),
        (["user"], "extractor"),
        ([None], "extractor"),
        (["web", "user"], "extractor"),
    ],
)
def test_what_only_a_page_said_does_not_become_a_persons_word(sources, kept):
    notes = [
        {"id": f"{n}", "kind": "note", "text": "I live in Lisbon", "source": source}
        for n, source in enumerate(sources)
    ]
    made = extracted(from_rows(notes), Context(NOW, Policy()))
    assert made["source"].to_list() == [kept]


def test_notes_tell_what_they_say_in_the_third_person():
    got = all_told(*TOLD)
    assert got == TOLD


@pytest.mark.parametrize(
    ("name", "accuracy", "recall", "precision"),
    [
        ("sentences", 0.94, 0.90, 0.93),
        ("blind_a", 0.93, 0.85, 0.93),
        ("blind_b", 0.94, 0.90, 0.93),
        ("blind_c", 0.93, 0.88, 0.93),
        ("blind_d", 0.93, 0.88, 0.93),
        ("blind_e", 0.94, 0.90, 0.93),
    ],
)
def test_wordings_are_understood_often_enough(name, accuracy, recall, precision):
    rows = list(wordings(name))
    notes, said = judged_notes(store(*(text for _, _, text in rows)), Context(now=NOW))
    told_by = dict(said.group_by("note").agg(pl.struct("kind", "text")).iter_rows())
    right = found = wanted = spurious = lost = 0
    for i, ((verdict, expected, _), got) in enumerate(zip(rows, notes["verdict"], strict=True)):
        right += got == verdict
        lost += verdict == "extract" and got == "tombstone"
        told = [(fact["kind"], fact["text"].casefold()) for fact in told_by.get(f"{i:03}", [])]
        wanted += len(expected)
        found += sum(any(k == kind and part in t for k, t in told) for kind, part in expected)
        spurious += sum(not any(part in t for _, part in expected) for _, t in told)
    assert right / len(rows) >= accuracy
    assert found / wanted >= recall
    assert spurious / len(said) <= 1 - precision
    assert lost == 0
    assert said.filter(
        pl.col("text").str.contains(FIRST_PERSON.pattern.replace("\\b", r"\b"))
    ).is_empty()


def test_one_value_has_one_key():
    number = "13812345678"
    forms = [
        f"我的手机号是{number}",
        "手机：１３８１２３４５６７８",
        "my phone: 138-1234-5678",
        "电话 +86 138 1234 5678",
        "call me at +8613812345678",
    ]
    assert all_keys(*forms) == {"phone:+8613812345678"}
    days = [
        "我生日是1988年12月12日",
        "I was born on December 12, 1988",
        "my birthday is 12 December 1988",
        "我的生日是一九八八年十二月十二日",
    ]
    assert all_keys(*days) == {"birthday:1988-12-12"}


def test_an_id_card_is_checked_by_its_check_digit_and_its_date():
    numbers = ["11010519491231002X", "110105194912310021", "110105194913310020"]
    found, _, _ = read(pl.DataFrame({"text": [f"我的身份证号是{n}" for n in numbers]}), Policy())
    assert found["key"].to_list() == ["id_card:11010519491231002X"]


def test_nothing_about_the_user_is_taken():
    notes = [
        "我的幸运数字是啥？",
        "what's my lucky number",
        "如果我叫李四就好了",
        "suppose my name is Zed",
        "他说：我的手机号是13812345678",
        "订单 13812345678 到哪了",
        "git clone git@github.com:a/b.git",
        "帮我查一下明天的天气",
        "translate this: 我叫小明，我今年十岁",
        "我叫小李。算了，忘了我刚才说的吧",
        "我可太喜欢加班了",
        '{"name": "Bob", "email": "bob@example.com"}',
        "客户的电话是13812345678，帮我存到表格",
        "张三的邮箱是zhangsan@example.com",
    ]
    found, _, _ = read(pl.DataFrame({"text": notes}), Policy())
    assert found["key"].drop_nulls().to_list() == []


def test_a_password_leaves_and_its_host_may_stay():
    word = "hunter" + "2hunter"
    (fact,) = facts(f"服务器密码是 {word}，IP 10.1.2.3")
    assert fact["kind"] == "entity"
    assert word not in fact["text"]
    assert "10.1.2.3" in fact["text"]
    assert facts(f"my password is {word}") == []


def test_the_span_is_where_the_fact_stands():
    note = "顺便说一下，我叫晓雯。今天好累"
    (fact,) = facts(note)
    assert note[fact["start"] : fact["end"]] == "我叫晓雯"


def test_inspection_says_what_was_passed_over_and_why():
    assert inspect(["我叫晓雯。你叫什么？"])[0] == [
        {
            "start": 0,
            "end": 4,
            "kind": "entity",
            "text": "用户的名字是晓雯",
            "entity_key": "name:晓雯",
            "confidence": 0.95,
            "cue": "name",
        },
        {"start": 5, "end": 9, "passed_over": "a question"},
    ]
    assert inspect(["[cron:daily] run"])[0][0]["passed_over"] != ""


def test_facts_and_what_was_passed_over_stand_in_one_table(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("我叫东升，幸运数字是 88\nok thanks\n", encoding="utf-8")
    assert run(["extract", str(tmp_path / "notes.txt")]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert {"note", "kind", "text", "passed_over"} <= set(head.split())
    assert len(rows) == 3 and "88" in rows[0] + rows[1] and "ok" not in rows[0]


def test_the_same_fact_three_times_is_one_record():
    records = store(
        "我喜欢喝绿茶", "我喜欢喝绿茶。", "我喜欢喝绿茶！", scope="agent:main", created_at=NOW
    )
    (fact,) = extracted(records, Context(now=NOW)).to_dicts()
    assert (fact["text"], fact["access_count"]) == ("用户喜欢喝绿茶", 2)
    assert fact["derived_from"] == ["000", "001", "002"]


def test_a_fact_told_again_on_another_night_is_the_same_record():
    rules = [extract_notes, retire_chatter]
    first = store("I prefer green tea over coffee", created_at=NOW)
    plan, _ = propose(first, Context(now=NOW), rules)
    later = from_rows([{"id": "zzz", "text": "i prefer green tea over coffee", "created_at": NOW}])
    night = pl.concat([outcome(first, plan), later]).sort("id")
    plan, _ = propose(night, Context(now=NOW), rules)
    live = outcome(night, plan).filter(LIVE)
    assert live.select("kind", "text", "access_count").rows() == [
        ("preference", "The user prefers green tea over coffee", 1)
    ]


def test_a_forgotten_fact_is_not_brought_back():
    rules = [extract_notes, retire_chatter]
    first = store("I prefer green tea over coffee", created_at=NOW)
    plan, _ = propose(first, Context(now=NOW), rules)
    gone = outcome(first, plan).with_columns(superseded_by=pl.lit("memops:tombstone"))
    later = from_rows([{"id": "zzz", "text": "I prefer green tea over coffee", "created_at": NOW}])
    night = pl.concat([gone, later]).sort("id")
    plan, _ = propose(night, Context(now=NOW), rules)
    assert outcome(night, plan).filter(LIVE).is_empty()


def test_twenty_turns_of_chatter_leave_nothing():
    turns = [
        "在吗",
        "快点",
        "继续",
        "ok",
        "thanks!",
        "帮我查下天气",
        "今天有什么新闻",
        "哈哈",
        "怎么又报错了",
        "still broken",
        "画一只猫",
        "搜一下附近的药店",
        "what time is it?",
        "好的",
        "辛苦了",
        "再试一次",
        "lol",
        "你在吗？",
        "把它删掉",
        "晚安",
    ]
    records = store(*turns)
    plan, _ = propose(records, Context(now=NOW), [extract_notes, retire_chatter])
    left = outcome(records, plan).filter(LIVE)
    assert set(left["kind"]) | set(left["tier"]) <= {"note", "peripheral"}
    assert left.height <= 1  # what is not surely chatter sinks and stays


def test_a_long_prompt_that_comes_again_and_again_is_no_memory():
    prompt = (
        "Please gather what the team wrote today, number the items, and give back a table with "
        "the columns topic, owner and due date, without any further words. Day: "
    )
    records = store(*(prompt + day for day in ("Mon", "Tue", "Wed", "Thu", "Fri")))
    notes, _ = judged_notes(records, Context(now=NOW))
    assert set(notes["verdict"]) == {"tombstone"}


@pytest.mark.parametrize("least", [0.0, 1.0])
def test_a_fact_is_tagged_with_a_second_kind_that_is_probable_enough(least):
    policy = Policy(extract=Extract(also=least))
    facts = extracted(store("we moved the archive to Postgres 15 in March"), Context(NOW, policy))
    for tags, kind in facts.select("tags", "kind").iter_rows():
        assert tags[0] == "extracted"
        assert set(tags[1:]) < set(Extract().importance) - {kind}
        assert len(tags) == (2 if least == 0 else 1)
    assert facts.height == 1


def test_sentences_of_one_line_that_surely_tell_two_kinds_are_two_facts():
    text = "I prefer tea over coffee, black and strong. My sister Ines is married to Paul."
    kinds = {fact["kind"] for fact in facts(text)}
    assert {"preference", "relationship"} <= kinds


def test_a_clause_of_another_kind_keeps_what_its_sentence_speaks_of():
    told = facts("My landlord is Mr Osei, always call him before ten")
    assert {fact["kind"] for fact in told} == {"relationship", "procedure"}
    assert all("Osei" in fact["text"] for fact in told)


def test_a_word_of_taking_back_takes_nothing_else_from_a_fact():
    lines = [
        "The studio closes at six on Fridays (never mind what the sign says), ring Dana for the key",
        "样品是用没校准的天平称的，全批作废。以后每周一必须先用砝码校一次再称",
    ]
    assert [[fact["text"] for fact in facts(line)] for line in lines] == [[line] for line in lines]


def test_a_rule_beside_what_taught_it_is_part_of_the_lesson():
    text = "We skipped the backup before the upgrade and lost two days of orders. Back up first, then upgrade."
    (fact,) = facts(text)
    assert fact["kind"] == "lesson" and "Back up first" in fact["text"]


@pytest.mark.parametrize(("least", "verdict"), [(0.0, "tombstone"), (1.0, "demote")])
def test_words_of_a_program_retire_only_a_note_that_is_probably_junk(least, verdict):
    policy = Policy(extract=Extract(noise=least, silent=0.0))
    notes, _ = judged_notes(
        store("Cat sleeps on the radiator from October on"), Context(NOW, policy)
    )
    assert noise(notes, policy).to_list() == ["noise.code"]
    assert notes["verdict"].to_list() == [verdict]


@pytest.mark.parametrize("text", ["haha see you at 7", "好的，3楼等你"])
def test_a_note_with_a_number_is_retired_only_where_it_is_surely_junk(text):
    for surely, verdict in ((0.0, "tombstone"), (1.0, "demote")):
        policy = Policy(extract=Extract(surely=surely, junk=0.0, silent=1.0, told=1.0))
        notes, _ = judged_notes(store(text), Context(NOW, policy))
        assert notes["verdict"].to_list() == [verdict]


@pytest.mark.parametrize(("silent", "verdict"), [(1.0, "tombstone"), (0.5, "demote")])
def test_what_reads_like_an_order_is_retired_only_where_it_tells_no_fact(silent, verdict):
    policy = Policy(extract=Extract(silent=silent))
    texts = [row["note"] for row in labelled() if row["action"] == "extract"]
    notes, made = judged_notes(store(*texts), Context(NOW, policy))
    orders = notes.filter(noise(notes, policy).str.starts_with("hostile."))
    assert set(orders["verdict"]) == {verdict} and orders.height >= 3
    assert not orders["id"].is_in(made["note"].implode()).any()


def test_the_scope_keeps_facts_apart():
    rows = [{"id": s, "scope": s, "text": "I prefer green tea over coffee"} for s in ("a", "b")]
    made = extracted(from_rows(rows), Context(now=NOW))
    assert sorted(made["scope"]) == ["a", "b"]


@given(st.lists(st.sampled_from([text for _, _, text in wordings("sentences")]), max_size=60))
@few(2)
def test_planning_the_outcome_again_proposes_nothing(texts):
    rules = [extract_notes, retire_chatter]
    records = store(*texts, created_at=NOW)
    plan, _ = propose(records, Context(now=NOW), rules)
    again, _ = propose(outcome(records, plan), Context(now=NOW), rules)
    assert again.to_dicts() == []


def test_many_texts_are_inspected_as_each_alone():
    texts = ["", "[cron:daily] run", "我叫晓雯。你叫什么？"]
    blank, noise, told = inspect(texts)
    assert (blank, len(noise)) == ([], 1)
    assert told == inspect(texts[2:])[0]
    assert inspect([]) == []


def test_a_long_note_is_read_in_parts_to_its_end_and_spans_count_from_its_beginning():
    rooms = [f"Room {n} is let to tenant {n * 7}, rent {n + 300} euros." for n in range(700)]
    rooms[650] = "My mother is allergic to penicillin, every clinic must know."
    note = "\n".join(rooms)
    assert len(note) > 25_000
    told = facts(note)
    late = next(fact for fact in told if "penicillin" in fact["text"])
    assert note[late["start"] : late["end"]].startswith("My mother is allergic to penicillin")
    assert late["text"].startswith("The user's mother")
    assert sum(f"tenant {n * 7}," in fact["text"] for n in range(700) for fact in told) >= 600


def test_parts_of_a_long_note_end_where_its_lines_or_sentences_do():
    lines = "a line of words\n" * 400
    assert all(lines[at - 1] == "\n" for at in _begins(lines, 500)[1:])
    prose = "One sentence. " * 400
    assert all(prose[at - 2 : at] == ". " for at in _begins(prose, 500)[1:])
    assert _begins("x" * 1200, 500) == [0, 500, 1000]
    assert _begins("short", 500) == [0]


def test_a_number_or_birthday_among_other_statements_is_the_users_only_where_it_says_so():
    clinic = "Clinic at the corner: 0113 496 0121, ask for Norman, closed on Fridays."
    cat = "Our cat is called Nilo. Born 3 May 2021. Scared of umbrellas."
    for note in (clinic, cat, "I'm a nervous wreck with nowhere to run. Aisle, always."):
        assert not [fact["entity_key"] for fact in facts(note) if fact["entity_key"]], note
    for note in ("My phone number is +44 113 496 0121.", "I was born on 3 May 1991. I like tea."):
        assert [fact["entity_key"] for fact in facts(note) if fact["entity_key"]], note


def test_a_name_or_address_behind_others_is_the_users_only_where_the_sentence_goes_on_about_him():
    for note in (
        "Our newest one arrived and hates everyone. Hedgehog. Name: Colonel Mustard.",
        "桌游店叫“一格”,地址宁海路15号二楼",
        "网关项目叫“闸北”,维护人谷雨,邮箱guyu@zhabei.example",
        "老师小名团团,大名沈亦安,跟我是战友",
    ):
        assert not [fact["entity_key"] for fact in facts(note) if fact["entity_key"]], note
    for note in ("Name: Solveig. I bind books.", "我是新来的,名字叫林若溪"):
        assert [fact["entity_key"] for fact in facts(note) if fact["entity_key"]], note


def test_a_note_is_retired_for_its_secret_only_where_the_rest_of_it_is_surely_junk():
    code, told = (
        "【12306】验证码:739204,请于5分钟内输入,切勿告知他人。",
        "Remember this: the wifi at home is kiln-5g and its password " + "kiln5G" + "demo",
    )
    judged, _ = judged_notes(store(code, told), Context(NOW, Policy()))
    assert judged.sort("id")["verdict"].to_list() == ["tombstone", "demote"]


@pytest.mark.parametrize(
    "text",
    [
        "Put this on a card: my name is Nadja Holm, my email is nadja@posteo.de",
        "Opening of the play: I was born on 9 March, my number is +49 151 20304050",
        "信的开头：我叫沈一舟，我的邮箱是zhou@posteo.de",
        'Fix the commas: "I live at 14 Mill Lane, Ely, call me Nadja"',
        "改错字：“我叫沈一舟，我家住在桐花路8号2单元”",
        "For instance my email is nadja@posteo.de",
        "My birthday is 9 March. Scratch that.",
        "The patient came at nine. I wrote down the number 13800138000.",
        "患者今天来了。我记了号码13800138000。",
    ],
)
def test_what_is_a_text_an_example_taken_back_or_anothers_gives_the_user_no_attribute(text):
    assert all_keys(text) == set()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("About me: my email is nadja@posteo.de", "email:nadja@posteo.de"),
        ("我：我的邮箱是zhou@posteo.de", "email:zhou@posteo.de"),
        ("Email: nadja@posteo.de", "email:nadja@posteo.de"),
        ('My surname is "Holm", my email is nadja@posteo.de', "email:nadja@posteo.de"),
        ("Scratch that. My birthday is 9 March.", "birthday:03-09"),
        ("The client rang again. My number is 13800138000.", "phone:+8613800138000"),
        ("房东来过了。我的手机号是13800138000", "phone:+8613800138000"),
    ],
)
def test_what_the_user_says_of_himself_gives_it_though_a_label_stands_before(text, key):
    assert all_keys(text) == {key}


def test_a_sentence_that_only_takes_back_leaves_nothing_of_what_stands_before():
    told = "The heat pump filter sits behind the left panel and is cleaned every March."
    _, parts, _ = read(
        pl.DataFrame({"text": [f"{told} Scratch that.", f"Scratch that. {told}"]}), Policy()
    )
    assert parts["withdrawn"].to_list() == [True, False, False, False]


def test_what_is_asked_for_from_now_on_lasts_and_a_question_of_the_moment_goes():
    asked = ["往后周报都写成表格,可以吗?", "Could you keep the reports short from now on?"]
    notes, _ = judged_notes(store(*asked, "现在几点了?"), Context(now=NOW))
    verdicts = notes.sort("id")["verdict"].to_list()
    assert "tombstone" not in verdicts[:2] and verdicts[2] == "tombstone"
