"""Kinds: what sort of lasting statement a clause makes."""

import polars as pl

from memops.extract.grammar import expanded, shape, tells

HOST = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[A-Za-z0-9-]+://|@[A-Za-z0-9-]+\.[A-Za-z]"
_SOME = 4
_FULL = 6  # residue from which a plain statement is worth a record
_CUES = (
    "likes",
    "schedule",
    "progress",
    "bond",
    "state",
    "copula",
    "decision",
    "trait",
    "aside",
    "denial",
    "contact",
    "urge",
    "place",
    "imperative",
    "opinion",
    "attribute",
    "consent",
    "declarative",
    "praise",
    "presence",
    "health",
)


def sorted_out(clauses: pl.DataFrame) -> pl.DataFrame:
    """Add `kind` (null where a clause says nothing lasting), `cue` (what told it) and `wish`.

    Needs the columns of `memops.extract.modality.judged`. The most telling kind wins: a
    correction, a procedure, a bond between people or services, the state of some work, a
    preference, and last a fact.
    """
    table = _flagged(clauses.with_columns(tells(name).alias(name) for name in _CUES))
    cases = _cases()
    table = table.with_columns(told.alias(f"case:{n}") for n, (_, _, told) in enumerate(cases))
    kind, cue = pl.lit(None, pl.String), pl.lit(None, pl.String)
    for n, (name, because, _) in reversed(list(enumerate(cases))):
        kind = pl.when(f"case:{n}").then(pl.lit(name)).otherwise(kind)
        cue = pl.when(f"case:{n}").then(pl.lit(because)).otherwise(cue)
    table = table.with_columns(kind=kind, cue=cue)
    left = _left_over()
    return table.with_columns(
        kind=pl.when(left).then(pl.lit("fact")).otherwise("kind"),
        cue=pl.when(left).then(pl.lit("left over")).otherwise("cue"),
    )


def _left_over() -> pl.Expr:
    """True of a full clause that no cue told, in a note where nothing else tells and nothing
    says that it asserts nothing: better kept as a fact than left in doubt.
    """
    doubts = ("uncertain", "vague", "pointing", "nudge", "urge", "opinion", "praise", "serial")
    barely = ("presence", "fleeting", "deictic", "request", "asks", "tagged", "secret")
    doubt = pl.any_horizontal(*doubts, *barely)
    strange = pl.col("other") & ~pl.col("about_self")
    addressed = pl.col("text").str.contains(shape("addressed"))
    quiet = pl.col("kind").is_null() & pl.col("barred").is_null() & ~doubt & ~strange & ~addressed
    spoken = pl.col("chinese") | (
        pl.col("text").str.contains(shape("finite")) & ~pl.col("imperative")
    )
    full = (pl.col("residue").sum().over("row") >= _FULL) & (pl.col("residue") >= _SOME) & spoken
    return quiet.all().over("row") & full


def _flagged(table: pl.DataFrame) -> pl.DataFrame:
    """Add the flags that several cases ask for."""
    text = pl.col("text")
    table = table.with_columns(
        about_self=text.str.contains(expanded(r"(?i)^(?:{self}|i\b|my\b|we\b|our\b)")),
        styled=text.str.contains(shape("styled")),
        team=text.str.contains(shape("team")),
        nameable=text.str.contains(shape("nameable")),
        detail=text.str.contains(shape("detail")),
        pointing=text.str.contains(shape("pointing")) & ~text.str.contains(shape("this")),
        counted=text.str.contains(shape("counted")),
        it=text.str.contains(r"(?i)\b(?:it|them)\b") & ~pl.col("chinese"),
        described=text.str.contains(shape("described")),
        pronominal=text.str.contains(shape("pronominal")),
        proper=text.str.contains(shape("proper")) & ~pl.col("chinese"),
        free=pl.col("barred").is_null(),
        steadying=~pl.col("fleeting") | pl.col("habit"),
    )
    told = pl.col("free") | ((pl.col("barred") == "request") & ~pl.col("deictic"))
    sure = pl.col("free") & ~pl.col("uncertain") & ~pl.col("urge")
    return table.with_columns(
        stated=told.fill_null(False),
        wish=told.fill_null(False) & _instruction() & ~pl.col("other"),
        sure=sure,
        steady=sure & pl.col("steadying"),
        liking=(pl.col("about_self") & pl.col("likes")).any().over("row", "sentence"),
    )


