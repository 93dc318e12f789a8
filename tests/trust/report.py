"""The trust report: does every experiment and writes TRUST.md with what really happened.

    python -m tests.trust.report [moderate|full] [ID..]     moderate: some 15 minutes; full: hours

A row says what is promised, which test proves it, how many runs there were, how many faults really
struck in them, and how many runs went wrong.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from . import mutants, test_machine
from .checker import Tally
from .scene import ROOT, Scene
from .test_artefacts import all_rotten
from .test_failpoints import disk_full, exhausted, sites, sweep
from .test_guards import schedules
from .test_kill import trials
from .test_order import disordered, injected, steps, traced
from .test_race import races
from .test_snapshot_live import prefixes
from .test_two_runs import pairs

OUT = Path(__file__).with_name("TRUST.md")


def killed(kind):
    def experiment(folder, full):
        tally = trials(Scene(kind, folder, 60), 200 if full else 24, seed=11)
        return tally, "an agent writes all the while; half of the recoveries are killed, too"

    return experiment


def failing(kind):
    def experiment(folder, full):
        scene = Scene(kind, folder, 24)
        kinds = ("kill", "enospc", "eio", "raise")
        if full:
            return exhausted(scene, kinds), "every passage"
        cases = list(sites(scene, kinds[1:], (1, 2)))
        if kind == "openclaw":
            cases = cases[::3]
        cases += [c for c in sites(scene, kinds[:1], (1, 2))][::6]
        return sweep(scene, cases), "odd passages fail in the recovery, too"

    return experiment


def struck(folder, full):
    scene, tally = Scene("clawseed", folder, 12), Tally()
    _, trace = traced(scene, "-e", "trace=write,pwrite64,fsync,fdatasync,rename,ftruncate,unlink")
    top = len(list(steps(trace)))
    for kind in ("kill", "enospc", "eio"):
        tally += injected(scene, kind, range(1, top + 1) if full else range(1, 40, 4))
    return tally, "KILL, ENOSPC and EIO at numbered system calls, by strace"


def ordered(folder, full):
    scene, tally = Scene("clawseed", folder, 40), Tally()
    for _ in range(10 if full else 3):
        scene.reset()
        _, trace = traced(
            scene, "-e", "trace=write,pwrite64,fsync,fdatasync,rename,renameat,ftruncate"
        )
        tally.runs += 1
        tally.failures += disordered(trace, scene.store_path)
    return tally, "the trace of every write, fsync and rename"


def raced(kind, pause):
    def experiment(folder, full):
        tally, worst = races(Scene(kind, folder, 40), 20 if full else 5, pause)
        return (
            tally,
            f"longest wait of the agent {worst:.0f} ms; struck: runs that changed something",
        )

    return experiment


def prefixed(folder, full):
    tally, worst = prefixes(folder, 40 if full else 20)
    return tally, f"longest commit of the writer {worst:.0f} ms; struck: commits came meanwhile"


def filled(kind):
    def experiment(folder, full):
        rng, count = random.Random(13), 40 if full else 12
        sizes = sorted(int(2 ** rng.uniform(0, 18)) for _ in range(count))
        return disk_full(Scene(kind, folder, 24), sizes), "files may not grow beyond 1 B to 256 KiB"

    return experiment


def paired(folder, full):
    tally = pairs(Scene("clawseed", folder, 24), *((50, 20) if full else (12, 6)))
    return tally, "struck: the holder of the lock was killed"


def rotted(folder, full):
    scene = Scene("clawseed", folder, 24)
    scene.apply()
    tallies = all_rotten(scene, 500, 200, seed=17)
    total = sum(tallies.values(), Tally())
    return total, f"{len(tallies)} kinds of file, 500 bits and 200 cuts each"


def wandered(folder, full):
    count, length = (5000, 60) if full else (100, 20)
    tally = Tally(count)
    try:
        test_machine.walks(count, length)
    except Exception as error:
        tally.failures.append(str(error)[:300])
    return tally, f"histories of up to {length} events; plans that no guard has seen"


def floored(folder, full):
    return schedules(
        folder, 500 if full else 60, seed=19
    ), "struck: the agent forgot between two batches"


def seeded(folder, full):
    caught, total = mutants.main()
    return Tally(
        total, total, ["survived"] * (total - caught)
    ), "seeded faults, each caught by a named test"


def tested(*nodes):
    """An experiment that is tests: each that passes is a run."""

    def experiment(folder, full):
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-o",
            "addopts=-p no:cacheprovider",
            "-m",
            "not slow",
            *nodes,
        ]
        out = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True).stdout
        count = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed|error)", out)}
        bad = count.get("failed", 0) + count.get("error", 0)
        dots = sum(line.split()[0].count(".") for line in out.splitlines() if "%]" in line)
        ran = count.get("passed", dots) + bad
        return Tally(ran, 0, [out[-300:]] * (bad or (not ran))), "tests"

    return experiment


KILL, FAIL, ROT = "test_kill.trials", "test_failpoints.sweep", "test_artefacts.all_rotten"
EXPERIMENTS = (
    ("A1", "kill -9 at any moment: resume is exact, rollback is exact (clawseed)", KILL, killed("clawseed")),
    ("A1", "the same for Markdown notes", KILL, killed("openclaw")),
    ("A1", "a fault at any step of a run (clawseed)", FAIL, failing("clawseed")),
    ("A1", "a fault at any step of a run (Markdown)", FAIL, failing("openclaw")),
    ("A1", "a fault in any system call on store and journal", "test_order.injected", struck),
    ("A2", "no write of the agent is lost (clawseed)", "test_race.races", raced("clawseed", 0.002)),
    ("A2", "no line of the agent is lost, in three manners of writing", "test_race.races", raced("openclaw", 0.05)),
    ("A3", "undo is on disk before the store is written", "test_order.disordered", ordered),
    ("A4", "a snapshot is a consistent prefix", "test_snapshot_live.prefixes", prefixed),
    ("A5", "reading changes no byte", "test_snapshot_live.test_reading_*", tested("tests/trust/test_snapshot_live.py", "-k", "reading")),
    ("A6", "restore is exact", "test_contract, test_tables", tested("tests/stores/test_contract.py", "tests/stores/test_tables.py", "-k", "restore or copy or lose")),
    ("A7", "what changed since the snapshot is skipped and named", "test_contract.test_a_changed_*", tested("tests/stores/test_contract.py", "tests/test_apply.py", "-k", "changed")),
    ("A8", "no plan takes what is protected, or goes below a floor", "test_machine.walks", wandered),
    ("A8", "each thing that no plan may do is refused at apply, by name", "test_guards", tested("tests/trust/test_guards.py", "-k", "refused or floor_just")),
    ("A9", "floors hold while an agent forgets in the same category", "test_guards.schedules", floored),
    ("A10", "on a full disk nothing is lost, and the run goes on later (clawseed)", "test_failpoints.disk_full", filled("clawseed")),
    ("A10", "the same for Markdown notes", "test_failpoints.disk_full", filled("openclaw")),
    ("A12", "what goes beyond the limits waits for a person", "test_apply, test_guard", tested("tests/test_apply.py", "tests/test_guard.py", "-k", "limits or blast")),
    ("A14", "one run at a time; a killed one blocks nobody", "test_two_runs.pairs", paired),
    ("A15", "what is done is not done again", "test_apply", tested("tests/test_apply.py", "-k", "again")),
    ("B1", "every flipped bit and every cut is found, and the file named", ROT, rotted),
    ("net", "the tests themselves notice faults in the safety code", "mutants.main", seeded),
)  # fmt: skip


def main(scale="moderate", *wanted):
    rows = []
    for id_, promise, test, experiment in EXPERIMENTS:
        if wanted and id_ not in wanted:
            continue
        folder = Path(tempfile.mkdtemp(prefix="trust-"))
        begun = time.monotonic()
        try:
            tally, about = experiment(folder, scale == "full")
        except Exception as error:
            tally, about = Tally(0, 0, [repr(error)[:300]]), "it could not be done"
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        spent = time.monotonic() - begun
        print(f"{id_} {promise}: {tally.runs} runs, {tally.delivered} struck, "
              f"{len(tally.failures)} failed, {spent:.0f} s", *tally.failures[:5], sep="\n  ", flush=True)  # fmt: skip
        rows.append((id_, promise, test, tally, about, spent))
    return rows


def written(rows, scale, day):
    """Return TRUST.md."""
    head = f"""# Trust

