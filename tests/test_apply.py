import json
import shutil
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops import apply as applying
from memops import files, locks, snapshot
from memops.journal import Journal
from memops.state import planfile
from memops.stores.tables import Jsonl
from tests.sealing import forged, sealed

NOW = "2026-06-01T00:00:00Z"


@pytest.fixture
def planned(prepared, twins):
    def make(memops):
        path = memops.write("m.jsonl", twins)
        made = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)
        return path, made["plan"]

    memops, said = prepared(make)
    return memops, *said


def live(path):
    return Jsonl(str(path)).read().filter(pl.col("superseded_by").is_null())


def ops(memops, plan):
    return memops.state / "plans" / plan / "ops.jsonl"


def test_a_plan_beyond_its_limits_waits_for_a_person(planned):
    memops, path, plan = planned
    before = path.read_bytes()
    said = memops("apply", plan)
    assert memops.code == 23
    assert "the limit is 10%" in said["message"]
    assert path.read_bytes() == before


def test_apply_then_rollback_gives_every_byte_back(planned):
    memops, path, plan = planned
    before = path.read_bytes()
    done = memops("apply", plan, "--approve")
    assert (memops.code, done["applied"], done["state"]) == (0, 40, "verified")
    assert live(path).height == 40
    back = memops("rollback", done["run"])
    assert (memops.code, back["state"]) == (0, "rolled-back")
    assert path.read_bytes() == before


def test_what_is_done_already_is_not_done_again(planned):
    memops, path, plan = planned
    run = memops("apply", plan, "--approve")["run"]
    assert memops("apply", plan, "--approve")["applied"] == 0
    assert memops("resume", run)["applied"] == 0
    memops("rollback", run)
    assert memops("rollback", run)["applied"] == 0
    assert [r["state"] for r in memops("runs")] == ["rolled-back"]


def test_a_plan_can_be_applied_again_after_its_rollback_once_a_person_keeps_it(planned):
    memops, path, plan = planned
    run = memops("apply", plan, "--approve")["run"]
    memops("rollback", run)
    none = memops("apply", plan, "--approve")
    assert (none["applied"], none["run"], none["waiting"]) == (0, None, 0)
    assert memops("review", plan, "--keep", "all")["to_carry_out"] == 40
    assert memops("rollback", run)["seqs"] == []  # which was done, and is no new answer
    again = memops("apply", plan, "--approve")
    assert (again["applied"], again["run"]) == (40, f"{plan}-2")
    assert memops("rollback", run)["seqs"] == []


def test_planning_again_proposes_nothing(planned):
    memops, path, plan = planned
    memops("apply", plan, "--approve")
    assert memops("plan", f"jsonl:{path}", "--now", NOW, "--rule", "merge_exact")["ops"] == 0


def test_a_review_may_remove_lines(planned):
    memops, path, plan = planned
    lines = ops(memops, plan).read_text(encoding="utf-8").splitlines(keepends=True)
    ops(memops, plan).write_text("".join(lines[:10]), encoding="utf-8")
    assert memops("apply", plan, "--approve")["applied"] == 10


@pytest.mark.parametrize("how", ["changed", "added", "moved", "header", "table"])
def test_a_review_may_do_nothing_else(planned, how):
    memops, path, plan = planned
    before, file = path.read_bytes(), ops(memops, plan)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    if how == "changed":
        lines[3] = lines[3].replace('"op": "merge"', '"op": "tombstone"')
    elif how == "added":
        lines.append(lines[0].replace('"seq": 1', '"seq": 99'))
    elif how == "moved":
        lines[0], lines[1] = lines[1], lines[0]
    elif how == "header":
        header = file.with_name("plan.json")
        header.write_text(header.read_text().replace('"unattended"', '"person"'))
    else:
        table = file.with_name("changes.parquet")
        table.write_bytes(table.read_bytes()[:-9] + b"x" * 9)
    file.write_text("".join(lines), encoding="utf-8")
    said = memops("apply", plan, "--approve")
    assert (memops.code, said["code"]) == (22, 22)
    assert path.read_bytes() == before
    assert [(r["run"], r["state"]) for r in memops("runs")] == [(None, "planned")]


def test_records_that_changed_since_the_snapshot_are_skipped_by_name(planned, twins):
    memops, path, plan = planned
    twins[1]["text"] = "the agent wrote something else"
    del twins[3]
    memops.write("m.jsonl", twins)
    done = memops("apply", plan, "--approve")
    assert memops.code == 3
    assert {s["id"] for s in done["skipped"]} == {"00b", "01b"}
    assert "the agent wrote something else" in live(path)["text"].to_list()


def test_rollback_keeps_what_the_agent_wrote_since(planned, twins):
    memops, path, plan = planned
    run = memops("apply", plan, "--approve")["run"]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    mine = next(row for row in rows if row["id"] == "05b")
    mine["text"], mine["superseded_by"] = "newer words", None
    memops.write("m.jsonl", rows)
    back = memops("rollback", run)
    assert memops.code == 25
    assert [s["id"] for s in back["skipped"]] == ["05b"]
    assert live(path).filter(id="05b")["text"].to_list() == ["newer words"]


def test_a_plan_is_for_its_own_store(planned, tmp_path):
    memops, path, plan = planned
    folder = memops.state / "plans" / plan
    header = files.read_json(folder / "plan.json")
    header["address"] = f"jsonl:{tmp_path / 'other.jsonl'}"
    shutil.copy(path, tmp_path / "other.jsonl")
    forged = memops.state / "plans" / planfile.plan_id(header)
    shutil.copytree(folder, forged)
    files.write_json(forged / "plan.json", header)
    memops("apply", forged.name, "--approve")
    assert memops.code == 22


