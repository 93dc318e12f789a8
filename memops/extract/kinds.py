"""Kinds: what sort of lasting statement a clause makes."""

import polars as pl

from memops.extract.grammar import expanded, says

_DETAIL = (
    r"[0-9]|[A-Za-z0-9]+[_./:@+#-][A-Za-z0-9]+|\w [A-Z][A-Za-z]|\p{Han} ?[A-Za-z]|[A-Za-z] ?\p{Han}"
)
HOST = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[A-Za-z0-9-]+://|@[A-Za-z0-9-]+\.[A-Za-z]"
_DESCRIBED = pl.col("text").str.contains(
    r"(?i)\b(?:is|are|was|were|has|have|had|been|it's|that's) (?:always|never|only|by default)"
)
_TEAM = r"(?i)^(?:我们|咱们|团队|公司|项目|组里|部门|we\b|the team\b|our team\b)"
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
        (pl.col("standing") & ~about_self & ~thing & ~_DESCRIBED)
        | (pl.col("style") & ~pl.col("deictic") & ~it & ~about_self)
        | (pl.col("forbid") & ~pl.col("deictic") & (text.str.len_chars() >= 4))
        | (pl.col("ruling") & ~thing & ~about_self)
    ) & ~pl.col("nudge")
    wish = told & instruction & ~pl.col("other")
    sure = free & ~pl.col("uncertain") & ~pl.col("urge")
    steady = sure & (~pl.col("fleeting") | pl.col("habit"))
    liking = (about_self & pl.col("likes")).any().over("row", "sentence")
    ordered = pl.col("condition") | (pl.col("sequence") & ~(wish & pl.col("style")))
    procedure = told & ~pl.col("uncertain") & ~liking & (ordered | pl.col("schedule"))
    counted = text.str.contains(
        r"[0-9]|[一二两三四五六七八九十百千万]+(?:个|岁|度|年|斤|公斤|厘米|米|口|只|台|辆|套|次|点|块|元|万|级|号|层|楼)"
    )
    cases = (
        ("lesson", "lesson", sure & pl.col("lesson")),
        ("failure", "failure", free & ~pl.col("uncertain") & pl.col("failure")),
        ("procedure", "procedure", procedure & (pl.col("condition") | ~wish | pl.col("sequence"))),
        ("relationship", "contact", sure & pl.col("contact")),
        ("relationship", "bond", sure & pl.col("bond") & ~pl.col("likes")),
        ("project_state", "progress", sure & pl.col("progress") & ~pl.col("serial") & ~liking & ~wish),
        ("preference", "likes", free & pl.col("likes") & (about_self | ~pl.col("other"))),
        ("fact", "decision", sure & pl.col("decision") & text.str.contains(_TEAM)),
        ("preference", "instruction", wish),
        ("fact", "decision", sure & pl.col("decision")),
        ("fact", "denial", steady & pl.col("denial")),
        ("fact", "trait", steady & pl.col("trait")),
        ("fact", "state", steady & pl.col("state")),
        ("fact", "self", steady & about_self & (pl.col("habit") | counted) & ~pl.col("vague")),
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
