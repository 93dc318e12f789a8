"""Collecting several XingheBot nodes as a Prefect flow: counts, and sessions in one place."""

from typing import Annotated, Any

from flowing import COMMON, as_task, by_hand, refused, settings
from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.states import Completed, State
from pydantic import Field

from memops import steps
from memops.errors import MemopsError

Roots = Annotated[list[str], Field(min_length=1)]


@flow(name="collect", **COMMON)
def collect(
    roots: Roots,
    into: str | None = None,
    config: str | None = None,
    state: str | None = None,
    now: str | None = None,
) -> State[Any]:
    """Read the nodes as one: count, find what two of them say, copy their sessions together.

    Args:
        roots: Memory roots of the nodes: ROOT or NODE=ROOT.
        into: The root that session summaries are copied to; none copies nothing.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
        now: Fix the clock, e.g. 2026-06-01T02:00:00Z.
    """
    try:
        own = settings(config, state)
        said = as_task(steps.collect_nodes, roots, into, own, steps.fixed(now))
    except MemopsError as error:
        return refused("collect", error)
    rows = [{"node": node, **counts} for node, counts in said["nodes"].items()]
    create_table_artifact(rows, key="collected", description="Records and sessions by node")
    twice, copied = len(said["duplicates"]), len(said["copied"])
    message = f"{len(rows)} nodes; {copied} summaries copied, {twice} records said twice"
    return Completed(message=message)


if __name__ == "__main__":
    by_hand(collect)
