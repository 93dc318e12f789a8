"""Summary: what a command prints of a run, and the code that it ends with."""

import shlex
from collections.abc import Iterable
from typing import Any

from memops.errors import ReadBackFailed
from memops.reasons import told
from memops.state.runs import Run
from memops.stores import Written


def summary(run: Run, written: list[Written]) -> dict[str, Any]:
    """Return what a command prints of a run: counts, and what was skipped and why."""
    passed = skipped(written)
    return {
        "run": run.id,
        "plan": run.header["plan"],
        "state": run.state,
        "applied": sum(w.state == "applied" for w in written),
        "already": sum(w.state == "already" for w in written),
        "skipped": passed,
        "wrong": run.wrong,
        "path": str(run.path),
    } | ended(run, bool(passed))


def skipped(written: Iterable[Written]) -> list[dict[str, Any]]:
    """Return the records that were passed over, and why."""
    return [
        {"id": w.id, "why": told(w.why), "state": w.state}
        for w in written
        if w.state in ("stale", "refused")
    ]


def ended(run: Run, passed: bool) -> dict[str, Any]:
    """Return the code that a run ends with, and what is said of one that failed its read-back."""
    if not (wrong := len(run.wrong)):
        return {"code": (25 if run.backwards else 3) if passed else 0}
    many = "1 record does" if wrong == 1 else f"{wrong} records do"
    failed = ReadBackFailed(
        f"run {run.id}: {many} not read as written",
        f"look: memops records show {shlex.quote(run.header['address'])} {shlex.quote(run.wrong[0])}\n"
        f"or take the run back: memops rollback {run.id}",
    )
    cause = {"error": failed.message, "hint": failed.hint, "cause": type(failed).__name__}
    return {"code": failed.code, **cause}
