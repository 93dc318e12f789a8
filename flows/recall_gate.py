"""The recall gate as a Prefect flow: a store's grades against its suite's baseline."""

from typing import Any

from flowing import COMMON, WORDS, as_task, by_hand, refused, settings, slug
from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.states import Completed, State

from memops import steps
from memops.errors import GateInconclusive, MemopsError

NAMES = {"fail": WORDS[30], "inconclusive": WORDS[31], "warn": "GateWarned"}


@flow(name="recall_gate", **COMMON)
def recall_gate(
    store: str,
    suite: str,
    config: str | None = None,
    state: str | None = None,
    accept: bool = False,
) -> State[Any]:
    """Grade a store and compare with the baseline; a failed gate is a completed flow that says so.

    Args:
        store: A name in memops.toml, or an address such as openclaw:WORKSPACE.
        suite: The suite to grade with.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
        accept: Record these grades as the baseline.
    """
    try:
        said = as_task(steps.gate, store, suite, settings(config, state), accept)
    except GateInconclusive as error:
        return Completed(name=WORDS[31], message=f"{store}: {error.message}; {error.hint}")
    except MemopsError as error:
        return refused(store, error)
    create_markdown_artifact(
        said["markdown"], key=f"recall-gate-{slug(store)}", description="Recall and its baseline"
    )
    verdict = said["verdict"]
    return Completed(name=NAMES.get(verdict, "Completed"), message=f"{store}: {verdict}")


if __name__ == "__main__":
    by_hand(recall_gate)
