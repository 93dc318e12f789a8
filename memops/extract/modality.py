"""Modality: which clauses assert nothing, and why: asked, supposed, taken back, requested."""

import polars as pl

from memops.extract.grammar import says

BARS = {
    "unkept": "asked not to be kept",
    "fiction": "made up",
    "payload": "the object of a request",
    "irony": "irony",
    "retracted": "taken back or never said",
    "hypothetical": "only supposed",
    "question": "a question",
    "quoted": "somebody else's words",
    "request": "a request for this moment",
}


def judged(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `barred` (why a clause asserts nothing, else null) and the cues of modality.

    How far each reaches: fiction and what must not be kept, the whole note; a payload, all that
    follows; a retraction, all that came before; irony and a supposition, their sentence; a
    quotation and a request, the rest of their sentence; a question mark, the sentence's last
    clause, or all of it where no clause asks by itself.
    """
    names = ("unkept", "fiction", "payload", "irony", "retracted", "hypothetical", "quoted", "request",
             "tag", "question", "indefinite", "standing", "condition", "deictic", "other", "own", "uncertain",
             "fleeting", "serial", "nudge", "ruling", "forbid", "style")  # fmt: skip
    table = clauses.with_columns(says(name).alias(name) for name in names)
    asked = pl.col("question") & ~(pl.col("indefinite") & ~pl.col("asks"))
    table = table.with_columns(
        question=asked,
        request=pl.col("request") & ~pl.col("remember"),
        tag=pl.col("tag")
        & pl.col("last")
        & (pl.col("asks") | pl.col("whole").str.contains("吧|right|huh|eh")),
        hypothetical=pl.col("hypothetical") & ~pl.col("remember"),
    )
    here = ("row", "sentence")
    whole = pl.col("asks") & ~pl.col("question").any().over(here)
    reach = {
        "unkept": pl.col("unkept").any().over("row"),
        "fiction": pl.col("fiction").any().over("row"),
        "payload": (
            pl.col("payload").cum_max() & (pl.col("payload") | pl.col("payload").shift(1).cum_max())
        ).over("row"),
        "irony": pl.col("irony").any().over(here),
        "retracted": pl.col("retracted").reverse().cum_max().reverse().over("row"),
        "hypothetical": pl.col("hypothetical").any().over(here),
        "question": pl.col("question")
        | whole
        | (pl.col("asks") & pl.col("last"))
        | pl.col("tag").any().over(here),
        "quoted": pl.col("quoted").cum_max().over(here),
        "request": pl.col("request").cum_max().over(here),
    }
    bar = pl.lit(None, pl.String)
    for name in reversed(BARS):
        bar = pl.when(reach[name]).then(pl.lit(name)).otherwise(bar)
    return table.with_columns(barred=bar, tagged=pl.col("tag").any().over(here))
