"""Person: the user's sentences in the third person, in their own language.

`I` becomes `the user` and its verb agrees. Nothing is translated.
"""

import polars as pl

_ADV = "usually|always|never|often|also|really|just|only|still|now|currently|mostly|generally|typically|sometimes|normally|rarely|actually|personally|mainly|strongly|absolutely|definitely|totally|especially|kinda|mostly"
_FIXED = (
    "can|could|will|would|shall|should|may|might|must|cannot|can't|couldn't|won't|wouldn't|shouldn't|didn't|hadn't|wasn't|was|had|did|went|got|made|"
    "took|came|saw|said|told|knew|thought|felt|found|gave|kept|left|lost|met|paid|ran|sent|spent|wrote|grew|bought|brought|built|began|became|broke|chose|"
    "drove|ate|fell|forgot|held|heard|led|put|read|rose|sold|set|shut|sat|slept|spoke|stood|taught|wore|won|ever|\\w+[^e\\W]ed"
)
_EN = (  # in order; U+0003 is the user until the end
    (r"\b[Ii]'m not\b", "\u0003 is not"), (r"\b[Ii](?:'m| am|m)\b", "\u0003 is"), (r"\b[Ii]'?ve\b", "\u0003 has"),
    (r"\bI'll\b", "\u0003 will"), (r"\bI'd\b", "\u0003 would"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)(?:don't|dont|do not)\b", "\u0003 ${1}does not"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)(?:haven't|have not)\b", "\u0003 ${1}has not"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)have\b", "\u0003 ${1}has"), (rf"\b[Ii] ((?:(?:{_ADV}) )*)am\b", "\u0003 ${1}is"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)do\b", "\u0003 ${1}does"), (rf"\b[Ii] ((?:(?:{_ADV}) )*)go\b", "\u0003 ${1}goes"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)((?i:{_FIXED}))\b", "\u0003 ${1}${2}"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)([a-z]*[b-df-hj-np-tv-z])y\b", "\u0003 ${1}${2}ies"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)([a-z]*(?:s|x|z|ch|sh))\b", "\u0003 ${1}${2}es"),
    (rf"\b[Ii] ((?:(?:{_ADV}) )*)([a-z]{{2,}})\b", "\u0003 ${1}${2}s"),
    (r"\b[Ww]e(?:'re| are)\b", "\u0003's team is"), (r"\b[Ww]e(?:'ve| have)\b", "\u0003's team has"),
    (r"\b[Ww]e'll\b", "\u0003's team will"), (r"\b[Ww]e'd\b", "\u0003's team would"), (r"\b[Ww]e (?:don't|do not)\b", "\u0003's team does not"),
    (rf"\b[Ww]e ((?:(?:{_ADV}) )*)((?i:{_FIXED}))\b", "\u0003's team ${1}${2}"),
    (rf"\b[Ww]e ((?:(?:{_ADV}) )*)([a-z]*[b-df-hj-np-tv-z])y\b", "\u0003's team ${1}${2}ies"),
    (rf"\b[Ww]e ((?:(?:{_ADV}) )*)([a-z]*(?:s|x|z|ch|sh))\b", "\u0003's team ${1}${2}es"),
    (rf"\b[Ww]e ((?:(?:{_ADV}) )*)([a-z]{{2,}})\b", "\u0003's team ${1}${2}s"),
    (r"\b[Ww]e\b", "\u0003's team"), (r"\b[Oo]urs?\b", "\u0003's"), (r"\bus\b", "\u0003"),
    (r"(?i)\b(?:my|mine)\b", "\u0003's"), (r"(?i)\b(?:me|myself)\b", "\u0003"), (r"\b[Ii]\b", "\u0003"),
)  # fmt: skip
_ZH = (
    ("自我", "\u0002"), ("我自己", "\u0003"), ("(?:我|咱)们(?:这边|这里)?的", "\u0003这边的"), ("(?:我|咱)们(?:这边|这里)?", "\u0003这边"),
    ("(?:我|俺|鄙人)", "\u0003"), ("本人", "\u0003"), ("\u0002", "自我"), ("您|你", "助手"),
)  # fmt: skip


def third_person(raw: pl.Expr, chinese: pl.Expr) -> pl.Expr:
    """Return clauses in the third person: Chinese ones where `chinese`, else English ones."""
    zh = _through(pl.when(chinese).then(raw), _ZH).str.replace_all("\u0003", "用户")
    en = _through(pl.when(~chinese).then(raw).str.replace_all("’", "'"), _EN).str.replace("^\u0003", "The user")
    return pl.when(chinese).then(zh).otherwise(en.str.replace_all("\u0003", "the user"))


def _through(text: pl.Expr, steps: tuple[tuple[str, str], ...]) -> pl.Expr:
    for pattern, new in steps:
        text = text.str.replace_all(pattern.replace(r"\b", r"(?-u:\b)"), new)
    return text
