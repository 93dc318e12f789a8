"""Weighing: which notes and sentences tell a lasting fact, of what kind, and which are surely junk."""

import numpy as np
import polars as pl

from memops.extract.fitted import Numbers, features, scores, weighed
from memops.extract.modality import BARS, CUES, SURE
from memops.policy import Extract

FLAGS = (*CUES, *(f"bar:{name}" for name in BARS), "noise")
"""The cues that the fitted models were shown, in their order."""


def marks(parts: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Return which cues and bars the clauses of each note or sentence have."""
    bars = [(pl.col("barred") == name).fill_null(False).any().alias(f"bar:{name}") for name in BARS]
    found = parts.group_by(*by, maintain_order=True).agg(*(pl.col(c).any() for c in CUES), *bars)
    return found.with_columns(noise=pl.lit(False))


def of_notes(texts: pl.Series, parts: pl.DataFrame, noise: pl.Series) -> pl.DataFrame:
    """Return the probabilities of what becomes of each note: row, extract, keep, tombstone."""
    rows = pl.DataFrame({"row": pl.int_range(len(texts), dtype=pl.UInt32, eager=True)})
    found = rows.join(marks(parts, ("row",)), on="row", how="left", maintain_order="left")
    found = found.with_columns(noise=noise.is_not_null())
    return rows.hstack(scores("verdict", texts, flags(found)))


def flags(found: pl.DataFrame) -> Numbers:
    """Return the cues as the numbers that the models read."""
    return (
        found.select(pl.col(name).fill_null(False) for name in FLAGS).to_numpy().astype(np.float32)
    )


def passages(texts: pl.Series, parts: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the sentences or passages (`by`) of notes: row, `by`, insists, said (its text), FLAGS."""
    raw = pl.DataFrame({"full": texts}).with_row_index("row")
    spans = parts.group_by("row", by, maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max(), pl.col("insists").any()
    )
    said = spans.join(raw, on="row", how="left", maintain_order="left").select(
        "row", by, "insists",
        said=pl.col("full").str.slice(pl.col("start"), pl.col("end") - pl.col("start")),
    )  # fmt: skip
    return said.hstack(marks(parts, ("row", by)).drop("row", by))


def told(
    texts: pl.Series, parts: pl.DataFrame, notes: pl.DataFrame, policy: Extract
) -> pl.DataFrame:
    """Return the sentences that tell, with the kind of what they tell: row, sentence, kind, also,
    sure.

    In a note that tells a fact, a sentence tells where it might by itself, or more than the
    others of its note do. What somebody asked to remember is told, and a host beside a secret.
    """
    table = passages(texts, parts, "sentence")
    shown = features(table["said"], flags(table))
    table = table.with_columns(alone=weighed("verdict", shown)["extract"]).with_row_index("at")
    table = table.join(
        notes.select("row", sure="extract"), on="row", how="left", maintain_order="left"
    )
    best = pl.col("alone") == pl.col("alone").max().over("row")
    hit = (pl.col("sure") >= policy.told) & (best | (pl.col("alone") >= policy.sentence))
    table = table.filter(pl.col("said").str.contains(r"[\p{L}\p{N}]") & (hit | pl.col("insists")))
    own = weighed("kind", shown[table["at"].to_numpy()])
    of = parts.select("row", "sentence", "passage").unique(maintain_order=True)
    table = table.select("row", "sentence", "sure", own=own.to_numpy()).join(
        of, on=["row", "sentence"], how="left", maintain_order="left"
    )
    return _kinds(table, _of_passages(texts, parts, table), list(own.columns), policy)


def _of_passages(texts: pl.Series, parts: pl.DataFrame, told: pl.DataFrame) -> Numbers:
    """Return the probabilities of the kinds of the passage of each sentence that tells."""
    some = parts.join(told.select("row", "sentence"), on=["row", "sentence"], how="semi")
    table = passages(texts, some.sort("unit"), "passage")
    shares = weighed("kind", features(table["said"], flags(table)))
    place = table.select("row", "passage").with_row_index("at")
    at = told.join(place, on=["row", "passage"], how="left", maintain_order="left")["at"]
    found: Numbers = shares.to_numpy().reshape(-1, shares.width)[at.to_numpy()]
    return found


def _kinds(told: pl.DataFrame, around: Numbers, names: list[str], policy: Extract) -> pl.DataFrame:
    """Return sentences with the kind that they surely tell, or their passage, and the next one.

    `also` is null where the model is not nearly as sure of it.
    """
    own = told["own"].to_numpy().reshape(-1, len(names))
    surely = own.max(axis=1, keepdims=True) >= policy.apart
    shares = np.where(surely, own, around)
    rank = np.argsort(-shares, axis=1, kind="stable")
    first, second = (pl.Series(np.array(names)[rank[:, n]], dtype=pl.String) for n in (0, 1))
    near = pl.Series(np.take_along_axis(shares, rank, axis=1)[:, 1] >= policy.also)
    return told.select("row", "sentence", "sure", kind=first, also=second).with_columns(
        also=pl.when(near).then("also")
    )


def kinds(texts: pl.Series) -> pl.DataFrame:
    """Return the probability of each kind of facts that stand by themselves, a row a text."""
    return scores("kind", texts, np.zeros((len(texts), len(FLAGS)), np.float32))


def asserting() -> pl.Expr:
    """True of a clause that may stand in a fact, once its sentence is found to tell one."""
    return ~pl.col("barred").is_in((*SURE, "question")).fill_null(False)