def _instruction() -> pl.Expr:
    """True of what the user wants from now on: standing orders, style, prohibitions, rulings."""
    text, about_self = pl.col("text"), pl.col("about_self")
    standing = (
        pl.col("standing")
        & ~about_self
        & ~pl.col("nameable")
        & ~pl.col("described")
        & (pl.col("chinese") | pl.col("imperative"))
    )
    style = (
        pl.col("style")
        & (pl.col("chinese") | pl.col("imperative") | pl.col("request") | pl.col("styled"))
        & ~pl.col("deictic")
        & ~pl.col("it")
        & ~about_self
    )
    forbidden = pl.col("forbid") & ~pl.col("deictic") & (text.str.len_chars() >= 4)
    ruling = (
        pl.col("ruling")
        & (pl.col("style") | text.str.contains(shape("answers")))
        & ~pl.col("nameable")
        & ~about_self
    )
    return (standing | style | forbidden | ruling) & ~pl.col("nudge") & ~pl.col("serial")


def _procedure() -> pl.Expr:
    """True of what is to be done when something is so, in an order, or at set times."""
    styled = (pl.col("wish") & pl.col("style")).any().over("row", "sentence")
    ordered = (pl.col("condition") | pl.col("sequence")) & ~styled
    return (
        pl.col("stated")
        & ~pl.col("uncertain")
        & ~pl.col("liking")
        & (ordered | (pl.col("schedule") & ~pl.col("bond")))
        & ~(pl.col("wish") & pl.col("consent"))
    )


def _value() -> pl.Expr:
    """True of a clause that says what something named is, to the digit or name."""
    text = pl.col("text")
    named = pl.col("detail") & (pl.col("nameable") | pl.col("chinese"))
    exact = text.str.contains(shape("exact")) & text.str.contains(shape("subject"))
    return (
        pl.col("copula")
        & ~pl.col("pointing")
        & (named | exact)
        & ~pl.col("serial")
        & ~pl.col("opinion")
        & ~pl.col("about_self")
    )


def _said() -> pl.Expr:
    """True of what the user says of themselves, or exactly of what can be named."""
    exact = pl.col("text").str.contains(shape("exact"))
    own = pl.col("about_self") & (pl.col("chinese") | exact | pl.col("proper"))
    return own | (pl.col("nameable") & exact)


def _host() -> pl.Expr:
    """True of a host or address in a sentence with a secret, which is worth keeping without it."""
    return (
        pl.col("secret").any().over("row", "sentence")
        & pl.col("text").str.contains(HOST)
        & ~pl.col("whole").str.contains(shape("bare"))
    )


def _cases() -> tuple[tuple[str, str, pl.Expr], ...]:
    """Kind, cue and condition, the most telling first."""
    sure, steady, self_ = pl.col("sure"), pl.col("steady"), pl.col("about_self")
    barely = ("vague", "opinion", "praise", "pointing", "serial", "nudge", "asks", "tagged")
    sober = ~pl.any_horizontal(barely)
    return (
        ("lesson", "lesson", sure & pl.col("lesson")),
        ("failure", "failure", pl.col("stated") & ~pl.col("uncertain") & pl.col("failure")),
        (
            "procedure",
            "procedure",
            _procedure() & (pl.col("condition") | ~pl.col("wish") | pl.col("sequence")),
        ),
        ("relationship", "contact", sure & pl.col("contact")),
        ("relationship", "bond", sure & pl.col("bond") & ~pl.col("likes")),
        (
            "project_state",
            "progress",
            sure
            & pl.col("progress")
            & ~pl.col("serial")
            & ~(self_ & pl.col("likes"))
            & ~pl.col("wish"),
        ),
        ("fact", "health", sure & pl.col("health") & (self_ | ~pl.col("other"))),
        (
            "preference",
            "likes",
            pl.col("free") & pl.col("likes") & ~pl.col("pronominal") & (self_ | ~pl.col("other")),
        ),
        ("fact", "decision", sure & pl.col("decision") & pl.col("team")),
        ("preference", "instruction", pl.col("wish")),
        ("fact", "decision", sure & pl.col("decision")),
        ("fact", "denial", steady & pl.col("denial")),
        ("fact", "trait", steady & pl.col("trait")),
        ("fact", "state", steady & pl.col("state") & ~pl.col("opinion")),
        (
            "fact",
            "self",
            steady
            & self_
            & pl.col("chinese")
            & (pl.col("habit") | pl.col("counted"))
            & ~pl.col("vague")
            & ~pl.col("opinion"),
        ),
        ("fact", "attribute", steady & pl.col("attribute") & ~pl.col("opinion")),
        ("fact", "place", steady & pl.col("place") & ~pl.col("pointing") & ~self_),
        ("fact", "value", steady & _value()),
        ("fact", "plain", steady & pl.col("declarative") & sober & (pl.col("residue") >= _FULL)),
        (
            "fact",
            "said",
            steady & _said() & sober & ~pl.col("presence") & (pl.col("residue") >= _SOME),
        ),
        ("fact", "host", sure & _host()),
        ("fact", "remember", sure & pl.col("kept") & (pl.col("text").str.len_chars() >= 3)),
    )
