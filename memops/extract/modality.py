"""Modality: which clauses assert nothing, and why: asked, supposed, taken back, requested."""

import polars as pl

from memops.extract.grammar import by_script, expanded, says, tells

BARS = (
    "unkept",
    "credential",
    "fiction",
    "stranger",
    "retracted",
    "hypothetical",
    "question",
    "quoted",
    "request",
)
"""Why a clause asserts nothing, the weightiest first; the reason's code is `note.<bar>`."""

SURE = ("unkept", "credential", "fiction", "stranger", "hypothetical", "question")
"""Bars that hold whatever else speaks for a clause."""
_CUES = (*BARS, "indefinite", "deictic", "uncertain")
CUES = (*BARS, "deictic", "uncertain", "asks", "remember", "secret")
"""The cues of a clause that the model of verdicts is shown, in their order."""


def judged(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `barred` (why a clause asserts nothing, else null), the cues of modality, and whether
    it is `withdrawn`: before a sentence that does nothing but take back.

    How far each reaches: what is made up or must not be kept, the whole note; somebody's record, all that
    follows; a retraction, all that came before; a supposition, its sentence; a quotation and a
    request, the rest of their sentence; a question mark, the sentence's last clause, or all of it
    where no clause asks by itself.
    """
    table = clauses.with_columns(by_script()).with_columns(
        tells(name).alias(name) for name in _CUES
    )
    bare = pl.col("text").str.replace_all(r"[A-Za-z0-9._%+-]+@\S+", " ")
    bare = bare.str.replace_all(expanded("(?:做|干|搞|当|是)(?:一?[名个位])?{work}(?:的|$)"), "")
    mine = pl.col("text").str.replace_all("[帮给替跟让叫]我", "")
    table = table.with_columns(
        other=says("other", bare),
        own=says("own", mine),
        question=pl.col("question") & ~(pl.col("indefinite") & ~pl.col("asks")),
        request=pl.col("request") & ~pl.col("remember"),
        hypothetical=pl.col("hypothetical") & ~pl.col("remember"),
    )
    reach = _reaches(("row", "sentence"))
    bar = pl.lit(None, pl.String)
    for name in reversed(BARS):
        bar = pl.when(reach[name]).then(pl.lit(name)).otherwise(bar)
    alone = pl.col("retracted") & pl.col("apart") & pl.col("last")
    return table.with_columns(barred=bar, withdrawn=_backwards(alone.shift(-1).over("row")))


def _backwards(cue: pl.Expr) -> pl.Expr:
    """True of the clauses of a note up to the last one that has a cue."""
    return cue.cast(pl.Int8).fill_null(0).reverse().cum_max().reverse().over("row") > 0


def _reaches(here: tuple[str, str]) -> dict[str, pl.Expr]:
    """True of the clauses that each bar reaches."""
    asked = pl.col("question")
    asked_whole = pl.col("asks") & ~asked.any().over(here)
    stranger = pl.col("stranger") & ~pl.col("remember")
    return {
        "unkept": pl.col("unkept").any().over("row"),
        "credential": pl.col("credential") & ~pl.col("secret"),
        "fiction": pl.col("fiction").any().over("row"),
        "stranger": stranger.cast(pl.Int8).cum_max().over("row") > 0,
        "retracted": _backwards(pl.col("retracted")),
        "hypothetical": pl.col("hypothetical").any().over(here),
        "question": asked | asked_whole | (pl.col("asks") & pl.col("last")),
        "quoted": pl.col("quoted").cast(pl.Int8).cum_max().over(here) > 0,
        "request": pl.col("request").cast(pl.Int8).cum_max().over(here) > 0,
    }
