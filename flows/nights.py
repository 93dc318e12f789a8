"""The nights of several stores as a Prefect flow: each a flow run of its own below it."""

import sys
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.states import Completed, Failed, State
from pydantic import Field

sys.path.insert(0, str(Path(__file__).parent))
from flowing import COMMON, Config, Folder, Now, by_hand, lost, settings
from nightly import nightly

from memops.errors import MemopsError

Stores = Annotated[
    list[str] | None, Field(description="Names in memops.toml, or addresses; all of it if none.")
]


@flow(name="nights", **COMMON)
def nights(
    stores: Stores = None, config: Config = None, state: Folder = None, now: Now = None
) -> State[Any]:
    """Do the night of every store, one after the other; one that fails keeps none from theirs.

    Failed, with each cause, when a store failed; completed otherwise.
    """
    try:
        names = stores or list(settings(config, state).stores)
    except MemopsError as error:
        return lost("memops", type(error).__name__, error.code, error.message, error.hint)
    given = {"config": config, "state": state, "now": now}
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
