"""The guard at apply: whatever a plan asks for, on the store as it is when it is asked."""

import contextlib
import random
import sqlite3
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops import apply as applying
from memops import snapshot
from memops.plan import delete, edit
from memops.policy import Policy
from memops.policy.hygiene import Floors
from memops.progress import watched
from memops.schema import TOMBSTONE, from_rows
from memops.state import planfile
from memops.stores import open_store
from memops.stores.formats import json_line
from memops.stores.sqlite import store as sqlite_store
from memops.stores.sqlite import write as sqlite_write
from tests.stores.clawseed_db import build

from .checker import Tally
from .scene import NOW

POLICY = Policy(floors=Floors(default=5, kinds={"lesson": 2, "failure": 0, "summary": 0}))


def unguarded(address, state, change, policy=POLICY):
    """Write a plan that no guard has seen; `change` makes it of the snapshot's records."""
    store = open_store(address)
    taken = snapshot.take(store, state, NOW, policy)
    known = taken.records()
    changes = change(known).with_columns(rule=pl.lit("anything"))
    plan = planfile.Planned(taken, known, changes, changes.clear(), policy, NOW, ["anything"])
    made = planfile.save(state, plan, datetime.now(UTC))
    return planfile.load(made.id, state)


RECORDS = [
    {"id": "pinned", "pinned": True},
    {"id": "core", "tier": "core"},
    {"id": "core2", "tier": "core"},
    {"id": "core3", "tier": "core"},
    {"id": "core4", "tier": "core"},
    {"id": "pinned2", "pinned": True},
    {"id": "pinned3", "pinned": True},
    {"id": "plain"},
    {"id": "plain2"},
    {"id": "elsewhere", "scope": "other"},
    {"id": "newer"},
    {"id": "low", "tier": "peripheral"},
]
ASKED = [
    ("pinned", lambda r: delete(r, "x")),
    ("core", lambda r: delete(r, "x")),
    ("core2", lambda r: edit(r, "tombstone", "x", superseded_by=TOMBSTONE)),
    ("core3", lambda r: edit(r, "demote", "x", tier="peripheral")),
    ("pinned2", lambda r: edit(r, "update", "x", pinned=False)),
    ("pinned3", lambda r: edit(r, "update", "x", text="other words")),
    ("plain2", lambda r: edit(r, "supersede", "x", superseded_by="elsewhere", risk="low")),
]
REASONS = {
    "pinned": "never deleted", "core": "never deleted", "core2": "never retired", "core3": "never demoted",
    "pinned2": "never unpinned", "pinned3": "only redacted",
    "plain2": "another scope",
}  # fmt: skip


def test_each_thing_that_no_plan_may_do_is_refused_and_named(tmp_path):
    path = tmp_path / "m.jsonl"
    rows = from_rows([{"kind": "failure", "text": f"Entry {r['id']}", **r} for r in RECORDS])
    path.write_text("".join(f"{json_line(row)}\n" for row in rows.to_dicts()), encoding="utf-8")
    before = path.read_bytes()

    def change(known):
        asked = [make(known.filter(id=id_)) for id_, make in ASKED]
        return pl.concat([*asked, delete(known.filter(id="plain"), "x")])

    plan = unguarded(f"jsonl:{path}", tmp_path / "state", change)
    done = applying.apply(plan, tmp_path / "state", NOW, approve=True, as_of=NOW)
    said = {s["id"]: s["why"] for s in done["skipped"]}
    assert said.keys() == REASONS.keys()
    assert [id_ for id_, why in REASONS.items() if why not in said[id_]] == []
    gone = set(before.splitlines()) - set(path.read_bytes().splitlines())
    assert [b'"plain"' in line for line in gone] == [True]


def test_a_core_record_gives_way_to_what_is_unsure_only_when_a_person_approves(tmp_path):
    for approve in (False, True):
        path = tmp_path / f"{approve}.jsonl"
        rows = from_rows([{"text": f"Entry {r['id']}", **r} for r in RECORDS]).to_dicts()
        path.write_text("".join(f"{json_line(row)}\n" for row in rows), encoding="utf-8")
        change = lambda r: edit(  # noqa: E731
            r.filter(id="core4"), "supersede", "x", superseded_by="newer", risk="high"
        )
        plan = unguarded(f"jsonl:{path}", tmp_path / "state", change)
        done = applying.apply(plan, tmp_path / "state", NOW, approve=approve, as_of=NOW)
        live = open_store(f"jsonl:{path}").read().filter(id="core4")["superseded_by"].item()
        assert (done["applied"], live) == ((1, "newer") if approve else (0, None))


def test_of_records_above_the_floor_just_so_many_go_and_the_oldest(tmp_path):
    path = tmp_path / "m.jsonl"
    made = [
        {
            "id": f"l{n}",
            "kind": "lesson",
            "text": f"Lesson {n}",
            "created_at": NOW - timedelta(days=9 - n),
        }
        for n in range(5)
    ]
    path.write_text(
        "".join(f"{json_line(row)}\n" for row in from_rows(made).to_dicts()), encoding="utf-8"
    )
    plan = unguarded(f"jsonl:{path}", tmp_path / "state", lambda known: delete(known, "x"))
    done = applying.apply(plan, tmp_path / "state", NOW, approve=True, as_of=NOW)
    assert sorted(s["id"] for s in done["skipped"]) == ["l3", "l4"]
    assert open_store(f"jsonl:{path}").read()["id"].to_list() == ["l3", "l4"]


