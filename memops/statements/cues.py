"""Cues: words that turn a statement, or take it out of what holds now.

A mark is a count for one text: negations, signs of change, of the past, of supposition, of quoting,
of tasks and single events, quantifiers, rules. The words stand in `cues.toml` of the language packs.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import polars as pl

from memops.language.packs import cues, either, scripts
from memops.language.text import wordlist
from memops.language.tokens import Array, Tokens
from memops.values.algebra import ALL, FROM, MANY, MAY, MOST, MUST, NEARLY, ONLY, SOME, Sign
from memops.values.signs import begins

MARKS = (
    "negations", "past_strong", "hypothetical", "quoted", "todo", "question", "event", "dialogue",
    "all", "none", "some", "only", "must", "may", "change", "copular", "masked", "unspaced", "cut",
    "pasts", "tensed",
)  # fmt: skip
DENYING = {"dislike": "like"}
"""Concepts that are the denial of another."""


def marks(plains: Sequence[str], signs: Sequence[Sign | None], t: Tokens) -> dict[str, Array]:
    """Return the marks of texts that their words alone give, as numbers; `signs` are those of each."""
    out = {name: np.zeros(t.n) for name in _COUNTED}
    lower = pl.Series("text", plains, dtype=pl.String).str.to_lowercase()
    for name, where in _COUNTED.items():
        for i in lower.str.contains_any(wordlist(_cues(*where))).arg_true().to_list():
            out[name][i] = _count(plains[i], *where)
    change = t.kinds("change")
    told = {
        "negations": t.count(_denying(t)),
        "question": _truths(p.rstrip().endswith(("?", "？", "吗")) for p in plains),
        "change": t.count(change),
        "event": _truths(_is_event(p) for p in plains),
        "dialogue": _truths(":" in p and len(set(_labels().findall(p))) > 1 for p in plains),
    }
    of_a_year = _truths(_YEAR.match(p) is not None for p in plains) & ~t.texts(change)
    out["past_strong"] = out["past_strong"] + of_a_year
    found = {name: np.asarray(v, float) for name, v in (out | _quantifiers(t) | told).items()}
    silent = t.where(lambda concept, kind, said: concept in _DENIALS and not begins(said))
    return _normal(found, signs, t.count(silent))


_OPERATORS = {
    "all": {ALL},
    "none": set[str](),
    "some": {SOME, MANY, MOST, NEARLY},
    "only": {ONLY},
    "must": {MUST},
    "may": {MAY},
}


_DENIALS = frozenset({*DENYING, "stopped"})


def _normal(
    found: dict[str, Array], told: Iterable[Sign | None], denying: Array
) -> dict[str, Array]:
    """The marks of sign and quantifier by the normal form, of texts that have one sign throughout.

    Words whose meaning is the denial of another's count too: who hates it does not like it.
    `denying` counts those that hold no operator themselves.
    """
    held: dict[Sign, list[int]] = {}
    for i, sign in enumerate(told):
        if sign is not None:
            held.setdefault(sign, []).append(i)
    for sign, at in held.items():
        denies = sign.denies != (FROM in sign.ops)  # open until nine is open
        found["negations"][at] = (denies + denying[at]) % 2
        for name, operators in _OPERATORS.items():
            found[name][at] = float(not operators.isdisjoint(sign.ops))
        found["must"][at] *= not denies
    return found


def _truths(of: Iterable[bool]) -> Array:
    return np.fromiter(of, bool)


def denied(t: Tokens) -> Array:
    """Return which tokens stand in a clause with an odd number of denials."""
    clause = t.nth_clause
    denials = _denying(t) | (t.kinds("quantifier") & t.means({"none"}))
    return np.bincount(clause[denials], minlength=len(t.row) + 1)[clause] % 2 == 1


_COUNTED = {
    "past_strong": ("past", "strong"),
    "hypothetical": ("hypothetical", "words"),
    "quoted": ("quoted", "words"),
    "todo": ("todo", "words"),
    "must": ("modal", "must"),
    "may": ("modal", "may"),
}
_EVERY = frozenset({"every", "each", "any", "both", "每个", "所有", "全部", "全体", "全员"})


def _denying(t: Tokens) -> Array:
    return t.kinds("negation") | t.means({*DENYING, "stopped"})


def _quantifiers(t: Tokens) -> dict[str, Array]:
    said = t.kinds("quantifier")
    counts = {name: t.count(said & t.means({name})) for name in ("all", "none", "some", "only")}
    every = t.kinds("function") & t.said(_EVERY)
    counts["all"] = counts["all"] + t.count(every)
    return counts


def _count(plain: str, table: str, which: str) -> int:
    return sum(len(pattern.findall(plain)) for pattern in _patterns(table, which))


@cache
def _labels() -> re.Pattern[str]:
    """A speaker's label before what is said; two of them make a dialogue."""
    words = cues("dialogue", "labels")
    return re.compile(rf"(?:^|[\s。.!?！？])({'|'.join(words)})\s*[:：]", re.IGNORECASE)


@cache
def _cues(table: str, which: str) -> list[str]:
    """The words that are counted, in lower case: most texts hold none."""
    return sorted({word.lower() for word in cues(table, which)})


@cache
def _patterns(table: str, which: str) -> tuple[re.Pattern[str], ...]:
    """English words match as words, Chinese ones anywhere."""
    latin, han = map(either, scripts(cues(table, which)))
    return re.compile(rf"\b(?:{latin})(?!\w)", re.IGNORECASE), re.compile(han)


# What opens with a year is history, unless it says that something changed, or how it is now.
_YEAR = re.compile(
    r"\W*(?:(?:back\s+)?in\s+(?:19|20)\d\d\b(?!.*\b(?:is|are|has|have|will|since)\b)"
    r"|(?:19|20)\d\d\s*年(?!初|底|末)(?!.*(?:起|开始|以来|将|至今)))",
    re.IGNORECASE,
)


def _is_event(plain: str) -> bool:
    opening, anywhere = _events()
    return opening.match(plain) is not None or (
        not plain.isascii() and anywhere.search(plain) is not None
    )


@cache
def _events() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What opens the account of an event, and what is one anywhere in a Chinese text."""
    latin, wide = scripts(cues("event", "opening"))
    opening_en, opening_zh = "|".join(latin), "|".join(wide)
    anywhere = "|".join(cues("event", "anywhere"))
    opening = (
        rf"\W*(?:(?:user|assistant|i|we)\W+)?(?:{opening_en})\b"
        rf"|\W*(?:和|跟).{{0,12}}讨论|\W*(?:{opening_zh})"
    )
    return re.compile(opening, re.IGNORECASE), re.compile(anywhere, re.IGNORECASE)
