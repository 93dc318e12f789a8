"""Formats: what an earlier memops left is read, what a later one left is refused in a sentence.

`tests/states/v1.tar.gz` is a state folder as format 1 wrote it: a store of eighty records (kept
beside it), a snapshot, a plan, a run that was taken back and one that was cut off.
`tests/states/clawseed/` has, for each format of runs, a clawseed store beside the run that was cut
off in it (three of its transactions are committed, of a fourth there is only the undo), and the
store as it was before. Keep them, and add another when a format changes.
"""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from memops import files, snapshot
from memops.apply.recovery import unfinished
from memops.state import planfile, runs
from tests.stores.clawseed_db import dump, in_step

STATES = Path(__file__).parent / "states"


@pytest.fixture(params=sorted(STATES.glob("*.tar.gz")), ids=lambda p: p.name.split(".")[0])
def old(request, memops):
    shutil.unpack_archive(request.param, memops.folder)
    return memops


def one(folder):
    (found,) = sorted(p for p in folder.iterdir() if p.is_dir() and p.name[0] != ".")
    return found


def test_the_state_of_an_earlier_memops_is_read(old):
    snapshot = one(old.state / "snapshots")
    said = old("check", snapshot.name)
    assert (old.code, said["rows"], said["ok"]) == (0, 80, True)
    runs = {run["run"]: run["state"] for run in old("runs") if run["run"]}
    assert sorted(runs.values()) == ["applying", "rolled-back"]
    (cut,) = unfinished(old.state)
    assert runs[cut.id] == "applying"
    assert [night["applied"] for night in old("history")] == [0]
    assert [row["state"] for row in old("status", "--now", "2026-06-01T13:00:00Z")] == ["failed"]
    planned = one(old.state / "plans").name
    made = old("plan", snapshot.name, "--now", "2026-06-01T12:00:00Z")
    assert (old.code, made["ops"]) == (0, 40)
    said = old("report", planned, "-o", str(old.folder / "r.html"))
    assert old.code == 0, said


def test_a_plan_of_format_one_is_read_and_is_not_carried_out(old):
    (cut,) = unfinished(old.state)
    line = json.loads((one(old.state / "plans") / "ops.jsonl").read_text().split("\n")[0])
    told = old("explain", one(old.state / "plans").name, line["id"])
    assert told["changes"][0]["reason"] == line["reason"]
    assert told["changes"][0]["code"] == "plain.said"
    said = old("resume", cut.id)
    assert (old.code, said["hint"]) == (22, f"take the run back: memops rollback {cut.id}")
    assert "an earlier memops made it (format 1)" in said["message"]


@pytest.mark.parametrize(
    "made", sorted((STATES / "clawseed").glob("*.tar.gz")), ids=lambda p: p.name[:2]
)
def test_a_run_that_an_earlier_memops_left_in_clawseed_is_taken_back_exactly(memops, made):
    shutil.unpack_archive(made, memops.folder)
    db, run = memops.folder / "ws" / "memory" / "brain.db", one(memops.state / "runs")
    moved(run / "run.json", db)
    before = dump(memops.folder / "before" / "brain.db")
    assert len(before.keys() ^ dump(db).keys()) == 3
    done = memops("rollback", run.name)
    assert (memops.code, done["applied"], done["already"]) == (0, 9, 3)
    assert dump(db) == before and in_step(db)


def moved(path, db):
    """Have a run's header say that its store is where it was unpacked."""
    held = json.loads(path.read_bytes())
    held["address"], held["store"]["path"] = f"clawseed:{db.parent.parent}", str(db)
    resealed(path, held)


def resealed(path, held):
    if held.pop("sha256", None):
        held["sha256"] = hashlib.sha256(files.json_bytes(held)).hexdigest()
    path.write_bytes(files.json_bytes(held))


@pytest.mark.parametrize(
    ("name", "argv", "known"),
    [
        ("snapshots/*/manifest.json", ["check", "{}"], snapshot.FORMAT),
        ("plans/*/plan.json", ["apply", "{}"], planfile.FORMAT),
        ("runs/*/run.json", ["resume", "{}"], runs.FORMAT),
    ],
)
def test_what_a_later_memops_wrote_is_refused_in_a_sentence(old, name, argv, known):
    path = sorted(old.state.glob(name))[0]
    resealed(path, json.loads(path.read_bytes()) | {"format": known + 1})
    before = sorted(p.read_bytes() for p in old.state.rglob("*") if p.is_file())
    said = old(*(word.format(path.parent.name) for word in argv))
    assert old.code == 20
    limit = f"a newer memops wrote it (format {known + 1}; this one reads up to {known})"
    assert limit in said["message"]
    assert "upgrade" in said["hint"]
    assert sorted(p.read_bytes() for p in old.state.rglob("*") if p.is_file()) == before
