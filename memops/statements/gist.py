"""The gist: what a text with a value says, in whatever order, and by whatever verb says no more than "is".

With a value a verb often tells nothing by itself (the tank takes, holds, has 400 litres), or only
what is measured (is 2 m deep, has a depth of 2 m). `plain` in `signs.toml` of the language packs lists
such verbs, `measures` the words for each thing that is measured.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby

import numpy as np

from memops.language.packs import codes, either, function_words, rows
from memops.language.tokens import Array, Keys, Tokens, divided, keys_of, of_texts, union
from memops.language.vocabulary import stem
from memops.statements.aligned import light
from memops.statements.fact import grouped
from memops.values.operators import words

_LONGEST = 8
"""Words of content of a text whose order may be another; of more it tells who does what to whom."""


def gists(t: Tokens, valued: Array) -> dict[str, Keys]:
    """Return what short texts (a mask of those with a value) say in whatever order.

    `gist` are words of content but for values and plain words, `measured` what is measured, and `ties`
    the words of relation that say when, whence and without what, `order` what the words stand in
    round from each way of saying it.
    """
    counted = t.kinds("value") & ~t.where(lambda concept, *_: grouped(concept))
    told = (t.solid | t.kinds("change")) & ~counted & ~t.means(light())
    scaled = t.those(t.behind(counted) | t.ahead(counted), _scaled)
    clauses = np.zeros(t.n, np.int64)
    np.maximum.at(clauses, t.row, t.clause)
    some = (valued & (clauses < _CLAUSES))[t.row]
    gist = t.spread(some & told & ~scaled, _gist)
    size = np.bincount(divided(gist)[0], minlength=t.n)
    short = size <= _LONGEST
    several = some & (short & (size > 1))[t.row]
    opens = t.spread(some & (t.before(t.solid) == 0), _acts)
    return {
        "gist": of_texts(gist, short),
        "measured": union(t.spread(some & told, _measures), t.spread(some & scaled, _scaled)),
        "ties": union(t.spread(some & t.means({"prep"}), _tie), opens),
        "order": keys_of(_orders(t, several & told & ~scaled, several & counted), t.items),
    }


_CLAUSES = 3


def _orders(t: Tokens, told: Array, value: Array) -> Iterator[tuple[int, list[str]]]:
    """The words of the gist in their order; and with their values, where what stands first may stand last.

    As they stand, and as owner and passive would stand otherwise: the rent of the flat is the flat's
    rent, the mare is fed as who feeds the mare.
    """
    of = t.said(function_words("genitive"))
    at = np.flatnonzero((told | value | t.means({"prep"}) | of) & t.texts(value)[t.row])
    being = t.means({"copula"}) | t.where(lambda concept, kind, said: _base(said) == "get")
    done = t.those(t.behind(being), _participle)
    verb = t.kinds("single", "multi")
    mark = np.select([value, of, ~told, done, verb], [_VALUE, _OF, _APART, _DONE, _VERB], _PLAIN)
    rows: dict[int, list[tuple[str, list[str]]]] = {}
    for row, word, role in zip(
        t.row[at].tolist(), t.word[at].tolist(), mark[at].tolist(), strict=True
    ):
        told_ = t.words.words[word]
        words_ = [_VALUE + told_[0].partition("=")[0]] if role == _VALUE else _gist(*told_)
        rows.setdefault(row, []).append((role, [] if role in (_OF, _APART) else words_))
    for row, parts in rows.items():
        orders = ([one for _, words_ in parts for one in words_], _as_owned(parts))
        yield (
            row,
            [
                f"{kind} {form}"
                for kind, order in zip(("as told", "other"), map(_once, orders), strict=True)
                for form in _forms(order)
            ],
        )


def _forms(order: list[str]) -> Iterator[str]:
    """The words round from the least; and without their values, where these stand side by side."""
    yield _rounded(order)
    beside = [n for n, word in enumerate(order) if word[0] == _VALUE]
    if beside[-1] - beside[0] < len(beside):
        yield " ".join(word for word in order if word[0] != _VALUE)


_VALUE, _OF, _APART, _DONE, _VERB, _PLAIN = "#", "of", "/", "done", "does", ""
"""A value; a word of relation that may be left out, and another; what is done to something; a verb; any other word."""


def _once(order: Sequence[str]) -> list[str]:
    """Words without those that stood before, and values side by side in one order."""
    once = [w for n, w in enumerate(order) if w[0] == _VALUE or w not in order[:n]]
    runs = groupby(once, lambda word: word[0] == _VALUE)
    return [word for value, run in runs for word in (sorted(run) if value else run)]


def _as_owned(parts: list[tuple[str, list[str]]]) -> list[str]:
    """Words with the owner before what is owned, and what is done before that to which it is done."""
    out: list[str] = []
    back, last = 0, ""
    for role, words_ in parts:
        if role in (_VALUE, _APART) or (role == _VERB and last != _OF):
            back = 0
        last = role
        if role == _OF:
            back = int(bool(out) and out[-1][0] != _VALUE)
        elif role == _DONE:
            out[:0] = words_
        elif words_:
            at = len(out) - back
            out[at:at] = words_
    return out


def _participle(concept: str, kind: str, said: str) -> bool:
    return said.isascii() and words(codes()).participle(said.lower())


def _rounded(order: list[str]) -> str:
    """Words from the least of them on, round to it."""
    least = min(order)
    return min(" ".join([*order[n:], *order[:n]]) for n, word in enumerate(order) if word == least)


@lru_cache(50_000)
def _base(said: str) -> str:
    """What a word between spaces is a form of."""
    low = said.lower().removesuffix("'s")
    return stem(words(codes()).base.get(low, low))


@lru_cache(50_000)
def _gist(concept: str, kind: str, said: str) -> list[str]:
    if said.isascii():
        acting = said.endswith(words(codes()).doing)
        plain = _base(said) in _nouns() or (_base(said) in _plain() and not acting)
        return [] if plain else [concept]
    if said in _plain() or said in _nouns():
        return []
    if concept[:2] != "h:":
        return [concept]
    return [f"h:{sign}" for sign in _runs().sub("", said)]


@lru_cache(50_000)
def _measures(concept: str, kind: str, said: str) -> list[str]:
    if said.isascii():
        return _nouns().get(_base(said), [])
    return sorted({what for word in _wide().findall(said) for what in _nouns()[word]})


def _scaled(concept: str, kind: str, said: str) -> list[str]:
    """What an adjective beside a value measures: 2 m deep."""
    return _rows("scales").get(_base(said) if said.isascii() else said, [])


def _tie(concept: str, kind: str, said: str) -> list[str]:
    low = said.lower()
    return [] if low in function_words("loose") else [f"tie={low}"]


@lru_cache(50_000)
def _acts(concept: str, kind: str, said: str) -> list[str]:
    """Whether a word that stands first is one for a person, who then does what is told."""
    low = said.lower()
    wide = not low.isascii() and low.startswith(tuple(function_words("actors")))
    return ["tie=acts"] if wide or low in function_words("actors") else []


@cache
def _plain() -> frozenset[str]:
    return frozenset(_base(w) if w.isascii() else w for w in function_words("plain"))


@cache
def _rows(name: str) -> dict[str, list[str]]:
    """The words of rows, each with the first of its row."""
    out: dict[str, list[str]] = {}
    for row in map(str.split, rows(name)):
        for word in row:
            out.setdefault(_base(word) if word.isascii() else word, []).append(f"measure={row[0]}")
    return out


def _nouns() -> dict[str, list[str]]:
    return _rows("measures")


@cache
def _wide() -> re.Pattern[str]:
    return re.compile(either(w for w in _nouns() if not w.isascii()))


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(either(w for w in (*_nouns(), *_plain()) if not w.isascii()))
