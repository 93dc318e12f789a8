"""Collecting several XingheBot nodes as a Prefect flow: counts, and sessions in one place."""

import sys
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.states import Completed, State
from pydantic import Field

sys.path.insert(0, str(Path(__file__).parent))
from flowing import COMMON, Config, Folder, Now, as_task, by_hand, lost, settings

from memops import steps
from memops.errors import MemopsError

Roots = Annotated[
    list[str], Field(min_length=1, description="Memory roots of the nodes: ROOT or NODE=ROOT.")
]
Into = Annotated[str | None, Field(description="The root that session summaries are copied to.")]


@flow(name="collect", **COMMON)
def collect(
    roots: Roots, into: Into = None, config: Config = None, state: Folder = None, now: Now = None
) -> State[Any]:
    """Read the nodes as one: count, find what two of them say, copy their sessions together."""
    try:
        own = settings(config, state)
        said = as_task(steps.collect_nodes, roots, into, own, steps.instant(now))
    except MemopsError as error:
        return lost("collect", type(error).__name__, error.code, error.message, error.hint)
    rows = [{"node": node, **counts} for node, counts in said["nodes"].items()]
    create_table_artifact(rows, key="collected", description="Records and sessions by node")
    twice, copied = len(said["duplicates"]), len(said["copied"])
    message = f"{len(rows)} nodes; {copied} summaries copied, {twice} records said twice"
    return Completed(message=message)


if __name__ == "__main__":
    by_hand(collect)
