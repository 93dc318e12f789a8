"""Comparing: what pairs of statements are, each statement read once, by whole scopes or part by part."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.decision import decided, in_question, weighed
from memops.judge.fitted import chances
from memops.judge.known import VERDICTS
from memops.progress import spread
from memops.statements.readings import Readings, differences
from memops.statements.remembered import KEPT
from memops.statements.taken import taken_apart

_STEP = 50_000
_LEAST = 0.05  # chances below which it does not matter how small they are

Keep = Callable[[pl.DataFrame], pl.DataFrame]
"""Which of the pairs of some whole scopes are read at all."""


def verdicts(
    pairs: pl.DataFrame, said: Readings, used: Any, alone: Any, sure: Any, cosine: Any = None
) -> pl.DataFrame:
    """Return what pairs of statements are; `said` are the readings of the statements `used`.

    `alone` tells of which pairs both stand by themselves, as rows of a store do, `sure` which
    both are surely of a language that weights know, `cosine` how near an encoder places them.
    """
    a, b = (np.searchsorted(used, pairs[name].to_numpy()) for name in ("a", "b"))

    def told(i: int) -> pl.DataFrame:
        some = slice(i, i + _STEP)
        near = None if cosine is None else cosine[some]
        return decided_pairs(said, a[some], b[some], alone[some], sure[some], near).select(
            *VERDICTS
        )

    steps = range(0, pairs.height, _STEP)
    return pl.concat([VERDICTS.to_frame(), *spread("judging pairs", told, steps)])


def decided_pairs(
    said: Readings, a: Any, b: Any, alone: Any, sure: Any, cosine: Any = None
) -> pl.DataFrame:
    """Return what differs in pairs of readings, and what rules make of it, and weights.

    Weights are asked about those `alone` of which they may make something else: in languages of which
    they are `sure` something more, in any something less.
    """
    read = decided(differences(said, a, b))
    open_, ruled = read.select(in_question(), ruled=pl.col("opposes").is_not_null())
    asked = alone & open_.to_numpy() & (sure | ruled.to_numpy())
    some = np.flatnonzero(asked)
    near = None if cosine is None else cosine[some]
    found = chances(read[some], said, a[some], b[some], _LEAST, near)
    at = pl.Series(np.cumsum(asked) - 1).set(pl.Series(~asked), None)
    return weighed(read, found.select(pl.all().gather(at)))


def to_ask(ctx: Context) -> int:
    """Return how many of the nearest of each statement a model is asked about, whatever rules say."""
    return ctx.policy.judge.nearest if ctx.models.judge is not None else 0


def read_once(texts: pl.Series, ctx: Context) -> tuple[pl.DataFrame, pl.Series]:
    """Return what texts are taken apart into, and the row of each.

    Each is read once in the life of the context, or in an earlier night of its store.
    """
    kept = ctx.remembered
    make = (lambda new: taken_apart(new.to_list())) if kept is None else kept.taken_apart
    return ctx.of_texts(read_once, texts, make)


def texts_read(ctx: Context) -> pl.DataFrame:
    """Return all that was read so, with the hashes of the texts where it is kept."""
    read: pl.DataFrame = ctx.cache.get(read_once, KEPT.to_frame())
    return read
