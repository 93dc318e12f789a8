"""Hygiene by night: left out within its cadence, and in step with clawseed's own."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memops.state.cadence import is_due

from .stores.clawseed_db import build

NOW = datetime(2026, 6, 1, 2, tzinfo=UTC)


def hygiene(memops, address, hours, *more):
    at = (NOW + timedelta(hours=hours)).isoformat()
    (night,) = memops("nightly", address, "--approve", "--now", at, *more)
    return night["hygiene"].split(":")[0], "demote_faded" in night["by_rule"]


def faded(n):
    stamp = (NOW - timedelta(days=900)).isoformat()
    return {
        "id": f"f{n}",
        "kind": "fact",
        "importance": 0.1,
        "created_at": stamp,
        "text": f"The old office had printer {n}",
    }


def test_a_night_leaves_hygiene_out_for_twelve_hours_unless_asked_and_a_plan_never_does(memops):
    path = memops.write("m.jsonl", [faded(0)])
    address = f"jsonl:{path}"
    assert hygiene(memops, address, 0) == ("due", True)
    path.write_text(path.read_text() + json.dumps(faded(1)) + "\n")
    assert hygiene(memops, address, 11) == ("left out", False)
    plan = memops("plan", address, "--now", (NOW + timedelta(hours=11)).isoformat())
    assert "demote_faded" in plan["by_rule"]
    assert hygiene(memops, address, 11, "--hygiene") == ("asked for", True)
    path.write_text(path.read_text() + json.dumps(faded(2)) + "\n")
    assert hygiene(memops, address, 22) == ("left out", False)
    assert hygiene(memops, address, 23) == ("due", True)


def test_clawseeds_own_hygiene_counts_and_is_told_of_ours(memops):
    workspace = memops.folder / "ws"
    build(workspace, [{"content": "住在苏州", "category": "core"}])
    own = workspace / "state" / "memory_hygiene_state.json"
    own.parent.mkdir()
    report = {"pruned_conversation_rows": 4, "pruned_daily_rows": 1}
    own.write_text(
        json.dumps({"last_run_at": (NOW - timedelta(hours=3)).isoformat(), "last_report": report})
    )
    address = f"clawseed:{workspace}"
    assert hygiene(memops, address, 0)[0] == "left out"
    assert hygiene(memops, address, 9)[0] == "due"
    said = json.loads(own.read_text())
    assert datetime.fromisoformat(said["last_run_at"]) == NOW + timedelta(hours=9)
    assert said["last_report"] == report


def test_a_time_ahead_is_not_believed():
    assert is_due(None, NOW, 12.0)
    assert is_due(NOW + timedelta(hours=1), NOW, 12.0)
    assert not is_due(NOW, NOW, 12.0)
    assert is_due(NOW - timedelta(hours=12), NOW, 12.0)


@pytest.mark.earned
def test_what_waits_of_a_rule_waits_on_when_a_newer_plan_did_not_run_it(memops):
    (memops.folder / "memops.toml").write_text('[policy.unattended]\nrules = {"*" = "never"}\n')
    twins = [{"id": i, "kind": "fact", "text": "The depot opens at 7"} for i in "ab"]
    address = f"jsonl:{memops.write('m.jsonl', [faded(0), *twins])}"

    def waits(hours):
        at = (NOW + timedelta(hours=hours)).isoformat()
        return memops("status", address, "--now", at)[0]

    memops("nightly", address, "--now", NOW.isoformat())
    (first,) = waits(0)["plans"]
    assert waits(0)["waiting"] == 2
    (night,) = memops("nightly", address, "--now", (NOW + timedelta(hours=1)).isoformat())
    assert night["hygiene"].startswith("left out") and "demote_faded" in night["open"]
    (second,) = waits(1)["plans"]
    assert second != first and waits(1)["waiting"] == 2
    assert "took its place" not in str(memops("review", second))

    at = ("--now", (NOW + timedelta(hours=2)).isoformat())
    part = memops("plan", address, "--rule", "merge_exact", *at)["plan"]
    assert waits(2)["plans"] == {part: 1, second: 1} and waits(2)["waiting"] == 2
    assert [w["rule"] for w in memops("review", second)["waiting"]] == ["demote_faded"]
    assert memops("apply", second, "--approve", *at)["applied"] == 1
    assert part in memops("apply", second, "--approve", *at)["hint"]
    assert waits(2)["plans"] == {part: 1}
    assert memops("review", part, "--accept", "all")["applied"] == 1
    assert waits(2)["waiting"] == 0
