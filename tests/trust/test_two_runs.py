"""Two runs at once: one changes the store at a time, and a killed holder blocks nobody."""

import signal
import time
from itertools import pairwise

import pytest

from .checker import Tally
from .forks import Forked, server
from .scene import BATCH, Scene, package_root
from .test_kill import judged

WATCHED = """
import os, time
from memops import apply, locks
log, hold = open({log!r}, "a"), {hold}
def say(what):
    log.write(f"{{os.getpid()}} {{what}} {{time.monotonic()}}\\n"); log.flush()
work, lock = apply.carried_out, locks.hold
def carried_out(*given):
    say("enters"); time.sleep(hold)
    try:
        return work(*given)
    finally:
        say("leaves")
def locked(*given):
    say("asks")
    return lock(*given)
apply.carried_out, locks.hold = carried_out, locked
"""


def start(scene, log, hold, wait=30.0):
    argv = ["--state", scene.state, "apply", scene.plan, "--approve"]
    argv += ["--lock-timeout", wait, "--json"]
    before = WATCHED.format(log=str(log), hold=float(hold))
    return Forked(server(package_root()), argv, scene.folder, batch=BATCH, before=before)


def events(log):
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    return [(int(pid), what, float(at)) for pid, what, at in (line.split() for line in lines)]


def wait_for(log, pid, what, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if any(e[:2] == (pid, what) for e in events(log)):
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} never said {what!r}")


def pairs(scene, count, killed):
    """Start pairs together; in `killed` of them the holder of the lock dies. Returns the tally."""
    tally = Tally()
    for nth in range(count):
        scene.reset()
        log = scene.folder / f"watch-{nth}"
        log.unlink(missing_ok=True)
        said = _holder_killed(scene, log) if nth < killed else _together(scene, log)
        tally.runs, tally.delivered = tally.runs + 1, tally.delivered + (nth < killed)
        done = {"skipped": []}
        tally.failures += [f"pair {nth}: {w}" for w in [*said, *judged(scene, "resume", done, [])]]
    return tally


def _together(scene, log):
    both = [start(scene, log, 0.3) for _ in "ab"]
    out = [p.communicate() for p in both]
    codes = [p.returncode for p in both]
    said = [] if codes == [0, 0] else [f"exit codes {codes}: {out}"]
    if len(list((scene.state / "runs").iterdir())) != 1:
        said.append("two runs were begun")
    return said + _overlaps(events(log))


def _holder_killed(scene, log):
    holder = start(scene, log, 60.0)
    wait_for(log, holder.pid, "enters")
    other = start(scene, log, 0.0)
    wait_for(log, other.pid, "asks")
    time.sleep(0.1)
    said = [
        f"{pid} entered beside the holder"
        for pid, what, _ in events(log)
        if (pid, what) == (other.pid, "enters")
    ]
    holder.send_signal(signal.SIGKILL)
    struck = time.monotonic()
    holder.communicate()
    out = other.communicate()
    entered = [at for pid, what, at in events(log) if (pid, what) == (other.pid, "enters")]
    if other.returncode or not entered:
        return [*said, f"the other ended with {other.returncode}: {out}"]
    return said + (
        [f"the lock was free after {entered[0] - struck:.2f} s"] if entered[0] - struck > 1 else []
    )


def _overlaps(seen):
    """Nobody enters before the one who entered before has left."""
    inside = [e for e in sorted(seen, key=lambda e: e[2]) if e[1] != "asks"]
    return [
        f"{two[0]} entered while {one[0]} was inside"
        for one, two in pairwise(inside)
        if one[1] == two[1] == "enters"
    ]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    return Scene("clawseed", tmp_path_factory.mktemp("pairs"), 24)


def test_of_two_runs_one_works_and_one_waits(scene):
    tally = pairs(scene, 2, killed=1)
    assert tally.failures == []
    assert tally.delivered == 1


def test_who_waits_too_long_is_told_who_works(scene):
    scene.reset()
    log = scene.folder / "watch-long"
    holder = start(scene, log, 60.0)
    wait_for(log, holder.pid, "enters")
    other = start(scene, log, 0.0, wait=0.2)
    said = other.communicate()[0].decode()
    holder.kill()
    holder.communicate()
    assert other.returncode == 11
    assert str(holder.pid) in said


@pytest.mark.slow
def test_fifty_pairs(scene):
    tally = pairs(scene, 50, killed=20)
    assert tally.failures == []
    assert tally.delivered == 20