def schedules(folder, count, seed):
    """Delete lessons batch by batch while an agent forgets some in between; floors must hold.

    Memops may leave a group below its floor only when the agent had done so before.
    """
    tally = Tally()
    for nth in range(count):
        rng = random.Random(seed * 1000 + nth)
        forgot, said = _schedule(folder / str(nth), rng)
        tally.runs, tally.delivered = tally.runs + 1, tally.delivered + forgot
        tally.failures += [f"schedule {nth} of seed {seed}: {what}" for what in said]
    return tally


def _schedule(top, rng):
    """One plan that deletes lessons; returns how often the agent forgot one, and what went wrong."""
    by = rng.choice(["lesson", "category:lesson"])
    policy = Policy(floors=Floors(default=0, kinds={by: 5}))
    size, stamp = rng.randrange(6, 16), NOW.isoformat(timespec="microseconds")
    rows = [
        {"content": f"Lesson {n}", "category": "lesson", "created_at": stamp} for n in range(size)
    ]
    db = build(top / "ws", rows)
    asked, lot = rng.randrange(1, size + 1), rng.randrange(1000)
    plan = unguarded(
        f"clawseed:{top / 'ws'}",
        top / "state",
        lambda r: delete(r.sample(asked, seed=lot), "x"),
        policy,
    )
    counts, forgot, said = [size], [0], []

    def forgets(title, done, total):
        if title != "applying":
            return
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as agent:
            if (live := _live(agent)) < min(5, counts[-1]):
                said.append(f"{counts[-1]} live became {live}")
            if rng.random() < 0.7:
                agent.execute(
                    "DELETE FROM memories WHERE rowid = (SELECT max(rowid) FROM memories)"
                )
                forgot[0] += 1
            counts.append(_live(agent))

    was = sqlite_write.MOST, sqlite_store.JUDGED
    sqlite_write.MOST, sqlite_store.JUDGED = rng.randrange(1, 4), rng.randrange(1, 6)
    try:
        with watched(forgets):
            applying.apply(plan, top / "state", NOW, approve=True, as_of=NOW)
    finally:
        sqlite_write.MOST, sqlite_store.JUDGED = was
    return forgot[0], said


def _live(connection):
    return connection.execute("SELECT count(*) FROM memories").fetchone()[0]


def test_floors_hold_while_an_agent_forgets_in_the_same_category(tmp_path):
    tally = schedules(tmp_path, 6, seed=1)
    assert tally.failures == []
    assert tally.delivered >= 5


@pytest.mark.slow
def test_floors_hold_in_five_hundred_schedules(tmp_path):
    tally = schedules(tmp_path, 500, seed=2)
    assert tally.failures == []
    assert tally.delivered >= 500


@pytest.mark.parametrize("by", ["lesson", "category:lesson"])
@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM memories",
        "UPDATE memories SET superseded_by = 'another'",
        "UPDATE memories SET category = 'daily'",
    ],
)
def test_what_an_agent_forgot_after_the_guard_judged_counts_too(tmp_path, monkeypatch, loss, by):
    policy = Policy(floors=Floors(default=0, kinds={by: 5}))
    stamp = NOW.isoformat(timespec="microseconds")
    rows = [{"content": f"Lesson {n}", "category": "lesson", "created_at": stamp} for n in range(6)]
    db = build(tmp_path / "ws", rows)
    address, state = f"clawseed:{tmp_path / 'ws'}", tmp_path / "state"
    plan = unguarded(address, state, lambda r: delete(r.sort("id").head(1), "x"), policy)
    asked = plan.changes["id"][0]
    real, passed = sqlite_write.Session._judged, []

    def judged(self, batch, losing):
        said = real(self, batch, losing)
        if not passed:
            passed.append(said)
            with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as agent:
                other = "SELECT min(rowid) FROM memories WHERE id != ?"
                agent.execute(f"{loss} WHERE rowid = ({other})", [asked])
        return said

    monkeypatch.setattr(sqlite_write.Session, "_judged", judged)
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert passed == [{}]
    assert [(s["id"], s["state"]) for s in done["skipped"]] == [(asked, "refused")]
    lessons = "SELECT count(*) FROM memories WHERE category = 'lesson' AND superseded_by IS NULL"
    with contextlib.closing(sqlite3.connect(db)) as live:
        assert live.execute(lessons).fetchone() == (5,)


@pytest.mark.parametrize("spare", [1, 200])
def test_a_floor_by_category_holds_although_its_kind_has_many(tmp_path, monkeypatch, spare):
    """The agent forgets two of a category after the plan was made; its kind stays far above."""
    monkeypatch.setattr(sqlite_write, "SPARE", spare)
    floors = Floors(default=0, kinds={"note": 3, "category:diary 日记": 4})
    stamp = NOW.isoformat(timespec="microseconds")
    rows = [
        {"content": f"Day {n}", "category": "diary 日记", "created_at": stamp} for n in range(7)
    ]
    rows += [{"content": f"Note {n}", "category": "daily", "created_at": stamp} for n in range(9)]
    db = build(tmp_path / "ws", rows)
    all_of = lambda r: delete(r, "x").sort("id")  # noqa: E731
    address, state = f"clawseed:{tmp_path / 'ws'}", tmp_path / "state"
    plan = unguarded(address, state, all_of, Policy(floors=floors))
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as agent:
        agent.execute("DELETE FROM memories WHERE id IN ('id0005', 'id0006')")
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert {s["state"] for s in done["skipped"]} == {"refused"}
    count = "SELECT category, count(*) FROM memories GROUP BY 1 ORDER BY 1"
    with contextlib.closing(sqlite3.connect(db)) as live:
        assert live.execute(count).fetchall() == [("daily", 3), ("diary 日记", 4)]
