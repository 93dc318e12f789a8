"""Purging: after it, no file of the store or of memops holds a byte of the text."""

import contextlib
import html
import io
import json
import shutil
import sqlite3

import polars as pl
import pytest

from memops import snapshot
from memops.cli import run
from memops.stores import open_store
from tests.stores.samples import BUILDERS, build

GONE = ("Rosa prefers tea to coffee", "用户的猫叫麻薯")
KEPT = "Ines runs the print workshop"
SLOW = ("parquet", "xinghebot")
KINDS = [pytest.param(k, marks=[pytest.mark.slow] * (k in SLOW)) for k in BUILDERS]


def spelled(text):
    """The ways in which a file may write it."""
    ways = {text, html.escape(text), json.dumps(text)[1:-1]}
    return [w.encode(c) for w in ways for c in ("utf-8", "utf-16-le", "gb18030")]


def holding(folder, text):
    """Files that hold a text, Parquet files read as tables since they are compressed."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data += json.dumps(
                pl.read_parquet(path).to_dicts(), default=str, ensure_ascii=False
            ).encode()
        if any(way in data for way in spelled(text)):
            found.append(str(path.relative_to(folder)))
    return found


def ids_of(store, *texts):
    records = store.read()
    return records.filter(pl.col("text").is_in(texts))["id"].to_list()


def a_night(memops, address):
    """Two snapshots, a plan that is carried out, a report of each."""
    taken = memops("snapshot", address)
    done = memops("nightly", address, "--approve")
    memops("report", taken["snapshot"])
    return taken, done


@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_changes_no_byte_and_after_a_purge_that_does_the_same_no_file_holds_the_text(
    memops, tmp_path, kind
):
    home = tmp_path / "home"
    home.mkdir()
    store = build(kind, home)
    a_night(memops, store.address)
    assert memops.code == 0, memops.err
    before = open_store(store.address).read()
    assert all(holding(tmp_path, text) for text in (*GONE, KEPT))
    assert holding(memops.state, GONE[0])
    files, ids = tree(tmp_path), ids_of(store, *GONE)
    shown = memops("purge", store.address, *ids, "--dry-run")
    assert (memops.code, shown["dry_run"], tree(tmp_path) == files) == (0, True, True)
    said = memops("purge", store.address, *ids)
    assert memops.code == 0, memops.err
    assert {**shown, "dry_run": False} == said
    assert said["places"]["snapshots"] == 2 and "snapshots removed" not in said["places"]
    assert said["removed"] == 2 and said["places"]["store"] == 2
    assert (said["same_text"], said["elsewhere"]) == ([], [])
    assert [holding(tmp_path, text) for text in GONE] == [[], []]
    left = open_store(store.address).read()
    assert sorted(left["text"]) == sorted(t for t in before["text"] if t not in GONE)
    done = memops("nightly", store.address)
    assert memops.code == 0, done


def test_a_record_that_only_the_overlay_still_has_is_forgotten(memops, tmp_path):
    store = build("openclaw", tmp_path)
    key = ids_of(store, GONE[0])
    memops("forget", store.address, *key)
    assert memops.code == 0, memops.err
    assert holding(tmp_path / "ws", GONE[0]) == []
    assert memops("purge", store.address, *key)["removed"] == 1
    assert holding(tmp_path, GONE[0]) == []


def test_what_says_the_same_is_named_and_other_stores_keep_theirs(memops, tmp_path):
    row = {"kind": "fact", "created_at": "2026-01-01T00:00:00Z"}
    rows = [row | {"id": n, "text": t} for n, t in [("a", "a"), ("b", "a"), ("c", "banana")]]
    mine, theirs = (f"jsonl:{memops.write(name, rows)}" for name in ("mine.jsonl", "theirs.jsonl"))
    own, other = (memops("snapshot", address)["snapshot"] for address in (mine, theirs))
    kept = {
        p: p.read_bytes() for p in (memops.state / "snapshots" / other).rglob("*") if p.is_file()
    }
    said = memops("purge", mine, "a")
    assert said["same_text"] == ["b"]
    assert said["elsewhere"] and all(other in p or theirs_of(p) for p in said["elsewhere"])
    assert {p: p.read_bytes() for p in kept} == kept
    assert memops.code == 3
    assert [memops("check", name)["rows"] for name in (own, other)] == [2, 3]


def theirs_of(path):
    return path.startswith("stores/") or path == "purges.jsonl"


def test_a_purge_that_was_cut_off_is_finished_by_the_next(memops, tmp_path, monkeypatch):
    store = build("clawseed", tmp_path)
    a_night(memops, store.address)
    key = ids_of(store, GONE[1])
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", fails)
        memops("purge", store.address, *key)
    assert memops.code != 0
    assert ids_of(store, GONE[1]) == [] and holding(memops.state, GONE[1])
    assert memops("purge", store.address, *key)["removed"] == 0
    assert memops.code == 0
    assert holding(tmp_path, GONE[1]) == []


def fails(*args, **kwargs):
    raise OSError(5, "Input/output error")


def tree(folder):
    return {
        p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.parent.name != "locks"
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_made_before_a_purge_restores_all_but_what_was_purged(memops, tmp_path, kind):
    home = tmp_path / "home"
    home.mkdir()
    store = build(kind, home)
    taken, _ = a_night(memops, store.address)
    key, was = ids_of(store, GONE[0]), sorted(snapshot_of(memops, taken).records()["text"])
    old = snapshot_of(memops, taken).seal
    memops("purge", store.address, *key)
    assert memops("check")["snapshots"] == 2 and memops.code == 0
    note = snapshot_of(memops, taken).manifest["forgotten"]
    assert [(n["records"], n["was"]) for n in note] == [(1, old)]
    memops("restore", taken["snapshot"])
    assert memops.code == 0, memops.err
    assert sorted(open_store(store.address).read()["text"]) == [t for t in was if t != GONE[0]]


def snapshot_of(memops, taken):
    return snapshot.open_snapshot(memops.state / "snapshots" / taken["snapshot"])


def facts(*texts, **more):
    row = {"kind": "fact", "created_at": "2026-01-01T00:00:00Z", **more}
    return [row | {"id": f"r{n}", "text": text} for n, text in enumerate(texts)]


TWICE = ["The depot opens at seven", "The depot opens at seven", "Marek has the spare key"]


def test_a_run_can_still_be_taken_back_but_for_what_was_purged(memops):
    path = memops.write("m.jsonl", facts(*TWICE))
    memops("pin", f"jsonl:{path}", "r1", "r2")
    run = memops("runs")[0]["run"]
    memops("purge", f"jsonl:{path}", "r2")
    back = memops("rollback", run)
    assert (memops.code, back["state"], back["applied"]) == (0, "rolled-back", 1)
    assert open_store(f"jsonl:{path}").read().select("id", "pinned").rows() == [
        ("r0", False),
        ("r1", False),
    ]


def test_a_plan_that_names_others_stands_and_one_that_names_what_was_purged_goes(memops):
    path = memops.write("m.jsonl", facts(*TWICE))
    taken = memops("snapshot", f"jsonl:{path}")["snapshot"]
    merge = memops("plan", taken, "--rule", "merge_exact")["plan"]
    pin = memops("pin", f"jsonl:{path}", "r2", "--plan-only")["plan"]
    said = memops("purge", f"jsonl:{path}", "r2")
    assert said["places"]["plans"] == 1
    assert not (memops.state / "plans" / pin).exists()
    done = memops("apply", merge, "--approve")
    assert (memops.code, done["applied"]) == (0, 1)


def test_a_plan_that_was_carried_out_can_be_read_and_not_carried_out_again(memops):
    path = memops.write("m.jsonl", facts(*TWICE))
    memops("pin", f"jsonl:{path}", "r1", "r2")
    run = memops("runs")[0]
    memops("purge", f"jsonl:{path}", "r2")
    memops("rollback", run["run"])
    assert memops("show", f"jsonl:{path}", "r1")["history"][0]["rule"] == "pin"
    memops("report", run["run"])
    assert memops.code == 0
    said = memops("apply", run["plan"])
    assert (memops.code, "purged" in said["message"]) == (22, True)


def test_the_file_from_which_clawseed_starts_again_loses_the_entry_whatever_it_says(
    memops, tmp_path
):
    store = build("clawseed", tmp_path)
    key = ids_of(store, GONE[0])
    name = open_store(store.address).read(key)["key"][0]
    view = tmp_path / "ws" / "MEMORY_SNAPSHOT.md"
    head = "# ClawSeed Memory Snapshot\n\n---\n\n"
    entry = "### `{}`\n\n{}\n\n*Created: x | Updated: y*\n\n---\n\n"
    other = entry.format("other", "Marek has the spare key")
    view.write_text(head + entry.format(name, "an older wording of it") + other)
    memops("purge", store.address, *key)
    assert (memops.code, view.read_text()) == (0, head + other)


def test_golden_queries_and_proposals_made_of_it_go(memops, tmp_path):
    store = build("jsonl", tmp_path)
    memops("suite", "init", store.address)
    memops("suite", "review", "jsonl", "--rest", "keep")
    suite = tmp_path / "evals" / "jsonl"
    asked = [json.loads(line) for line in (suite / "queries.jsonl").read_text().splitlines()]
    gone = [q for q in asked if list(q.get("relevant") or ()) == ["r10"]]
    assert len(gone) == 1 and holding(suite, GONE[0])
    said = memops("purge", store.address, "r10")
    left = [json.loads(line) for line in (suite / "queries.jsonl").read_text().splitlines()]
    assert left == [q for q in asked if q not in gone]
    assert (memops.code, holding(suite, GONE[0])) == (0, [])
    assert said["places"]["suite lines"] == 2 * len(gone)


def test_a_snapshot_without_its_manifest_keeps_nothing_and_is_nobody_elses(memops, tmp_path):
    store = build("clawseed", tmp_path)
    one, two = (memops("snapshot", store.address)["snapshot"] for _ in range(2))
    (memops.state / "snapshots" / one / "manifest.json").unlink()
    said = memops("purge", store.address, *ids_of(store, GONE[0]))
    assert (memops.code, said["elsewhere"], said["places"]["remnants"]) == (0, [], 1)
    assert holding(tmp_path, GONE[0]) == []
    assert memops("check")["snapshots"] == 1
    assert (memops.code, memops("check", two)["snapshot"]) == (0, two)


def test_a_snapshot_that_cannot_be_told_apart_is_named_and_ends_with_3(memops, tmp_path):
    store = build("jsonl", tmp_path)
    taken = memops("snapshot", store.address)["snapshot"]
    (memops.state / "snapshots" / taken / "manifest.json").write_text("{")
    said = memops("purge", store.address, *ids_of(store, GONE[0]))
    assert memops.code == 3
    assert f"snapshots/{taken}/raw/records.jsonl" in said["elsewhere"]


def test_a_damaged_snapshot_goes_whole_and_another_is_taken_at_once(memops, tmp_path):
    store = build("jsonl", tmp_path)
    taken = memops("snapshot", store.address)["snapshot"]
    raw = memops.state / "snapshots" / taken / "raw" / "records.jsonl"
    raw.write_bytes(raw.read_bytes().replace(b"Marek", b"Merak"))
    said = memops("purge", store.address, *ids_of(store, GONE[0]))
    assert (memops.code, said["places"]["snapshots removed"]) == (0, 1)
    there = [p.name for p in (memops.state / "snapshots").iterdir()]
    assert there == [said["snapshot"]] and said["snapshot"] != taken
    assert memops("check", said["snapshot"])["rows"] == 11
    assert holding(tmp_path, GONE[0]) == []


def test_a_page_that_was_written_elsewhere_is_named_and_left_to_its_owner(memops, tmp_path):
    path = memops.write("m.jsonl", facts(*TWICE))
    plan = memops("plan", f"jsonl:{path}")["plan"]
    page = tmp_path / "page.html"
    memops("report", plan, "-o", page)
    assert b"The depot opens at seven" in page.read_bytes()
    said = memops("purge", f"jsonl:{path}", "r0", "r1")
    assert (memops.code, said["elsewhere"]) == (3, [str(page)])


def test_a_word_that_others_hold_by_chance_takes_nothing_else_away(memops):
    path = memops.write("m.jsonl", facts("ok", *TWICE))
    memops("nightly", f"jsonl:{path}", "--approve")
    before = {p for p in memops.state.rglob("*") if p.is_file()}
    said = memops("purge", f"jsonl:{path}", "r0")
    assert (memops.code, said["elsewhere"], said["same_text"]) == (0, [], [])
    gone = {p.name for p in before if not p.exists()}
    assert {
        name for name in gone if not name.startswith(("pairs-", "clean-", "quiet-", "sought-"))
    } <= {"report.html"}


def test_what_a_record_said_under_ids_that_it_had_before_is_forgotten(memops, tmp_path):
    store = build("openclaw", tmp_path)
    memops("snapshot", store.address)
    (old,) = ids_of(store, GONE[0])
    memops("edit", store.address, old, "--text", "Rosa drinks water")
    (new,) = ids_of(open_store(store.address), "Rosa drinks water")
    assert new != old and holding(memops.state, GONE[0])
    memops("purge", store.address, new)
    assert memops.code == 0
    assert [holding(tmp_path, text) for text in (GONE[0], "Rosa drinks water")] == [[], []]


def test_a_store_that_is_in_use_is_left_as_it_was(memops, tmp_path):
    store = build("clawseed", tmp_path)
    memops("snapshot", store.address)
    ids, before = ids_of(store, GONE[0]), tree(tmp_path / "state")
    with contextlib.closing(sqlite3.connect(tmp_path / "ws" / "memory" / "brain.db")) as agent:
        agent.execute("SELECT count(*) FROM memories").fetchone()
        memops("purge", store.address, *ids)
    assert (memops.code, tree(tmp_path / "state") == before) == (11, True)
    memops("purge", store.address, *ids)
    assert (memops.code, holding(tmp_path, GONE[0])) == (0, [])


def test_a_purge_of_what_was_purged_is_done_already(memops, tmp_path):
    store = build("jsonl", tmp_path)
    memops("purge", store.address, "r10")
    said = memops("purge", store.address, "r10")
    assert (memops.code, said["removed"], said["places"]) == (0, 0, {})


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("answer", "left"), [("n\n", 12), ("y\n", 11)])
def test_on_a_terminal_it_shows_what_would_go_and_asks(memops, tmp_path, monkeypatch, answer, left):
    store = build("jsonl", tmp_path)
    memops("snapshot", store.address)
    out = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stdout", out)
    code = run(["--state", str(memops.state), "purge", store.address, "r10"])
    monkeypatch.undo()
    shown = out.getvalue().split("Forget this for good?")[0]
    assert "1 record would be purged; nothing was changed" in shown and "snapshots" in shown
    assert store.read().height == left
    assert code == (0 if left == 11 else 130)


def test_an_unknown_id_purges_nothing(memops, tmp_path):
    store = build("jsonl", tmp_path)
    before = (tmp_path / "m.jsonl").read_bytes()
    said = memops("purge", store.address, "r01", "nobody")
    assert (memops.code, said["message"]) == (
        2,
        f"{store.address}: no record 'nobody'; nothing was purged",
    )
    assert (tmp_path / "m.jsonl").read_bytes() == before


MERGED = [
    {"id": "keeper", "text": "Mo waters the ferns on Sunday", "key": "ferns"},
    {"id": "twin", "text": "On Sunday the ferns get Mo's water", "superseded_by": "keeper"},
    {"id": "older", "text": "Mo waters the ferns on Friday", "superseded_by": "twin"},
    {"id": "other", "text": "The lift is being repaired"},
]


def test_what_stood_behind_a_purged_record_is_named_and_the_next_plan_shows_it_again(memops):
    path = memops.write("m.jsonl", MERGED)
    shown = memops("purge", f"jsonl:{path}", "keeper", "--dry-run")
    assert (memops.code, shown["absorbed"]) == (0, ["older", "twin"])
    said = memops("purge", f"jsonl:{path}", "keeper")
    assert (memops.code, said["absorbed"]) == (3, ["older", "twin"])
    plan = memops("plan", f"jsonl:{path}", "--rule", "repair_links")
    memops("apply", plan["plan"], "--approve")
    left = open_store(f"jsonl:{path}").read().select("id", "superseded_by").rows()
    assert left == [("older", "twin"), ("other", None), ("twin", None)]
    assert memops("purge", f"jsonl:{path}", "keeper")["absorbed"] == [] and memops.code == 0


def test_what_stood_behind_it_goes_too_where_that_is_asked_for(memops, tmp_path):
    path = memops.write("m.jsonl", MERGED)
    memops("snapshot", f"jsonl:{path}")
    said = memops("purge", f"jsonl:{path}", "keeper", "--absorbed")
    assert (memops.code, said["removed"], said["absorbed"]) == (0, 3, [])
    assert [holding(tmp_path, row["text"]) for row in MERGED[:3]] == [[], [], []]
    assert open_store(f"jsonl:{path}").read()["id"].to_list() == ["other"]


def test_a_record_is_named_by_its_key_or_how_it_begins_and_an_id_stands_for_itself_first(memops):
    path = memops.write("m.jsonl", [*MERGED, {"id": "kee", "text": "The gate sticks in the rain"}])
    assert memops("purge", f"jsonl:{path}", "kee")["removed"] == 1
    assert (memops("purge", f"jsonl:{path}", "kee")["removed"], memops.code) == (0, 0)
    said = memops("purge", f"jsonl:{path}", "o")
    assert (memops.code, said["message"]) == (
        2,
        f"jsonl:{path}: 'o' names 2 records; nothing was purged",
    )
    assert memops("purge", f"jsonl:{path}", "ot")["removed"] == 1
    assert memops("purge", f"jsonl:{path}", "ferns", "--absorbed")["removed"] == 3
    assert (memops("purge", f"jsonl:{path}", "ferns")["removed"], memops.code) == (0, 0)
    assert open_store(f"jsonl:{path}").read().is_empty()


def test_a_purge_by_a_key_that_was_cut_off_is_finished_by_the_same_words(
    memops, tmp_path, monkeypatch
):
    path = memops.write("m.jsonl", MERGED)
    memops("snapshot", f"jsonl:{path}")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", fails)
        memops("purge", f"jsonl:{path}", "ferns", "--absorbed")
    assert memops.code != 0 and holding(memops.state, MERGED[0]["text"])
    memops("purge", f"jsonl:{path}", "ferns")
    assert memops.code == 0
    assert [holding(tmp_path, row["text"]) for row in MERGED[:3]] == [[], [], []]
