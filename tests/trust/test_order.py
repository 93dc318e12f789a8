"""The order of system calls: undo is on disk before the store is written, content before its name.

What a power cut leaves depends on nothing else. Needs strace, which sees what the kernel sees.
"""

import os
import re
import shutil
import subprocess

import pytest

from .checker import Tally
from .scene import Scene
from .test_kill import judged

CALLS = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,ftruncate,unlink,unlinkat"
STRACE = shutil.which("strace")


def _works():
    return (
        bool(STRACE)
        and subprocess.run([STRACE, "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    )


pytestmark = pytest.mark.skipif(not _works(), reason="strace is not there, or may not trace")


def traced(scene, *options):
    """Apply the plan under strace; returns exit code and the trace, with paths for handles.

    The child waits until strace holds it, so that only the command itself is traced.
    """
    log, go = scene.folder / "trace", scene.folder / "go"
    go.unlink(missing_ok=True)
    child = scene.spawn("apply", before=_WAIT.format(go=str(go)))
    argv = [STRACE, "-f", "-y", "-s", "0", "-o", log, *options, "-p", str(child.pid)]
    tracer = subprocess.Popen(argv, stderr=subprocess.PIPE)
    said = tracer.stderr.readline()
    go.touch()
    child.communicate()
    tracer.communicate()
    if b"attached" not in said:
        raise AssertionError(said.decode())
    return child.returncode, log.read_text(errors="replace").splitlines()


_WAIT = """
import os, time
while not os.path.exists({go!r}):
    time.sleep(0.002)
"""


def steps(trace):
    """Yield (call, paths) of the calls that did something."""
    for line in trace:
        found = re.match(r"\d+ +(\w+)\((.*)\) += (\d+)", line)
        if found:
            yield found[1], re.findall(r"<([^>]*)>|\"([^\"]*)\"", found[2])


def disordered(trace, store):
    """Return a sentence for each write of the store, or rename, that came too early."""
    said, unsynced, undone = [], set(), False
    for call, raw in steps(trace):
        paths = [a or b for a, b in raw]
        if call in ("write", "pwrite64", "ftruncate") and paths:
            early = "undo" in unsynced or not undone
            if early and paths[0].startswith(str(store)) and not paths[0].endswith("-shm"):
                said.append(f"{paths[0]} was written before the undo was on disk")
            unsynced.add("undo" if paths[0].endswith("undo.jsonl") else paths[0])
            undone |= paths[0].endswith("undo.jsonl")
        elif call in ("fsync", "fdatasync") and paths:
            unsynced.discard("undo" if paths[0].endswith("undo.jsonl") else paths[0])
        elif call.startswith("rename"):
            source = next((p for p in paths if p.endswith((".part", ".new"))), None)
            if source and any(p.endswith(os.path.basename(source)) for p in unsynced):
                said.append(f"{source} got its name before its bytes were on disk")
    return said


def watched(scene):
    """Options by which strace looks at nothing but the store and the run's records."""
    run = scene.state / "runs" / f"{scene.plan}-1"
    db = scene.store_path / "memory" / "brain.db"
    paths = [db, f"{db}-wal", run / "journal.jsonl", run / "undo.jsonl", run]
    return [*(part for path in paths for part in ("-P", str(path))), "-e", f"trace={CALLS}"]


def reach(scene):
    """Return how many system calls an undisturbed run makes on what is watched."""
    scene.reset()
    _, trace = traced(scene, *watched(scene))
    return len([1 for line in trace if re.match(r"\d+ +\w+\(", line)])


def injected(scene, kind, positions):
    """Strike system calls on the store and the run's records, one position a run; then recover."""
    fault = {"kill": "signal=KILL", "enospc": "error=ENOSPC", "eio": "error=EIO"}[kind]
    tally = Tally()
    for at in positions:
        scene.reset()
        code, trace = traced(scene, *watched(scene), "-e", f"inject={CALLS}:{fault}:when={at}")
        struck = any("(INJECTED)" in line or "+++ killed by SIGKILL" in line for line in trace)
        tally.runs, tally.delivered = tally.runs + 1, tally.delivered + struck
        verb = ("resume", "rollback")[at % 2]
        where = f"{kind} at call {at}, then {verb}"
        if code not in (0, 26, 137, -9) or (code == 0 and struck and kind == "kill"):
            tally.failures.append(f"{where}: exit {code}")
        done = getattr(scene, verb)()
        tally.failures += [f"{where}: {what}" for what in judged(scene, verb, done, [])]
    return tally


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    return Scene("clawseed", tmp_path_factory.mktemp("order"), 12)


def test_undo_is_on_disk_before_the_store_is_written_and_bytes_before_names(scene):
    scene.reset()
    code, trace = traced(scene, "-e", f"trace={CALLS}")
    assert code == 0
    calls = [(call, paths) for call, paths in steps(trace)]
    assert any(call == "fsync" for call, _ in calls) and len(calls) > 30
    assert disordered(trace, scene.store_path) == []


def test_a_fault_in_a_system_call_leaves_a_run_that_ends_exactly(scene):
    tally = injected(scene, "kill", (5,)) + injected(scene, "enospc", (8,))
    assert tally.failures == []
    assert tally.delivered == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kill", "enospc", "eio"])
def test_a_fault_at_every_system_call(scene, kind):
    tally = injected(scene, kind, range(1, reach(scene) + 1))
    assert tally.failures == []
    assert tally.delivered >= 30
