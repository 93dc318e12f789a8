"""Asking a model about a store: its answers on disk, so that planning stays without a network.

The fitted models say how probable it is that a note tells a fact. An answer that agrees multiplies
these odds by right / (1 - right), one that speaks against it divides them, where `right` is how
often the model has been right. So a note is asked about only where an answer could change what
becomes of it, and asked about again only where that could.
"""

import hashlib
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memops import files
from memops.context import Context
from memops.errors import Corrupt
from memops.extract import model
from memops.extract.verdicts import TOLD, judged_notes
from memops.extract.weighing import kinds, odds
from memops.models.completions import Answers, Endpoint, ask
from memops.policy import Model, Policy

ANSWERS = "answers"
"""Folder of the state folder that holds what a model said."""


@dataclass(frozen=True)
class Heard:
    """What answered notes come to (`told`: TOLD), the notes that wait, and figures.

    `tells` says of each note whether its first answer told a fact; `questions` are the
    texts that were sent first.
    """

    told: pl.DataFrame
    waiting: list[str]
    figures: dict[str, Any]
    tells: dict[str, bool]
    questions: list[str]


def recipe(of: Endpoint) -> dict[str, str]:
    """Return the model's name and the digest of endpoint, model and questions."""
    made = json.dumps([of.place.base, of.path, of.model, model.TELL, model.CHECK])
    return {"model": of.model, "sha256": hashlib.sha256(made.encode()).hexdigest()}


def about_notes(
    records: pl.DataFrame, ctx: Context, state: Path, of: Endpoint, right: float
) -> dict[str, Any]:
    """Ask about the notes that rules are not sure of, a model that is `right` so often.

    Returns {asked, answers}: figures, and a file of facts and of the ids of notes that wait.
    """
    said = heard(records, ctx, state, of, right)
    path = files.folder(state / ANSWERS) / f"notes-{files.json_digest(said.questions)}.json"
    # What was asked stands beside it, so that purging a note finds the file.
    kept = {"asked": said.questions, "told": said.told.to_dicts(), "waiting": said.waiting}
    files.write_json(path, kept | {"model": recipe(of)})
    return {"asked": said.figures, "answers": str(path)}


def heard(records: pl.DataFrame, ctx: Context, state: Path, of: Endpoint, right: float) -> Heard:
    """Ask what notes tell, and of what rules and answer leave in doubt once more, whether it holds."""
    policy, folder, began = ctx.policy, files.folder(state / ANSWERS), time.monotonic()
    notes = open_notes(records, ctx, right)
    asked = [model.question(*row) for row in notes.select("id", "text", "created_at").iter_rows()]
    first = ask(asked, of, policy.model, folder, lambda _, said: model.parsed(said) is not None)
    tells = {note: bool(model.parsed(said)) for note, said in first.said.items()}
    facts = model.told(notes, first.said, policy)
    doubts = doubtful(notes, facts, policy)
    left = _left(policy.model, first, time.monotonic() - began)
    again, refused = _again(notes, doubts, left, folder, of)
    waiting = first.waiting | again.waiting
    told = settled(
        notes.filter(~pl.col("id").is_in(list(waiting))),
        facts.filter(~pl.col("note").is_in(list(waiting))),
        refused,
        [note for note, told in tells.items() if not told],
        policy,
        right,
    )
    figures = _figures(first, again) | {"facts": told["text"].drop_nulls().len()}
    return Heard(told, sorted(waiting), figures, tells, [question.text for question in asked])


def _again(
    notes: pl.DataFrame, doubts: pl.DataFrame, policy: Model, folder: Path, of: Endpoint
) -> tuple[Answers, pl.DataFrame]:
    """Ask which facts hold; returns the answers, and the facts (note, text) that do not."""
    texts = dict(notes.select("id", "text").iter_rows())
    parts = doubts.partition_by("note", as_dict=True)
    told: dict[str, list[str]] = {
        str(note): rows["text"].to_list() for (note,), rows in parts.items()
    }
    answers = ask(
        [model.second(note, texts[note], facts) for note, facts in told.items()],
        of,
        policy,
        folder,
        lambda question, said: model.confirmed(said, len(told[question.id])) is not None,
    )
    refused = [
        (note, text)
        for note, said in answers.said.items()
        for text, holds in zip(
            told[note], model.confirmed(said, len(told[note])) or [], strict=True
        )
        if not holds
    ]
    return answers, pl.DataFrame(refused, {"note": pl.String, "text": pl.String}, orient="row")


def _left(caps: Model, first: Answers, seconds: float) -> Model:
    """What the first questions left of the budget."""
    cost = max(1e-9, caps.cost - first.cost) if caps.cost else 0.0
    minutes = max(0.0, caps.minutes - seconds / 60)
    return replace(caps, tokens=max(0, caps.tokens - first.tokens), cost=cost, minutes=minutes)


def _figures(first: Answers, again: Answers) -> dict[str, Any]:
    """Counts of both rounds; a note that was asked about twice counts twice."""
    both = Answers(
        {**first.said, **{f"{note}\n": said for note, said in again.said.items()}},
        {**first.waiting, **{f"{note}\n": why for note, why in again.waiting.items()}},
        first.cached + again.cached,
        first.tokens + again.tokens,
        first.cost + again.cost,
    )
    return both.figures()


def read(path: Path) -> tuple[pl.DataFrame, frozenset[str], dict[str, str]]:
    """Return facts (TOLD), the ids of the notes that wait, and whose answers `about_notes` left."""
    kept = files.read_json(path)
    try:
        told = pl.DataFrame(kept["told"], schema=TOLD)
        waiting = frozenset(str(note) for note in kept["waiting"])
        return told, waiting, {str(k): str(v) for k, v in kept["model"].items()}
    except (KeyError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
        raise Corrupt(f"{path}: no answers of a model", "ask again") from error


_LEAST = 1e-4
"""The last place of a probability of the fitted models."""


def open_notes(records: pl.DataFrame, ctx: Context, right: float) -> pl.DataFrame:
    """Return the notes that a model's answers could decide: id, text, created_at, odds.

    Those that rules retire, that hold a secret or that somebody asked to remember are settled. So
    are those that surely tell something, each fact of a sure kind.
    """
    judged, told = judged_notes(records, ctx)
    policy, bar, vote = ctx.policy.model, odds(ctx.policy.model.sure), weight(right)
    of = kinds(told["text"]).max_horizontal() if told.height else pl.Series([], dtype=pl.Float64)
    shares = told.select("note", "kept", "key", share=of)
    doubt = shares.filter(pl.col("key").is_null(), pl.col("share") < policy.sure)["note"]
    kept = shares.filter("kept")["note"]
    within = pl.col("extract").clip(_LEAST, 1 - _LEAST)
    unsure = pl.col("id").is_in(doubt.implode()) & (pl.col("verdict") == "extract")
    return (
        judged.with_columns(odds=(within / (1 - within)).log())
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
    return max(0.0, odds(right))


def doubtful(notes: pl.DataFrame, facts: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Return the facts that a second answer must bear out."""
    unsure = notes.filter(pl.col("odds") < odds(policy.model.sure))
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
    bar = odds(policy.model.sure)
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
