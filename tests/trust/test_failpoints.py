"""Every step can fail in every way: afterwards resume and rollback are exact, nothing is lost."""

import ast
import itertools
import os
import random
import shutil
import signal
import subprocess
from contextlib import contextmanager

import pytest

from memops import failpoints
from memops.errors import MemopsError

from .checker import Tally
from .scene import ROOT, Scene
from .test_kill import judged

KINDS = ("kill", "enospc", "eio", "raise")
PLANS = (("apply", "resume"), ("apply", "rollback"), ("rollback", "rollback"))
SITES = (
    "file-write", "file-rename", "file-renamed",  # files.write
    "journal-write", "journal-sync", "journal-done",  # Journal.add
    "run-begun", "batch-write", "batch-written", "overlay-write", "overlay-written",  # apply
    "revert-batch", "reverted-batch", "overlay-restored",  # rollback
    "snapshot-copied", "snapshot-sealed",
    "purge-copied", "purge-swap", "purge-away",
    "sqlite-begun", "sqlite-changed", "sqlite-kept", "sqlite-committed", "sqlite-reverted",
    "sqlite-held", "sqlite-restored",  # restore
    "disk-write", "disk-rename", "disk-renamed",
    "carry-drafted", "carry-kept", "carry-linked", "carry-renamed", "carry-settled",
    "carry-dropped",
)  # fmt: skip
APART = ("snapshot-", "purge-", "sqlite-held", "sqlite-restored")
OF = {
    "clawseed": [s for s in SITES if not s.startswith(("carry-", "disk-", *APART))],
    "openclaw": [s for s in SITES if not s.startswith(("sqlite-", "disk-", *APART))],
}


@contextmanager
def armed(spec):
    failpoints.passed.clear()
    os.environ["MEMOPS_FAIL"] = spec
    try:
        yield
    finally:
        del os.environ["MEMOPS_FAIL"]
        failpoints.passed.clear()


def strike(scene, verb, site, nth, kind):
    """Do a verb with a fault in it; returns whether the fault struck.

    A kill needs a process of its own; the other kinds are struck in this one.
    """
    spec = f"{site}:{nth}:{kind}"
    if kind == "kill":
        process = scene.spawn(verb, {"MEMOPS_FAIL": spec})
        process.communicate()
        return process.returncode == -signal.SIGKILL
    with armed(spec):
        try:
            getattr(scene, verb)()
        except failpoints.Struck:
            return kind == "raise"
        except MemopsError as error:
            return error.code == 26
        except OSError as error:
            return error.errno in (28, 5)
    return False


def sweep(scene, cases):
    """Strike, strike again in the recovery, recover, judge; `cases` are (site, nth, kind, plan)."""
    tally = Tally()
    for site, nth, kind, (first, then) in cases:
        scene.reset()
        if first == "rollback":
            scene.apply()
        struck = strike(scene, first, site, nth, kind)
        if struck and nth % 2:
            struck += strike(scene, then, site, nth + 1, "raise")
        tally.runs += 1
        tally.delivered += struck
        where = f"{site}:{nth}:{kind} in {first}, then {then}"
        try:
            done = getattr(scene, then)()
        except Exception as error:
            tally.failures.append(f"{where}: {type(error).__name__}: {error}")
            continue
        tally.failures += [f"{where}: {what}" for what in judged(scene, then, done, [])]
    return tally


def sites(scene, kinds, passages):
    """Every site with every kind, in turn within apply (finished, taken back) and rollback."""
    plans = itertools.cycle(PLANS)
    for site, kind, nth in itertools.product(OF[scene.kind], kinds, passages):
        back = site.startswith(("revert", "sqlite-reverted", "overlay-restored"))
        forth = site.startswith(("run-", "batch-", "overlay-w", "sqlite-")) and not back
        plan = ("rollback", "rollback") if back else next(plans)
        yield site, nth, kind, (("apply", plan[1]) if forth and plan[0] == "rollback" else plan)


def exhausted(scene, site, kind, plan):
    """Strike every passage of a site, from the first until none is left."""
    tally = Tally()
    for nth in itertools.count(1):
        one = sweep(scene, [(site, nth, kind, plan)])
        if not one.delivered:
            return tally + Tally(0, 0, one.failures)
        tally += one


@contextmanager
def short_files(scene, size):
    """Apply with files that may not grow beyond a size."""
    yield scene.spawn("apply", limit=size)


@contextmanager
def little_left(scene, size):
    """Apply on a disk that has no more than a size left, which is freed afterwards."""
    ballast = scene.folder / "ballast"
    disk = os.statvfs(scene.folder)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(disk.f_bavail * disk.f_frsize - size, 1))
    try:
        yield scene.spawn("apply")
    finally:
        ballast.unlink()


@contextmanager
def small_disk(scene, size=64 << 20):
    """Have a scene on a disk of its own in memory; yields whether it could be mounted."""
    aside = scene.folder.with_name(f"{scene.folder.name}-aside")
    shutil.copytree(scene.folder, aside)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "memops-trust", scene.folder]
    mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        if mounted:
            shutil.copytree(aside, scene.folder, dirs_exist_ok=True)
            scene.said = aside
        yield mounted
    finally:
        scene.said = scene.folder
        if mounted:
            subprocess.run(["umount", "-l", scene.folder], check=True)
        shutil.rmtree(aside)


