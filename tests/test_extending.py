"""Stores, a rule and a measure: files of their own and one line of a registry each, and all pick them up."""

import contextlib
import json
import sqlite3
import sys
import textwrap
from dataclasses import replace

import polars as pl
import pytest

from memops import apply as applying
from memops import measures, reasons, rules, stores
from memops.errors import Corrupt
from memops.plan import edit
from memops.schema import LIVE
from memops.state import runs
from memops.stores import Work

from .stores import samples, test_contract
from .stores.samples import NOW

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

from memops.stores.sqlite.fields import Field, seconds
from memops.stores.sqlite.store import TableStore
from memops.stores.sqlite.table import Table


class Notes(Table):
    """What a row is as a record."""

    name = "notes"
    fields = {
        "id": Field("note"), "text": Field("body"), "kind": Field("topic"),
        "created_at": seconds("made"), "superseded_by": Field("gone"),
    }


class Notebook(TableStore):
    """A database of notes."""

    kind, table, file = "notebook", Notes, "notes.db"
'''

NUMBERED = '''
"""A toy store: a table whose rows have numbers, a count and a mark that hides them."""

from memops.stores.sqlite.fields import Field, counter, flag, number, timestamp
from memops.stores.sqlite.store import TableStore
from memops.stores.sqlite.table import Table


class Facts(Table):
    """What a row is as a record."""

    name = "facts"
    fields = {
        "id": number("id"), "text": Field("body"), "scope": Field("team", "at {}".format, lambda s: s[3:]),
        "kind": Field("topic", {"work": "fact", "likes": "preference"}.get, {"fact": "work", "preference": "likes"}.get),
        "created_at": timestamp("made"), "accessed_at": timestamp("used"),
        "access_count": counter("hits"), "superseded_by": flag("gone"),
    }
    derived = ("used",)


class Pocket(TableStore):
    """A database of facts."""

    kind, table, file = "pocket", Facts, "pocket.db"
    usual = ("", ("~/.pocket",), "pocket.db")
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
    "toy_store": STORE, "toy_database": DATABASE, "toy_numbers": NUMBERED,
    "demote_shouted": RULE, "toy_measure": MEASURE,
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
    monkeypatch.setitem(stores.STORES, "pocket", "toy_numbers:Pocket")
    for build in (toy, notebook, pocket):
        monkeypatch.setitem(samples.BUILDERS, build.__name__, build)
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


def pocket(folder):
    path = folder / "pocket.db"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE facts (id INTEGER PRIMARY KEY, body TEXT, team TEXT, topic TEXT, made TEXT,"
            " used TEXT, hits INTEGER, gone INTEGER)"
        )
        rows = [
            (text, f"2026-05-{1 + n:02} 09:00:00", n)
            for n, text in enumerate([*samples.SAID, "an old one", "another old one"])
        ]
        db.executemany(
            "INSERT INTO facts (body, team, topic, made, hits, gone) VALUES (?, 'ops', 'work', ?, ?, 0)",
            rows,
        )
        db.execute("UPDATE facts SET gone = 1 WHERE body LIKE '%old one'")
    return f"pocket:{path}"


@pytest.mark.parametrize("build", [toy, notebook, pocket])
def test_the_contract_test_takes_a_new_store(extended, tmp_path, build):
    kind = build.__name__
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


@pytest.fixture
def store(extended, tmp_path):
    return samples.build("pocket", tmp_path)


def one(store, query, *values):
    """The first value that a statement gives, as the program sees it, which commits."""
    with contextlib.closing(sqlite3.connect(store.place())) as db, db:
        return (db.execute(query, values).fetchone() or [None])[0]


HITS = "SELECT hits FROM facts WHERE id = 4"
HIT = "UPDATE facts SET hits = hits + 1 WHERE id = 4"


def used(n):
    """What makes so much of the count of a row."""
    return lambda records: edit(records.filter(id="4"), "update", "x", access_count=n).with_columns(
        rule=pl.lit("merge_exact"), risk=pl.lit("low")
    )


def test_what_a_plan_adds_to_a_count_is_added_to_what_the_program_counted_since(store, tmp_path):
    state = tmp_path / "state"
    plan, _ = test_contract.planned(store, state, used(10))
    one(store, HIT)
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert (done["applied"], one(store, HITS)) == (1, 3 + 1 + 7)
    one(store, HIT)
    run = runs.find_run(done["run"], state)
    for _ in range(2):
        assert applying.rollback(run, state)["skipped"] == []
        assert one(store, HITS) == 3 + 1 + 1


def test_a_count_that_an_interrupted_run_added_to_is_not_added_to_again(store, tmp_path):
    plan, before = test_contract.planned(store, tmp_path / "state", used(10))
    work = Work(plan.plan(), before, NOW, check=lambda live, counts: {}, keep=lambda undo: None)
    store.write(work)
    one(store, HIT)
    store.write(replace(work, kept=frozenset("4")))
    assert one(store, HITS) == 11


def test_a_new_row_gets_a_number_below_those_of_the_program(store, tmp_path):
    state = tmp_path / "state"
    plan, _ = test_contract.planned(store, state)
    last = one(store, "SELECT max(id) FROM facts")
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    made = "FROM facts WHERE body = '用户喜欢绿茶'"
    assert one(store, f"SELECT id {made}") < 0
    assert one(store, f"SELECT gone {made}") == 0
    assert one(store, "INSERT INTO facts (body) VALUES ('later') RETURNING id") == last + 1
    applying.rollback(runs.find_run(done["run"], state), state)
    assert one(store, f"SELECT count(*) {made}") == 0


def test_a_row_that_is_shown_again_says_what_the_program_looks_for(store, tmp_path):
    def shown(records):
        step = edit(records.filter(~LIVE).head(1), "update", "x", clears=["superseded_by"])
        return step.with_columns(rule=pl.lit("revive_restored"), risk=pl.lit("low"))

    state = tmp_path / "state"
    plan, _ = test_contract.planned(store, state, shown)
    assert applying.apply(plan, state, NOW, approve=True, as_of=NOW)["applied"] == 1
    assert one(store, "SELECT count(*) FROM facts WHERE gone = 0") == len(samples.SAID) + 1


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [("made", "last spring", "made"), ("made", 7, "made"), ("hits", "many", "access_count")],
)
def test_an_odd_value_is_named_by_file_row_and_column(store, column, value, told):
    one(store, f"UPDATE facts SET {column} = ? WHERE id = 4", value)
    with pytest.raises(Corrupt, match=rf"pocket\.db: facts/4, column '{told}': [^\n]*$"):
        store.read()


def test_rows_of_which_nothing_is_known_have_the_usual_scope_and_kind(store):
    one(store, "UPDATE facts SET team = NULL, topic = NULL WHERE id < 5")
    for id_ in ("4", "5"):
        test_contract.assert_counted(store, store.read().filter(id=id_))


def test_init_finds_a_new_kind_where_it_says(extended, tmp_path, monkeypatch, memops):
    (tmp_path / ".pocket").mkdir()
    pocket(tmp_path / ".pocket")
    monkeypatch.setenv("HOME", str(tmp_path))
    said = memops("init", "--into", tmp_path / "memops.toml")
    assert [store["store"] for store in said["stores"]] == ["pocket"]


def test_what_makes_a_row_the_same_is_what_its_table_says_of_its_content(extended):
    from toy_numbers import Facts

    class Named(Facts):
        content = ("body",)

    assert Facts.content == Facts.identical == ("body", "team", "topic", "made", "gone")
    assert Named.content == Named.identical == ("body",)


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
