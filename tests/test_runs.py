"""Runs: the states that a person is shown, what counts towards a night, and what a failure leaves."""

import json
import os
from datetime import timedelta

import pytest

from memops import failpoints, snapshot
from memops.state import earlier, runs
from memops.state.sources import clock
from memops.stores import open_store

NOW = "2026-06-01T00:00:00Z"


@pytest.fixture
def planned(memops, twins):
    path = memops.write("m.jsonl", twins)
    made = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)
    return memops, path, made["plan"]


def reviewed(memops, plan, keep):
    """Leave these changes of a plan; returns its name."""
    file = memops.state / "plans" / plan / "ops.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["seq"] in keep]
    file.write_text("".join(kept), encoding="utf-8")
    return plan


def fail(memops, monkeypatch, spec, *argv):
    failpoints.passed.clear()
    with monkeypatch.context() as patched:
        patched.setenv("MEMOPS_FAIL", spec)
        return memops(*argv)


def states(memops):
    return [(r["run"], r["state"]) for r in memops("runs")]


def test_a_plan_is_shown_in_every_state_that_it_goes_through(planned, monkeypatch):
    memops, _, plan = planned
    run = f"{plan}-1"
    assert states(memops) == [(None, "planned")]
    fail(memops, monkeypatch, "run-begun:1:enospc", "apply", plan, "--approve")
    assert (memops.code, states(memops)) == (26, [(run, "approved")])
    fail(memops, monkeypatch, "batch-written:1:raise", "apply", plan, "--approve")
    assert states(memops) == [(run, "applying")]
    fail(memops, monkeypatch, "journal-done:3:raise", "apply", plan, "--approve")
    assert states(memops) == [(run, "applied")]
    assert memops("resume", run)["state"] == "verified"
    assert states(memops) == [(run, "verified")]
    fail(memops, monkeypatch, "reverted-batch:1:raise", "rollback", run)
    assert states(memops) == [(run, "rolling-back")]
    memops("rollback", run)
    assert (memops.code, states(memops)) == (0, [(run, "rolled-back")])


@pytest.mark.parametrize("way", ["apply", "rollback"])
def test_a_device_that_fails_leaves_a_run_that_needs_attention_and_keeps_its_direction(
    planned, monkeypatch, way
):
    memops, path, plan = planned
    before, run = path.read_bytes(), f"{plan}-1"
    if way == "rollback":
        memops("apply", plan, "--approve")
        fail(memops, monkeypatch, "reverted-batch:1:eio", "rollback", run)
    else:
        fail(memops, monkeypatch, "batch-written:1:eio", "apply", plan, "--approve")
    assert (memops.code, states(memops)) == (26, [(run, "needs-attention")])
    end = memops("resume", run)["state"]
    assert end == ("verified" if way == "apply" else "rolled-back")
    assert (path.read_bytes() == before) == (way == "rollback")


@pytest.mark.parametrize(
    "moment, harm",
    [("batch-written:1:raise", "deleted")]
    + [("overlay-write:1:raise", harm) for harm in ("deleted", "emptied", "cut", "thinned")],
)
def test_a_run_that_was_cut_off_is_not_taken_back_without_all_of_its_undo(
    planned, monkeypatch, harm, moment
):
    memops, path, plan = planned
    fail(memops, monkeypatch, moment, "apply", plan, "--approve")
    run = runs.Run(memops.state / "runs" / f"{plan}-1")
    applied, lines = path.read_bytes(), run.undo.path.read_bytes().splitlines(keepends=True)
    if harm == "deleted":
        run.undo.path.unlink()
    else:
        left = {"emptied": [], "cut": lines[:-1], "thinned": lines[:5] + lines[6:]}[harm]
        run.undo.path.write_bytes(b"".join(left))
    said = memops("rollback", run.id)
    assert (memops.code, path.read_bytes()) == (20, applied)
    assert str(run.undo.path) in said["message"] and "nothing was taken back" in said["message"]
    assert f"memops restore {run.header['snapshot']}" in said["hint"]
    assert (memops("resume", run.id)["state"], memops.code) == ("verified", 0)
    assert (memops("rollback", run.id)["code"], path.read_bytes()) == (20, applied)