def disk_full(scene, sizes, cramped=short_files):
    """Apply without enough room, then resume or roll back with room: exit 26, all there."""
    tally = Tally()
    for nth, size in enumerate(sizes):
        scene.reset()
        with cramped(scene, size) as process:
            _, said = process.communicate()
        verb = ("resume", "rollback")[nth % 2]
        tally.runs += 1
        tally.delivered += process.returncode == 26
        if process.returncode not in (0, 26):
            last = said.decode().strip()[-200:]
            tally.failures.append(f"{size} bytes: exit {process.returncode}: {last}")
        done = getattr(scene, verb)()
        where = f"{cramped.__name__} of {size} bytes, then {verb}"
        tally.failures += [f"{where}: {what}" for what in judged(scene, verb, done, [])]
    return tally


def sizes_of_disks(count, top, seed=3):
    """Return so many sizes up to a power of two, small ones as often as large ones."""
    rng = random.Random(seed)
    return sorted(int(2 ** rng.uniform(0, top)) for _ in range(count))


@pytest.fixture(scope="module", params=["clawseed", "openclaw"])
def scene(request, tmp_path_factory):
    return Scene(request.param, tmp_path_factory.mktemp(request.param), 24)


def test_every_failpoint_stands_in_the_code_and_is_listed():
    found = set()
    for path in (ROOT / "memops").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "failpoint":
                found.add(node.args[0].value)
    assert found == set(SITES)


def test_without_being_asked_no_failpoint_does_anything(monkeypatch):
    monkeypatch.delenv("MEMOPS_FAIL", raising=False)
    assert [failpoints.failpoint(site) for site in SITES] == [None] * len(SITES)


def test_a_fault_at_any_step_leaves_a_run_that_ends_exactly(scene):
    kinds = ("enospc", "eio", "raise")
    cases = [case for n, case in enumerate(sites(scene, kinds, (1, 2))) if n % 11 == n // 11 % 11]
    if scene.kind == "openclaw":
        cases = [case for case in cases if case[0].startswith(("carry", "revert", "overlay"))][::2]
    tally = sweep(scene, cases)
    assert tally.failures == []
    assert tally.delivered >= len(cases) // 2


def test_a_kill_at_chosen_steps_leaves_a_run_that_ends_exactly(scene):
    chosen = {
        "clawseed": [("sqlite-kept", 3), ("sqlite-committed", 2), ("journal-sync", 4)],
        "openclaw": [("carry-linked", 1), ("carry-renamed", 2), ("carry-drafted", 1)],
    }[scene.kind]
    cases = [(s, n, "kill", ("apply", ("resume", "rollback")[n % 2])) for s, n in chosen]
    tally = sweep(scene, cases)
    assert tally.failures == []
    assert tally.delivered >= len(cases)


def test_on_a_full_disk_nothing_is_lost_and_the_run_goes_on_later(scene):
    tally = disk_full(scene, [600, 6_000])
    assert tally.failures == []
    assert tally.delivered == 2


@pytest.mark.slow
def test_every_passage_of_every_failpoint(scene):
    tally = Tally()
    for site, kind, plan in itertools.product(OF[scene.kind], KINDS, PLANS):
        tally += exhausted(scene, site, kind, plan)
    assert tally.failures == []
    assert tally.delivered >= 100


def test_on_a_small_disk_nothing_is_lost_and_the_run_goes_on_later(scene):
    with small_disk(scene) as mounted:
        if not mounted:
            pytest.skip("only root may mount a disk")
        tally = disk_full(scene, [1, 16 << 10], little_left)
    assert tally.failures == []
    assert tally.delivered == 2


@pytest.mark.slow
def test_forty_sizes_of_a_full_disk(scene):
    tally = disk_full(scene, sizes_of_disks(40, 18))
    assert tally.failures == []
    assert tally.delivered >= 20


@pytest.mark.slow
def test_forty_sizes_of_a_small_disk(scene):
    with small_disk(scene) as mounted:
        if not mounted:
            pytest.skip("only root may mount a disk")
        tally = disk_full(scene, sizes_of_disks(40, 20), little_left)
    assert tally.failures == []
    assert tally.delivered >= 20


def test_a_kill_in_the_last_file_leaves_nothing_beside_the_notes(tmp_path):
    scene = Scene("openclaw", tmp_path, 8)
    swaps = 1
    while strike(scene, "apply", "carry-renamed", swaps + 1, "raise"):
        swaps += 1
        scene.reset()
    scene.reset()
    assert strike(scene, "apply", "carry-renamed", swaps, "kill")
    left = [p for p in scene.content() if ".memops-" in p]
    assert len(left) == 1
    with open(left[0], "a", encoding="utf-8") as late:
        late.write("- said to the old file by who still has it open\n")
    done = scene.resume()
    now = scene.content()
    said = [p for p in now if b"who still has it open" in now[p]]
    assert done["skipped"] == []
    assert [p for p in now if ".memops-" in p] == []
    assert len(said) == 1 and said[0] in scene.new
