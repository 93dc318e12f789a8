"""Person: the user's sentences in the third person, in their own language.

`I` becomes `the user` and its verb agrees. Nothing is translated.
"""

import polars as pl

_USER, _TIE, _SELF = "\u0003", "\u0005", "\u0002"  # stand-ins that no text holds
_ADVERBS = (
    "usually|always|never|often|also|really|just|only|still|now|currently|mostly|generally|"
    "typically|sometimes|normally|rarely|actually|personally|mainly|strongly|absolutely|"
    "definitely|totally|especially|kinda|already|recently|both|all|each|basically|probably"
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