@pytest.mark.parametrize("moment", ["overlay-write:1:raise", None])
def test_no_second_run_is_started_over_one_that_lost_its_header(planned, monkeypatch, moment):
    memops, path, plan = planned
    fail(memops, monkeypatch, moment or "none:1:raise", "apply", plan, "--approve")
    run, applied = memops.state / "runs" / f"{plan}-1", path.read_bytes()
    (run / "run.json").unlink()
    for argv in (["apply", plan, "--approve"], ["resume", run.name], ["rollback", run.name]):
        said = memops(*argv)
        assert (memops.code, path.read_bytes()) == (20, applied)
        assert str(run / "run.json") in said["message"]
    assert states(memops) == [(run.name, "damaged")]
    assert [p.name for p in run.parent.iterdir()] == [run.name]


def test_a_folder_that_a_process_died_over_before_its_run_began_is_no_run(planned, monkeypatch):
    memops, _, plan = planned
    fail(memops, monkeypatch, "file-renamed:2:raise", "apply", plan, "--approve")
    folder = memops.state / "runs" / f"{plan}-1"
    assert sorted(p.name for p in folder.iterdir()) == ["overlay.parquet", "undo.jsonl"]
    assert states(memops) == [(None, "planned")]
    assert memops("apply", plan, "--approve")["state"] == "verified"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_resumed_run_writes_its_records_anew(planned, monkeypatch):
    memops, _, plan = planned
    run = runs.Run(memops.state / "runs" / f"{plan}-1")
    fail(memops, monkeypatch, "batch-written:1:eio", "apply", plan, "--approve")
    before = {p.path.name: (p.path.stat().st_ino, p.entries()) for p in (run.journal, run.undo)}
    assert before["undo.jsonl"][1]
    memops("resume", run.id)
    for after in (run.journal, run.undo):
        inode, entries = before[after.path.name]
        assert after.path.stat().st_ino != inode
        assert after.entries()[: len(entries)] == entries
        assert os.stat(after.path).st_mode & 0o777 == 0o600


def test_plans_that_are_applied_within_a_night_count_together(memops, twins):
    path = memops.write("m.jsonl", twins)
    address = f"jsonl:{path}"

    def next_plan(*seqs):
        made = memops("plan", address, "--rule", "merge_exact", "--now", NOW)
        return reviewed(memops, made["plan"], seqs)

    first = memops("apply", next_plan(1, 2, 3, 4, 5, 6))
    assert (memops.code, first["applied"]) == (0, 6)
    second = next_plan(1, 2, 3, 4, 5, 6)
    said = memops("apply", second)
    assert memops.code == 23
    assert "6 more did within the last 20 hours; the limit is 10%" in said["message"]
    memops("rollback", first["run"])
    third = memops("apply", next_plan(1, 2, 3, 4, 5, 6))
    assert (memops.code, third["applied"]) == (0, 6)


def test_what_a_person_approved_and_what_is_long_ago_does_not_count(planned):
    memops, path, plan = planned
    store = open_store(f"jsonl:{path}").identity()
    run = memops("apply", reviewed(memops, plan, [1, 2, 3]))["run"]
    ago = clock() - timedelta(hours=20)
    counted = earlier.touched_since(ago, store, memops.state)
    assert counted.rows() == [("default", "fact", 3)]
    assert earlier.touched_since(clock() + timedelta(1), store, memops.state).is_empty()
    assert earlier.touched_since(ago, {**store, "path": "elsewhere"}, memops.state).is_empty()
    made = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)
    memops("apply", made["plan"], "--approve")
    assert earlier.touched_since(ago, store, memops.state).rows() == [("default", "fact", 3)]
    memops("rollback", run)
    assert earlier.touched_since(ago, store, memops.state).is_empty()


def test_what_was_written_before_a_crash_counts_as_the_runs_own(planned, monkeypatch):
    memops, path, plan = planned
    fail(memops, monkeypatch, "batch-written:1:raise", "apply", reviewed(memops, plan, [1, 2]))
    (run,) = runs.runs(memops.state)
    assert run.answers() == [] and len(run.undo.entries()) == 2
    assert memops("resume", run.id)["state"] == "verified"
    assert [w["state"] for w in run.answers()] == ["applied", "applied"]
    since = clock() - timedelta(hours=20)
    counted = earlier.touched_since(since, open_store(f"jsonl:{path}").identity(), memops.state)
    assert counted.rows() == [("default", "fact", 2)]


