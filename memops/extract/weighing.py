"""Weighing: which notes and clauses tell a lasting fact, of what kind, and which are surely junk."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.extract.fitted import Features, Numbers, Places, scores
from memops.extract.modality import CUES, SURE
from memops.policy import Extract

_AROUND = 0.5  # weight of what a clause's passage tells, beside the clause


FLAGS = (*CUES, "noise")
"""The cues that the model of verdicts was shown, in their order."""

_SMALL = 1e-3  # what is added to a probability before its logarithm is taken
_CUE = 0.3  # weight of a cue beside letters of unit length


def of_notes(
    texts: pl.Series, parts: pl.DataFrame, noise: pl.Series, said: pl.DataFrame, known: Features
) -> pl.DataFrame:
    """Return the probabilities of what becomes of each note: row, extract, keep, tombstone."""
    rows = pl.DataFrame({"row": pl.int_range(len(texts), dtype=pl.UInt32, eager=True)})
    return rows.hstack(known.weighed("note", stacked(texts, parts, noise, said, known)))


def stacked(
    texts: pl.Series, parts: pl.DataFrame, noise: pl.Series, said: pl.DataFrame, known: Features
) -> Numbers:
    """Return what the other models say of notes, to be weighed together (Wolpert 1992).

    Logarithms of the note's verdict, of the best and the least junk of its sentences (`said`, of
    `of_sentences`), and of its kinds; how long it is, and its cues.
    """
    marked = marked_notes(texts, parts, noise)
    whole = known.weighed("verdict", as_shown(marked, known))
    rows = whole.with_row_index("row")
    best = said.group_by("row").agg(best=pl.col("extract").max(), least=pl.col("tombstone").min())
    alone = rows.join(best, on="row", how="left", maintain_order="left").select(
        pl.coalesce("best", "extract"), pl.coalesce("least", "tombstone")
    )
    shares = pl.concat([whole, alone, known.weighed("kind", known.of(texts))], how="horizontal")
    size = np.log1p(texts.str.len_chars().to_numpy()).astype(np.float32)
    logs = np.log(shares.to_numpy().astype(np.float32) + np.float32(_SMALL))
    cues = marked.select(pl.col(name).fill_null(False) for name in FLAGS).to_numpy()
    return np.column_stack([logs, size, cues.astype(np.float32)])


def of_sentences(texts: pl.Series, parts: pl.DataFrame, known: Features) -> pl.DataFrame:
    """Return the sentences of notes (`passages`) with the probabilities of each by itself."""
    table, shown = shown_sentences(texts, parts, known)
    return table.hstack(known.weighed("verdict", shown))


def marked_notes(texts: pl.Series, parts: pl.DataFrame, noise: pl.Series) -> pl.DataFrame:
    """Return notes (`said`) with the cues of their clauses, and whether each is noise."""
    rows = pl.DataFrame({"said": texts}).with_row_index("row")
    found = rows.join(_marks(parts, "row"), on="row", how="left", maintain_order="left")
    return found.with_columns(noise=noise.is_not_null())


def shown_sentences(
    texts: pl.Series, parts: pl.DataFrame, known: Features
) -> tuple[pl.DataFrame, Any]:
    """Return the sentences of notes (`passages`) and the features by which theirs is weighed."""
    table = passages(texts, parts, "sentence")
    marks = _marks(parts, "row", "sentence").drop("row", "sentence")
    return table, as_shown(table.hstack(marks).with_columns(noise=pl.lit(False)), known)


def _marks(parts: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return which cues the clauses of each note or sentence have."""
    return parts.group_by(*by, maintain_order=True).agg(pl.col(c).any() for c in CUES)


def as_shown(found: pl.DataFrame, known: Features) -> Any:
    """Return the features by which the verdict of marked texts is weighed."""
    from scipy import sparse

    cues = found.select(pl.col(name).fill_null(False) for name in FLAGS).to_numpy()
    marks = sparse.csr_matrix(cues * np.float32(_CUE))
    return sparse.hstack([known.of(found["said"]), marks], format="csr")


