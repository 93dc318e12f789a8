"""Recovery: runs that were cut off, found and brought to an end."""

from pathlib import Path
from typing import Any

from memops import apply as applying
from memops import files
from memops.errors import MemopsError, PlanRefused, ReadBackFailed
from memops.settings import Settings
from memops.state import restoring
from memops.state.runs import Run
from memops.stores import open_store


def unfinished(state: Path, identity: dict[str, str] | None = None) -> list[Run]:
    """Return the runs, of one store or of all, that neither ended nor were taken back; oldest first."""
    open_runs = [
        run
        for run in (Run(p.parent) for p in (state / "runs").glob("*/run.json"))
        if not _ended(run) and (identity is None or run.header["store"] == identity)
    ]
    return sorted(open_runs, key=lambda run: (run.header["started"], run.id))


def recover(name: str, settings: Settings) -> dict[str, Any]:
    """Go on with the runs of a store that were cut off, so that its night begins from a whole state.

    Raises what a resume raises, with the command that takes the run back instead.
    """
    identity = open_store(settings.store(name).address).identity()
    restoring.refuse_half(settings.state, identity)
    done = []
    for run in unfinished(settings.state, identity):
        try:
            done.append(applying.resume(run, settings.state))
            if "error" in done[-1]:
                raise ReadBackFailed(done[-1]["error"])
        except MemopsError as error:
            back = f"take it back: memops rollback {run.id}"
            ended = isinstance(error, PlanRefused)
            error.hint = back if ended else f"memops resume {run.id}, or {back}"
            error.message = f"run {run.id} was cut off: {error.message}"
            raise
    keys = ("run", "state", "applied", "already")
    return {"recovered": [{key: said[key] for key in keys} for said in done]} if done else {}


def remedies(name: str, settings: Settings) -> list[str]:
    """Return the commands that end each cut off run of a store; of all stores if it is not there."""
    try:
        identity = open_store(settings.store(name).address).identity()
    except MemopsError:
        identity = None
    state = f"memops --state {settings.state}"
    return [
        f"`{state} resume {run.id}` goes on, `{state} rollback {run.id}` takes it back"
        for run in unfinished(settings.state, identity)
    ]


def _ended(run: Run) -> bool:
    """Whether its journal is as long as when it was sealed, which is told without reading it."""
    seal, journal = run.path / "seal.json", run.path / "journal.jsonl"
    if not seal.exists() or not journal.exists():
        return run.state in ("verified", "rolled-back", "needs-attention")
    sealed = files.read_sealed(seal)["journal.jsonl"]["bytes"]
    return bool(sealed == journal.stat().st_size)
