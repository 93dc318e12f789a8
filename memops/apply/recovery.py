"""Recovery: runs that were cut off, found and brought to an end."""

from typing import Any

from memops import apply as applying
from memops.errors import MemopsError, PlanRefused, ReadBackFailed
from memops.settings import Settings
from memops.state import restore_marker
from memops.state.pending import unfinished
from memops.stores import open_store


def recover(name: str, settings: Settings) -> dict[str, Any]:
    """Go on with the runs of a store that were cut off; raises what a resume raises, with how to take the run back."""
    identity = open_store(settings.store(name).address).identity()
    restore_marker.refuse_half(settings.state, identity)
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
    memops = settings.typed()
    return [
        f"`{memops} resume {run.id}` goes on, `{memops} rollback {run.id}` takes it back"
        for run in unfinished(settings.state, identity)
    ]
