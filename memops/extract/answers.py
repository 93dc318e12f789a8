"""Answers of a model weighed with what the rules make of a note: who is asked, and what it comes to.

The fitted models say how probable it is that a note tells a fact. An answer that agrees multiplies
these odds by right / (1 - right), one that speaks against it divides them, where `right` is how
often the model has been right. So a note is asked about only where an answer could change what
becomes of it, and asked about again only where that could.
"""

import math

import numpy as np
import polars as pl

from memops.context import Context
from memops.extract.verdicts import TOLD, judged_notes
from memops.extract.weighing import kinds
from memops.policy import Policy

_LEAST = 1e-4
"""The last place of a probability of the fitted models."""


def open_notes(records: pl.DataFrame, ctx: Context, right: float) -> pl.DataFrame:
    """Return the notes that a model's answers could decide: id, text, created_at, odds.

    Those that rules retire, that hold a secret or that somebody asked to remember are settled. So
    are those that surely tell something, each fact of a sure kind.
    """
    judged, told = judged_notes(records, ctx)
    policy, bar, vote = ctx.policy.model, _odds(ctx.policy.model.sure), weight(right)
    of = kinds(told["text"]).max_horizontal() if told.height else pl.Series([], dtype=pl.Float64)
    shares = told.select("note", "kept", "key", share=of)
    doubt = shares.filter(pl.col("key").is_null(), pl.col("share") < policy.sure)["note"]
    kept = shares.filter("kept")["note"]
    odds = pl.col("extract").map_batches(_of_shares, return_dtype=pl.Float64)
    unsure = pl.col("id").is_in(doubt.implode()) & (pl.col("verdict") == "extract")
    return (
        judged.with_columns(odds=odds)
        .filter(
            pl.col("verdict") != "tombstone",
            ~pl.col("secret"),
            pl.col("noise").is_null(),
            pl.col("sensitivity").fill_null("allowed") == "allowed",
            ~pl.col("id").is_in(kept.implode()),
            pl.col("odds") + 2 * vote >= bar,
            (pl.col("odds") - vote < bar) | unsure,
            pl.col("text").str.len_chars() <= policy.longest,
        )
        .select("id", "text", "created_at", "odds")
        .sort("id")
    )


def weight(right: float) -> float:
    """Return the logarithm by which an answer changes the odds; of one who draws lots, 0."""
    return max(0.0, _odds(right))


def doubtful(notes: pl.DataFrame, facts: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Return the facts that a second answer must bear out."""
    unsure = notes.filter(pl.col("odds") < _odds(policy.model.sure))
    return facts.join(unsure, left_on="note", right_on="id", how="semi", maintain_order="left")


def settled(
    notes: pl.DataFrame,
    facts: pl.DataFrame,
    refused: pl.DataFrame,
    silent: list[str],
    policy: Policy,
    right: float,
) -> pl.DataFrame:
    """Return what answered notes come to (TOLD): facts, or a row without text where they tell none.

    `refused` are the facts (note, text) that the second answer did not bear out, `silent` the
    notes of which the model tells nothing. A note that rules are surer of than the answer weighs
    is left to them.
    """
    bar = _odds(policy.model.sure)
    told = _kinds(
        facts.join(refused, on=["note", "text"], how="anti", maintain_order="left"), policy, right
    )
    against = pl.when(pl.col("id").is_in(silent)).then(weight(right)).otherwise(0.0)
    none = notes.filter(
        pl.col("odds") - against < bar, ~pl.col("id").is_in(told["note"].implode())
    ).select(note="id")
    blank = [pl.lit(None, dtype).alias(n) for n, dtype in TOLD.items() if n != "note"]
    return pl.concat([told, none.with_columns(*blank).select(TOLD.names())]).sort(
        "note", "start", "text"
    )


def _kinds(facts: pl.DataFrame, policy: Policy, right: float) -> pl.DataFrame:
    """Facts with the kind that the model and the fitted weights together make likeliest.

    The kind that either of them alone would take is a tag where it is nearly as likely.
    """
    if facts.is_empty():
        return facts
    shares = kinds(facts["text"])
    names = np.array(shares.columns)
    said = facts["kind"].replace("failure", "lesson").to_numpy()[:, None] == names[None, :]
    wrong = (1 - right) / (len(names) - 1)
    both = (shares.to_numpy() + _LEAST) * np.where(said, right, wrong)
    both /= both.sum(axis=1, keepdims=True)
    rank = np.argsort(-both, axis=1, kind="stable")
    first, next_ = (pl.Series(names[rank[:, n]], dtype=pl.String) for n in (0, 1))
    near = pl.Series(np.take_along_axis(both, rank, axis=1)[:, 1] >= policy.extract.also)
    return facts.with_columns(kind=first, also=next_).with_columns(also=pl.when(near).then("also"))


def _odds(share: float) -> float:
    within = min(max(share, _LEAST), 1 - _LEAST)
    return math.log(within / (1 - within))


def _of_shares(shares: pl.Series) -> pl.Series:
    within = shares.clip(_LEAST, 1 - _LEAST)
    return (within / (1 - within)).log()
