"""The recall gate as a Prefect flow: a store's grades against its suite's baseline."""

import sys
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.states import Completed, State
from pydantic import Field

sys.path.insert(0, str(Path(__file__).parent))
from flowing import COMMON, WORDS, Config, Folder, Store, as_task, by_hand, lost, settings, slug

from memops import steps
from memops.errors import GateInconclusive, MemopsError

NAMES = {"fail": WORDS[30], "inconclusive": WORDS[31], "warn": "GateWarned"}
Accept = Annotated[bool, Field(description="Record these grades as the baseline.")]


@flow(name="recall_gate", **COMMON)
def recall_gate(
    store: Store,
    suite: Annotated[str, Field(description="The suite to grade with.")],
    config: Config = None,
    state: Folder = None,
    accept: Accept = False,
) -> State[Any]:
    """Grade a store and compare with the baseline; a failed gate is a completed flow that says so."""
    try:
        said = as_task(steps.gate, store, suite, settings(config, state), None, None, accept)
    except GateInconclusive as error:
        return Completed(name=WORDS[31], message=f"{store}: {error.message}; {error.hint}")
    except MemopsError as error:
        return lost(store, type(error).__name__, error.code, error.message, error.hint)
    create_markdown_artifact(
        said["markdown"], key=f"recall-gate-{slug(store)}", description="Recall and its baseline"
    )
    verdict = said["verdict"]
    return Completed(name=NAMES.get(verdict, "Completed"), message=f"{store}: {verdict}")


if __name__ == "__main__":
    by_hand(recall_gate)