def raw_copy(memops):
    (raw,) = (memops.state / "snapshots").glob("*/raw/*.jsonl")
    return raw


def test_a_plan_whose_records_changed_in_the_snapshot_is_refused(planned):
    memops, path, plan = planned
    before, raw = path.read_bytes(), raw_copy(memops)
    words = json.loads(raw.read_text(encoding="utf-8").split("\n")[0])["text"]
    raw.write_text(raw.read_text(encoding="utf-8").replace(words, f"{words}!"), encoding="utf-8")
    said = memops("apply", plan, "--approve")
    assert memops.code == 20 and raw.name in said["message"]
    assert path.read_bytes() == before


def test_only_the_records_of_a_plan_are_read_of_its_snapshot(planned, monkeypatch):
    memops, path, plan = planned
    monkeypatch.setattr(snapshot, "verify", lambda taken: pytest.fail("it was hashed whole"))
    assert memops("apply", plan, "--approve")["applied"] == 40


def test_of_a_plan_without_a_digest_of_its_records_the_whole_snapshot_is_read(planned):
    memops, path, plan = planned
    assert "the limit is 10%" in memops("apply", plan)["message"]
    older = sealed(forged(memops.state / "plans" / plan, basis=None))
    assert memops("apply", older.name, "--approve")["applied"] == 40


def test_a_plan_expires(planned):
    memops, path, plan = planned
    sealed(memops.state / "plans" / plan, "2026-01-01T00:00:00+00:00")
    said = memops("apply", plan, "--approve")
    assert memops.code == 22
    assert "expired" in said["message"]


@pytest.mark.parametrize(
    ("now", "code"),
    [("2026-06-01T23:00:00Z", 0), ("2026-06-02T02:00:00Z", 22), ("2026-05-30T00:00:00Z", 22)],
)
def test_on_a_fixed_clock_a_plan_is_as_old_as_that_clock_says(planned, now, code):
    memops, path, plan = planned
    said = memops("apply", plan, "--approve", "--now", now)
    assert memops.code == code
    if code:
        says = "has expired" if now > "2026-06-02" else "of the future"
        assert "2026-06-01" in said["message"] and says in said["message"]
    else:
        header = json.loads((memops.state / "runs" / said["run"] / "run.json").read_text())
        # when it was done is on the clock of the files, which were written today
        assert datetime.now(UTC) - datetime.fromisoformat(header["started"]) < timedelta(hours=1)


def test_a_plan_as_of_long_ago_is_as_old_as_it_is(planned):
    """Nobody fixed the clock of the apply, so it counts from when the plan was made."""
    memops, path, plan = planned
    memops("apply", plan, "--approve")
    assert memops.code == 0


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""


@pytest.mark.parametrize("entry", range(1, 9))
@pytest.mark.parametrize("forward", [True, False])
def test_a_run_cut_off_at_any_journal_entry_can_be_finished_or_taken_back(
    planned, monkeypatch, entry, forward
):
    memops, path, plan = planned
    before = path.read_bytes()
    real, count = Journal.add, [0]

    def add(self, *entries):
        count[0] += 1
        if count[0] == entry:
            raise Killed
        real(self, *entries)

    state = memops.state
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "add", add)
        patched.setattr(Jsonl, "batches", lambda self, changes: changes.iter_slices(15))
        try:
            found = planfile.load(plan, state)
            applying.apply(found, state, files_clock(), approve=True)
        except Killed:
            pass
    runs = memops("runs")
    if forward:
        verb = ("resume", runs[0]["run"]) if runs else ("apply", plan, "--approve")
        done = memops(*verb)
        assert (memops.code, done["state"]) == (0, "verified")
        assert live(path).height == 40
    elif runs:
        memops("rollback", runs[0]["run"])
        assert memops.code == 0
        assert path.read_bytes() == before


def files_clock():
    from memops.state.sources import clock

    return clock()


def test_only_one_memops_changes_a_store_at_a_time(planned):
    memops, path, plan = planned
    header = files.read_json(memops.state / "plans" / plan / "plan.json")
    with locks.hold(snapshot.lock_path(memops.state, header["store"])):
        said = memops("apply", plan, "--approve", "--lock-timeout", "0.1")
    assert memops.code == 11
    assert "another memops" in said["message"]
    assert memops("apply", plan, "--approve")["applied"] == 40


def test_the_same_input_gives_the_same_plan_bytes_under_any_seed_and_zone(planned, tmp_path):
    import os
    import subprocess
    import sys

    memops, path, plan = planned
    snapshot = files.read_json(memops.state / "plans" / plan / "plan.json")["snapshot"]
    made = []
    for seed, zone in (("1", "Asia/Shanghai"), ("2", "America/New_York")):
        state = tmp_path / f"state{seed}"
        shutil.copytree(memops.state / "snapshots", state / "snapshots")
        code = "import sys; from memops.cli import run; sys.exit(run(sys.argv[1:]))"
        argv = ["--state", str(state), "plan", snapshot, "--now", NOW]
        env = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        subprocess.run(
            [sys.executable, "-c", code, *argv], env=env, check=True, capture_output=True
        )
        folder = next((state / "plans").iterdir())
        names = ("plan.json", "ops.jsonl", "changes.parquet", "refused.jsonl")
        made.append((folder.name, [(folder / name).read_bytes() for name in names]))
    assert made[0] == made[1]
