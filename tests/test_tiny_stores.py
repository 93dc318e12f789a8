"""Stores of none to five odd records, of every kind, go through every command that reads.

Whatever they hold, a command does its work or ends with one of its documented codes; 1 is a bug.
"""

import contextlib
import io
import itertools
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from memops.cli import COMMANDS, run
from memops.schema import after, instant
from memops.stores import open_store
from memops.stores.rsclaw import redb

from .stores.clawseed_db import dump
from .tiny import NOW, STORES, build

AT = ["--now", NOW.isoformat()]
MANY = [pytest.param(1, id="1"), pytest.param(50, id="50", marks=pytest.mark.slow)]
PLAIN = [
    ["conflicts"], ["duplicates"], ["audit"], ["inspect"], ["inspect", "--archived"], ["doctor"], ["simulate", "--days", "30"],
]  # fmt: skip
OTHERS = {
    "apply", "resume", "rollback", "restore", "purge", "prune", "nightly", "demo", "serve", "deploy", "embed", "encoder",
    "curator", "tune", "bench", "rules", "policy", "stores", "import", "recover", "init", "config",
    "evidence", "judge_test",
}  # fmt: skip
"""Commands that write, that read no store, or that need a model; the rest is under test."""


class Reader:
    """The command line in a folder of its own; what ends with 1, or is no JSON, is kept."""

    def __init__(self, folder):
        self.folder, self.bugs, self.used, self.codes = folder, [], set(), {}

    def __call__(self, *argv, now=True):
        words = [
            "--state",
            str(self.folder / "state"),
            *map(str, argv),
            *(AT if now else []),
            "--json",
        ]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(words)
        self.used.add(argv[0])
        self.codes[argv] = code
        if code == 1:
            self.bugs.append((*argv, err.getvalue()))
        try:
            return json.loads(out.getvalue()) if out.getvalue().strip() else None
        except ValueError:
            self.bugs.append((*argv, "no JSON", out.getvalue()))


def go_through(memops, store):
    """Call every command that reads; what one makes, the next ones read."""
    taken = memops("snapshot", store)
    snapshot = taken.get("snapshot") if isinstance(taken, dict) else None
    for words in PLAIN:
        memops(words[0], store, *words[1:])
    plans = [memops("plan", store), memops("migrate", store, "--plan-only")]
    for plan in [p["path"] for p in plans if isinstance(p, dict) and "path" in p]:
        memops("explain", plan, "1", now=False)
        memops("review", plan, now=False)
        memops("report", plan, "-o", memops.folder / "plan.html", now=False)
    if snapshot:
        memops("check", snapshot, now=False)
        memops("diff", snapshot, store, now=False)
        memops("report", snapshot, "-o", memops.folder / "snapshot.html", now=False)
    listed = memops("inspect", store)
    for id_ in [record["id"] for record in (listed or {}).get("records", [])][:2]:
        memops("show", store, id_)
        for verb in ("edit", "pin", "unpin", "forget"):
            memops(
                verb,
                store,
                id_,
                *(["--text", "другое 別"] if verb == "edit" else []),
                "--plan-only",
            )
    suites(memops, store)
    memops("extract", "--from", store, now=False)
    memops("view", store)
    memops("collect", store.partition(":")[2])
    for words in (["history", store], ["runs"]):
        memops(*words, now=False)
    memops("status", store)


def suites(memops, store):
    folder = memops.folder / "suite"
    memops("suite", "init", store, "-o", folder)
    memops("suite", "review", folder, "--rest", "keep", now=False)
    memops("suite", "check", folder, "--store", store)
    memops("suite", "remap", folder, "--store", store)
    memops(
        "suite",
        "export",
        folder,
        "--format",
        "beir",
        "-o",
        memops.folder / "beir",
        "--store",
        store,
    )
    memops("grade", store, "--suite", folder)
    memops("gate", store, "--suite", folder, "--accept")
    memops("gate", store, "--suite", folder)


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize("kind", sorted(STORES))
def test_tiny_and_odd_stores_go_through_every_command_that_reads(
    kind, examples, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    monkeypatch.delenv("MEMOPS_DEBUG", raising=False)
    numbers = itertools.count()

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )  # fmt: skip
    @given(STORES[kind])
    def law(drawn):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        os.chdir(folder)
        memops = Reader(folder)
        go_through(memops, build(kind, folder, drawn))
        assert memops.bugs == []
        os.chdir(tmp_path)
        shutil.rmtree(folder)

    monkeypatch.chdir(tmp_path)
    law()


