"""What each stage of a night costs, by pytest-benchmark, over a store with the dirt of real ones.

    pytest -n 0 -m slow tests/bench/test_stages.py --benchmark-autosave    # before a change
    pytest -n 0 -m slow tests/bench/test_stages.py --benchmark-compare     # after it

CPU time of this process is measured, as a machine that does other things changes it little.
"""

import shutil
import time
from pathlib import Path

import pytest

from memops import settings, snapshot, steps
from memops.context import Context
from memops.judge.candidates.similarity import candidates
from memops.judge.conflicts import judged
from memops.nights.night import curate
from memops.rules import HYGIENE, propose
from memops.statements.taken import taken_apart

from . import stores

pytestmark = [pytest.mark.slow, pytest.mark.benchmark(timer=time.process_time)]
RECORDS, ROUNDS, NOW = 2000, 3, stores.NOW


@pytest.fixture(scope="module")
def night(tmp_path_factory):
    """A store, the settings of its folder, and what its first night was: patterns are compiled, too."""
    folder = tmp_path_factory.mktemp("stages")
    stores.write(folder / "m.jsonl", RECORDS)
    shutil.copy(folder / "m.jsonl", folder / "before.jsonl")
    (folder / "memops.toml").write_text(
        "[policy.limits]\nshare = 1.0\nrecords = 1000000000\n", encoding="utf-8"
    )
    own = settings.read(folder / "memops.toml", folder / "state")
    name = f"jsonl:{folder / 'm.jsonl'}"
    return name, own, curate(name, own, NOW, approve=True)


@pytest.fixture(scope="module")
def records(night):
    _, own, done = night
    return snapshot.find(done["snapshot"], own.state).records()


def test_apply(benchmark, night):
    name, own, done = night
    store = Path(name.removeprefix("jsonl:"))

    def restored():
        shutil.copy(store.with_name("before.jsonl"), store)
        shutil.rmtree(own.state / "runs", ignore_errors=True)
        return (done["plan"], own, True), {}

    said = benchmark.pedantic(steps.apply_step, setup=restored, rounds=ROUNDS)
    assert said["applied"] == done["applied"]


def test_snapshot(benchmark, night):
    name, own, _ = night
    taken = benchmark.pedantic(steps.take_snapshot, (name, own, NOW), rounds=ROUNDS)
    assert taken["rows"] == RECORDS


def test_reading(benchmark, records):
    texts = records["text"].unique(maintain_order=True).to_list()
    assert benchmark.pedantic(taken_apart, (texts,), rounds=ROUNDS).height == len(texts)


def test_candidates(benchmark, records):
    found = benchmark.pedantic(lambda: candidates(records, Context(now=NOW)), rounds=ROUNDS)
    assert found.height


def test_judging(benchmark, records):
    told = benchmark.pedantic(lambda: judged(records, Context(now=NOW)), rounds=ROUNDS)
    assert told["same"].any()


def test_hygiene(benchmark, records):
    plan, _ = benchmark.pedantic(lambda: propose(records, Context(now=NOW), HYGIENE), rounds=ROUNDS)
    assert plan.height


@pytest.mark.parametrize("known", [False, True], ids=["first", "again"])
def test_plan(benchmark, night, known):
    _, own, done = night
    path = str(own.state / "snapshots" / done["snapshot"])

    def forgotten():
        if not known:
            shutil.rmtree(own.state / "readings", ignore_errors=True)
        return (path, own, NOW, (), False), {}

    said = benchmark.pedantic(steps.plan_step, setup=forgotten, rounds=ROUNDS)
    assert said["snapshot"] == done["snapshot"]


def test_report(benchmark, night):
    _, own, done = night
    benchmark.pedantic(steps.report_step, ({**done, "run": None}, own), rounds=ROUNDS)
