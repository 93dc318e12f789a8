"""Exact: what two statements must say alike to be the same, though it opposes them in nothing.

A day told from the day of writing, a bound that is open or closed, what limits all that is said;
the time that its verbs tell, and who is spoken of.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from memops.language.packs import codes, function_words, rows, spaced, table
from memops.language.tokens import Array, Keys, Tokens, keyed, keys_of
from memops.values import Value, read
from memops.values.algebra import ALSO, FROM, ONE, ONLY, WAS, Sign
from memops.values.operators import words, written_out
from memops.values.value import counted

_RELATIVE = re.compile(r"[~<>=]*(?:day|week|month|quarter|year|second)[+-]\d")
_ZEROS = re.compile(r"(?<=[1-9])\.\d*0$")
_PARTED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d\d0(?![\d.,])")
_BOUND = re.compile(r"~?[<>]=?|~")


def exact(
    plains: Sequence[str],
    values: Sequence[Sequence[Value]],
    signs: Sequence[Sign | None],
    t: Tokens,
) -> Keys:
    """Return what of each text another must say alike."""
    either = {*t.row[t.said(_either())].tolist()}
    told = [
        (
            row,
            ["or"] * (row in either)
            + [*(_shown(value, plain) for value in found), *_reached(plain, found), *_sign(sign)],
        )
        for row, (plain, found, sign) in enumerate(zip(plains, values, signs, strict=True))
        if found or sign or row in either
    ]
    return keys_of([(row, [*filter(None, items)]) for row, items in told], t.items)


def _shown(value: Value, plain: str) -> str:
    """A relative day, a bound, or "about"; of a moment nobody cares whether it is by five or before five.

    What was turned from another system is about so much anyway.
    """
    if value.kind == "date":
        return value.form if _RELATIVE.match(value.form) else ""
    if value.converted and value.form[0] == "~":
        return ""
    if value.kind == "number" and (ends := _ZEROS.search(plain[value.start : value.end])):
        return f"number {ends[0]}"  # 3.10 may be a version
    if parted := _parted(value, plain[value.start : value.end]):
        return f"number {parted}"
    bound = _BOUND.match(counted(value.kind, value.form))
    return (
        f"{value.kind.replace('degrees', 'temperature')} {bound[0]}"
        if bound and value.kind != "time"
        else ""
    )


def _parted(value: Value, said: str) -> str:
    """A number read as a fraction whose point may as well part thousands: 1.200."""
    found = _PARTED.search(said)
    if found is None:
        return ""
    bare = read(said.replace(found[0], found[0].rstrip("0")))
    return found[0] if [value.form] == [v.form for v in bare] else ""


def _reached(plain: str, values: Sequence[Value]) -> Iterator[str]:
    """Values up to which something changes, in a script where no space stands before them: 降到三十."""
    for value in values:
        if plain[value.start - 1 : value.start] in function_words("goals") and value.kind not in (
            "date",
            "time",
        ):
            yield f"to {value.kind.replace('degrees', 'temperature')}"


@cache
def _either() -> frozenset[str]:
    return frozenset(word for code in codes() for word in table(code)["words"].get("either", ()))


def _sign(sign: Sign | None) -> Iterator[str]:
    """What a sign says beside denial and number: of whom alone, from when on, no longer."""
    return (f"sign={op}" for op in sorted(sign.ops & _FRAMING)) if sign is not None else iter(())


_FRAMING = frozenset({WAS, FROM, ONLY, ALSO, ONE})


class Tensed(NamedTuple):
    """Which tokens tell a time, which of them that it is over, and which are verbs in the past."""

    told: Array
    over: Array
    verb: Array


def tensed(t: Tokens) -> Tensed:
    """Return what tokens say of time: is, was, will; walked."""
    known = words(codes())
    told = t.headed(_tenses().__contains__)
    told |= t.said(function_words("becoming"))  # gets watered
    over = t.headed(lambda head: _PAST in _tenses().get(head, ()))
    return Tensed(told, over, ~t.kinds("name") & t.headed(known.in_past))


def pasts(t: Tokens, time: Tensed) -> Keys:
    """Return which texts tell of the past: by a word for it, or by a verb where no word tells a time."""
    silent = time.verb & ~t.texts(time.told)[t.row]
    return keyed(np.flatnonzero(t.texts(time.over | silent)), t.items[_PAST])


def past_clauses(t: Tokens, time: Tensed) -> Array:
    """Return in how many of its clauses each text tells of the past."""
    timed = np.bincount(t.nth_clause, weights=time.told) > 0
    past = np.flatnonzero(time.over | (time.verb & ~timed[t.nth_clause]))
    _, first = np.unique(t.nth_clause[past], return_index=True)
    return np.bincount(t.row[past[first]], minlength=t.n)


def persons(t: Tokens) -> Keys:
    """Return who is spoken of by words for persons."""
    told = t.headed(_persons().__contains__)
    return t.spread(told, lambda concept, kind, said: _persons()[_head(said)])


def order_of_persons(t: Tokens) -> Keys:
    """Return in which order texts first speak of whom by words for persons, where of several."""
    known, said = _persons(), dict[int, dict[str, None]]()
    at = t.said(known)
    for row, word in zip(t.row[at].tolist(), t.word[at].tolist(), strict=True):
        said.setdefault(row, {}).update(dict.fromkeys(known[t.words.words[word][2].lower()]))
    told = ((row, [" ".join(order)]) for row, order in said.items() if len(order) > 1)
    return keys_of(told, t.items)


def modifiers(t: Tokens) -> Keys:
    """Return words that stand right before a thing, of scripts with spaces: car, of the car stereo."""
    said, things = t.solid & ~t.kinds("value") & _spaced(t), t.kinds(*_THINGS) & _spaced(t)
    at = np.flatnonzero(said & t.ahead(things))
    at = at[t.clause[at] == t.clause[at + 1]]
    return keyed(t.row[at], t.concept[at])


def lasts(t: Tokens) -> Keys:
    """Return the word with which a text ends, of scripts with spaces, where it names a thing: behind an article."""
    at = np.flatnonzero(t.solid)
    at = at[np.append(t.row[at][1:] != t.row[at][:-1], True)] if len(at) else at
    behind = t.behind(t.means({"article"}) | t.kinds("qualifier"))
    at = at[((t.kinds(*_THINGS) | (behind & ~t.kinds("value"))) & _spaced(t))[at]]
    return keyed(t.row[at], t.concept[at])


_THINGS = ("thing", "word", "name", "person")


def _spaced(t: Tokens) -> Array:
    return t.words.ascii[t.word]


def _head(said: str) -> str:
    return written_out(said.lower()).partition(" ")[0]


_PAST = "time=past"


@cache
def _persons() -> dict[str, list[str]]:
    return {word: [f"person={of[0]}"] for of in map(str.split, rows("persons")) for word in of}


@cache
def _tenses() -> dict[str, list[str]]:
    """The times of words that tell no sign too: Chinese 没 is of the past only where it denies."""
    told = [
        (word, f"time={time}")
        for code in codes()
        if spaced(code)
        for time, listed in table(code, "signs").get("tenses", {}).items()
        for word in listed
    ]
    return {
        word: sorted({_SPOKEN.get(time, time) for each, time in told if each == word})
        for word, _ in told
    }


_SPOKEN = {"time=perfect": "time=present"}
"""What has happened is told as what is so now."""
