"""The one-off clean-up of a polluted store as a Prefect flow."""

import sys
from pathlib import Path

from prefect import flow
from prefect.states import State

sys.path.insert(0, str(Path(__file__).parent))
from nightly import curated, finished


@flow(name="migrate", flow_run_name="migrate {store}", log_prints=False)
def migrate(
    store: str,
    config: str | None = None,
    state: str | None = None,
    suite: str | None = None,
    approve: bool = False,
    now: str | None = None,
) -> State:
    """Extract facts from raw notes, retire the rest, grade, gate, apply if approved, report."""
    return finished(curated(store, config, state, suite, approve, now, migrate=True))


if __name__ == "__main__":
    migrate("rsclaw")
