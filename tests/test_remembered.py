"""A night reads what is new; what it does is the same with and without what earlier ones read."""

import shutil

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.statements.remembered import Remembered
from memops.statements.taken import taken_apart
from tests.bench.night import records

SAID = [
    "The door opens at 7",
    "Ines runs the depot",
    "图书馆每天8点开门",
    "",
    "It is not open",
    "box 40",
]
TEXTS = st.lists(st.sampled_from(SAID), unique=True)
NOW = "2026-06-01T02:00:00Z"


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_what_is_remembered_is_what_reading_says(tmp_path_factory, before, texts):
    folder = tmp_path_factory.mktemp("readings")
    first = Remembered(folder)
    first.taken_apart(before)
    first.keep()
    again = Remembered(folder)
    assert again.taken_apart(texts).equals(taken_apart(texts))
    assert again.read == len({*texts} - {*before})


@pytest.fixture
def store(memops):
    rows = [*records(60)]
    return f"jsonl:{memops.write('m.jsonl', rows)}"


def ops(memops, store):
    made = memops("plan", store, "--now", NOW)
    with open(f"{made['path']}/ops.jsonl", "rb") as lines:
        return made["ops"], lines.read()


def test_a_plan_has_the_same_bytes_with_and_without_what_was_read(memops, store, monkeypatch):
    first = ops(memops, store)
    assert first[0]
    read = []
    with monkeypatch.context() as patch:
        patch.setattr("memops.judge.conflicts.taken_apart", read.append)
        assert ops(memops, store) == first and not read
    shutil.rmtree(memops.state / "readings")
    assert ops(memops, store) == first


def test_readings_are_bounded_by_the_store_and_hold_no_word_of_it(memops, store, tmp_path):
    ops(memops, store)
    (file,) = (memops.state / "readings").rglob("*.parquet")
    assert pl.read_parquet(file).height <= 60
    assert b"depot" not in file.read_bytes()
    (tmp_path / "m.jsonl").write_text(
        '{"id": "x", "text": "Rosa has box 9"}\n{"id": "y", "text": "Rosa has box 8"}\n'
    )
    memops("snapshot", store, "--accept-shrink")
    ops(memops, store)
    (after,) = (memops.state / "readings").rglob("*.parquet")
    assert after != file and pl.read_parquet(after).height <= 2


def test_damaged_readings_are_made_again(memops, store):
    first = ops(memops, store)
    (file,) = (memops.state / "readings").rglob("*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    assert ops(memops, store) == first


def test_a_purge_leaves_not_even_the_hash_of_a_text(memops, store):
    ops(memops, store)
    (file,) = (memops.state / "readings").rglob("*.parquet")
    memops("purge", store, next(records(60))["id"])
    assert not file.exists()