def test_a_plan_whose_snapshot_is_gone_is_refused(planned):
    memops, path, plan = planned
    taken = snapshot.latest(memops.state, open_store(f"jsonl:{path}").identity())
    taken.path.rename(memops.folder / "away")
    said = memops("apply", plan, "--approve")
    assert (memops.code, said["hint"]) == (22, "plan again")


def test_what_a_killed_run_left_beside_a_store_goes_with_its_rollback(planned):
    memops, path, plan = planned
    run = memops("apply", plan, "--approve")["run"]
    for name in ("m", "n"):
        (path.parent / f".memops-{name}.jsonl.x1y2.tmp").write_text("what it held")
    memops("rollback", run)
    assert [p.name for p in path.parent.glob(".memops-*")] == [".memops-n.jsonl.x1y2.tmp"]


def test_what_a_rollback_could_not_take_back_is_tried_again(memops):
    key = "ghp_" + "aB3dE6gH9jK2" * 3
    notes = [memops.folder / "ws" / "memory" / f"2026-05-0{day}.md" for day in (1, 2)]
    notes[0].parent.mkdir(parents=True)
    for note in notes:
        note.write_text(f"# {note.stem}\n\n- It is {key}\n", encoding="utf-8")
    before = [note.read_bytes() for note in notes]
    made = memops("plan", "openclaw:ws", "--rule", "redact_secrets", "--now", NOW)
    run = memops("apply", made["plan"], "--approve", "--now", NOW)["run"]
    away = notes[1].with_suffix(".away")
    notes[1].rename(away)
    assert len(memops("rollback", run)["skipped"]) == 1 and memops.code == 25
    away.rename(notes[1])
    again = memops("rollback", run)
    assert (memops.code, again["applied"], again["skipped"]) == (0, 1, [])
    assert [note.read_bytes() for note in notes] == before
    assert memops("rollback", run)["applied"] == 0 and memops.code == 0


def test_a_rollback_rejects_what_its_run_did_and_not_what_it_passed_over(planned):
    memops, path, plan = planned
    was = path.read_text(encoding="utf-8")
    changed = memops("explain", plan, "2")["id"]
    rows = [json.loads(line) for line in was.splitlines()]
    rows = [row | {"text": row["text"] + " now"} if row["id"] == changed else row for row in rows]
    memops.write("m.jsonl", rows)
    run = memops("apply", plan, "--approve")
    assert [one["id"] for one in run["skipped"]] == [changed]
    assert memops("rollback", run["run"], "--only", "2")["seqs"] == []
    back = memops("rollback", run["run"])
    assert 2 not in back["seqs"] and len(back["seqs"]) == run["applied"]
    path.write_text(was, encoding="utf-8")
    again = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)
    assert (again["ops"], memops("explain", again["plan"], "1")["id"]) == (1, changed)


def test_a_store_whose_only_run_a_device_failed_is_told_until_it_is_gone_on_with(
    planned, monkeypatch
):
    memops, path, plan = planned
    fail(memops, monkeypatch, "batch-written:1:enospc", "apply", plan, "--approve")
    assert memops.code == 26
    (row,) = memops("status")
    said = (row["store"], row["cut_off"], row["unfinished"], row["state"])
    assert (memops.code, *said) == (32, f"jsonl:{path}", [f"{plan}-1"], 1, "never")
    memops("resume", f"{plan}-1")
    assert (memops.code, memops("status")) == (0, [])


def test_what_a_file_of_notes_lost_comes_back_at_once(memops, monkeypatch):
    """However much it is: a part of it would leave the rest without the places that it stood at."""
    day = "".join(
        f"## Field {n}\n\n- Drained by hand, {n} posts lean towards the ditch\n- Otto marked them\n\n"
        for n in range(14)
    )
    text = f"# 2026-05-01\n\n{day}{day}## Evening\n\nIda came by.\n\n{day}"
    note = memops.folder / "ws" / "memory" / "2026-05-01.md"
    note.parent.mkdir(parents=True)
    note.write_text(text, encoding="utf-8")
    monkeypatch.setattr(runs, "_AT_ONCE", 5)
    made = memops("plan", "openclaw:ws", "--rule", "merge_exact", "--now", NOW)
    memops("apply", made["plan"], "--approve")
    run = runs.find_run(f"{made['plan']}-1", memops.state)
    assert [len(batch) for batch in runs.batches_of_undo(run)] == [56]
    memops("rollback", run.id)
    assert note.read_text(encoding="utf-8") == text
