"""Errors as a table: what goes wrong, the exit code, and what the sentence and its hint name."""

import contextlib
import json
import os
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from memops import cli, locks, snapshot
from memops.stores import open_store
from tests.sealing import sealed

NOW = "2026-06-01T00:00:00Z"


class Bench:
    """A folder with a store of twins, and what the scenarios do to it."""

    def __init__(self, memops, twins):
        self.memops, self.twins = memops, twins
        self.path = memops.write("m.jsonl", twins)
        self.store, self.state, self.folder = f"jsonl:{self.path}", memops.state, memops.folder

    def planned(self, rule="merge_exact"):
        return self.memops("plan", self.store, "--rule", rule, "--now", NOW)["plan"]

    def ran(self):
        return self.memops("apply", self.planned(), "--approve")["run"]

    def taken(self):
        return self.memops("snapshot", self.store)["snapshot"]

    def rotten(self, *parts):
        path = self.state.joinpath(*parts)
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-3])
        return path

    def file(self, name, data="x"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


def edited_plan(bench):
    plan = bench.planned()
    ops = bench.state / "plans" / plan / "ops.jsonl"
    ops.write_text(
        ops.read_text(encoding="utf-8").replace('"merge"', '"tombstone"', 1), encoding="utf-8"
    )
    return "apply", plan, "--approve"


def expired_plan(bench):
    plan = bench.planned()
    sealed(bench.state / "plans" / plan, "2026-01-01T00:00:00+00:00")
    return "apply", plan, "--approve"


def foreign_snapshot(bench):
    plan, name = bench.planned(), next((bench.state / "snapshots").iterdir()).name
    (bench.state / "snapshots" / name).rename(bench.folder / "away")
    return "apply", plan, "--approve"


def no_table(bench):
    path = bench.file("ws/memory/brain.db", b"")
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE other(x)")
    return "snapshot", f"clawseed:{bench.folder / 'ws'}"


def shrunk(bench):
    bench.taken()
    bench.memops.write("m.jsonl", bench.twins[:40])
    return "snapshot", bench.store


def rotten_run(bench):
    run = bench.ran()
    bench.rotten("runs", run, "undo.jsonl")
    return "rollback", run


def no_undo(bench):
    from memops.state.runs import find_run

    run = bench.ran()
    find_run(run, bench.state).forget_undo()
    return "rollback", run


def cut_snapshot(bench):
    name = bench.taken()
    (bench.state / "snapshots" / name / "manifest.json").unlink()
    return "check", bench.state / "snapshots" / name


def other_kind(kind):
    """A snapshot of a table that is to be put into a store of another kind."""
    return lambda bench: ("restore", bench.taken(), "--to", f"{kind}:{bench.folder / 'new'}")


def lost_predecessor(bench):
    import shutil

    first, second = bench.taken(), bench.taken()
    shutil.rmtree(bench.state / "snapshots" / first)
    return "check", second


def strange_purge(bench):
    return "purge", bench.store, "nobody"


def unreadable_state(bench):
    bench.file("state", "in the way")
    return "snapshot", bench.store


def looked_at(make):
    """The same, when a command that only reads comes upon it."""
    return lambda bench: make(bench) and ("runs",)


def wide_state(bench):
    bench.state.mkdir()
    bench.state.chmod(0o777)
    return ("runs",)


def rotten_file(*parts, then):
    def make(bench):
        name = bench.taken()
        bench.rotten("snapshots", name, *parts)
        return then, name

    return make


def unwritable(bench):
    name = bench.taken()
    manifest = bench.state / "snapshots" / name / "manifest.json"
    manifest.chmod(0o600)
    manifest.write_text(manifest.read_text().replace('"kind"', '"\\ud800"', 1))
    return "check", name


def table(line, kind="jsonl"):
    def make(bench):
        rows = "".join(json.dumps(row) + "\n" for row in bench.twins[:2])
        return "plan", f"{kind}:{bench.file('t.' + kind, rows + line)}"

    return make


def settings(text, *argv):
    def make(bench):
        bench.file("memops.toml", text)
        return argv or ("runs",)

    return make


def plain(*argv):
    """Arguments as they are; STORE is the store, DIR the folder."""
    return lambda bench: [
        str(a).replace("STORE", bench.store).replace("DIR", str(bench.folder)) for a in argv
    ]


SCENARIOS = {
    # usage and configuration
    "an unknown command": (plain("frobnicate"), 2, ["frobnicate"]),
    "an unknown option": (plain("plan", "STORE", "--sideways"), 2, ["--sideways"]),
    "a missing argument": (plain("plan"), 2, ["STORE"]),
    "an unknown rule, almost right": (plain("plan", "STORE", "--rule", "merge_exat"), 2, ["merge_exat", "merge_exact"]),
    "an unknown kind of store": (plain("snapshot", "mongo:x"), 2, ["mongo", "clawseed"]),
    "an instant that is none": (plain("plan", "STORE", "--now", "昨天"), 2, ["昨天"]),
    "an instant without a zone": (plain("plan", "STORE", "--now", "2026-06-01T00:00:00"), 2, ["zone"]),
    "a settings file that is not there": (plain("--config", "absent.toml", "runs"), 2, ["absent.toml"]),
    "a setting, almost right": (settings("[policy.decay]\nhalf_live_days = 3\n"), 2, ["half_life_days"]),
    "a setting of another type": (settings("[policy.limits]\nshare = '全部'\n"), 2, ["line 2", "share", "number"]),
    "a negative setting": (settings("[policy.limits]\nrecords = -1\n"), 2, ["line 2", "records", "greater than or equal to 0"]),
    "settings that are no TOML": (settings("not toml"), 2, ["memops.toml", "line 1"]),
    "an unknown table of settings": (settings("[polity]\n"), 2, ["polity", "policy"]),
    "a store without an address": (settings("[stores.a]\nsuite = 'x'\n"), 2, ["stores.a", "address"]),
    "stores that are no table": (settings("stores = 3\n"), 2, ["stores", "table"]),
    "an import whose fields are no table": (settings('[import.a]\npath = "x"\nfields = 3\n'), 2, ["import.a", "fields"]),
    "no store for the night": (plain("nightly"), 2, ["memops.toml"]),
    "an unknown run": (plain("resume", "nothing"), 2, ["nothing", "memops runs"]),
    "an unknown snapshot": (plain("check", "nothing"), 2, ["nothing"]),
    "an unknown record": (plain("pin", "STORE", "不存在"), 2, ["不存在", "nothing was changed"]),
    "a purge of an unknown record": (strange_purge, 2, ["nobody", "nothing was purged"]),
    "a change that is none": (plain("edit", "STORE", "00a"), 2, ["nothing to change"]),
    "a weight beyond one": (plain("edit", "STORE", "00a", "--importance", "7"), 2, ["importance", "0 and 1"]),
    "a length of time that is none": (plain("forget", "STORE", "--last", "soon"), 2, ["soon", "7d"]),
    "a snapshot for another kind of store": (other_kind("clawseed"), 2, ["jsonl store", "kind clawseed", "jsonl:PATH"]),
    "a table for another kind of table": (other_kind("parquet"), 2, ["jsonl store", "kind parquet"]),
    "a state folder that others may write to": (wide_state, 2, ["written by others", "chmod go-w"]),
    "an import that is not set up": (plain("import", "cloud", "--to", "STORE"), 2, ["cloud"]),
    "a suite that is not there": (plain("grade", "STORE", "--suite", "nowhere"), 2, ["nowhere"]),
    # stores
    "an address without a kind": (plain("snapshot", "nowhere"), 10, ["KIND:PATH"]),
    "a file that is not there": (plain("plan", "jsonl:DIR/没有.jsonl"), 10, ["没有.jsonl"]),
    "a workspace that is not there": (plain("plan", "clawseed:DIR/ws"), 10, ["ws"]),
    "notes that are not there": (plain("plan", "openclaw:DIR/ws"), 10, ["ws"]),
    "a server that does not answer": (plain("plan", "rsclaw:http://127.0.0.1:9"), 10, ["127.0.0.1"]),
    # what is damaged
    "a line that is no JSON": (table('{"id": "a"'), 20, ["line 3"]),
    "a line with a column of its own": (table('{"id": "a", "colour": "红"}'), 20, ["colour", "extra"]),
    "an id that stands twice": (table('{"id": "00a"}'), 20, ["00a", "twice"]),
    "a line that is no object": (table('["a"]'), 20, ["line 3"]),
    "text that is no Unicode": (table('{"id": "a", "text": "\\ud800"}'), 20, ["text"]),
    "a table that is no Parquet": (table("", "parquet"), 20, ["t.parquet"]),
    "a database without memories": (no_table, 20, ["memories"]),
    "a snapshot whose bytes changed": (rotten_file("raw", "records.jsonl", then="check"), 20, ["raw/records.jsonl has changed"]),
    "planning from such a snapshot": (rotten_file("raw", "records.jsonl", then="plan"), 20, ["records.jsonl"]),
    "restoring such a snapshot": (rotten_file("overlay.parquet", then="restore"), 20, ["overlay.parquet"]),
    "a manifest with text that is no Unicode": (unwritable, 20, ["manifest.json"]),
    "a manifest that was cut": (rotten_file("manifest.json", then="check"), 20, ["manifest.json"]),
    "a snapshot that was cut off": (cut_snapshot, 20, ["no manifest", "take another"]),
    "a snapshot whose predecessor somebody took": (lost_predecessor, 20, ["is missing", "later snapshots"]),
    "a run whose undo was cut": (rotten_run, 20, ["undo.jsonl"]),
    "a store that lost half of its records": (shrunk, 21, ["80", "40", "--accept-shrink"]),
    # plans
    "an unknown plan": (plain("apply", "nothing"), 22, ["nothing", "memops plan"]),
    "a plan with a line changed": (edited_plan, 22, ["ops.jsonl, line 1", "remove lines"]),
    "a plan that has expired": (expired_plan, 22, ["expired", "plan again"]),
    "a plan whose snapshot is gone": (foreign_snapshot, 22, ["snapshot", "plan again"]),
    "a run whose undo copy is past its time": (no_undo, 22, ["past its time", "memops restore"]),
    "a plan beyond the limits": (lambda b: ("apply", b.planned()), 23, ["10%", "--approve"]),
    # the machine
    "a state folder that is a file": (unreadable_state, 26, ["state", "--state DIR"]),
    "reading from such a state folder": (looked_at(unreadable_state), 26, ["state", "--state DIR"]),
}  # fmt: skip


@pytest.fixture
def bench(memops, twins):
    return Bench(memops, twins)


def refused(bench, code, argv, words):
    before = {p: p.read_bytes() for p in bench.folder.glob("*.jsonl")}
    said = bench.memops(*argv)
    assert bench.memops.code == code, (bench.memops.code, bench.memops.err)
    assert said.keys() == {"schema_version", "rc", "code", "message", "hint"}
    assert (said["rc"], said["code"]) == (code, code)
    whole = f"{said['message']} {said['hint']}".replace(f" --state {bench.memops.state}", "")
    assert [word for word in words if str(word) not in whole] == [], said
    assert said["message"] in bench.memops.err and "Traceback" not in bench.memops.err
    assert said["hint"], "an error says what to do next"
    assert {p: p.read_bytes() for p in before} == before


@pytest.mark.parametrize("title", SCENARIOS)
def test_every_error_has_its_code_its_sentence_and_its_hint(bench, title):
    make, code, words = SCENARIOS[title]
    refused(bench, code, make(bench), words)


def test_there_are_at_least_forty_and_none_is_a_bug_of_ours():
    assert len(SCENARIOS) >= 40
    assert 1 not in {code for _, code, _ in SCENARIOS.values()}
    known = {int(word) for word in cli.EPILOG.split() if word.isdigit()}
    assert {code for _, code, _ in SCENARIOS.values()} <= known


def test_a_store_at_work_is_locked_and_the_holder_is_named(bench):
    plan = bench.planned()
    lock = snapshot.lock_path(bench.state, open_store(bench.store).identity())
    with locks.hold(lock):
        refused(bench, 11, ("apply", plan, "--approve", "--lock-timeout", 0), [os.getpid()])


class Refusing(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.end_headers()
        self.wfile.write(b'{"error": "unauthorised"}')

    def log_message(self, *args):
        pass


def test_a_server_that_wants_a_token_is_unauthorised(bench):
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        argv = ("snapshot", f"rsclaw:http://127.0.0.1:{server.server_port}")
        refused(bench, 12, argv, ["401"])
    finally:
        server.shutdown()
        server.server_close()
