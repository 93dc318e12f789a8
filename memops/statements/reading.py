"""Readings: what a statement says, taken apart into sets that can be compared by the million.

Words are looked up text by text, in Python; families (sets of items) and marks (numbers) are then
made of the table of all tokens at once (`language.tokens`). `Readings` holds them as sparse matrices,
so that the features of any number of pairs are products of rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from memops.language.tokens import (
    Array,
    Keys,
    Numbers,
    Tokens,
    in_order,
    keys_of,
    mapped,
    minus,
    tokens_of,
    union,
)
from memops.language.vocabulary import Said, Token, heard, plainly
from memops.ordered import within
from memops.statements.aligned import edges, places, refused, relations
from memops.statements.cues import DENYING, denied, marks
from memops.statements.fact import FRAME, frame, person
from memops.statements.numbering import numbering, numbers
from memops.statements.opposites import above, choices, opposed, opposites
from memops.statements.said import said_in
from memops.statements.turns import retired_in, turned
from memops.values import read_all

ALIGNED = (
    "opens", "closes", "steps", "solid", "ranked", "reversed", "spans", "ties", "relators", "rules",
)  # fmt: skip
"""Families of words side by side and of their order, whose codes are of no single item."""
FAMILIES = (
    "content", "values", "kinds", "held", "shapes", "numbered", "counters", "current", "named",
    "sides", "others", "alone", "alone_others", "was", "becomes", "wide", "stated", "head", "choices",
    *ALIGNED, "refused", *FRAME,
)  # fmt: skip
"""The families that `memops.judge.judgement` looks at."""
LIMIT = 4000
"""Characters that are read; a longer text is a document, and no pair with it is judged the same."""


@dataclass(frozen=True)
class Reading:
    """One text: its sets by family, and its marks."""

    sets: dict[str, frozenset[str]]
    marks: dict[str, float]
    tokens: tuple[Token, ...]


class Read(NamedTuple):
    """Texts read: of each family texts' numbers and codes, in their order; marks; what codes mean."""

    families: dict[str, tuple[Array, Array]]
    marks: dict[str, Array]
    items: dict[int, str]
    tokens: list[list[Token]]


def read_many(texts: Sequence[str]) -> list[Reading]:
    """Return the reading of each text: the sets of words that the judgement looks at, and marks."""
    found = read_in_one(texts)
    sets: list[dict[str, set[str]]] = [{name: set() for name in FAMILIES} for _ in texts]
    for name in set(FAMILIES) - set(ALIGNED):
        rows, codes = found.families[name]
        for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
            sets[row][name].add(found.items[code])
    return [
        Reading(
            {name: frozenset(items) for name, items in of.items()},
            {name: float(column[n]) for name, column in found.marks.items()},
            tuple(found.tokens[n]),
        )
        for n, of in enumerate(sets)
    ]


def read_in_one(texts: Sequence[str]) -> Read:
    """Read texts at once."""
    plains = [plainly(text[:LIMIT]) for text in texts]
    told_values = read_all(plains)
    values = [*map(said_in, plains, told_values)]
    lists = [heard(plain, own) for plain, own in zip(plains, values, strict=True)]
    items: Numbers[str] = Numbers()
    t = tokens_of(lists, items)
    said = t.renamed(DENYING)
    sets = _sets(plains, lists, values, t, said)
    sets["refused"] = refused(said, denied(t))
    told = {
        "copular": _copular(t, sets["subject"]),
        "equates": t.texts(t.means({"copula"})),
        "masked": np.array(["[redacted" in text for text in texts]),
        "cut": np.array([len(text) > LIMIT for text in texts]),
    }
    every = list(items)
    codes = np.fromiter(map(code_of_item, every), np.uint64, len(every))
    families = (
        in_order(sets, codes) | edges(said, codes) | places(said, codes) | relations(said, codes)
    )
    found = marks(plains, told_values, t, said) | {n: np.asarray(v, float) for n, v in told.items()}
    return Read(families, found, dict(zip(codes.tolist(), every, strict=True)), lists)


