"""Cues: words that turn a statement, or take it out of what holds now.

A mark is a count for one text: negations, signs of change, of the past, of supposition, of quoting,
of tasks and single events, quantifiers, rules. The words stand in `data/lexicons/conflict.toml`.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from memops.lexicon import lexicon
from memops.vocabulary import Token

MARKS = (
    "negations", "shift", "shift_strong", "past_strong", "hypothetical", "quoted", "todo", "question",
    "all", "none", "some", "only", "size", "must", "may", "han", "change", "event", "related",
    "copular", "equates", "masked", "cut", "dialogue", "latin_open", "han_open",
)  # fmt: skip
DENYING = {"dislike": "like"}
"""Concepts that are the denial of another."""


def marks(
    plain: str, tokens: Sequence[Token], content: Sequence[Token], cued: bool = True
) -> dict[str, float]:
    """Return the marks of one text that its words alone give; unless cued, it holds no cue."""
    opens = [t.concept[:2] for t in content]
    counts = {n: float(_count(plain, *where)) for n, where in _COUNTED.items()} if cued else _NONE
    return counts | _quantifiers(tokens) | {
        "past_strong": counts["past_strong"] + _of_a_year(plain, tokens),
        "negations": float(sum(map(_denies, tokens))),
        "question": float(plain.rstrip().endswith(("?", "？", "吗"))),
        "size": float(len(content)),
        "han": float(not plain.isascii() and _HAN.search(plain) is not None),
        "change": float(sum([t.kind == "change" for t in tokens])),
        "event": float(_is_event(plain)),
        "dialogue": float(":" in plain and len(set(_labels().findall(plain))) > 1),
        "related": float(":" in plain or any(map(_relates, tokens))),
        "latin_open": float(opens.count("w:")),
        "han_open": float(opens.count("h:")),
    }  # fmt: skip


@cache
def cue_words() -> list[str]:
    """Return in lower case every word that is counted; most texts hold none."""
    table = lexicon("conflict")
    listed = (table[where[0]][name] for where in _COUNTED.values() for name in where[1:])
    return sorted({word.lower() for words in listed for word in words})


def signs_of(tokens: Sequence[Token]) -> list[str]:
    """Return the sign of each token: - where its clause holds an odd number of denials."""
    odd: dict[int, int] = {}
    for token in tokens:
        none = token.kind == "quantifier" and token.concept == "none"
        if none or _denies(token):
            odd[token.clause] = odd.get(token.clause, 0) + 1
    return ["-" if odd.get(t.clause, 0) % 2 else "+" for t in tokens]


_COUNTED = {
    "shift": ("shift", "en", "zh"),
    "shift_strong": ("shift", "strong_en", "strong_zh"),
    "past_strong": ("past", "strong_en", "strong_zh"),
    "hypothetical": ("hypothetical", "en", "zh"),
    "quoted": ("quoted", "en", "zh"),
    "todo": ("todo", "en", "zh"),
    "must": ("modal", "must"),
    "may": ("modal", "may"),
}
_NONE = dict.fromkeys(_COUNTED, 0.0)
_HAN = re.compile("[一-鿿]")
_STOPS = frozenset({"stopped"})
_EVERY = frozenset({"every", "each", "any", "both", "每个", "所有", "全部", "全体", "全员"})


def _denies(token: Token) -> bool:
    return token.kind == "negation" or token.concept in DENYING or token.concept in _STOPS


def _relates(token: Token) -> bool:
    return token.kind in ("single", "multi", "change") or token.concept == "copula"


def _quantifiers(tokens: Sequence[Token]) -> dict[str, float]:
    said = [t.concept for t in tokens if t.kind == "quantifier"]
    counts = {name: float(said.count(name)) for name in ("all", "none", "some", "only")}
    counts["all"] += sum([t.surface.lower() in _EVERY for t in tokens if t.kind == "function"])
    return counts


def _count(plain: str, table: str, *lists: str) -> int:
    return sum(len(pattern.findall(plain)) for pattern in _patterns(table, *lists))


@cache
def _labels() -> re.Pattern[str]:
    """A speaker's label before what is said; two of them make a dialogue."""
    words = lexicon("conflict")["dialogue"]["labels"]
    return re.compile(rf"(?:^|[\s。.!?！？])({'|'.join(words)})\s*[:：]", re.IGNORECASE)


@cache
def _patterns(table: str, *lists: str) -> tuple[re.Pattern[str], ...]:
    return _compiled(w for name in lists for w in lexicon("conflict")[table][name])


def _compiled(listed: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """English words match as words, Chinese ones anywhere; the longest first."""
    words = sorted(set(listed), key=lambda w: (-len(w), w))
    latin, han = ([w for w in words if w.isascii() is ascii_] for ascii_ in (True, False))
    made = []
    if latin:
        made.append(re.compile(rf"\b(?:{'|'.join(map(re.escape, latin))})(?!\w)", re.IGNORECASE))
    if han:
        made.append(re.compile("|".join(map(re.escape, han))))
    return tuple(made)


_YEAR = re.compile(
    r"\W*(?:(?:back\s+)?in\s+(?:19|20)\d\d\b(?!.*\b(?:is|are|has|have|will|since)\b)"
    r"|(?:19|20)\d\d\s*年(?!初|底|末)(?!.*(?:起|开始|以来|将|至今)))",
    re.IGNORECASE,
)


def _of_a_year(plain: str, tokens: Sequence[Token]) -> float:
    """1 where a text opens with a year and says neither that something changed nor how it is."""
    told = _YEAR.match(plain) is not None and not any(t.kind == "change" for t in tokens)
    return float(told)


def _is_event(plain: str) -> bool:
    opening, anywhere = _events()
    return opening.match(plain) is not None or (
        not plain.isascii() and anywhere.search(plain) is not None
    )


@cache
def _events() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What opens the account of an event, and what is one anywhere in a Chinese text."""
    table = lexicon("conflict")["event"]
    opening_en, opening_zh, anywhere = (
        "|".join(table[n]) for n in ("opening_en", "opening_zh", "anywhere_zh")
    )
    opening = (
        rf"\W*(?:(?:user|assistant|i|we)\W+)?(?:{opening_en})\b"
        rf"|\W*(?:和|跟).{{0,12}}讨论|\W*(?:{opening_zh})"
    )
    return re.compile(opening, re.IGNORECASE), re.compile(anywhere, re.IGNORECASE)
