"""The one-off clean-up of a polluted store as a Prefect flow; its form is that of a night."""

from functools import wraps
from typing import Any

from flowing import COMMON, HOOKS, by_hand
from nightly import nightly
from prefect import flow
from prefect.states import State

ABOUT = "Extract facts from raw notes, retire the rest, grade, gate, apply if approved, report."


@flow(name="migrate", description=ABOUT, **COMMON, **HOOKS)
@wraps(nightly.fn, assigned=("__doc__",))
def migrate(*args: Any, **kwargs: Any) -> State[Any]:
    """Do a night by the rules of the clean-up."""
    state: State[Any] = nightly.fn(*args, **kwargs)
    return state


if __name__ == "__main__":
    by_hand(migrate)
