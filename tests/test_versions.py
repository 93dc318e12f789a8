"""Formats: what an earlier or a later memops left in the state folder is refused in a sentence."""

import hashlib
import json

import pytest

from memops import files, snapshot_draft
from memops.state import planfile, runs

FILES = {
    "snapshots/*/manifest.json": (["check", "{}"], snapshot_draft.FORMAT),
    "plans/*/plan.json": (["apply", "{}"], planfile.FORMAT),
    "runs/*/run.json": (["resume", "{}"], runs.FORMAT),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("by", "who"), [(-1, "an earlier"), (1, "a newer")])
def test_what_another_memops_wrote_is_refused_and_left_as_it_is(prepared, name, by, who):
    memops, _ = prepared(a_night)
    argv, known = FILES[name]
    path = next(memops.state.glob(name))
    resealed(path, known + by)
    before = sorted(p.read_bytes() for p in memops.state.rglob("*") if p.is_file())
    said = memops(*(word.format(path.parent.name) for word in argv))
    assert memops.code == 20
    assert f"{who} memops wrote it (format {known + by}; this one reads {known})" in said["message"]
    assert "give --state another folder" in said["hint"]
    assert ("upgrade" in said["hint"]) is (by > 0)
    assert sorted(p.read_bytes() for p in memops.state.rglob("*") if p.is_file()) == before


def a_night(memops):
    path = memops.write("store.jsonl", [{"id": i, "text": "Lives in Lisbon."} for i in "ab"])
    made = memops("plan", f"jsonl:{path}")
    assert memops("apply", made["plan"], "--approve")["applied"] == 1


def resealed(path, made):
    """Have a file say that it is of a format."""
    held = json.loads(path.read_bytes()) | {"format": made}
    if held.pop("sha256", None):
        held["sha256"] = hashlib.sha256(files.json_bytes(held)).hexdigest()
    path.write_bytes(files.json_bytes(held))
