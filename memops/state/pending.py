"""Pending: plans of which something is left and runs that were cut off, without reading a change."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from memops import files, locks
from memops.journal import Journal
from memops.snapshot import lock_path
from memops.state.runs import Run, runs_of

_LINE = re.compile(rb'^\{"seq": (\d+), [^\n]*?"rule": "(\w+)"', re.MULTILINE)


@dataclass(frozen=True)
class Pending:
    """A plan, and how many changes of each rule neither a run nor a reviewer nor a newer plan had."""

    plan: str
    address: str
    rules: dict[str, int]
    expired: bool

    @property
    def changes(self) -> int:
        """How many they are."""
        return sum(self.rules.values())


def waiting(state: Path, now: datetime, place: Callable[[str], str]) -> dict[str, list[Pending]]:
    """Return what waits of each store, by its place; newest plans first.

    The newest plan that a rule ran for holds what waits of it; of an older one that has expired nothing
    does, nor of what a person asked for by name.
    """
    made = [(path.stat().st_mtime_ns, path) for path in (state / "plans").glob("*/plan.json")]
    found: dict[str, list[Pending]] = {}
    ran: dict[str, set[str]] = {}
    for _, path in sorted(made, reverse=True):
        header = files.read_json(path)
        if header.get("authority") == "person":
            continue
        address = str(header.get("address"))
        where = place(address)
        newest, anew = where not in ran, ran.setdefault(where, set())
        most = timedelta(hours=header.get("expires_after_hours", 0.0))
        expired = now - datetime.fromisoformat(header["now"]) > most
        if (newest or not expired) and (rules := _left(path.parent, state, anew)):
            found.setdefault(where, []).append(Pending(path.parent.name, address, rules, expired))
        anew.update(header.get("rules", ()))
    return found


def rejected(plan: Path) -> set[int]:
    """Return the numbers of the changes that a person rejected or took back, and did not keep since."""
    last: dict[int, str] = {}
    for entry in Journal(plan / "review.jsonl").entries():
        last |= dict.fromkeys(entry["seqs"], entry["decision"])
    return {seq for seq, decision in last.items() if decision == "reject"}


def unfinished(state: Path, identity: dict[str, str] | None = None) -> list[Run]:
    """Return the runs, of one store or of all, that neither ended nor were taken back; oldest first."""
    every = (Run(path.parent) for path in (state / "runs").glob("*/run.json"))
    cut = (run for run in every if not _ended(run))
    own = (run for run in cut if identity is None or run.header["store"] == identity)
    return sorted(own, key=lambda run: (run.header["started"], run.id))


def failed(state: Path) -> list[Run]:
    """Return the runs that a device failed, and that nothing came of since."""
    every = [Run(path.parent) for path in sorted((state / "runs").glob("*/run.json"))]
    return [run for run in every if not (run.path / "seal.json").exists() and run.failed]


def at_work(run: Run, state: Path) -> bool:
    """Return whether another process holds the lock of a run's store, and may be carrying it out."""
    return locks.is_held(lock_path(state, run.header["store"]))


def _left(folder: Path, state: Path, anew: set[str]) -> dict[str, int]:
    ops = folder / "ops.jsonl"
    lines = _LINE.findall(ops.read_bytes()) if ops.is_file() else []
    kept = {int(seq): rule.decode() for seq, rule in lines if rule.decode() not in anew}
    gone = rejected(folder) if kept else set[int]()
    for run in runs_of(folder.name, state) if kept else ():
        if run.state != "rolled-back":
            gone.update(run.header["kept"])
    return dict(Counter(rule for seq, rule in kept.items() if seq not in gone))


def _ended(run: Run) -> bool:
    """Whether its journal is as long as when it was sealed, which is told without reading it."""
    seal, journal = run.path / "seal.json", run.path / "journal.jsonl"
    if not seal.exists() or not journal.exists():
        return run.state in ("verified", "rolled-back", "needs-attention")
    return bool(files.read_sealed(seal)["journal.jsonl"]["bytes"] == journal.stat().st_size)
