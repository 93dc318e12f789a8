"""Any order of events: an agent writes, memops plans, applies, crashes, resumes and rolls back.

The plans are arbitrary lists of changes that no guard has seen, as a model or a hand might write.
"""

import os
import shutil
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memops import apply as applying
from memops import snapshot
from memops.failpoints import Struck
from memops.journal import Journal
from memops.policy import Policy
from memops.policy.hygiene import Floors
from memops.safety.secrets import redacted
from memops.schema import LIVE, TIERS, TOMBSTONE, conform
from memops.state import planfile, runs
from memops.stores import open_store
from memops.stores.formats import json_line, parsed
from tests.strategies import IDS, NOW, plans, records, rows

POLICY = Policy(floors=Floors(default=1, kinds={"entity": 0, "preference": 1}))
GROUP = ("scope", "kind")


@contextmanager
def crashing(nth):
    """Let the nth entry of a journal be the last thing that this process does."""
    real, passed = Journal.add, [0]

    def add(self, *entries):
        passed[0] += 1
        if passed[0] == nth:
            raise Struck
        real(self, *entries)

    Journal.add = add
    try:
        yield
    except Struck:
        pass
    finally:
        Journal.add = real


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.path, self.state = self.folder / "m.jsonl", self.folder / "state"
        self.store = open_store(f"jsonl:{self.path}")
        self.plan, self.good, self.number = None, [], 0
        self.since = {}  # ids that the agent wrote since the plan was made, as they stand
        self.before = None  # the file before the run, while nobody else has written to it

    def teardown(self):
        shutil.rmtree(self.folder)

    @initialize(start=records(min_size=4))
    def begins(self, start):
        self._write({row["id"]: row for row in start.to_dicts()})

    @rule(id_=st.sampled_from(IDS), row=rows)
    def agent_puts(self, id_, row):
        there = self._read()
        there[id_] = there.get(id_, {"id": id_}) | row
        self._agent(there, id_)

    @rule(id_=st.sampled_from(IDS))
    def agent_pins(self, id_):
        there = self._read()
        if id_ in there:
            there[id_]["pinned"] = True
            self._agent(there, id_)

    @rule(id_=st.sampled_from(IDS))
    def agent_forgets(self, id_):
        there = self._read()
        if there.pop(id_, None):
            self._agent(there, id_)

    @rule(changes=plans(max_size=8), then=st.sampled_from(["wait", "apply", "meddle"]), row=rows)
    def plans_anything(self, changes, then, row):
        if changes.is_empty():
            return
        taken = snapshot.take(self.store, self.state, NOW, POLICY, accept_shrink=True)
        self.good.append(taken)
        known = taken.records()
        plan = planfile.Planned(taken, known, changes, changes.clear(), POLICY, NOW, ["anything"])
        made = planfile.save(self.state, plan, datetime.now(UTC))
        self.plan, self.since, self.before = made.id, {}, None
        if then == "meddle":
            self.agent_puts(changes["id"][0], row)
        if then != "wait":
            self.applies(None)

    @precondition(lambda self: self.plan)
    @rule(crash=st.none() | st.integers(1, 5))
    def applies(self, crash):
        if self._run() is None:
            self.before = self.path.read_bytes()
        self._guarded(
            lambda: applying.apply(
                planfile.load(self.plan, self.state), self.state, NOW, True, as_of=NOW
            ),
            crash,
        )

    @precondition(lambda self: self.plan and self._run())
    @rule(crash=st.none() | st.integers(1, 3))
    def resumes(self, crash):
        run = self._run()
        if run.state not in ("rolling-back", "rolled-back"):
            self._guarded(lambda: applying.resume(run, self.state), crash)

    @precondition(lambda self: self.plan and self._run())
    @rule(crash=st.none() | st.integers(1, 3))
    def rolls_back(self, crash):
        run = self._run()
        with crashing(crash):
            applying.rollback(run, self.state)
        if crash is None:
            if self.before is not None:
                assert self.path.read_bytes() == self.before
            self.plan = None
            self.since = {}
        self._stands()

    @invariant()
    def snapshots_stand(self):
        for taken in self.good:
            snapshot.verify(taken)

    def _guarded(self, work, crash):
        """Do what may crash; then nothing that must stand is gone."""
        was = self.store.read()
        with crashing(crash):
            work()
        now = self.store.read()
        self._stands()
        held = was.filter(pl.col("pinned") | (pl.col("tier") == "core"), LIVE)
        after = {row["id"]: row for row in now.to_dicts()}
        clean = dict(zip(held["id"], redacted(held["text"]), strict=True))
        for row in held.to_dicts():
            there = after.get(row["id"])
            assert there is not None, f"{row['id']} was protected and is gone"
            assert there["superseded_by"] != TOMBSTONE, f"{row['id']} was protected and is retired"
            assert there["text"] in (row["text"], clean[row["id"]]), f"{row['id']} was rewritten"
            assert not row["pinned"] or there["pinned"], f"{row['id']} was unpinned"
            sunk = TIERS.index(there["tier"]) < TIERS.index(row["tier"])
            assert not sunk, f"{row['id']} was protected and is demoted"
        self._floors(was, now)

    def _floors(self, was, now):
        """Of each group, no more is lost than leaves its floor; what is replaced is not lost."""
        live = was.filter(LIVE)
        gone = live.join(
            now.select("id", now_by="superseded_by", now_scope="scope", now_kind="kind"),
            on="id",
            how="left",
        )
        # Who moves to another scope is not lost: scopes that mean the same are made one.
        lost = gone.filter(
            pl.col("now_scope").is_null()
            | (pl.col("now_by") == TOMBSTONE)
            | (pl.col("now_by").is_null() & (pl.col("now_kind") != pl.col("kind")))
        )
        for key, group in live.group_by(*GROUP):
            floor = POLICY.floors.kinds.get(key[1], POLICY.floors.default)
            away = lost.filter(scope=key[0], kind=key[1]).height
            assert not away or group.height - away >= floor, (
                f"{key} fell below its floor of {floor}"
            )

    def _stands(self):
        """What the agent wrote since the plan was made is as it wrote it."""
        there = self._read()
        for id_, row in self.since.items():
            assert there.get(id_) == row, f"{id_} is not as the agent left it"

    def _agent(self, there, id_):
        was = self._read().get(id_)
        self._write(there)
        self.before = None
        # Who writes what stands there says nothing: a rollback may still take the run's own back.
        if self._read().get(id_) != was:
            self.since[id_] = self._read().get(id_)

    def _run(self):
        mine = [r for r in runs.runs(self.state) if r.header["plan"] == self.plan]
        return mine[0] if mine else None

    def _read(self):
        table = conform(parsed(self.path.read_bytes(), "m"), "m")
        return {row["id"]: row for row in table.to_dicts()}

    def _write(self, there):
        self.path.write_text(
            "".join(f"{json_line(row)}\n" for row in there.values()), encoding="utf-8"
        )


def walks(examples, steps, from_seed=0):
    run_state_machine_as_test(
        seed(from_seed)(Machine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            phases=[Phase.generate] if "TRUST_MUTANT" in os.environ else list(Phase),
            database=None,
        ),
    )


def test_whatever_happens_in_whatever_order_nothing_that_must_stand_falls():
    walks(6, 15)


@pytest.mark.slow
def test_five_thousand_histories():
    walks(5000, 60)