def passages(texts: pl.Series, parts: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the clauses, sentences or passages (`by`) of notes: row, `by`, insists, said (its text)."""
    raw = pl.DataFrame({"full": texts}).with_row_index("row")
    spans = parts.group_by("row", by, maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max(), pl.col("insists").any()
    )
    return spans.join(raw, on="row", how="left", maintain_order="left").select(
        "row", by, "insists",
        said=pl.col("full").str.slice(pl.col("start"), pl.col("end") - pl.col("start")),
    )  # fmt: skip


def told(
    texts: pl.Series,
    parts: pl.DataFrame,
    said: pl.DataFrame,
    notes: pl.DataFrame,
    policy: Extract,
    known: Features,
) -> pl.DataFrame:
    """Return the clauses that tell, with the kind of what they tell: unit, kind, also, sure.

    In a note that tells a fact, a sentence tells where it might by itself, or more than the
    others of its note do. What somebody asked to remember is told, and a host beside a secret,
    where the note might tell one.
    """
    sure = notes.select("row", sure="extract")
    table = said.join(sure, on="row", how="left", maintain_order="left")
    best = pl.col("extract") == pl.col("extract").max().over("row")
    hit = (pl.col("sure") >= policy.told) & (best | (pl.col("extract") >= policy.sentence))
    hit |= pl.col("insists") & (pl.col("sure") > policy.silent)
    table = table.filter(pl.col("said").str.contains(r"[\p{L}\p{N}]") & hit)
    telling = table.select("row", "sentence", "sure")
    some = parts.join(telling, on=["row", "sentence"], how="inner", maintain_order="left")
    return some.select("unit", "sure").hstack(_kinds(texts, some, policy, known))


def _kinds(texts: pl.Series, parts: pl.DataFrame, policy: Extract, known: Features) -> pl.DataFrame:
    """Return the kind of each clause and the next one: the likeliest sequence of its passage.

    `also` is null where the model is not nearly as sure of it.
    """
    said = [passages(texts, parts, by)["said"] for by in ("unit", "passage")]
    chances = known.weighed("kind", known.of(pl.concat(said)))
    names = np.array(chances.columns)
    logs = np.log(chances.to_numpy() + 1e-4)
    clause, wider = logs[: len(said[0])], logs[len(said[0]) :]
    passage = parts.select(pl.struct("row", "passage").rle_id()).to_series().to_numpy()
    weights = clause + _AROUND * wider[passage]
    change = np.where(parts["apart"].to_numpy(), odds(policy.turn), odds(policy.apart))
    label = _taught(sequence(weights, passage, change), passage, names)
    opens = (np.diff(label, prepend=-1) != 0) | (np.diff(passage, prepend=-1) != 0)
    piece = np.cumsum(opens) - 1
    many = np.bincount(piece)[:, None]
    shares = np.stack([np.bincount(piece, w) for w in weights.T], axis=1) / np.maximum(many, 1)
    return _named(names, label, shares[piece], policy)


def _taught(label: Places, passage: Places, names: npt.NDArray[np.str_]) -> Places:
    """Return the labels with a rule made part of the lesson that stands in the same passage."""
    lesson, rule = (int(np.flatnonzero(names == name)[0]) for name in ("lesson", "procedure"))
    beside = np.isin(passage, passage[label == lesson])
    return np.where(beside & (label == rule), lesson, label)


def _named(
    names: npt.NDArray[np.str_], label: Places, weights: Numbers, policy: Extract
) -> pl.DataFrame:
    shares = np.exp(weights - weights.max(axis=1, keepdims=True, initial=-np.inf))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(label)), label] = 0
    return pl.DataFrame(
        {
            "kind": names[label],
            "also": names[shares.argmax(axis=1)],
            "share": shares.max(axis=1, initial=0),
        },
        schema_overrides={"kind": pl.String, "also": pl.String},
    ).select("kind", also=pl.when(pl.col("share") >= policy.also).then("also"))


def sequence(weights: Numbers, group: Places, change: Numbers) -> Places:
    """Return the likeliest class of each row (Viterbi 1967), where rows of a group follow each other.

    `weights` are logarithms, a column a class; another class than the row before costs `-change`.
    """
    n, many = weights.shape
    best, came = weights.copy(), np.tile(np.arange(many), (n, 1))
    first = np.flatnonzero(np.diff(group, prepend=-1))
    place = np.arange(n) - np.repeat(first, np.diff(np.append(first, n)))
    steps = [np.flatnonzero(place == step) for step in range(1, place.max(initial=0) + 1)]
    for at in steps:
        before = best[at - 1]
        top = before.max(axis=1) + np.minimum(change[at], 0)
        stays = before >= top[:, None]
        came[at] = np.where(stays, came[at], before.argmax(axis=1)[:, None])
        best[at] += np.where(stays, before, top[:, None])
    label: Places = best.argmax(axis=1)
    for at in reversed(steps):
        label[at - 1] = came[at, label[at]]
    return label


def kinds(texts: pl.Series) -> pl.DataFrame:
    """Return the probability of each kind of facts that stand by themselves, a row a text."""
    return scores("kind", texts)


def asserting() -> pl.Expr:
    """True of a clause that may stand in a fact, once its sentence is found to tell one."""
    return ~pl.col("barred").is_in(SURE).fill_null(False) & ~pl.col("withdrawn")


def odds(share: float) -> float:
    """Return the logarithm of the odds of a probability, none of which is sure."""
    within = min(max(share, 1e-4), 1 - 1e-4)
    return math.log(within / (1 - within))
