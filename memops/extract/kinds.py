"""Kinds: what sort of lasting statement a clause makes."""

import polars as pl

from memops.extract.grammar import expanded, says

_DETAIL = (
    r"[0-9]|[A-Za-z0-9]+[_./:@+#-][A-Za-z0-9]+|\w [A-Z][A-Za-z]|\p{Han} ?[A-Za-z]|[A-Za-z] ?\p{Han}"
)
HOST = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[A-Za-z0-9-]+://|@[A-Za-z0-9-]+\.[A-Za-z]"
_DESCRIBED = (
    r"(?i)\b(?:is|are|was|were|has|have|had|been|it's|that's) (?:always|never|only|by default)"
)
_NAMEABLE = r"(?i)^(?:the |our |my |这个|我们的?|咱们的?)?[^,]{0,12}(?:{infra}|\b{infra_en}\b)"
_POINTING = r"(?i)^(?:[a-z]+ )?(?:这|那|它|此|(?:this|that|it|these|those|there|he|she|they|you)\b|他|她|你)"
_COUNTED = r"[0-9]|[一二两三四五六七八九十百千万]+(?:个|岁|度|年|斤|公斤|厘米|米|口|只|台|辆|套|次|点|块|元|万|级|号|层|楼)"
_EXACT = r"[0-9]|[A-Za-z0-9]+[_./:@#][A-Za-z0-9]+"
_FULL = 6  # residue from which a plain statement is worth a record
_THIS = r"(?i)^this (?:repo|project|machine|laptop|server|team|app|codebase|account|company)\b"
_SUBJECT = r"^(?:[Tt]he|[A-Z][\w-]+) "
_TEAM = r"(?i)^(?:我们|咱们|团队|公司|项目|组里|部门|we\b|the team\b|our team\b)"
_CUES = (
    "likes", "schedule", "progress", "bond", "state", "copula", "decision", "trait", "aside",
    "denial", "contact", "urge", "place", "imperative", "opinion", "attribute", "consent", "declarative",
)  # fmt: skip


