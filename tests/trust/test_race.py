"""Applied and taken back again and again beside an agent: it loses nothing and waits little."""

import time

import pytest

from .checker import Tally, history, lost_lines, lost_rows, slowest
from .scene import Scene, rows, sound

MANNERS = ("reopen", "keep", "rewrite")


def races(scene, cycles, pause=0.1, seed=0):
    """Apply and roll back in turn while an agent writes; returns the tally and its longest wait.

    A run beside the agent is `delivered` when it changed anything.
    """
    tally, worst = Tally(), 0.0
    for nth, manner in enumerate(MANNERS if scene.kind == "openclaw" else ("rows",)):
        scene.reset()
        log = scene.folder / f"race-{manner}.log"
        log.unlink(missing_ok=True)
        with scene.agent(log, seed + nth, pause, manner, _losers(scene), _notes(scene)):
            for _ in range(cycles):
                for verb in (scene.apply, scene.rollback):
                    done = verb()
                    tally.runs, tally.delivered = (
                        tally.runs + 1,
                        tally.delivered + (done["applied"] > 0),
                    )
            time.sleep(0.3)
        acks = history(log)
        worst = max(worst, slowest(acks))
        tally.failures += [
            f"{manner}, {len(acks)} acknowledged: {what}" for what in _lost(scene, acks)
        ]
    return tally, worst


def _losers(scene):
    if scene.kind != "clawseed":
        return ()
    return [op["id"] for op in scene.ops() if op["op"] == "merge" and op["id"] in scene.old][:10]


def _notes(scene):
    if scene.kind != "openclaw":
        return ()
    return sorted(p for p in scene.new if p in scene.old and scene.new[p] != scene.old[p])[-2:]


def _lost(scene, acks):
    if scene.kind == "openclaw":
        return lost_lines(acks, scene.content())
    db = scene.store_path / "memory" / "brain.db"
    said = lost_rows(acks, rows(db))
    return said + ([broken] if (broken := sound(db)) else [])


@pytest.mark.parametrize("kind, pause", [("clawseed", 0.002), ("openclaw", 0.1)])
def test_an_agent_beside_runs_loses_nothing_and_need_not_give_up(tmp_path, kind, pause):
    tally, worst = races(Scene(kind, tmp_path, 16), 1, pause)
    assert tally.failures == []
    assert tally.delivered >= 2
    assert worst < 2500  # it gives up after 5,000; the slow test asks for 1,000


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, pause", [("clawseed", 0.002), ("openclaw", 0.02), ("openclaw", 0.1)]
)
def test_an_agent_beside_forty_runs_loses_nothing(tmp_path, kind, pause):
    tally, worst = races(Scene(kind, tmp_path, 40), 20, pause)
    assert tally.failures == []
    assert worst < 1000
