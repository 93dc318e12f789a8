"""Kill -9 at any moment: resume reaches the planned state, rollback the old one, exactly."""

import random
import time

import pytest

from .checker import Tally, history, lost_lines, lost_rows, touched, unexplained
from .scene import Scene, rows, sound


def trials(scene, count, seed, live=True):
    """Kill apply (and half of the time its recovery, too), then recover: even forwards, odd back.

    An agent works on the store all the while. Returns the tally.
    """
    rng, tally = random.Random(seed), Tally()
    tail = _tail(scene)
    for trial in range(count):
        scene.reset()
        log = scene.folder / f"acks-{trial}.log"
        log.unlink(missing_ok=True)
        verb = ("resume", "rollback")[trial % 2]
        where = f"seed {seed}, trial {trial} ({verb})"
        if live:
            with _agent(scene, log, seed * 1000 + trial):
                delivered, done = _one(scene, verb, rng, tail, trial)
        else:
            delivered, done = _one(scene, verb, rng, tail, trial)
        tally.runs += 1
        tally.delivered += delivered
        tally.failures += [f"{where}: {what}" for what in judged(scene, verb, done, history(log))]
    return tally


def judged(scene, verb, done, acks):
    """Return what is wrong with a store after recovery, beside what the agent wrote itself."""
    forward = verb == "resume"
    want = (scene.new, scene.overlay_new) if forward else (scene.old, scene.overlay_old)
    if scene.kind == "clawseed":
        return _judged_rows(scene, want, done, acks)
    return _judged_files(scene, want, done, acks)


def _one(scene, verb, rng, tail, trial):
    delivered = scene.kill("apply", rng, tail)
    if trial % 4 >= 2:
        delivered += scene.kill(verb, rng, tail)
    return delivered, getattr(scene, verb)()


def _tail(scene):
    """Seconds from the first entry of the journal to the end of an undisturbed apply."""
    before, process = scene._marks(), scene.spawn("apply")
    while process.poll() is None and scene._marks() == before:
        time.sleep(0.002)
    begun = time.monotonic()
    _, said = process.communicate()
    if process.returncode not in (0, 3):
        raise AssertionError(said.decode())
    return max(time.monotonic() - begun, 0.05)


def _agent(scene, log, seed):
    if scene.kind == "clawseed":
        losers = [op["id"] for op in scene.ops() if op["op"] == "merge" and op["id"] in scene.old]
        return scene.agent(log, seed, foreign=losers[:10])
    # It writes seldom enough that a file holds still between two lines, and memops can work.
    notes = sorted(p for p in scene.new if scene.new[p] != scene.old.get(p) and p in scene.old)
    return scene.agent(log, seed, pause=0.2, manner=("reopen", "keep")[seed % 2], notes=notes[-2:])


def _judged_rows(scene, want, done, acks):
    db = scene.store_path / "memory" / "brain.db"
    now, mine, (rows_wanted, kept_wanted) = rows(db), touched(acks), want
    said = lost_rows(acks, now)
    odd = {i for i in rows_wanted.keys() | now.keys() if rows_wanted.get(i) != now.get(i)} - mine
    said += [f"{len(odd)} rows are in no state that was planned, e.g. {min(odd)}"] if odd else []
    kept = scene.overlay()
    odd = {i for i in kept.keys() | kept_wanted.keys() if kept.get(i) != kept_wanted.get(i)} - mine
    said += [f"the overlay differs for {len(odd)} records, e.g. {min(odd)}"] if odd else []
    skipped = {s["id"] for s in done["skipped"]} - mine
    said += [f"skipped without cause: {sorted(skipped)[:3]}"] if skipped else []
    said += unexplained(scene.old, now, acks, scene.ops(), scene.undo())
    return said + ([broken] if (broken := sound(db)) else [])


def _judged_files(scene, want, done, acks):
    now, (files_wanted, kept_wanted) = scene.content(), want
    lines = {ack["line"].encode() for ack in acks if "line" in ack}
    busy = {ack["path"] for ack in acks if "path" in ack}
    said = lost_lines(acks, now)
    for path in sorted(now.keys() | files_wanted.keys()):
        bare = b"".join(x for x in now.get(path, b"").splitlines(True) if x not in lines)
        fair = [files_wanted.get(path, b"")]
        if path in busy and done["skipped"]:  # left for later, because the agent was at it
            fair += [scene.old.get(path, b""), scene.new.get(path, b"")]
        if bare not in fair:
            said.append(f"{path} is in no state that was planned")
    if not busy and scene.overlay() != kept_wanted:
        said.append("the overlay is not as planned")
    if not busy and done["skipped"]:
        said.append(f"skipped without cause: {done['skipped'][:2]}")
    return said


@pytest.fixture(scope="module", params=["clawseed", "openclaw"])
def scene(request, tmp_path_factory):
    return Scene(request.param, tmp_path_factory.mktemp(request.param), 60)


def test_a_killed_run_can_be_finished_or_taken_back_beside_a_live_agent(scene):
    delivered = 0
    for seed in range(1, 6):  # each time the pace is taken anew: a run may outpace its killer
        tally = trials(scene, 4, seed)
        assert tally.failures == []
        delivered += tally.delivered
        if delivered >= 2:
            return
    pytest.fail(f"{delivered} kills struck in {5 * 4} runs")


@pytest.mark.slow
def test_two_hundred_kills_leave_nothing_half_done(scene):
    tally = trials(scene, 200, seed=2)
    assert tally.failures == []
    assert tally.delivered >= 100
