"""Retention: what stays by its time, what never goes, and how what goes is accounted for."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops import snapshot
from memops.errors import Corrupt, PlanRefused
from memops.policy import Keep, Policy
from memops.state import retention, runs
from memops.state.retention import Aged, kept
from memops.state.snapshot_chain import verify_chain
from memops.stores import open_store
from memops.stores.formats import json_line
from tests.counts import few

NOW = datetime(2026, 6, 15, 3, tzinfo=UTC)
POLICY = Policy(keep=Keep(last=1, within_days=1.0, daily=3, weekly=2, monthly=3))


@pytest.fixture
def store(tmp_path):
    return Notes(tmp_path)


class Notes:
    """A table of records with a snapshot for each of several days."""

    def __init__(self, folder):
        self.path, self.state = folder / "m.jsonl", folder / "state"
        self.address = f"jsonl:{self.path}"

    def holds(self, count):
        rows = [{"id": f"r{n}", "kind": "fact", "text": f"第 {n} 条 note"} for n in range(count)]
        self.path.write_text("".join(f"{json_line(r)}\n" for r in rows), encoding="utf-8")
        return self

    def snapped(self, *days_ago):
        made = [
            snapshot.take(
                open_store(self.address),
                self.state,
                NOW - timedelta(days=d),
                POLICY,
                accept_shrink=True,
            )
            for d in days_ago
        ]
        return made[-1]

    def left(self):
        return sorted(
            (NOW - datetime.fromisoformat(_read(p)["taken_at"])).days
            for p in (self.state / "snapshots").glob("*/manifest.json")
        )


def _read(path):
    return json.loads(path.read_bytes())


def test_one_of_each_day_week_and_month_of_the_windows_stays(store):
    store.holds(5).snapped(400, 100, 80, 60, 50, 16, 13, 12, 4, 3, 2, 1, 0.5, 0.2, 0.1)
    said = retention.prune(store.state, POLICY, NOW)
    assert len(said["snapshots"]) > 0 and len(store.left()) == 15
    retention.prune(store.state, POLICY, NOW, remove=True)
    assert store.left() == [0, 0, 0, 1, 2, 3, 12, 16, 50, 80]
    assert retention.prune(store.state, POLICY, NOW, remove=True)["snapshots"] == []


def test_a_thousand_empty_snapshots_do_not_push_out_the_one_that_is_sound(tmp_path):
    good = _aged("good", NOW - timedelta(days=90), True)
    empty = [_aged(f"e{n:04}", NOW - timedelta(days=80, hours=-n), False) for n in range(1000)]
    keep = Keep(last=3, within_days=2, daily=7, weekly=5, monthly=1)
    assert good not in kept([good, *empty], keep, NOW)
    assert retention._newest_sound([good, *empty]) == good


class _Whole:
    """Stands for a snapshot that is as it was sealed."""

    def __init__(self, id_, path):
        self.id, self.path, self.manifest = id_, path, {"files": {}}


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path):
    _Whole.path = tmp_path / "none"


def _aged(id_, at, sound):
    return Aged(_Whole(id_, _Whole.path), at, sound)


def test_the_newest_sound_snapshot_stays_when_all_since_are_empty(store):
    good = store.holds(5).snapped(500)
    store.holds(0).snapped(*range(499, 470, -1))
    retention.prune(store.state, POLICY, NOW, remove=True)
    assert good.path.is_dir()
    assert len(store.left()) == 2  # and the newest of all
    (good.path / "records.jsonl").chmod(0o600)
    (good.path / "records.jsonl").write_bytes(b"rot")
    older = store.holds(5).snapped(600)
    store.holds(0).snapped(1)
    retention.prune(store.state, POLICY, NOW, remove=True)
    assert older.path.is_dir() and not good.path.is_dir()


def test_a_snapshot_dated_in_the_future_is_passed_over(store):
    future = store.holds(5).snapped(-4000)
    store.snapped(9, 8)
    said = retention.prune(store.state, POLICY, NOW, remove=True)
    assert future.id not in {s["snapshot"] for s in said["snapshots"]}
    assert future.path.is_dir()


@few(60)
@given(st.lists(st.tuples(st.integers(-400, 9000), st.booleans()), unique=True, max_size=40))
def test_of_any_snapshots_the_newest_stays_and_pruning_again_changes_nothing(given_):
    aged = [_aged(f"{h}{s}", NOW - timedelta(hours=h), s) for h, s in given_]
    keep = POLICY.keep
    stays = {one.taken.id for one in kept(aged, keep, NOW)}
    past = [one for one in aged if one.at <= NOW]
    assert {one.taken.id for one in aged if one.at > NOW} <= stays
    if past:
        assert max(past, key=lambda one: (one.at, one.taken.id)).taken.id in stays
    recent = {one.taken.id for one in past if NOW - one.at <= timedelta(days=1)}
    assert recent <= stays
    again = kept([one for one in aged if one.taken.id in stays], keep, NOW)
    assert {one.taken.id for one in again} == stays


def test_the_chain_holds_over_what_was_removed_and_tells_of_what_was_taken(store):
    newest = store.holds(5).snapped(500, 450, 440, 1, 0)
    assert verify_chain(store.state, newest) == 4
    retention.prune(store.state, POLICY, NOW, remove=True)
    assert len(store.left()) == 2
    assert verify_chain(store.state, newest) == 4
    (before,) = [p for p in (store.state / "snapshots").iterdir() if p.name != newest.id]
    shutil.move(before, store.state / "away")
    with pytest.raises(Corrupt, match=f"{before.name} is missing; {newest.id} was taken after it"):
        verify_chain(store.state, newest)
    shutil.copytree(newest.path, before)
    with pytest.raises(Corrupt, match=f"{before.name} is not the snapshot"):
        verify_chain(store.state, newest)


def test_check_reads_all_snapshots_and_names_every_one_that_differs(memops, twins):
    address = f"jsonl:{memops.write('m.jsonl', twins)}"
    names = [memops("snapshot", address)["snapshot"] for _ in "abc"]
    said = memops("check")
    assert (memops.code, said["snapshots"], said["rows"]) == (0, 3, 240)
    for name in names[:2]:
        raw = memops.state / "snapshots" / name / "raw" / "records.jsonl"
        raw.chmod(0o600)
        raw.write_bytes(raw.read_bytes()[:-1])
    said = memops("check")
    assert memops.code == 20
    assert all(name in said["message"] for name in names[:2])
    assert names[2] not in said["message"]
    assert memops("prune")["snapshots"] == []


def test_an_undo_copy_goes_when_it_is_old_and_a_sound_snapshot_is_newer(memops, twins):
    address = f"jsonl:{memops.write('m.jsonl', twins)}"
    plan = memops("plan", address, "--rule", "merge_exact", "--now", "2026-06-01T00:00:00Z")
    done = memops("apply", plan["plan"], "--approve")
    run, began = runs.find_run(done["run"], memops.state), datetime.now(UTC)
    later = began + timedelta(days=31)
    assert retention.prune(memops.state, Policy(), later, remove=True)["undo"] == []
    memops("snapshot", address)
    assert retention.prune(memops.state, Policy(), began, remove=True)["undo"] == []
    said = retention.prune(memops.state, Policy(), later, remove=True)
    assert said["undo"] == [run.id]
    run.verify()
    assert (run.state, run.undoable, len(run.answers())) == ("verified", False, 40)
    assert sorted(p.name for p in run.path.iterdir()) == ["journal.jsonl", "run.json", "seal.json"]
    with pytest.raises(PlanRefused, match="removed when it was past its time"):
        run.refuse_without_undo()
    said = memops("rollback", run.id)
    assert (memops.code, said["hint"]) == (22, "restore a snapshot: memops restore SNAPSHOT")
    assert memops("runs")[0]["state"] == "verified"
    assert retention.prune(memops.state, Policy(), later, remove=True)["undo"] == []


def test_a_run_that_did_not_end_keeps_its_undo_and_its_snapshot(memops, twins, monkeypatch):
    address = f"jsonl:{memops.write('m.jsonl', twins)}"
    plan = memops("plan", address, "--rule", "merge_exact", "--now", "2026-06-01T00:00:00Z")
    with monkeypatch.context() as patched:
        patched.setenv("MEMOPS_FAIL", "batch-written:1:raise")
        memops("apply", plan["plan"], "--approve")
    for _ in range(5):
        memops("snapshot", address, "--accept-shrink")
    later = datetime.now(UTC) + timedelta(days=900)
    said = retention.prune(memops.state, Policy(), later, remove=True)
    assert said["undo"] == [] and len(said["snapshots"]) == 2
    assert (memops.state / "snapshots" / plan["snapshot"]).is_dir()
    done = memops("resume", f"{plan['plan']}-1")
    assert (memops.code, done["state"]) == (0, "verified")
