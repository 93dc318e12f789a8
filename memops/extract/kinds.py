"""Kinds: what sort of lasting statement a clause makes."""

import polars as pl

from memops.extract.grammar import expanded, says

_DETAIL = (
    r"[0-9]|[A-Za-z0-9]+[_./:@+#-][A-Za-z0-9]+|\w [A-Z][A-Za-z]|\p{Han} ?[A-Za-z]|[A-Za-z] ?\p{Han}"
)
HOST = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[A-Za-z0-9-]+://|@[A-Za-z0-9-]+\.[A-Za-z]"
_CUES = (
    "likes", "schedule", "progress", "bond", "state", "copula", "decision", "trait", "aside",
    "denial", "contact", "urge", "place",
)  # fmt: skip


def sorted_out(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `kind` (null where a clause says nothing lasting) and `cue`, the cue that told it.

    Needs the columns of `memops.extract.modality.judged`. The most telling kind wins: a
    correction, a procedure, a bond between people or services, the state of some work, a
    preference, and last a fact.
    """
    table = clauses.with_columns(says(name).alias(name) for name in _CUES)
    text = pl.col("text")
    about_self = text.str.contains(expanded(r"(?i)^(?:{self}|i\b|my\b|we\b|our\b)"))
    thing = text.str.contains(
        expanded(
            r"(?i)^(?:the |our |my |这个|我们的?|咱们的?)?[^,]{0,12}(?:{infra}|\b{infra_en}\b)"
        )
    )
    detail = text.str.contains(_DETAIL)
    pointing = text.str.contains(
        r"(?i)^(?:[a-z]+ )?(?:这|那|它|此|(?:this|that|it|these|those|there|he|she|they|you)\b|他|她|你)"
    )
    it = text.str.contains(r"(?i)\b(?:it|them)\b") & ~pl.col("chinese")
    free = pl.col("barred").is_null()
    told = free | ((pl.col("barred") == "request") & ~pl.col("deictic"))
    instruction = (
        (pl.col("standing") & ~about_self)
        | (pl.col("style") & ~pl.col("deictic") & ~it & ~about_self)
        | (pl.col("forbid") & ~pl.col("deictic") & (text.str.len_chars() >= 4))
        | (pl.col("ruling") & ~thing & ~about_self)
    ) & ~pl.col("nudge")
    wish = told & instruction & ~pl.col("other")
    sure = free & ~pl.col("uncertain") & ~pl.col("urge")
    steady = sure & (~pl.col("fleeting") | pl.col("habit"))
    ordered = pl.col("condition") | (pl.col("sequence") & ~(wish & pl.col("style")))
    procedure = (told & ~pl.col("uncertain") & (ordered | pl.col("schedule"))) & ~about_liking(
        about_self
    )
    cases = (
        ("lesson", "lesson", sure & pl.col("lesson")),
        ("failure", "failure", free & ~pl.col("uncertain") & pl.col("failure")),
        ("procedure", "procedure", procedure & (pl.col("condition") | ~wish | pl.col("sequence"))),
        ("relationship", "contact", sure & pl.col("contact")),
        ("relationship", "bond", sure & pl.col("bond") & ~pl.col("likes")),
        ("project_state", "progress", sure & pl.col("progress") & ~(about_self & pl.col("likes")) & ~wish),
        ("preference", "likes", free & pl.col("likes") & (about_self | ~pl.col("other"))),
        ("preference", "instruction", wish),
        ("fact", "decision", sure & pl.col("decision")),
        ("fact", "denial", steady & pl.col("denial")),
        ("fact", "trait", steady & pl.col("trait")),
        ("fact", "state", steady & pl.col("state")),
        ("fact", "place", steady & pl.col("place") & ~pointing & ~about_self),
        ("fact", "value", steady & pl.col("copula") & ~pointing & detail & (thing | pl.col("chinese") | text.str.contains(r"^(?:[Tt]he|[A-Z][\w-]+) ")) & ~pl.col("serial")),
        ("fact", "host", sure & pl.col("secret").any().over("row", "sentence") & text.str.contains(HOST)),
        ("fact", "remember", sure & pl.col("kept") & (text.str.len_chars() >= 3)),
    )  # fmt: skip
    kind, cue = pl.lit(None, pl.String), pl.lit(None, pl.String)
    for name, because, condition in reversed(cases):
        kind = pl.when(condition).then(pl.lit(name)).otherwise(kind)
        cue = pl.when(condition).then(pl.lit(because)).otherwise(cue)
    return table.with_columns(kind=kind, cue=cue, wish=wish)


def about_liking(about_self: pl.Expr) -> pl.Expr:
    """True of a clause in which the user tells what they like, whatever else it orders."""
    return about_self & pl.col("likes")
