"""Values are read in one form however written, and the judge takes no two of them for one."""

import random
import re
from datetime import datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.language.packs import codes, pack
from memops.values import read, read_all
from tests.bench.says import judged
from tests.counts import few
from tests.writing import WRITERS, drawn

TABLES = sorted((Path(__file__).parent / "values").glob("*.txt"))
SIGNS = {"==": "same", "=?": "unsure", "!=": "differs", "!?": "unsure", "<>": "unsure differs"}
"""What the judge says of two texts: of some that are one, or two, it is not sure."""


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        for sign in SIGNS:
            one, found, other = line.partition(f" {sign} ")
            if found and not line.startswith("#"):
                yield one, other, sign


def forms(text, **more):
    return [(value.kind, value.form) for value in read(text, **more)]


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_the_judge_tells_values_as_the_tables_say(path):
    pairs = [*rows(path)]
    told = judged([(one, other) for one, other, _ in pairs])
    wrong = [
        (*pair, said) for pair, said in zip(pairs, told, strict=True) if said not in SIGNS[pair[2]]
    ]
    assert not wrong


def test_many_texts_are_read_as_each_by_itself():
    texts = ["", *(side for path in TABLES for one, other, _ in rows(path) for side in (one, other))]  # fmt: skip
    assert len(texts) > 1000
    assert read_all(texts) == [read(text) for text in texts]


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_every_form_of_the_tables_prints_and_reads_back(path):
    found = {
        value[2:4] for one, other, _ in rows(path) for text in (one, other) for value in read(text)
    }
    for kind, form in found:
        for lang in (None, *codes()):
            assert forms(form, lang=lang) == [(kind, form)]


def written(lang, n, seed):
    """What the judge says of values that are written twice, and of each beside another, if not as it should."""
    found = [*drawn(lang, n, seed)]
    for text in {text for _, one, _, other in found for text in (one, other)}:
        assert [v.form for value in read(text) for v in read(str(value))] == [
            v.form for v in read(text)
        ]
    pairs = [
        (kind, wanted, one, text)
        for kind, one, same, other in found
        for wanted, text in (("same", same), ("differs", other))
    ]
    told = judged([pair[2:] for pair in pairs])
    return [(*pair, said) for pair, said in zip(pairs, told, strict=True) if said != pair[1]]


@pytest.mark.parametrize("lang", WRITERS)
def test_values_written_in_random_ways_are_equal_and_others_differ(lang):
    assert not written(lang, 500, 11)


@pytest.mark.slow
@pytest.mark.parametrize("lang", WRITERS)
def test_ten_thousand_values_written_in_random_ways_are_equal_and_others_differ(lang):
    assert not written(lang, 10_000, 12)


WORDS = sorted({word for code in ("und", *codes()) for word in pack(code).words})
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.text(
        st.sampled_from("0123456789.:-/%$€ 年月日点半一二三十百千万零两周号度次每 @#()'\",~+"),
        max_size=6,
    ),
    st.text(st.characters(codec="utf-8"), max_size=4),
)


@few(100)
@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_any_text_is_read_and_what_is_read_prints_and_reads_back(text):
    found = read(text)
    spans = sorted({(value.start, value.end) for value in found})
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    for value in found:
        assert forms(str(value)) == [(value.kind, value.form)]


@pytest.mark.parametrize(
    "said",
    ["1 ", "12:", "a1-", "三十", "1/2/", "5 kg ", '"5', "每天", "周一", "(1", "../", "a@", "v1."],
)
def test_a_line_of_any_length_takes_linear_time(said):
    def counted(size):
        return len(read((said * size)[:size]))

    assert counted(20_000) <= 20_000
    assert counted(100_000) <= 100_000


NOW = datetime(2026, 5, 14, 9, 0)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("tomorrow", "2026-05-15"),
        ("后天", "2026-05-16"),
        ("next Tuesday", "2026-05-19"),
        ("上周五", "2026-05-08"),
        ("three weeks ago", "2026-04-23"),
        ("下个月", "2026-06-XX"),
        ("去年", "2025-XX-XX"),
        ("next week", "2026-05-18..2026-05-24"),
        ("本月底", "2026-05-XX end"),
        ("two hours ago", "2026-05-14T07:00"),
    ],
)
def test_days_told_from_the_day_of_writing_are_days_of_the_calendar(text, form):
    assert forms(text, at=NOW) == [("date", form)]


@pytest.mark.parametrize(
    "text",
    [
        "no one knows",
        "一起去公园",
        "这是第一时间",
        "十分高兴",
        "万一下雨",
        "May I come in",
        "聊天记录",
        "点击这里",
    ],
)
def test_words_that_hold_a_numeral_and_mean_something_else_are_no_values(text):
    assert [kind for kind, _ in forms(text) if kind != "ordinal"] == []


def test_a_language_may_be_named():
    assert forms("三公斤", lang="zh") == [("mass", "3000 g")]
    assert forms("three kilos", lang="zh") == []
    assert forms("three kilos", lang="xx") == [("mass", "3000 g")]


_ODD = (
    "0.25",
    ".42",
    "1.5",
    "0/0",
    "12:70",
    "2026-13-45",
    "9" * 24,
    "-3",
    "7%",
    "½",
    "3x4",
    "1,5",
    "$0",
)


@pytest.mark.parametrize(
    "text", ["0.25 hours", ".42 早晨", ".90 日", "in 0/0 kj", "0.25 hundred hours"]
)
def test_a_number_of_a_form_that_a_rule_does_not_expect_is_read_all_the_same(text):
    read(text)


@pytest.mark.parametrize("seed", range(4))
def test_no_words_of_a_pack_beside_odd_numbers_stop_the_reading(seed):
    words = sorted({word for code in codes() for word in _words_of(code)})
    draw = random.Random(seed)
    for _ in range(400):
        said = [draw.choice(_ODD if draw.random() < 0.5 else words) for _ in range(5)]
        read(draw.choice((" ", "", "-", ", ")).join(said))


def _words_of(code):
    table = files(f"memops.language.{code}").joinpath("values.toml").read_text("utf-8")
    return re.findall(r"[^\W\d_]+", table)
