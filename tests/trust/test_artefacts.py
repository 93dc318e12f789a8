"""Rot is found: every flipped bit and every cut in every file that memops keeps, by its name."""

import random
from pathlib import Path

import pytest

from memops import overlay, snapshot
from memops.errors import MemopsError
from memops.state import planfile, runs
from memops.stores import open_store

from .checker import Tally
from .scene import Scene, command

PLAN = ("plan.json", "ops.jsonl", "changes.parquet")
RUN = ("run.json", "journal.jsonl", "undo.jsonl", "overlay.parquet", "seal.json")


def artefacts(scene):
    """Return (kind, path, how to read it) of each kind of file, once a run has ended."""
    taken = next(p.parent for p in (scene.state / "snapshots").glob("*/manifest.json"))
    plan, run = scene.state / "plans" / scene.plan, scene.run().path
    said = [
        (f"snapshot {p.relative_to(taken)}", p, lambda: _checked(scene, taken))
        for p in _files(taken)
    ]
    said += [
        (f"plan {name}", plan / name, lambda: planfile.load(plan, scene.state)) for name in PLAN
    ]
    said += [(f"run {name}", run / name, lambda: _run_read(run)) for name in RUN]
    kept = snapshot.overlay_path(scene.state, open_store(scene.address).identity())
    return [*said, ("the store's overlay", kept, lambda: overlay.read(kept))]


def rotten(kind, path, read, mutations):
    """Put each mutation in the file's place, read, put the file back; returns the tally."""
    whole, tally = path.read_bytes(), Tally()
    read()
    try:
        for what, data in mutations(whole):
            if kind == "plan ops.jsonl" and _reviewed(whole, data):
                continue  # to remove whole lines is to review
            _put(path, data)
            tally.runs, tally.delivered = tally.runs + 1, tally.delivered + 1
            try:
                read()
                tally.failures.append(f"{kind}: {what} was not found")
            except MemopsError as error:
                if error.code not in (20, 22) or path.name not in error.message:
                    tally.failures.append(f"{kind}: {what}: {error.code} {error.message[:120]}")
            except BaseException as error:
                tally.failures.append(f"{kind}: {what}: {type(error).__name__} {error}")
    finally:
        _put(path, whole)
    return tally


def flips(count, seed):
    """Return a function that yields copies of some bytes with one bit flipped."""

    def mutations(whole):
        rng = random.Random(seed)
        for _ in range(count if whole else 0):
            at, bit = rng.randrange(len(whole)), rng.randrange(8)
            yield (
                f"bit {bit} of byte {at}",
                whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :],
            )

    return mutations


def cuts(count, seed):
    """Return a function that yields beginnings of some bytes; the last byte alone goes first."""

    def mutations(whole):
        rng = random.Random(seed)
        for nth in range(count if whole else 0):
            size = len(whole) - 1 if nth == 0 else rng.randrange(len(whole))
            yield f"a cut at byte {size}", whole[:size]

    return mutations


def all_rotten(scene, flipped, cut, seed):
    """Return a tally for each kind of file."""
    return {
        kind: rotten(kind, path, read, flips(flipped, seed))
        + rotten(kind, path, read, cuts(cut, seed))
        for kind, path, read in artefacts(scene)
    }


def _checked(scene, taken):
    found = snapshot.find(taken, scene.state)
    snapshot.verify(found)


def _run_read(path):
    run = runs.Run(path)
    run.verify()
    return run.header, run.state


def _files(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file())


def _reviewed(whole, data):
    lines = whole.splitlines(keepends=True)
    return all(line in lines or line + b"\n" in lines for line in data.splitlines(keepends=True))


def _put(path: Path, data: bytes):
    path.chmod(0o600)
    path.write_bytes(data)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    made = Scene("clawseed", tmp_path_factory.mktemp("rot"), 12)
    made.apply()
    return made


def test_every_kind_of_file_is_among_those_that_rot(scene):
    kinds = {kind for kind, _, _ in artefacts(scene)}
    assert len(kinds) == 5 + len(PLAN) + len(RUN) + 1


def test_a_flipped_bit_and_a_cut_are_found_by_the_name_of_the_file(scene):
    tallies = all_rotten(scene, 12, 6, seed=5)
    assert [f for tally in tallies.values() for f in tally.failures] == []
    assert min(tally.delivered for tally in tallies.values()) >= 6


def test_a_flip_in_a_run_that_was_cut_off_is_found_too(scene):
    run = scene.run().path
    (run / "seal.json").rename(run / "away")
    try:
        for name in ("journal.jsonl", "undo.jsonl"):
            tally = rotten(name, run / name, lambda: _run_read(run), flips(60, seed=6))
            assert tally.failures == []
    finally:
        (run / "away").rename(run / "seal.json")


def test_files_that_were_swapped_removed_or_added_are_named(scene):
    taken = next(p.parent for p in (scene.state / "snapshots").glob("*/manifest.json"))
    one, two = taken / "records.jsonl", taken / "records.parquet"
    whole = {p: p.read_bytes() for p in (one, two)}

    def said():
        code, value = command("--state", scene.state, "check", taken)
        return code, (value or {}).get("message", "")

    assert said()[0] == 0
    _put(one, whole[two]), _put(two, whole[one])
    code, message = said()
    assert code == 20 and one.name in message and two.name in message
    _put(one, whole[one]), two.unlink()
    code, message = said()
    assert code == 20 and "records.parquet is missing" in message
    _put(two, whole[two]) if two.exists() else two.write_bytes(whole[two])
    (taken / "stray").write_bytes(b"")
    code, message = said()
    (taken / "stray").unlink()
    assert code == 20 and "stray is not of this snapshot" in message
    assert said()[0] == 0


@pytest.mark.slow
def test_five_hundred_flips_and_two_hundred_cuts_in_each_kind(scene):
    tallies = all_rotten(scene, 500, 200, seed=7)
    assert [f for tally in tallies.values() for f in tally.failures] == []
