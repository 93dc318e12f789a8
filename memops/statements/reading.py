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

from memops.language.detection import spoken
from memops.language.tokens import (
    Array,
    Keys,
    Numbers,
    Tokens,
    in_order,
    keys_of,
    mapped,
    tokens_of,
    union,
)
from memops.language.vocabulary import Said, Token, Word, parsed, plainly, token
from memops.ordered import within
from memops.statements.aligned import edges, left, light, places, refused, relations
from memops.statements.cues import DENYING, denied, marks
from memops.statements.exact import (
    exact,
    lasts,
    modifiers,
    order_of_persons,
    past_clauses,
    pasts,
    persons,
    tensed,
)
from memops.statements.fact import FRAME, frame, grouped
from memops.statements.formed import formed
from memops.statements.gist import gists
from memops.statements.numbering import numbering, numbers
from memops.statements.opposites import above, opposed, opposites
from memops.statements.passive import passives
from memops.statements.roles import roles
from memops.statements.said import said_in
from memops.statements.surface import SURFACE, surface
from memops.values import Value, read_all
from memops.values.algebra import Sign
from memops.values.saying import Saying, saying

ALIGNED = (
    "opens", "closes", "sole", "beyond", "cycle", "active", "voice", "equated",
    "ordered", "reversed", "related", "relations", "relators", "governed",
)  # fmt: skip
"""Families of words side by side and of their order, whose codes are of no single item."""
FAMILIES = (
    "content", "values", "near", "rounded", "kinds", "numbered", "current", "sides", "others", "states",
    "wide", "signed",
    "stated", "head", "left", "statements", "around", "denials", "held", "worded", "scoped", "scopes", "small",
    "loosely", "verbal", "timeless", "ended", "endings", "amounts", "denied", "who", "acted", "passive", "first",
    "exact", "past", "modifiers", "last", "persons", "roles", "before", "behind", "gist", "order",
    "measured", "ties", *ALIGNED, "refused", *FRAME, *SURFACE,
)  # fmt: skip
"""The families that `memops.judge.judgement` looks at."""
_WIDE = re.compile("[\u2e80-\u9fff]")
LIMIT = 4000
"""Characters that are read; a longer text is a document, and no pair with it is judged the same."""


@dataclass(frozen=True)
class Reading:
    """One text: its sets by family, and its marks."""

    sets: dict[str, frozenset[str]]
    marks: dict[str, float]
    tokens: tuple[Token, ...]


class Read(NamedTuple):
    """Texts read: of each family texts' numbers and codes, in their order; marks; what codes mean; words, clauses."""

    families: dict[str, tuple[Array, Array]]
    marks: dict[str, Array]
    items: dict[int, str]
    words: list[tuple[list[Word], list[int]]]


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
            tuple(map(token, *found.words[n])),
        )
        for n, of in enumerate(sets)
    ]


