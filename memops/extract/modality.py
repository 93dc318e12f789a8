"""Modality: which clauses assert nothing, and why: asked, supposed, taken back, requested."""

import polars as pl

from memops.extract.grammar import by_script, expanded, passing, says, tells

BARS = (
    "unkept",
    "credential",
    "fiction",
    "payload",
    "stranger",
    "irony",
    "retracted",
    "hypothetical",
    "question",
    "quoted",
    "request",
)
"""Why a clause asserts nothing, the weightiest first; the reason's code is `note.<bar>`."""

SURE = ("unkept", "credential", "fiction", "stranger")
"""Bars that hold whatever else speaks for a clause."""
_CUES = (
    "unkept",
    "fiction",
    "retracted",
    "hypothetical",
    "quoted",
    "request",
    "tag",
    "question",
    "indefinite",
    "deictic",
    "uncertain",
    "nudge",
    "thing",
    "credential",
    "vague",
    "stranger",
    "serial",
)
CUES = (
    *_CUES,
    "irony",
    "payload",
    "quotation",
    "asks",
    "remember",
    "secret",
    "fleeting",
    "own",
    "other",
)
"""Every cue of a clause, as evidence for what it tells."""


def judged(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `barred` (why a clause asserts nothing, else null) and the cues of modality.

    How far each reaches: fiction and what must not be kept, the whole note; a payload, all that
    follows; a retraction, all that came before; irony and a supposition, their sentence; a
    quotation and a request, the rest of their sentence; a question mark, the sentence's last
    clause, or all of it where no clause asks by itself.
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
        fleeting=pl.col("text").str.contains(passing()),
    )
    here = ("row", "sentence")
    hinted = pl.col("asks") | pl.col("whole").str.contains("(?i)吧|right|huh|eh")
    table = table.with_columns(
        question=pl.col("question") & ~(pl.col("indefinite") & ~pl.col("asks")),
        request=pl.col("request") & ~pl.col("remember") & ~pl.col("thing"),
        tag=pl.col("tag") & pl.col("last") & hinted,
        hypothetical=pl.col("hypothetical") & ~pl.col("remember"),
    )
    reach = _reaches(here)
    bar = pl.lit(None, pl.String)
    for name in reversed(BARS):
        bar = pl.when(reach[name]).then(pl.lit(name)).otherwise(bar)
    return table.with_columns(barred=bar, tagged=pl.col("tag").any().over(here))


def _reaches(here: tuple[str, str]) -> dict[str, pl.Expr]:
    """True of the clauses that each bar reaches."""
    asked, tagged = pl.col("question"), pl.col("tag").any().over(here)
    asked_whole = pl.col("asks") & ~asked.any().over(here)
    payload = pl.col("payload") & pl.col("request").any().over(here)
    return {
        "unkept": pl.col("unkept").any().over("row"),
        "credential": pl.col("credential") & ~pl.col("secret"),
        "fiction": pl.col("fiction").any().over("row"),
        "payload": payload.cast(pl.Int8).cum_max().over("row") > 0,
        "stranger": (pl.col("stranger") & ~pl.col("remember")).cast(pl.Int8).cum_max().over("row")
        > 0,
        "irony": pl.col("irony"),
        "retracted": pl.col("retracted").cast(pl.Int8).reverse().cum_max().reverse().over("row")
        > 0,
        "hypothetical": pl.col("hypothetical").any().over(here),
        "question": asked | asked_whole | (pl.col("asks") & pl.col("last")) | tagged,
        "quoted": (pl.col("quoted").cast(pl.Int8).cum_max().over(here) > 0) | pl.col("quotation"),
        "request": pl.col("request").cast(pl.Int8).cum_max().over(here) > 0,
    }
