"""Rounds: the nights of several stores, none of which keeps the others from theirs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl

from memops.errors import told
from memops.nights import monitoring
from memops.nights.night import curate
from memops.settings import Settings
from memops.state import history
from memops.state.sources import clock


def night(
    name: str,
    settings: Settings,
    now: datetime | None = None,
    passing: tuple[type[BaseException], ...] = (),
    **how: Any,
) -> dict[str, Any]:
    """Return a store's night; one that fails has its `code`, `error`, `hint` and `cause`.

    Whatever the failure is, it is written into the history. Errors of the classes `passing` (of
    whoever runs the night) go through.
    """
    at = now or clock()
    try:
        done = curate(name, settings, at, **how)
    except passing:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        said = told(error)
        done = {"store": name, "now": at.isoformat(), "code": said.code}
        history.append(settings.state, done)
        done |= {"error": said.message, "hint": said.hint, "cause": type(said).__name__}
    monitoring.publish(settings, clock())
    return done


def nights(
    names: Sequence[str], settings: Settings, now: datetime | None = None, **how: Any
) -> list[dict[str, Any]]:
    """Return the nights of several stores, one after the other."""
    return [night(name, settings, now, **how) for name in names]


def said(done: Sequence[dict[str, Any]]) -> str:
    """Return how several nights went in one sentence, with the cause of each that failed."""
    lost = [n for n in done if "error" in n]
    causes = [f"{n['store']}: {n['cause']} (exit {n['code']}): {n['error']}" for n in lost]
    return "; ".join([f"{len(done) - len(lost)} of {len(done)} stores good", *causes])
