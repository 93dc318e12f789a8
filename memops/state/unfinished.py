"""Unfinished: the runs that were cut off, told without reading their journals."""

from pathlib import Path

from memops import files
from memops.snapshot import lock_path
from memops.state.runs import Run


def unfinished(state: Path, identity: dict[str, str] | None = None) -> list[Run]:
    """Return the runs, of one store or of all, that neither ended nor were taken back; oldest first."""
    open_runs = [
        run
        for run in (Run(p.parent) for p in (state / "runs").glob("*/run.json"))
        if not _ended(run) and (identity is None or run.header["store"] == identity)
    ]
    return sorted(open_runs, key=lambda run: (run.header["started"], run.id))


def at_work(run: Run, state: Path) -> bool:
    """Return whether another process holds the lock of a run's store, and may be carrying it out."""
    return files.is_held(lock_path(state, run.header["store"]))


def _ended(run: Run) -> bool:
    """Whether its journal is as long as when it was sealed, which is told without reading it."""
    seal, journal = run.path / "seal.json", run.path / "journal.jsonl"
    if not seal.exists() or not journal.exists():
        return run.state in ("verified", "rolled-back", "needs-attention")
    sealed = files.read_sealed(seal)["journal.jsonl"]["bytes"]
    return bool(sealed == journal.stat().st_size)
