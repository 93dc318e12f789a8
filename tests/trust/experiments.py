"""The experiments of the trust report, each in slices that can be done one at a time."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from tests.tiny import STORES

from . import fuzz, mutants, test_machine
from .checker import Tally
from .operations import Stored, operations
from .operations import killed as killed_at
from .scene import ROOT, Scene
from .test_artefacts import all_rotten
from .test_failpoints import (
    KINDS,
    OF,
    PLANS,
    disk_full,
    exhausted,
    little_left,
    sizes_of_disks,
    small_disk,
)
from .test_fuzz import PARSERS, fuzzed
from .test_guards import schedules
from .test_kill import trials
from .test_op_lists import op_lists
from .test_order import disordered, injected, reach, traced
from .test_power import power_cuts
from .test_purge import Purging
from .test_race import races
from .test_restore_kill import Pruning, Restoring
from .test_restore_race import MANNERS
from .test_restore_race import races as restores
from .test_snapshot_live import prefixes
from .test_two_runs import pairs

CORPUS = Path(tempfile.gettempdir()) / "memops-corpus"  # kept from slice to slice
FAULTS = ("kill", "enospc", "eio")


def last(notes):
    return notes[-1] if notes else ""


def joined(notes):
    """All of the notes, each once."""
    return "; ".join(dict.fromkeys(notes))


def slowest(notes):
    """The note with the largest number in it."""
    return max(notes, key=lambda note: max(map(float, re.findall(r"[\d.]+\d|\d", note)), default=0))


@dataclass(frozen=True)
class Row:
    """One row of TRUST.md: `slice(folder, nth)` returns a tally and a note."""

    key: str
    id: str
    promise: str
    test: str
    full: int
    moderate: int
    slice: Callable
    worst: Callable = last


@cache
def scene(kind, folder, size):
    return Scene(kind, folder / f"{kind}-{size}", size)


def killed(kind):
    def ten(folder, nth):
        tally = trials(scene(kind, folder, 60 if kind == "clawseed" else 24), 10, seed=11 + nth)
        return tally, "an agent writes all the while; half of the recoveries are killed, too"

    return ten


def failing(kind):
    cases = list(product(OF[kind], KINDS, PLANS))

    def every_passage(folder, nth):
        site, fault, plan = cases[nth]
        tally = exhausted(scene(kind, folder, 12), site, fault, plan)
        return tally, "every passage of every site; odd ones fail in the recovery, too"

    return every_passage, len(cases)


def struck(folder, nth):
    made = scene("clawseed", folder, 12)
    top = reach(made)
    kind, part = FAULTS[nth % 3], nth // 3
    positions = [at for at in range(1, top + 1) if at % 10 == part]
    tally = injected(made, kind, positions)
    return tally, f"KILL, ENOSPC and EIO at each of {top} system calls on store and records"


def ordered(folder, nth):
    made, tally = scene("clawseed", folder, 12), Tally(1)
    made.reset()
    _, trace = traced(made, "-e", "trace=write,pwrite64,fsync,fdatasync,rename,renameat,ftruncate")
    tally.failures += disordered(trace, made.store_path)
    return tally, "the trace of every write, fsync and rename"


def raced(kind, pause):
    def five(folder, nth):
        tally, worst = races(scene(kind, folder, 40), 5, pause, seed=nth)
        return (
            tally,
            f"longest wait of the agent {worst:.0f} ms; struck: runs that changed something",
        )

    return five


@cache
def homed(kind, folder, what):
    made = what(kind, folder / f"{what.__name__}-{kind}")
    return made, operations(made)


def interrupted(kind, what):
    """Each tenth file operation of a command, and then the next nine tenths."""

    def tenth(folder, nth):
        made, every = homed(kind, folder, what)
        after = "a night" if what is Restoring else "a check"
        said = f"{len(every)} file operations in all; then the command again, and {after}"
        return killed_at(made, every[nth::10]), said

    return tenth


def restored_beside(kind):
    def manner(folder, nth):
        how, pause = MANNERS[kind][nth]
        tally, codes = restores(Stored(kind, folder / how), how, pause, 10_000, seed=nth)
        refused = f"{codes[11]} refused as the agent was at it"
        return tally, f"runs: rows or lines by the agent; struck: restores, {refused} ({how})"

    return manner


def prefixed(folder, nth):
    tally, worst, alone = prefixes(folder / f"prefix-{nth}", 20, 10_000)
    said = f"longest commit of the writer {worst:.0f} ms, {alone:.0f} ms without a snapshot"
    return tally, f"{said}, at real-time priority; struck: commits came meanwhile"


def filled(kind):
    def five(folder, nth):
        sizes = sizes_of_disks(5, 18, 13 + nth)
        return disk_full(scene(kind, folder, 24), sizes), "files may not grow beyond 1 B to 256 KiB"

    return five


def cramped(kind):
    def five(folder, nth):
        made, sizes = scene(kind, folder, 24), sizes_of_disks(5, 20, 23 + nth)
        with small_disk(made) as mounted:
            if not mounted:
                return Tally(), "not done: only root may mount a disk"
            return disk_full(made, sizes, little_left), "a tmpfs with 1 B to 1 MiB left"

    return five


def paired(folder, nth):
    return pairs(scene("clawseed", folder, 12), 5, 2), "struck: the holder of the lock was killed"


def rotted(folder, nth):
    made = scene("clawseed", folder, 24)
    if made.run() is None:
        made.apply()
    tallies = all_rotten(made, 50, 20, seed=17 + nth)
    return sum(
        tallies.values(), Tally()
    ), f"{len(tallies)} kinds of file, 500 bits and 200 cuts each"


def wandered(folder, nth):
    tally = Tally(20)
    try:
        test_machine.walks(20, 20, nth)
    except Exception as error:
        tally.failures.append(str(error)[:300])
    return tally, "histories of up to 20 events; plans that no guard has seen"


def listed(folder, nth):
    return op_lists(250, 100 + nth), "struck: lists that changed something"


def floored(folder, nth):
    tally = schedules(folder / f"floor-{nth}", 25, seed=19 + nth)
    return tally, "struck: the agent forgot between two batches"


def seeded(folder, nth):
    mutant = mutants.MUTANTS[nth]
    caught, _ = mutants.main(mutant.name)
    return Tally(
        1, 1, [] if caught else [f"survived: {mutant.name}"]
    ), "seeded faults, each caught by a named test"


def fuzzing(name):
    def part(folder, nth):
        return fuzzed(name, 500, seed=nth), "struck: inputs that were refused"

    return part


def guided(name):
    def minute(folder, nth):
        tally = fuzz.guided(name, 1, CORPUS / name)
        return tally, "a minute each, by atheris; struck: inputs that reached new code"

    return minute


def cut(folder, nth):
    made = scene("clawseed", folder, 12)
    return power_cuts(made, 50, seed=nth), "images of what a power cut leaves; half are taken back"


def tested(*nodes, marks="not slow", said="tests"):
    """An experiment that is tests: each that passes is a run."""

    def once(folder, nth):
        argv = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=-p no:cacheprovider"]
        argv += ["-m", marks, *nodes]
        out = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True).stdout
        count = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed|error)", out)}
        bad = count.get("failed", 0) + count.get("error", 0)
        dots = sum(line.split()[0].count(".") for line in out.splitlines() if "%]" in line)
        ran = count.get("passed", dots) + bad
        return Tally(ran, 0, [out[-300:]] * (bad or (not ran))), said

    return once


def odd_stores(kind):
    return tested(
        "tests/test_tiny_stores.py", "-k", f"reads and {kind} and 50", marks="slow", said="50 stores, through every such command"
    )  # fmt: skip


PEERS = (
    "tests/stores/test_openclaw.py", "tests/stores/test_xinghebot.py", "tests/stores/test_rsclaw_write.py", "tests/test_suite.py",
)  # fmt: skip
KILL, FAIL, ROT = "test_kill.trials", "test_failpoints.exhausted", "test_artefacts.all_rotten"
BOTH = (("clawseed", "SQLite"), ("openclaw", "Markdown"))
(FAILS_C, C), (FAILS_M, M) = failing("clawseed"), failing("openclaw")
ROWS = (
    Row("kill-clawseed", "A1", "kill -9 at any moment: resume is exact, rollback is exact (clawseed)", KILL, 20, 2, killed("clawseed")),
    Row("kill-markdown", "A1", "the same for Markdown notes", KILL, 20, 2, killed("openclaw")),
    Row("fail-clawseed", "A1", "a fault at any step of a run (clawseed)", FAIL, C, 20, FAILS_C),
    Row("fail-markdown", "A1", "a fault at any step of a run (Markdown)", FAIL, M, 20, FAILS_M),
    Row("strace", "A1", "a fault in any system call on store and journal", "test_order.injected", 30, 3, struck),
    *(Row(f"restore-kill-{kind}", "A1", f"restore killed at every file operation: nothing lost, the next one is exact ({name})", "test_restore_kill", 10, 1, interrupted(kind, Restoring)) for kind, name in BOTH),
    *(Row(f"prune-kill-{kind}", "A13", f"prune killed at every file operation: only what is past its time goes, the next one ends the same ({name})", "test_restore_kill", 10, 1, interrupted(kind, Pruning)) for kind, name in BOTH),
    *(Row(f"purge-kill-{kind}", "D3", f"purge killed at every file operation: the next one leaves nothing, and nothing else goes ({name})", "test_purge", 10, 1, interrupted(kind, Purging)) for kind, name in (*BOTH, ("jsonl", "JSON lines"))),
    Row("whole-undo", "A3", "a run is taken back only with all of its undo; none is begun over one that lost its header", "test_runs", 1, 1, tested("tests/test_runs.py", "-k", "cut_off or second_run or died_over")),
    Row("rejected", "A3", "a rollback takes back and rejects what its run did, and no more; a run that a device failed is told", "test_runs", 1, 1, tested("tests/test_runs.py", "-k", "passed_over or device_failed")),
    Row("hot-journal", "A1", "what a killed writer left half-written is rolled back before a store is read", "test_clawseed", 1, 1, tested("tests/stores/test_clawseed.py", "-k", "half_written or restored_database")),
    Row("any-name", "A2", "a file of any name is edited; one that cannot be replaced keeps no other from its night", "test_markdown", 1, 1, tested("tests/stores/test_markdown.py", "-k", "long or cannot_be_replaced")),
    Row("read-back", "A16", "what does not read back as written ends with 33, wherever one looks", "test_read_back", 1, 1, tested("tests/test_read_back.py")),
    Row("restoring", "A2", "what is written beside a restore is in its snapshot or in the store; half a restore is told", "test_restoring", 1, 1, tested("tests/test_restoring.py")),
    *(Row(f"restore-race-{kind}", "A2", f"no row and no line is lost beside restores, in each manner of writing ({name})", "test_restore_race.races", len(MANNERS[kind]), 1, restored_beside(kind), joined) for kind, name in BOTH),
    Row("race-clawseed", "A2", "no write of the agent is lost (clawseed)", "test_race.races", 4, 1, raced("clawseed", 0.002), slowest),
    Row("race-markdown", "A2", "no line of the agent is lost, in three manners of writing", "test_race.races", 4, 1, raced("openclaw", 0.05), slowest),
    Row("order", "A3", "undo is on disk before the store is written", "test_order.disordered", 10, 3, ordered),
    Row("prefix", "A4", "a snapshot is a consistent prefix, and keeps no agent waiting", "test_snapshot_live.prefixes", 1, 1, prefixed, slowest),
    Row("reading", "A5", "reading changes no byte", "test_snapshot_live.test_reading_*", 1, 1, tested("tests/trust/test_snapshot_live.py", "-k", "reading")),
    Row("restore", "A6", "restore is exact", "test_contract, test_tables", 1, 1, tested("tests/stores/test_contract.py", "tests/stores/test_tables.py", "-k", "restore or copy or lose")),
    Row("drift", "A7", "what changed since the snapshot is skipped and named", "test_contract.test_a_changed_*", 1, 1, tested("tests/stores/test_contract.py", "tests/test_apply.py", "-k", "changed")),
    Row("op-lists", "A8", "no list of changes takes what is protected, or goes below a floor or beyond a limit unseen", "test_op_lists.op_lists", 40, 2, listed),
    Row("histories", "A8", "the same in any order of events and crashes", "test_machine.walks", 50, 3, wandered),
    Row("refusals", "A8", "each thing that no plan may do is refused at apply, by name", "test_guards", 1, 1, tested("tests/trust/test_guards.py", "-k", "refused or floor_just")),
    Row("floors", "A9", "floors hold while an agent forgets in the same category", "test_guards.schedules", 20, 2, floored),
    Row("disk-clawseed", "A10", "on a full disk nothing is lost, and the run goes on later (clawseed)", "test_failpoints.disk_full", 8, 2, filled("clawseed")),
    Row("disk-markdown", "A10", "the same for Markdown notes", "test_failpoints.disk_full", 8, 2, filled("openclaw")),
    Row("tmpfs-clawseed", "A10", "the same on a small disk of its own (clawseed)", "test_failpoints.disk_full", 8, 2, cramped("clawseed")),
    Row("tmpfs-markdown", "A10", "the same on a small disk of its own (Markdown)", "test_failpoints.disk_full", 8, 2, cramped("openclaw")),
    Row("limits", "A12", "what goes beyond the limits of a night waits for a person", "test_apply, test_guard, test_runs", 1, 1, tested("tests/test_apply.py", "tests/test_guard.py", "tests/test_runs.py", "-k", "limits or blast or night")),
    Row("retention", "A13", "the newest sound snapshot never goes, and the chain holds", "test_retention", 1, 1, tested("tests/test_retention.py")),
    Row("pairs", "A14", "one run at a time; a killed one blocks nobody", "test_two_runs.pairs", 10, 2, paired),
    Row("again", "A15", "what is done is not done again", "test_apply", 1, 1, tested("tests/test_apply.py", "-k", "again")),
    Row("power", "A17", "what a power cut leaves at any moment ends exactly", "test_power.power_cuts", 20, 2, cut),
    Row("rot", "B1", "every flipped bit and every cut is found, and the file named", ROT, 10, 2, rotted),
    *(Row(f"fuzz-{name}", "B2", f"no input is a crash, a hang or a flood: {name}", "test_fuzz.fuzzed", 10, 1, fuzzing(name), slowest) for name in PARSERS),
    *(Row(f"guided-{name}", "B2", f"the same, guided by coverage: {name}", "fuzz.guided", 10, 1, guided(name)) for name in PARSERS),
    *(Row(f"tiny-{kind}", "B2", f"no command that reads ends with 1, whatever a store of none to five odd records holds: {kind}", "test_tiny_stores", 1, 1, odd_stores(kind)) for kind in sorted(STORES)),
    Row("tiny-rules", "B2", "every rule plans for none to five odd records, under odd policies", "test_tiny_rules", 1, 1, tested("tests/test_tiny_rules.py")),
    Row("peers", "P3", "what an agent's software keeps for itself is left alone, what it needs is written, what it shows to all is found", "test_openclaw, test_xinghebot, test_rsclaw_write, test_suite", 1, 1, tested(*PEERS, "-k", "machine or template or tags_and_source or undated or everybody")),
    Row("sources", "C7", "nothing takes the place of what is trusted more, unattended", "test_guard, test_poisoning", 1, 1, tested("tests/test_guard.py", "tests/trust/test_poisoning.py", "-k", "trusted or own_word or denial or instruction")),
    Row("masking", "D1", "no command prints or writes a secret of any column, but for what restores and undoes", "test_masking", 1, 1, tested("tests/test_masking.py")),
    Row("remembered", "D1", "what one record told is a secret is shown and written nowhere, also once it is masked there", "test_remembered_secrets", 1, 1, tested("tests/test_remembered_secrets.py", "tests/documents/test_ends.py")),
    Row("shapes", "D1", "secrets of many forms are found, and what looks like them is left", "test_secrets", 1, 1, tested("tests/test_secrets.py")),
    Row("purging", "D3", "a purge leaves no trace in what memops wrote, keeps all else, and says what went", "test_purging", 1, 1, tested("tests/test_purging.py")),
    Row("intents", "P1", "a change is what it is called, or it is withdrawn", "test_guard", 1, 1, tested("tests/test_guard.py", "-k", "called or redaction or gravest")),
    Row("seals", "P2", "a plan, its limits, authority and expiry are what this user made", "test_seals", 1, 1, tested("tests/trust/test_seals.py")),
    Row("errors", "B3", "errors say what, where and what next, each with its code", "test_errors", 1, 1, tested("tests/test_errors.py", "tests/test_bad_input.py")),
    Row("private", "D4", "state is nobody else's to write, and files are private", "test_state_folder", 1, 1, tested("tests/test_state_folder.py", "tests/test_bad_input.py", "-k", "private or folder")),
    Row("bombs", "D8", "what unfolds to too much is refused in bounded time and space", "test_bombs", 1, 1, tested("tests/trust/test_bombs.py")),
    Row("mutants", "net", "the tests themselves notice faults in the safety code", "mutants.main", len(mutants.MUTANTS), 5, seeded),
)  # fmt: skip