What memops promises, the test that proves it, and what happened when it was run last: on {day},
at {scale} counts, by `python -m tests.trust.report {scale}`, which writes this file.
The counts of a change's own tests are smaller (`pytest tests/trust`).

A fault counts as struck only when it was seen to happen: the process died of it, or the error came
back. Where faults are not what a row is about, the note says what the number is, or there is none.

| | promise | test | runs | struck | failures | note |
|---|---|---|--:|--:|--:|---|
"""
    lines = [
        f"| {id_} | {promise} | `{test}` | {t.runs} | {t.delivered or '-'} | {len(t.failures)} | {about} |"
        for id_, promise, test, t, about, _ in rows
    ]
    seconds = sum(spent for *_, spent in rows)
    load = f"{os.cpu_count()} processors under a load of {os.getloadavg()[2]:.0f}"
    foot = f"\nAll of it took {seconds / 60:.0f} minutes, on {load}.\n"
    return head + "\n".join(lines) + "\n" + foot


if __name__ == "__main__":
    scale, *wanted = sys.argv[1:] or ["moderate"]
    rows = main(scale, *wanted)
    if not wanted:
        OUT.write_text(written(rows, scale, f"{datetime.now(UTC):%Y-%m-%d}"), encoding="utf-8")
    sys.exit(any(tally.failures for *_, tally, _, _ in rows))
