"""Serving: one process with the nightly flow of every configured store on its schedule."""

import sys
from pathlib import Path
from typing import Any

from prefect import serve

sys.path.insert(0, str(Path(__file__).parent))
from migrate import migrate
from nightly import nightly
from recall_gate import recall_gate

SCHEDULE = "30 3 * * *"
"""After the hour at which agents tidy up themselves."""


def serve_all(settings: Any) -> None:
    """Serve a nightly deployment for each store, and one each of the other flows; blocks."""
    common = {"state": str(settings.state)}
    if Path("memops.toml").exists():
        common["config"] = str(Path("memops.toml").absolute())
    nights = [
        nightly.to_deployment(
            name=f"nightly-{name}",
            cron=store.schedule or SCHEDULE,
            parameters={"store": name, **common},
            concurrency_limit=1,
            tags=["memops", name],
        )
        for name, store in settings.stores.items()
    ]
    others = [
        migrate.to_deployment(name="migrate", tags=["memops"]),
        recall_gate.to_deployment(name="recall-gate", tags=["memops"]),
    ]
    serve(*nights, *others)
