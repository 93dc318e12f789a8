"""Reasons: every code has its sentences, in each language of the pages, and none is idle."""

import ast
import json
import re
from pathlib import Path

import polars as pl
import pytest

from memops.extract.modality import BARS
from memops.language.lexicon import lexicon
from memops.reasons import (
    brief,
    codes,
    named,
    packed,
    plain,
    reason,
    sentence,
    sentences,
    tables,
    told,
)
from memops.safety.hostile import concepts, frames
from tests.pages import unsaid

HAN = re.compile("[\u4e00-\u9fff]")
ROOT = Path(__file__).parent.parent
COMPLETE = ("en", "zh")
"""Languages in which reasons have their sentences; others say in English what they lack."""
TABLES = "data/lexicons/reasons.toml, or memops/rules/<rule>.toml if one rule alone gives it"
OPPOSES = ("value", "replaced", "changed", "opposite", "denied", "excluded", "judged")


def written():
    """The codes that the program writes whole, and those of its families."""
    known = "|".join(name for name in tables() if name != "detail")
    shape = re.compile(rf"(?:{known})\.[a-z_0-9]*[a-z0-9]")
    found = {
        node.value.removesuffix(" {}")
        for path in (ROOT / "memops").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if shape.fullmatch(node.value.removesuffix(" {}")) and not node.value.endswith(".parquet")
    }
    guard = (ROOT / "memops" / "guard.py").read_text(encoding="utf-8")
    found |= {f"guard.{name}" for name in re.findall(r'^        \(.*, "(\w+)"\),$', guard, re.M)}
    for name in ("chatter", "noise"):
        table = lexicon({"noise": "extract_noise"}.get(name, name))
        found |= {f"{name}.{key}" for key, value in table.items() if isinstance(value, dict)}
    found |= {f"note.{bar}" for bar in BARS} | {f"conflict.{one}" for one in OPPOSES}
    found |= {one.why for one in (*concepts(), *frames()) if one.why}
    found |= {f"place.{unit}" for unit in ("words", "runes")}
    found |= {f"pair.{one}" for one in OPPOSES if one != "judged"}
    gate = (ROOT / "memops" / "evaluation" / "gate.py").read_text(encoding="utf-8")
    found |= {f"gate.{name}" for name in re.findall(r'_said\(\s*"(\w+)"', gate)}
    found |= {f"gate.other_{key}" for key in ("suite", "settings", "retrieval", "encoder")}
    found |= {f"limit.{what}{more}" for what in ("records", "share") for more in ("", "_window")}
    return found | {lexicon("hostile")["banners"]["why"]}


def test_every_code_that_is_used_has_sentences_and_no_sentence_is_idle():
    used, said = written(), set(codes())
    assert asked_for(used - said) == "" and said - used == set()


def asked_for(missing):
    """What is to be written for codes without a sentence, and where."""
    lines = (
        f'{code.split(".")[1]} = {{ en = "..." }} to [{code.split(".")[0]}]'
        for code in sorted(missing)
    )
    return "".join(f"add {line} of {TABLES}\n" for line in lines)


@pytest.mark.parametrize("code", codes())
def test_a_code_has_a_sentence_with_the_same_arguments_in_each_language_that_it_is_in(code):
    table, _, name = code.partition(".")
    langs = [lang for lang in COMPLETE if lang in tables()[table][name]]
    assert "en" in langs and len({named(code, lang) for lang in langs}) == 1
    args = {name: 7 for name in named(code)}
    for lang in langs:
        assert sentence(code, args, lang).count("7") >= len(args)
        assert not re.search(r"[{}]", sentence(code, args, lang))


def test_reasons_are_said_in_chinese():
    said = {
        f"{t}.{name}": one.get("zh", "") for t, of in tables().items() for name, one in of.items()
    }
    lacking = {code for code, text in said.items() if not HAN.search(text)}
    unsaid(lacking - {plain("x")["code"]}, len(said), TABLES)


def test_terms_and_lists_are_said_in_the_language_and_quoted_text_is_left_alone():
    args = '{"days":400,"kind":"fact","window":90}'
    assert sentence("time.old", args) == "400 days old; a fact is kept for 90"
    assert sentence("time.old", args, "zh") == "已有 400 天；事实类保留 90 天"
    kinds = {"kinds": ["fact", "preference"]}
    assert sentence("note.told", kinds, "zh") == "其中的事实已单独成条：事实、偏好"
    assert sentence("person.imported", {"name": "{x}"}) == "imported from {x}"


def test_the_detail_of_a_reason_is_said_after_it_and_left_out_of_the_brief():
    args = {"similarity": 0.9, "jaccard": 0.5, "cosine": 1.0, "bm25": 0.25}
    assert sentence("conflict.denied", args) == (
        "a newer record denies it (similarity 0.9, jaccard 0.5, cosine 1.0, bm25 0.25)"
    )
    assert brief("conflict.denied", args, "zh") == "更新的记录否认了它"


def test_a_code_without_a_sentence_stands_for_itself_and_odd_arguments_break_nothing():
    assert sentence("somebody.elses", {"x": 1}) == "somebody.elses"
    assert sentence("time.old", {}) == "time.old"
    assert sentence(None) == ""
    assert plain("as it was said")["reason"] == "as it was said"
    assert reason("merge.exact") == {
        "reason": "it says the same as its keeper in the same words",
        "code": "merge.exact",
    }


def test_a_packed_reason_is_told_and_any_other_text_is_left_as_it_is():
    whole = packed("guard.floor", {"floor": 3, "held": "fact"})
    assert told(whole) == "the floor of 3 live fact records"
    assert told(packed("skip.fresh"), "zh") == "其文件几分钟内刚写过"
    for text in ("it is somebody's sentence", "guard.floor is low", "", "skip.unheard_of"):
        assert told(text) == text


def test_a_table_of_changes_is_said_row_by_row():
    rows = [("task.ticked", None), ("time.retired", json.dumps({"on": "2026-01-02"}))]
    table = pl.DataFrame(rows, schema=["code", "args"], orient="row")
    assert sentences(table).to_list() == ["it is ticked off", "retired on 2026-01-02"]
