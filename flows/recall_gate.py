"""The recall gate as a Prefect flow: a store's grades against its suite's baseline."""

import sys
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.states import Completed, State

from memops import settings as settings_of
from memops import steps

sys.path.insert(0, str(Path(__file__).parent))
from nightly import as_task


@flow(name="recall_gate", flow_run_name="recall gate {store}", log_prints=False)
def recall_gate(
    store: str,
    suite: str,
    config: str | None = None,
    state: str | None = None,
    accept: bool = False,
) -> State:
    """Grade a store and compare with the baseline; a failed gate is a completed flow that says so."""
    settings = settings_of.read(Path(config) if config else None, Path(state) if state else None)
    said = as_task(steps.gate, store, suite, settings, None, None, accept)
    create_markdown_artifact(
        said["markdown"], key="recall-gate", description="Recall against the baseline"
    )
    names = {"fail": "GateFailed", "inconclusive": "GateInconclusive", "warn": "GateWarned"}
    return Completed(
        name=names.get(said["verdict"], "Completed"), message=f"{store}: {said['verdict']}"
    )


if __name__ == "__main__":
    recall_gate("clawseed", "sample/clawseed")