def sorted_out(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `kind` (null where a clause says nothing lasting), `cue` (what told it) and `wish`.

    Needs the columns of `memops.extract.modality.judged`. The most telling kind wins: a
    correction, a procedure, a bond between people or services, the state of some work, a
    preference, and last a fact.
    """
    table = _flagged(clauses.with_columns(says(name).alias(name) for name in _CUES))
    cases = _cases()
    table = table.with_columns(told.alias(f"case:{n}") for n, (_, _, told) in enumerate(cases))
    kind, cue = pl.lit(None, pl.String), pl.lit(None, pl.String)
    for n, (name, because, _) in reversed(list(enumerate(cases))):
        kind = pl.when(f"case:{n}").then(pl.lit(name)).otherwise(kind)
        cue = pl.when(f"case:{n}").then(pl.lit(because)).otherwise(cue)
    return table.with_columns(kind=kind, cue=cue)


def _flagged(table: pl.DataFrame) -> pl.DataFrame:
    """Add what several cases ask: about_self, nameable, detail, pointing, counted, stated, wish, sure, steady."""
    text = pl.col("text")
    table = table.with_columns(
        about_self=text.str.contains(expanded(r"(?i)^(?:{self}|i\b|my\b|we\b|our\b)")),
        team=text.str.contains(_TEAM),
        nameable=text.str.contains(expanded(_NAMEABLE)),
        detail=text.str.contains(_DETAIL),
        pointing=text.str.contains(_POINTING) & ~text.str.contains(_THIS),
        counted=text.str.contains(_COUNTED),
        it=text.str.contains(r"(?i)\b(?:it|them)\b") & ~pl.col("chinese"),
        described=text.str.contains(_DESCRIBED),
        free=pl.col("barred").is_null(),
        steadying=~pl.col("fleeting") | pl.col("habit"),
    )
    instruction = (
        (
            pl.col("standing")
            & ~pl.col("about_self")
            & ~pl.col("nameable")
            & ~pl.col("described")
            & (pl.col("chinese") | pl.col("imperative"))
        )
        | (pl.col("style") & ~pl.col("deictic") & ~pl.col("it") & ~pl.col("about_self"))
        | (pl.col("forbid") & ~pl.col("deictic") & (text.str.len_chars() >= 4))
        | (pl.col("ruling") & ~pl.col("nameable") & ~pl.col("about_self"))
    ) & ~pl.col("nudge")
    told = pl.col("free") | ((pl.col("barred") == "request") & ~pl.col("deictic"))
    sure = pl.col("free") & ~pl.col("uncertain") & ~pl.col("urge")
    return table.with_columns(
        stated=told.fill_null(False),
        wish=told.fill_null(False) & instruction & ~pl.col("other"),
        sure=sure,
        steady=sure & pl.col("steadying"),
        liking=(pl.col("about_self") & pl.col("likes")).any().over("row", "sentence"),
    )


def _cases() -> tuple[tuple[str, str, pl.Expr], ...]:
    """Kind, cue and condition, the most telling first."""
    sure, steady, self_ = pl.col("sure"), pl.col("steady"), pl.col("about_self")
    ordered = pl.col("condition") | (pl.col("sequence") & ~(pl.col("wish") & pl.col("style")))
    procedure = (
        pl.col("stated")
        & ~pl.col("uncertain")
        & ~pl.col("liking")
        & (ordered | pl.col("schedule"))
        & ~(pl.col("wish") & pl.col("consent"))
    )
    named = pl.col("detail") & (pl.col("nameable") | pl.col("chinese"))
    exact = pl.col("text").str.contains(_EXACT) & pl.col("text").str.contains(_SUBJECT)
    value = (
        pl.col("copula")
        & ~pl.col("pointing")
        & (named | exact)
        & ~pl.col("serial")
        & ~pl.col("opinion")
        & ~self_
    )
    host = pl.col("secret").any().over("row", "sentence") & pl.col("text").str.contains(HOST)
    return (
        ("lesson", "lesson", sure & pl.col("lesson")),
        ("failure", "failure", pl.col("free") & ~pl.col("uncertain") & pl.col("failure")),
        ("procedure", "procedure", procedure & (pl.col("condition") | ~pl.col("wish") | pl.col("sequence"))),
        ("relationship", "contact", sure & pl.col("contact")),
        ("relationship", "bond", sure & pl.col("bond") & ~pl.col("likes")),
        ("project_state", "progress", sure & pl.col("progress") & ~pl.col("serial") & ~(self_ & pl.col("likes")) & ~pl.col("wish")),
        ("preference", "likes", pl.col("free") & pl.col("likes") & (self_ | ~pl.col("other"))),
        ("fact", "decision", sure & pl.col("decision") & pl.col("team")),
        ("preference", "instruction", pl.col("wish")),
        ("fact", "decision", sure & pl.col("decision")),
        ("fact", "denial", steady & pl.col("denial")),
        ("fact", "trait", steady & pl.col("trait")),
        ("fact", "state", steady & pl.col("state") & ~pl.col("opinion")),
        ("fact", "self", steady & self_ & pl.col("chinese") & (pl.col("habit") | pl.col("counted")) & ~pl.col("vague") & ~pl.col("opinion")),
        ("fact", "attribute", steady & pl.col("attribute") & ~pl.col("opinion")),
        ("fact", "place", steady & pl.col("place") & ~pl.col("pointing") & ~self_),
        ("fact", "value", steady & value),
        ("fact", "plain", steady & pl.col("declarative") & ~pl.col("vague") & ~pl.col("opinion") & ~pl.col("pointing") & ~pl.col("serial") & ~pl.col("nudge") & ~pl.col("asks") & ~pl.col("tagged") & (pl.col("residue") >= _FULL)),
        ("fact", "host", sure & host),
        ("fact", "remember", sure & pl.col("kept") & (pl.col("text").str.len_chars() >= 3)),
    )  # fmt: skip