def read_in_one(texts: Sequence[str]) -> Read:
    """Read texts at once."""
    plains = [plainly(text[:LIMIT]) for text in texts]
    langs = [*map(spoken, plains)]
    told_values: list[Sequence[Value]] = [*read_all(plains, langs)]
    says = [*map(saying, plains, told_values, langs)]
    told_values = [told.values for told in says]
    values = [*map(said_in, plains, told_values)]
    found = [*map(parsed, plains, values)]
    lists, clauses = [said for said, _ in found], [of for _, of in found]
    items: Numbers[str] = Numbers()
    t = tokens_of(lists, clauses, items)
    said = t.renamed(DENYING)
    sets = _sets(lists, values, t, said)
    sets["left"] = left(said)
    sets["refused"] = refused(said, denied(t))
    sets["before"], sets["behind"] = _counted(t)
    sets["exact"] = exact(plains, told_values, [told.normal for told in says], t)
    sets |= passives(t) | gists(t, np.array([bool(found) for found in values], bool))
    sets |= formed(t)
    time = tensed(t)
    sets["past"] = pasts(t, time)
    sets["modifiers"], sets["last"] = modifiers(t), lasts(t)
    sets["persons"], sets["who"] = persons(t), order_of_persons(t)
    sets["roles"] = roles(t, [told.sign for told in says], plains)
    sets |= _told(says, t) | surface(plains, t.items)
    told = {
        "copular": _copular(t, sets["subject"]),
        "masked": np.array(["[redacted" in text for text in texts]),
        "unspaced": np.array([_WIDE.search(text) is not None for text in texts]),
        "cut": np.array([len(text) > LIMIT for text in texts]),
        "pasts": past_clauses(t, time),
        "tensed": np.bincount(t.row[time.told], minlength=t.n),
    }
    every = list(items)
    codes = np.fromiter(map(code_of_item, every), np.uint64, len(every))
    families = (
        in_order(sets, codes) | edges(said, codes) | places(said, codes) | relations(said, codes)
    )
    bare = [*map(_without_numerals, plains, told_values)]
    seen = marks(bare, [told.sign for told in says], t) | {
        n: np.asarray(v, float) for n, v in told.items()
    }
    return Read(families, seen, dict(zip(codes.tolist(), every, strict=True)), found)


def _told(says: Sequence[Saying], t: Tokens) -> dict[str, Keys]:
    """What texts say under their signs, and how the signs stand."""
    one: dict[str, list[str | None]] = {
        "worded": [told.words for told in says],
        "signed": [None if told.normal == Sign() else str(told.normal) for told in says],
        "denials": [told.denials for told in says],
        "held": [told.held for told in says],
    }
    sets = {
        name: keys_of(((n, [word] if word else []) for n, word in enumerate(column)), t.items)
        for name, column in one.items()
    }
    sets["statements"] = keys_of(enumerate(told.of for told in says), t.items)
    sets["around"] = keys_of(enumerate(told.around for told in says), t.items)
    scopes = [*enumerate(told.scopes for told in says)]
    sets["scoped"] = keys_of(scopes, t.items)
    sets["scopes"] = keys_of(((n, map(" ".join, told.items())) for n, told in scopes), t.items)
    return sets


def _without_numerals(plain: str, values: Sequence[Value]) -> str:
    """A text without numbers in words of a script without spaces, of which a part is another word: 九万一千."""
    spans = [v[:2] for v in values if v.kind in _COUNTED and plain[v.start] > "\u2e80"]
    for start, end in spans:
        plain = plain[:start] + " " * (end - start) + plain[end:]
    return plain


_COUNTED = frozenset({"number", "money", "number rate", "money rate"})


def _sets(
    lists: list[list[Word]], values: list[list[Said]], t: Tokens, said: Tokens
) -> dict[str, Keys]:
    """The sets that the judgement looks at, but for those of words side by side."""
    forms = ((row, [f"{v.kind}={v.form}" for v in found]) for row, found in enumerate(values))
    near = (
        (row, [_near(v.kind, form) for v in found for form in v.near])
        for row, found in enumerate(values)
    )
    rounded = (
        (
            row,
            [
                f"{v.kind}={form}"
                for v in found
                if v.kind not in _VAGUE
                for form in v.near
                if "=" not in form
            ],
        )
        for row, found in enumerate(values)
    )
    exact = union(said.keys(said.kinds("value")), keys_of(forms, t.items))
    framed = frame(t, opposed(t))
    concepts = said.keys(said.solid)
    return framed | opposites(t) | {
        "content": said.parted(said.solid),
        "wide": union(concepts, said.spread(said.solid & said.means(above()), lambda concept, *_: above()[concept])),
        "stated": concepts[~said.of(concepts, light())],
        "head": _head(t),
        "numbered": _numbered(lists, values, t),
        "values": exact,
        "near": union(exact, keys_of(near, t.items)),
        "rounded": keys_of(rounded, t.items),
        "kinds": mapped(exact, t.items, lambda item: item.split("=")[0]),
        "current": union(framed["open"], exact),
    }  # fmt: skip


