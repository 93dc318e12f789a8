"""The cascade of rules and a model that reads notes, with models of known quality."""

import json
from pathlib import Path

import polars as pl
import pytest

from memops.context import Context
from memops.extract.asking import open_notes, weight
from memops.extract.model import told
from memops.policy import Policy
from tests.bench.notes import NOTES, NOW, asked, figures, labelled, read, records
from tests.model_server import Model
from tests.note_reader import Reader

FEW = 60
CONFIG = """[policy.model]
pause = 0.01
[policy.unattended]
changes = 8
lower = 0.6
"""


def some():
    """Notes of which rules are not sure, and others."""
    return labelled(NOTES / "fifth.jsonl")[:FEW]


@pytest.fixture(scope="module")
def notes():
    return some()


def test_only_notes_are_asked_about_of_which_an_answer_could_change_what_becomes(notes):
    table = records(notes)
    few = open_notes(table, Context(NOW), right=0.85)
    assert 0 < few.height < table.height
    assert open_notes(table, Context(NOW), right=0.5).height <= few.height
    assert weight(0.5) == weight(0.2) == 0
    assert few["odds"].is_finite().all()


def test_an_honest_model_finds_more_and_its_facts_are_those_of_the_notes(notes):
    told, costs = asked(notes, Reader(notes), right=0.9)
    with_, without = figures(notes, read(notes, told=told)), figures(notes, read(notes))
    assert costs["waiting"] == {} and costs["facts"] > 0
    assert with_["found_kind"] / with_["facts"] >= 0.8
    assert with_["made_right"] / with_["made"] >= 0.95
    assert with_["leaks"] <= without["leaks"] and with_["lost"] <= without["lost"]


@pytest.mark.parametrize("mode", ["inventing", "injected"])
def test_what_no_note_says_is_told_by_no_model(notes, mode):
    told, _ = asked(notes, Reader(notes, mode=mode), right=0.9)
    assert told["text"].is_null().all()


def test_of_a_model_that_cannot_be_read_nothing_is_heard(notes):
    told, costs = asked(notes[:20], Reader(notes, mode="malformed"), right=0.9)
    assert told.is_empty() and [*costs["waiting"]] == ["no usable reply"]


def test_a_test_of_notes_says_how_often_a_model_is_right_and_what_it_may_do(
    memops, tmp_path, monkeypatch
):
    notes = [row for row in some() if row["lang"] == "en"]
    server = Model(Reader(notes))
    monkeypatch.setenv("MEMOPS_MODEL_URL", server.url)
    monkeypatch.setenv("MEMOPS_MODEL", "reader")
    (tmp_path / "memops.toml").write_text(CONFIG, encoding="utf-8")
    path = memops.write("notes.jsonl", notes)
    said = memops("judge", "test", "--notes", path)
    assert memops.code == 0, memops.err
    assert said["right"] == 1.0 and said["notes"] == len(notes)
    (row,) = said["earned"]
    assert (row["code"], row["may"]) == ("model.fact", True)
    kept = Path(said["kept"]).read_text(encoding="utf-8")
    assert not any(note["note"] in kept for note in notes)
    rows = [{"id": "n1", "kind": "note", "text": next(n["note"] for n in notes if n["facts"])}]
    store = f"jsonl:{memops.write('m.jsonl', rows)}"
    night = memops("migrate", store, "--plan-only", "--ask", "--now", "2026-06-01T12:00:00Z")
    ops = (Path(night["path"]) / "ops.jsonl").read_text(encoding="utf-8").splitlines()
    inserts = [op for op in map(json.loads, ops) if op.get("code") == "model.fact"]
    assert all(op["unattended"] for op in inserts)
    server.close()


def test_a_line_that_is_no_labelled_note_is_named(memops, monkeypatch):
    monkeypatch.setenv("MEMOPS_MODEL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MEMOPS_MODEL", "reader")
    path = memops.write("notes.jsonl", [{"note": "x", "facts": []}, {"note": "y"}])
    said = memops("judge", "test", "--notes", path)
    assert memops.code == 20 and "notes.jsonl: line 2" in said["message"]


def test_a_fact_may_tell_the_day_that_its_note_counts_from_its_own():
    when = pl.Series([NOW]).dt.replace_time_zone("UTC")
    note = pl.DataFrame(
        {"id": ["a"], "text": ["the boiler man comes tomorrow at 9"], "created_at": when}
    )
    for text, stays in (
        ("The boiler man comes on 2 June 2026 at 9", True),
        ("The boiler man comes on 3 June 2026 at 9", False),
        ("The boiler man comes tomorrow at 9", False),
    ):
        row = {
            "kind": "fact",
            "text": text,
            "quote": "the boiler man comes tomorrow at 9",
            "confidence": 0.9,
        }
        assert told(note, {"a": json.dumps(row)}, Policy()).height == stays, text


def test_values_that_stand_in_the_note_speak_for_a_fact_as_its_words_do():
    text = "For the oven: 230 C, 25 minutes, door ajar from minute 20."
    note = pl.DataFrame({"id": ["a"], "text": [text], "created_at": [NOW]})
    fact = "Bread bakes at 230 C for 25 minutes in the oven."
    row = {"kind": "procedure", "text": fact, "quote": "230 C, 25 minutes", "confidence": 0.9}
    assert told(note, {"a": json.dumps(row)}, Policy())["text"].to_list() == [fact]
