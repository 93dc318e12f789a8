"""Stores, a rule and a measure: files of their own and one line of a registry each, and all pick them up."""

import contextlib
import json
import sqlite3
import sys
import textwrap

import pytest

from memops import measures, reasons, rules, stores

from .stores import samples, test_contract

STORE = '''
"""A toy store: one JSON array of records."""

import json

from memops.stores.base import FileStore
from memops.stores.formats import parsed


class Toy(FileStore):
    """Like a file of JSON lines, in brackets."""

    kind = "toy"
    file = "toy.json"

    def table(self, data, where):
        rows = (json.dumps(row, ensure_ascii=False) for row in json.loads(data))
        return parsed("\\n".join(rows).encode(), where)

    def written(self, lines):
        return ("[" + ",\\n".join(lines.values()) + "]").encode()
'''

DATABASE = '''
"""A toy store: the notes of a program that keeps them in SQLite."""

from memops.stores.sqlite.store import TableStore
from memops.stores.sqlite.table import Field, Table, seconds


class Notes(Table):
    """What a row is as a record."""

    name = "notes"
    fields = {
        "id": Field("note"), "text": Field("body"), "kind": Field("topic"),
        "created_at": seconds("made"), "superseded_by": Field("gone"),
    }
    category, link = "topic", "gone"


class Notebook(TableStore):
    """A database of notes."""

    kind, table, file = "notebook", Notes, "notes.db"
'''

RULE = '''
"""Sink what shouts."""

import polars as pl

from memops.plan import edit
from memops.schema import LIVE


def demote_shouted(records, ctx):
    """Sink records that are written in capitals."""
    loud = LIVE & pl.col("text").str.contains(r"^[A-Z ]{8,}!+$") & (pl.col("tier") == "working")
    return edit(records.filter(loud), "demote", "shout.capitals", tier="peripheral", evidence=[], risk="low")
'''

MEASURE = '''
"""A toy measure."""

import polars as pl


def first_half(k):
    """1 if any unit is within the first k / 2."""
    return (pl.col("rank") <= k / 2).any().cast(pl.Float64)
'''


FILES = {
    "toy_store": STORE, "toy_database": DATABASE, "demote_shouted": RULE, "toy_measure": MEASURE,
}  # fmt: skip


@pytest.fixture
def extended(tmp_path, monkeypatch):
    """What a contributor would write: five files and four lines."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    from demote_shouted import demote_shouted
    from toy_measure import first_half

    monkeypatch.setitem(stores.STORES, "toy", "toy_store:Toy")
    monkeypatch.setitem(stores.STORES, "notebook", "toy_database:Notebook")
    (tmp_path / "demote_shouted.toml").write_text('[shout]\ncapitals = { en = "it shouts" }\n')
    monkeypatch.setattr(reasons, "BESIDE", tmp_path)
    forget_sentences()
    monkeypatch.setattr(rules, "RULES", (*rules.RULES, demote_shouted))
    monkeypatch.setattr("memops.steps.RULES", rules.RULES)
    monkeypatch.setitem(measures.FAMILIES, "Half", measures.Family(first_half, ("Half@10",)))
    yield tmp_path
    forget_sentences()
    for name in FILES:
        sys.modules.pop(name, None)


def forget_sentences():
    reasons.tables.cache_clear()
    reasons.codes.cache_clear()


def toy(folder):
    rows = [{"id": f"r{n:02}", "kind": "fact", "text": text} for n, text in enumerate(samples.SAID)]
    (folder / "toy.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return f"toy:{folder / 'toy.json'}"


def notebook(folder):
    path = folder / "notes.db"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE notes (note TEXT PRIMARY KEY, body TEXT, topic TEXT, made INTEGER, gone TEXT)"
        )
        rows = [
            (f"r{n:02}", text, "fact", 1_760_000_000 + n) for n, text in enumerate(samples.SAID)
        ]
        db.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, NULL)", rows)
    return f"notebook:{path}"


@pytest.mark.parametrize("build", [toy, notebook])
def test_the_contract_test_takes_a_new_store(extended, tmp_path, monkeypatch, build):
    kind = build.__name__
    monkeypatch.setitem(samples.BUILDERS, "toy", toy)
    monkeypatch.setitem(samples.BUILDERS, "notebook", notebook)
    checks = [f for name, f in vars(test_contract).items() if name.startswith("test_")]
    test_contract.test_every_kind_of_store_is_under_contract()
    ran = 0
    for n, check in enumerate(checks):
        if "store" in check.__code__.co_varnames[: check.__code__.co_argcount]:
            folder = tmp_path / f"case{n}"
            folder.mkdir()
            arguments = {"store": samples.build(kind, folder), "tmp_path": folder}
            wanted = check.__code__.co_varnames[: check.__code__.co_argcount]
            check(**{name: arguments[name] for name in wanted})
            ran += 1
    assert ran >= 6


def test_a_new_rule_is_listed_planned_and_reported(extended, memops):
    assert "demote_shouted" in [row["rule"] for row in memops("rules")]
    path = memops.write("m.jsonl", [{"id": "a", "kind": "fact", "text": "NEVER PARK HERE!!"}])
    said = memops("nightly", f"jsonl:{path}", "--now", "2026-06-01T12:00:00Z")
    assert memops.code == 0, said
    night = said[0]
    assert night["by_rule"]["demote_shouted"] == {"demote": 1}
    with open(night["report"], encoding="utf-8") as page:
        text = page.read()
    assert "demote_shouted" in text
    assert "it shouts" in text


def test_a_suite_takes_a_new_measure(extended, memops, twins):
    path = memops.write("m.jsonl", twins)
    suite = memops.folder / "suite"
    suite.mkdir()
    (suite / "suite.toml").write_text('measures = ["Half@10", "R@5"]\nretriever = "bm25"\nk = 10\n')
    query = {"query_id": "q", "text": "when does gate 7 open", "relevant": {"07a": 1}}
    (suite / "queries.jsonl").write_text(json.dumps(query | {"answerable": True}) + "\n")
    said = memops("grade", f"jsonl:{path}", "--suite", suite)
    assert memops.code == 0
    assert said["grades"]["aggregates"]["bm25"]["Half@10"] == 1.0
