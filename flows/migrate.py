"""The one-off clean-up of a polluted store as a Prefect flow."""

import sys
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.states import State

sys.path.insert(0, str(Path(__file__).parent))
from flowing import (
    COMMON,
    HOOKS,
    Approve,
    Config,
    Folder,
    Limits,
    Minutes,
    Now,
    Store,
    Suite,
    by_hand,
)
from nightly import curated


@flow(name="migrate", **COMMON, **HOOKS)
def migrate(
    store: Store,
    config: Config = None,
    state: Folder = None,
    suite: Suite = None,
    approve: Approve = False,
    now: Now = None,
    limits: Limits | None = None,
    policy: dict[str, Any] | None = None,
    approval_minutes: Minutes = None,
) -> State[Any]:
    """Extract facts from raw notes, retire the rest, grade, gate, apply if approved, report."""
    return curated(**locals(), migrate=True)


if __name__ == "__main__":
    by_hand(migrate)
