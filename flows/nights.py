"""The nights of several stores as a Prefect flow: each a flow run of its own below it."""

from typing import Any

from flowing import COMMON, by_hand, refused, settings
from nightly import nightly
from prefect import flow, tags
from prefect.artifacts import create_table_artifact
from prefect.states import Completed, Failed, State

from memops.errors import MemopsError


@flow(name="nights", **COMMON)
def nights(
    stores: list[str] | None = None,
    config: str | None = None,
    state: str | None = None,
    now: str | None = None,
) -> State[Any]:
    """Do the night of every store, one after the other; one that fails keeps none from theirs.

    Failed, with each cause, when a store failed; completed otherwise.

    Args:
        stores: Names in memops.toml, or addresses; all of memops.toml if none.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
        now: Fix the clock, e.g. 2026-06-01T02:00:00Z.
    """
    try:
        names = stores or list(settings(config, state).stores)
    except MemopsError as error:
        return refused("memops", error)
    given = {"config": config, "state": state, "now": now}
    with tags("memops"):  # the watch for crashed runs goes by it
        ends = {name: nightly(store=name, **given, return_state=True) for name in names}
    rows = [
        {"store": name, "state": end.name, "says": end.message or ""} for name, end in ends.items()
    ]
    create_table_artifact(rows, key="nights", description="How the stores' nights ended")
    failed = {name: end for name, end in ends.items() if not end.is_completed()}
    message = f"{len(ends) - len(failed)} of {len(ends)} stores good"
    causes = [f"{end.name}: {end.message}" for end in failed.values()]
    if failed:
        return Failed(name="StoresFailed", message="; ".join([message, *causes]))
    return Completed(message=message)


if __name__ == "__main__":
    by_hand(nights)
