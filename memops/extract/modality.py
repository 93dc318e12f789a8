"""Modality: which clauses assert nothing, and why: asked, supposed, quoted, requested."""

import polars as pl

from memops.extract.grammar import by_script, says, tells

BARS = ("unkept", "credential", "hypothetical", "question", "quoted", "request")
"""Why a clause asserts nothing, the weightiest first; the reason's code is `note.<bar>`."""

SURE = ("unkept", "credential", "question")
"""Bars that hold whatever else speaks for a clause."""

CUES = (
    "hypothetical", "question", "quoted", "request", "uncertain", "asks", "remember", "secret",
)  # fmt: skip
"""The cues of a clause that the model of verdicts is shown, in their order."""


def judged(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `barred` (why a clause asserts nothing, else null) and the cues of modality.

    How far each reaches: what must not be kept, the whole note; what is supposed, its sentence; a
    quotation and a request, the rest of their sentence; a question mark, the clauses that ask and
    the last one.
    """
    cues = (*(name for name in CUES[:5]), "unkept", "credential")
    table = clauses.with_columns(by_script()).with_columns(tells(name).alias(name) for name in cues)
    mine = pl.col("text").str.replace_all("[帮给替跟让叫]我", "")
    free = ~pl.col("remember")
    table = table.with_columns(
        other=says("other"), own=says("own", mine),
        request=pl.col("request") & free, hypothetical=pl.col("hypothetical") & free,
    )  # fmt: skip
    here = ("row", "sentence")
    reach = {
        "unkept": pl.col("unkept").any().over("row"),
        "credential": pl.col("credential") & ~pl.col("secret"),
        "hypothetical": pl.col("hypothetical").any().over(here),
        "question": pl.col("asks") & (pl.col("question") | pl.col("last")),
        "quoted": pl.col("quoted").cast(pl.Int8).cum_max().over(here) > 0,
        "request": pl.col("request").cast(pl.Int8).cum_max().over(here) > 0,
    }
    bar = pl.lit(None, pl.String)
    for name in reversed(BARS):
        bar = pl.when(reach[name]).then(pl.lit(name)).otherwise(bar)
    return table.with_columns(barred=bar)
