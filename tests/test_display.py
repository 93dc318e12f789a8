# ruff: noqa: E501
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.cli.output import as_document
from memops.safety.display import csv_safe, printed, shown

HOSTILE = [
    "\x1b[31mred\x1b[0m", "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07", "\x9b2J", "a\rb", "a\nb", "a\x08b",
    "\u202etxt.exe", "\u2066left\u2069", "in\u200bvisible", "\ufeffbom", "\u2028line", "\x00nul",
    "\x85next", "a\tb", "\U000e0041tag", "\ud800", "\u200fmark", "\u061c",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_cannot_be_seen_is_spelled_out(text):
    line = shown(text)
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in line)
    assert "\\" in line


def test_escapes_are_those_of_python_and_words_stay():
    assert shown("a\x1b[1m\u202eb\U000e0041 喜欢 🙂 é") == "a\\x1b[1m\\u202eb\\U000e0041 喜欢 🙂 é"


@given(st.text())
def test_any_text_becomes_one_line_and_stays_it(text):
    once = shown(text)
    assert len(once.splitlines()) <= 1
    assert shown(once) == once


@pytest.mark.parametrize(
    "cell", ["=1+1", "+SUM(A1)", "-2+3", "@import", "\t=1", " =1", "\r=1", "|calc", "＝1+1", "%0A=1", "\n=x", "=HYPERLINK(1)", "--x", "+abc"]
)  # fmt: skip
def test_cells_that_start_a_formula_get_a_quote(cell):
    assert csv_safe(cell) == "'" + cell


@pytest.mark.parametrize(
    "cell", ["plain", "a=b", "-5", "+3.5", "1e-3", "-12,000.5", "", 7, -7, None, 0.5]
)
def test_other_cells_and_numbers_stay(cell):
    assert csv_safe(cell) == cell


@pytest.mark.parametrize("text", HOSTILE)
def test_json_says_the_same_and_shows_a_terminal_nothing(text):
    document = as_document({"text": text, text: 1})
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in document)
    assert json.loads(document) == {"schema_version": 1, "text": text, text: 1}


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text())))
def test_any_json_is_one_line_that_reads_as_what_it_was_made_of(value):
    document = as_document(value, versioned=False)
    assert len(document.splitlines()) <= 1 and json.loads(document) == value


@given(st.lists(st.text(max_size=20), max_size=4))
def test_of_what_is_printed_only_line_ends_and_plain_colours_act_on_a_terminal(texts):
    said = "\x1b[31m" + "\x1b[0m\n".join(texts)
    bare = printed(said).replace("\x1b[31m", "").replace("\x1b[0m", "").split("\n")
    assert all(shown(line) == line for line in bare)
    assert printed("\x1b[1mq\x1b[2J\u202e\x07\x1b[0m\n") == "\x1b[1mq\\x1b[2J\\u202e\\x07\x1b[0m\n"