def _near(kind: str, form: str) -> str:
    """Another form of a value, of another kind where it says so."""
    return form if "=" in form else f"{kind}={form}"


_VAGUE = frozenset({"time", "duration"})
"""Kinds of which another form is no other writing of the same: of either half of the day; a month in days."""


def _counted(t: Tokens) -> tuple[Keys, Keys]:
    """The word before each value, and the one behind it, where a text holds several of a kind.

    Two ovens and three sieves: who has them exchanged says another word of both, on either side.
    """
    names = [*t.items]
    kinds: Numbers[str] = Numbers()
    valued = np.flatnonzero(t.kinds("value") & ~t.where(lambda of, *_: grouped(of), "value"))
    row, concept = t.row[valued], t.concept[valued]
    kind = np.array([kinds[names[n].partition("=")[0]] for n in concept.tolist()], np.int64)
    held = np.unique(np.stack([row, kind, concept]), axis=1)
    several, size = np.unique(held[0] << 32 | held[1], return_counts=True)
    valued = valued[np.isin(row << 32 | kind, several[size > 1])]
    word = t.solid & ~t.kinds("value")
    before = np.maximum.accumulate(np.where(word, t.at, -1))[valued]
    behind = t.following(word)[valued]
    sides = []
    for side in (before, behind):
        near = (side >= 0) & (side < len(t.at))
        near[near] = t.row[side[near]] == t.row[valued[near]]
        beside = zip(
            t.row[valued[near]].tolist(), valued[near].tolist(), side[near].tolist(), strict=True
        )
        told = ((r, [f"{names[t.concept[one]]} {names[t.concept[two]]}"]) for r, one, two in beside)
        sides.append(keys_of([*told], t.items))
    return sides[0], sides[1]


def _numbered(lists: list[list[Word]], values: list[list[Said]], t: Tokens) -> Keys:
    """What only numbers something: identifiers of two words, and numbers beside their noun."""
    named = [
        (row, [f"{v.kind}={v.form}"])
        for row, found in enumerate(values)
        for v in found if v.kind == "ordinal" or (v.kind == "ident" and "#" in v.form)
    ]  # fmt: skip
    rows = np.flatnonzero(t.texts(numbers(t))).tolist()
    ends = np.append(t.begin, len(t.row))
    told = ((row, map(token, lists[row], t.clause[ends[row] : ends[row + 1]])) for row in rows)
    return keys_of([*named, *((row, numbering([*tokens])) for row, tokens in told)], t.items)


def _head(t: Tokens) -> Keys:
    """What stands before the first relation."""
    ends = t.kinds("single", "multi", "change", "negation") | t.means({"copula", "aux"})
    ends |= t.where(lambda concept, kind, surface: surface in _DOERS, letters=True)
    stop = t.first(ends & (t.before(t.solid) > 0))
    return t.parted(t.solid & (t.at < stop[t.row]))


def _copular(t: Tokens, subject: Keys) -> Array:
    """1 for "the <attribute> ... is <value>": a subject that names an attribute in lower case."""
    copula = t.means({"copula"})
    lower = lambda concept, kind, surface: not surface[0].isupper()  # noqa: E731
    named = t.where(lower, "thing", "single", "word", "person")
    named[named] = within((t.row[named] << 32) | t.concept[named], subject)
    ing = t.where(lambda concept, kind, said: said.endswith("ing") and said.islower())
    return t.texts(copula) & t.texts(named) & ~t.texts(copula & t.ahead(ing))


def code_of_item(item: str) -> int:
    """Return the code of an item, the same on every machine."""
    return xxh3_64_intdigest(item.encode("utf-8", "surrogatepass"))


_DOERS = ("由", "归")  # what follows is who does it, not what is spoken of
