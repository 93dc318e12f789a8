"""Approval: what keeps a plan waiting, and the lines to copy that apply it or take it back."""

from collections.abc import Callable, Sequence
from typing import Any

from memops.errors import GuardRefused
from memops.reasons import plain
from memops.settings import Settings
from memops.state import planfile
from memops.state.runs import Run


def limits(beyond: list[dict[str, Any]], night: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a plan exceeds, and what else kept it from being applied."""
    stopped = night.get("stopped")
    same = beyond and night.get("code") == GuardRefused.code
    return [*beyond, night.get("because") or plain(stopped)] if stopped and not same else beyond


def approving(
    made: planfile.PlanFile | None, night: dict[str, Any], settings: Settings
) -> dict[str, str]:
    """Return the command that applies a plan beyond its limits, if that alone keeps it back."""
    if made is None or night.get("run") or not made.header["exceeds"]:
        return {}
    held = night.get("stopped") and night.get("code") != GuardRefused.code
    said = f"{settings.typed()} apply {made.id} --approve"
    return {} if held else {"approve_command": said}


Undoing = Callable[[Sequence[int]], str]
"""Returns the command that takes changes back, or out of a plan that waits, by their numbers."""


def undoing(made: planfile.PlanFile | None, runs: Sequence[Run], settings: Settings) -> Undoing:
    """Return what tells how to take changes back that these runs carried out, and those that wait."""
    by = {seq: run.id for run in runs for seq in run.header["kept"]}

    def command(seqs: Sequence[int]) -> str:
        run = by.get(seqs[0])
        verb = f"rollback {run} --only" if run else f"review {made.id if made else ''} --reject"
        return f"{settings.typed()} {verb} {','.join(map(str, seqs))}"

    return command
