"""Statements: sentences that say something lasting, put into the third person, and not translated."""

import polars as pl

_BESIDE = 6  # letters beside an attribute of the user that make a statement of their own
_TO_ASSISTANT = r"(?i)[你您]|给我|跟我|\b(?:you|your|me)\b"


def statements(parts: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Return one statement for each passage and kind that tells: its clauses that assert, joined.

    `parts` are clauses with the `kind` that they tell (null where that is nothing), their `passage`
    and how `sure` that is; `held` (row, sentence) are the sentences that gave an attribute of the
    user: beside one, a few letters are no statement. A sentence begins with what it speaks of, so
    its first clause stands in each statement of it. Columns: row, kind, also, text, confidence,
    start, end, cue.
    """
    table = parts.filter(pl.col("kind").is_not_null(), pl.col("raw").str.len_chars() > 0)
    short = table.join(held, on=["row", "sentence"], how="semi")
    rest = pl.col("raw").str.count_matches(r"[\p{L}\p{N}]").sum().over("row", "sentence")
    short = short.filter(rest <= _BESIDE).select("row", "sentence").unique()
    table = table.join(short, on=["row", "sentence"], how="anti", maintain_order="left")
    shown = third_person(table["raw"], table["chinese"])
    return _joined(_opened(table.with_columns(shown=shown)))


def _opened(told: pl.DataFrame) -> pl.DataFrame:
    """Put the first clause of a sentence before those of another kind, too."""
    first = told.filter(pl.col("nth") == 0)
    kinds = told.select("row", "sentence", of="kind").unique(maintain_order=True)
    more = first.join(kinds, on=["row", "sentence"], how="left", maintain_order="left")
    more = more.filter(pl.col("of") != pl.col("kind"))
    return told.vstack(more.with_columns(kind="of", also=pl.lit(None, pl.String)).drop("of"))


def _joined(told: pl.DataFrame) -> pl.DataFrame:
    said = told.sort("row", "sentence", "nth").group_by(
        "row", "passage", "kind", "sentence", maintain_order=True
    ).agg(
        pl.col("also").drop_nulls().first(),
        pl.col("sure", "chinese").first(),
        pl.col("start").min(),
        pl.col("end").max(),
        pl.col("raw").str.join(" "),
        zh=pl.col("shown").str.join("，"),
        en=pl.col("shown").str.join(", "),
    )  # fmt: skip
    made = said.group_by("row", "passage", "kind", maintain_order=True).agg(
        pl.col("also").drop_nulls().first(),
        pl.col("sure").max(),
        pl.col("chinese").any(),
        zh=pl.col("zh").str.join("。"),
        en=pl.col("en").str.join(". "),
        wish=pl.col("raw").str.contains(_TO_ASSISTANT).any(),
        start=pl.col("start").min(),
        end=pl.col("end").max(),
    )  # fmt: skip
    english = pl.col("en").str.replace_all(", The user", ", the user", literal=True)
    text = pl.when("chinese").then("zh").otherwise(english)
    asked = (
        pl.when("chinese")
        .then(pl.format("用户希望：{}", text))
        .otherwise(pl.format("The user wants this: {}", text))
    )
    wish = pl.col("wish") & (pl.col("kind") == "preference")
    begun = text.str.contains("^(?:用户|The user)")
    return made.select(
        "row",
        "kind",
        "also",
        text=pl.when(wish & ~begun).then(asked).otherwise(text),
        confidence="sure",
        start="start",
        end="end",
        cue=pl.lit("fitted"),
    )


_USER, _TIE, _SELF = "\u0003", "\u0005", "\u0002"  # stand-ins that no text holds
_ADVERBS = (  # not those in -ply, which are verbs, nor rely
    "always|never|often|also|just|still|now|sometimes|kinda|already|both|all|each|simply|"
    r"\w+[a-df-oq-z]ly|\w{2,}ely"
)
_SPEAKS = (
    r"(?i)[我俺咱你您]|鄙人|本人|"
    r"(?-u:\b)(?:i|i'?m|i'?ve|i'?d|we|us|our|ours|my|mine|me|myself)(?-u:\b)"
)
_FIXED = (  # verbs that do not change: modals and the past
    "can|could|will|would|shall|should|may|might|must|cannot|was|were|had|did|went|got|made|took|"
    "came|saw|said|told|knew|thought|felt|found|gave|kept|left|lost|met|paid|ran|sent|spent|wrote|"
    "grew|bought|brought|built|began|became|broke|chose|drove|ate|fell|forgot|held|heard|led|read|"
    "rose|sold|sat|slept|spoke|stood|taught|wore|won|caught|drew|flew|woke|ever|used|"
    "\\w+[^e\\W]ed"
)
_NOT = (
    ("don'?t|do not", "does not"),
    ("haven'?t|have not", "has not"),
    ("didn'?t", "did not"),
    ("can'?t|cannot|can not", "cannot"),
    ("won'?t|will not", "will not"),
    ("wouldn'?t", "would not"),
    ("couldn'?t", "could not"),
    ("shouldn'?t", "should not"),
    ("wasn'?t|weren'?t", "was not"),
    ("hadn'?t", "had not"),
    ("aren'?t", "is not"),
)


def third_person(raw: pl.Series, chinese: pl.Series) -> pl.Series:
    """Return clauses in the third person: Chinese ones where `chinese`, else English ones."""
    spoken = raw.str.contains(_SPEAKS)
    said = _changed(raw, chinese & spoken, (*_ZH, (_USER, "用户")))
    said = _changed(said, ~chinese & spoken, (("’", "'"),))
    for pronoun, steps in (("[Ii]", _I), ("[Ww]e", _WE)):
        said = _changed(said, ~chinese & _holds(said, pronoun), steps)
    end = (*_REST, (f"^{_USER}", "The user"), (_USER, "the user"))
    return _changed(said, ~chinese & spoken, end)


def _subject(pronoun: str, name: str) -> list[tuple[str, str]]:
    """The steps that put a name in the place of a subject and make its verb agree."""
    tied = rf"\b{pronoun}((?:{_TIE}\w+)*)"
    return [
        (rf"\b({pronoun}) ({_ADVERBS})\b", f"${{1}}{_TIE}${{2}}"),
        (rf"\b({pronoun}{_TIE}\w+) ({_ADVERBS})\b", f"${{1}}{_TIE}${{2}}"),
        (
            rf"{tied}'?m\b|{tied} am\b|{tied}'re\b|{tied} are\b",
            f"{name}${{1}}${{2}}${{3}}${{4}} is",
        ),
        (rf"{tied}(?:'ve|ve| have)\b(?:(n't)\b)?", f"{name}${{1}} has"),
        (rf"{tied}'ll\b", f"{name}${{1}} will"),
        (rf"{tied}'d ((?:{_ADVERBS}) )?(been|better|{_FIXED})\b", f"{name}${{1}} had ${{2}}${{3}}"),
        (rf"{tied}'d\b", f"{name}${{1}} would"),
        *((rf"{tied} (?:{old})\b", f"{name}${{1}} {new}") for old, new in _NOT),
        (rf"{tied} do\b", f"{name}${{1}} does"),
        (rf"{tied} go\b", f"{name}${{1}} goes"),
        (rf"{tied} ((?i:{_FIXED}))\b", f"{name}${{1}} ${{2}}"),
        (rf"{tied} ([a-z]*[b-df-hj-np-tv-z])y(\s|$|[,.;:])", f"{name}${{1}} ${{2}}ies${{3}}"),
        (rf"{tied} ([a-z]*(?:s|x|z|ch|sh))(\s|$|[,.;:])", f"{name}${{1}} ${{2}}es${{3}}"),
        (rf"{tied} ([a-z]{{2,}})(\s|$|[,.;:])", f"{name}${{1}} ${{2}}s${{3}}"),
        (rf"{tied}\b", f"{name}${{1}}"),
    ]


_I = tuple(_subject("[Ii]", _USER))
_WE = tuple(_subject("[Ww]e", f"{_USER}'s team"))
_REST = (
    (r"\b[Oo]urs?\b", f"{_USER}'s"),
    (r"\bus\b", _USER),
    (r"(?i)\b(?:my|mine)\b", f"{_USER}'s"),
    (r"(?i)\b(?:me|myself)\b", _USER),
    (_TIE, " "),
)
_ZH = (
    ("自我", _SELF),
    ("我自己|本人", _USER),
    ("(?:我|咱)们(?:这边|这里)?的", f"{_USER}这边的"),
    ("(?:我|咱)们(?:这边|这里)?", f"{_USER}这边"),
    ("[我俺]|鄙人", _USER),
    (_SELF, "自我"),
    ("您|你", "助手"),
)


def _holds(said: pl.Series, pronoun: str) -> pl.Series:
    return said.str.contains(rf"(?-u:\b){pronoun}")


def _changed(said: pl.Series, where: pl.Series, steps: tuple[tuple[str, str], ...]) -> pl.Series:
    """Take the texts for which `where` holds through the steps; few texts need all of them."""
    some = said.filter(where)
    for pattern, new in steps:
        some = some.str.replace_all(pattern.replace(r"\b", r"(?-u:\b)"), new)
    out = said.clone()
    return out.scatter(where.arg_true(), some)