def _sets(
    plains: list[str], lists: list[list[Token]], values: list[list[Said]], t: Tokens, said: Tokens
) -> dict[str, Keys]:
    """The sets that the judgement looks at, but for those of words side by side."""
    valued = _valued(values, t.items) | {"numbered": _numbered(lists, values, t)}
    was, becomes = _turned(plains, t)
    typed = union(said.keys(said.kinds("value")), valued.pop("typed"))
    gone = union(was, retired_in(t))
    framed = frame(t, union(was, becomes), opposed(t))
    concepts = said.keys(said.solid)
    people = said.keys(said.where(_someone, "name", "word"))
    names = said.keys(said.kinds("name") | (_foreign(said) & _han(plains)[t.row]))
    return framed | valued | opposites(t) | {
        "content": said.parted(said.solid),
        "wide": union(concepts, said.spread(said.solid & said.means(above()), lambda concept, *_: above()[concept])),
        "stated": concepts[~said.of(concepts, _OURSELVES)],
        "head": _head(t),
        "choices": choices(t),
        "was": was,
        "becomes": becomes,
        "values": typed,
        "kinds": mapped(typed, t.items, lambda item: item.split("=")[0]),
        "held": minus(typed, gone),
        "current": minus(union(framed["open"], typed), gone),
        "named": union(typed, names, people),
    }  # fmt: skip


def _turned(plains: list[str], t: Tokens) -> tuple[Keys, Keys]:
    """What texts of change say that something was, and that it becomes."""
    rows = np.flatnonzero(t.texts(t.kinds("change"))).tolist()
    both = [turned(plains[row]) for row in rows]
    was, becomes = (
        keys_of(((row, side[n]) for row, side in zip(rows, both, strict=True)), t.items)
        for n in (0, 1)
    )
    return was, becomes


def _valued(values: list[list[Said]], items: Numbers[str]) -> dict[str, Keys]:
    """Values in one form, the shapes of some, and the counters."""
    told = [(row, value) for row, found in enumerate(values) for value in found]
    typed = [(row, [f"{v.kind}={v.form}"]) for row, v in told]
    shapes = [
        (row, [v.kind if v.kind in _SHAPELESS else _shape(v.form)])
        for row, v in told if v.kind in (*_SHAPELESS, "ident", "version")
    ]  # fmt: skip
    counters = [(row, ["counter"]) for row, v in told if v.kind == "counter"]
    named = {"typed": typed, "shapes": shapes, "counters": counters}
    return {name: keys_of(entries, items) for name, entries in named.items()}


def _numbered(lists: list[list[Token]], values: list[list[Said]], t: Tokens) -> Keys:
    """What only numbers something: identifiers of two words, and numbers beside their noun."""
    named = [
        (row, [f"{v.kind}={v.form}"])
        for row, found in enumerate(values)
        for v in found if v.kind == "ordinal" or (v.kind == "ident" and "#" in v.form)
    ]  # fmt: skip
    rows = np.flatnonzero(t.texts(numbers(t))).tolist()
    return keys_of([*named, *((row, numbering(lists[row])) for row in rows)], t.items)


def _head(t: Tokens) -> Keys:
    """What stands before the first relation."""
    ends = t.kinds("single", "multi", "change", "negation") | t.means({"copula", "aux"})
    ends |= t.where(lambda concept, kind, surface: surface in _DOERS, letters=True)
    stop = t.first(ends & (t.before(t.solid) > 0))
    return t.parted(t.solid & (t.at < stop[t.row]))


def _someone(concept: str, kind: str, surface: str) -> bool:
    return concept[:2] == "h:" and person(concept, kind, surface)


def _foreign(t: Tokens) -> Array:
    """A Latin word in a Chinese sentence is a name."""
    return t.where(lambda concept, kind, surface: surface.isascii(), "word")


def _han(plains: list[str]) -> Array:
    return np.array([not p.isascii() and _IDEOGRAPH.search(p) is not None for p in plains], bool)


def _copular(t: Tokens, subject: Keys) -> Array:
    """1 for "the <attribute> ... is <value>": a subject that names an attribute in lower case."""
    copula = t.means({"copula"})
    lower = lambda concept, kind, surface: not surface[0].isupper()  # noqa: E731
    named = t.where(lower, "thing", "single", "word", "person")
    named[named] = within((t.row[named] << 32) | t.concept[named], subject)
    ing = t.where(lambda concept, kind, said: said.endswith("ing") and said.islower())
    doing = copula[:-1] & ing[1:] & (t.row[:-1] == t.row[1:])
    told = t.texts(copula) & t.texts(named)
    told[t.row[:-1][doing]] = False
    return told


def code_of_item(item: str) -> int:
    """Return the code of an item, the same on every machine."""
    return xxh3_64_intdigest(item.encode("utf-8", "surrogatepass"))


_IDEOGRAPH = re.compile("[一-鿿]")
_SHAPELESS = ("url", "email", "phone")
_DOERS = ("由", "归")  # what follows is who does it, not what is spoken of
_OURSELVES = frozenset({"user", "we", "you"})


def _shape(form: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", form))