def test_every_command_that_reads_is_gone_through(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    twice = {"daily/2026-05-20.md": "- 2026-05-20T08:00:00Z [note] tea at five\n" * 2}
    memops = Reader(tmp_path)
    go_through(memops, build("xinghebot", tmp_path, twice))
    assert memops.bugs == []
    assert {
        code
        for argv, code in memops.codes.items()
        if argv[0] not in ("view", "extract", "gate", "status")
    } == {0}, memops.codes
    assert memops.used == set(COMMANDS) - OTHERS


def test_a_time_beyond_the_calendar_is_no_time_and_breaks_nothing(memops):
    rows = [{"id": "a", "text": "tea", "kind": "note", "created_at": "9999-12-31T23:59:59Z"}]
    address = f"jsonl:{memops.write('m.jsonl', rows)}"
    assert memops("show", address, "a", *AT)["fades"]["on"] is None or memops.code == 0
    assert instant("0001-01-01T00:00:00+14:00") is None
    assert after(datetime(9999, 12, 31, tzinfo=UTC), 400) == datetime.max.replace(tzinfo=UTC)
    day = memops.folder / "ws" / "daily" / "2026-05-20.md"
    day.parent.mkdir(parents=True)
    day.write_text("- 0001-01-01T00:00:00+14:00 [note] tea\n")
    (found,) = memops("inspect", f"xinghebot:{memops.folder / 'ws'}", *AT)["records"]
    assert (memops.code, found["text"]) == (0, "tea")


def test_a_suite_is_proposed_for_a_store_of_no_records(memops):
    address = f"jsonl:{memops.write('m.jsonl', [])}"
    said = memops("suite", "init", address, "-o", memops.folder / "suite", *AT)
    assert memops.code == 0, said


LAYOUT = ("memory", "daily", "index")
"""Folders that the agents make, too, and count on: one that was made for a file stays."""


def held(address):
    """What a store holds, to the byte: files and folders, or rows with their storage classes."""
    kind, _, place = address.partition(":")
    path = Path(place)
    if kind == "clawseed":
        return dump(path / "memory" / "brain.db")
    if kind == "rsclaw":
        return {name: table.rows for name, table in redb.read(path)[1].tables.items() if table.rows}
    if kind == "parquet":  # rewritten whole, by another writer than the test's
        return open_store(address).read().write_json()
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    kept = [p for p in found if p.is_file() or p.name not in LAYOUT]
    return {str(p): p.read_bytes() if p.is_file() else None for p in kept}


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize("kind", sorted(STORES))
def test_what_is_planned_for_a_tiny_store_is_carried_out_and_comes_undone_to_the_byte(
    kind, examples, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    monkeypatch.delenv("MEMOPS_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    numbers = itertools.count()

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )  # fmt: skip
    @given(STORES[kind])
    def law(drawn):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        memops, address = Reader(folder), build(kind, folder, drawn)
        try:
            there_and_back(memops, address)
        finally:
            shutil.rmtree(folder)

    law()


def there_and_back(memops, address):
    """Plan, apply, apply again, roll back: for the night's rules, then for those of a migration."""
    for words in (["plan"], ["migrate", "--plan-only"]):
        before = held(address)
        plan = memops(words[0], address, *words[1:])
        assert held(address) == before
        if not isinstance(plan, dict) or not plan.get("ops"):
            continue
        done = memops("apply", plan["plan"], "--approve", now=False)
        assert done["state"] == "verified" and not done["wrong"], done
        after = held(address)
        assert memops("apply", plan["plan"], "--approve", now=False)["applied"] == 0
        assert held(address) == after
        back = memops("rollback", done["run"], now=False)
        assert back["skipped"] == [] and held(address) == before, back
    assert memops.bugs == []
