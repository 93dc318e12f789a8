"""Weighing: which notes and sentences tell a lasting fact, of what kind, and which are surely junk."""

import numpy as np
import polars as pl

from memops.extract.fitted import Numbers, scores
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
    """Return the sentences that tell, with what their passage tells: row, sentence, kind, sure.

    In a note that tells a fact, a sentence tells where it might by itself, or more than the
    others of its note do. What somebody asked to remember is told, and a host beside a secret.
    """
    table = passages(texts, parts, "sentence")
    alone = scores("verdict", table["said"], flags(table))["extract"]
    table = table.select("row", "sentence", "insists", "said", alone=alone).join(
        notes.select("row", sure="extract"), on="row", how="left", maintain_order="left"
    )
    best = pl.col("alone") == pl.col("alone").max().over("row")
    hit = (pl.col("sure") >= policy.told) & (best | (pl.col("alone") >= policy.sentence))
    table = table.filter(pl.col("said").str.contains(r"[\p{L}\p{N}]") & (hit | pl.col("insists")))
    some = parts.join(table.select("row", "sentence", "sure"), on=["row", "sentence"])
    kinds = of_passages(texts, some.sort("unit"))
    which = some.select("row", "sentence", "passage", "sure").unique(maintain_order=True)
    return which.join(kinds, on=["row", "passage"], how="left", maintain_order="left").drop(
        "passage"
    )


def of_passages(texts: pl.Series, parts: pl.DataFrame) -> pl.DataFrame:
    """Return the kind of each passage that the clauses make: row, passage, kind."""
    table = passages(texts, parts, "passage")
    kinds = scores("kind", table["said"], flags(table))
    best = np.argmax(kinds.to_numpy().reshape(-1, kinds.width), axis=1)
    names = pl.Series(np.array(kinds.columns)[best], dtype=pl.String)
    return table.select("row", "passage", kind=names)


def asserting() -> pl.Expr:
    """True of a clause that may stand in a fact, once its sentence is found to tell one."""
    return ~pl.col("barred").is_in((*SURE, "question")).fill_null(False)
