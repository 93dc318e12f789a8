"""Readings: what a statement says, taken apart into sets that can be compared by the million.

Each text is read once, in Python; a reading is a dictionary of families (sets of items) and of
marks (numbers). `Readings` holds them as sparse matrices, so that the features of any number of
pairs are products of rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from memops.aligned import edges, refused
from memops.cues import DENYING, denied, marks
from memops.fact import FRAME, frame, person
from memops.hints import hints
from memops.numbering import numbering, numbers
from memops.opposites import above, choices, opposed, opposites
from memops.tokens import (
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
    within,
)
from memops.turns import retired_in, turned
from memops.values import Value
from memops.vocabulary import CONTENT, Token, heard, parts, plainly, stem

ALIGNED = ("opens", "closes", "steps", "solid")
"""Families of words side by side, whose codes are of no single item."""
JUDGED = (
    "content", "values", "kinds", "held", "shapes", "numbered", "counters", "current", "named",
    "sides", "others", "alone", "alone_others", "was", "becomes", "wide", "stated", "head", "choices",
    *ALIGNED, "refused", *FRAME,
)  # fmt: skip
"""The families that `memops.judgement` looks at."""
FAMILIES = (
    *JUDGED, "tokens", "atoms", "grams", "things", "persons", "qualifiers", "names", "relations",
    "slots", "filled_slots", "signed", "turned", "frames", "filled", "ordered",
)  # fmt: skip
"""All of them; `memops.scorer` looks at the rest too."""
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
    sets: list[dict[str, set[str]]] = [{name: set() for name in JUDGED} for _ in texts]
    for name in set(JUDGED) - set(ALIGNED):
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


def read_in_one(texts: Sequence[str], whole: bool = False) -> Read:
    """Read texts at once; unless whole, only what the judgement looks at."""
    plains = [plainly(text[:LIMIT]) for text in texts]
    guessed = hints(plains)
    spoken = [heard(plain, may) for plain, (may, _) in zip(plains, guessed, strict=True)]
    lists = [tokens for tokens, _ in spoken]
    items: Numbers[str] = Numbers()
    t = tokens_of(lists, items)
    said = t.renamed(DENYING)
    sets = _sets(plains, lists, [values for _, values in spoken], t, said)
    minus_sign = denied(t)
    sets["refused"] = refused(said, minus_sign)
    if whole:
        sets |= _whole(plains, lists, said, minus_sign)
    told = {
        "copular": _copular(t, sets["subject"]),
        "equates": t.texts(t.means({"copula"})),
        "masked": np.array(["[redacted" in text for text in texts]),
        "cut": np.array([len(text) > LIMIT for text in texts]),
    }
    every = list(items)
    codes = np.fromiter(map(code_of_item, every), np.uint64, len(every))
    families = in_order(sets, codes) | edges(said, codes)
    cued = np.array([cue for _, cue in guessed], bool)
    found = marks(plains, cued, t, said) | {n: np.asarray(v, float) for n, v in told.items()}
    return Read(families, found, dict(zip(codes.tolist(), every, strict=True)), lists)


def _sets(
    plains: list[str], lists: list[list[Token]], values: list[list[Value]], t: Tokens, said: Tokens
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
        "names": names,
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


def _valued(values: list[list[Value]], items: Numbers[str]) -> dict[str, Keys]:
    """Values in one form, the shapes of some, and the counters."""
    told = [(row, value) for row, found in enumerate(values) for value in found]
    typed = [(row, [f"{v.kind}={v.form}"]) for row, v in told if v.kind != "currency"]
    shapes = [
        (row, [v.kind if v.kind in _SHAPELESS else _shape(v.form)])
        for row, v in told if v.kind in (*_SHAPELESS, "ident", "version")
    ]  # fmt: skip
    counters = [(row, ["counter"]) for row, v in told if v.kind == "counter"]
    named = {"typed": typed, "shapes": shapes, "counters": counters}
    return {name: keys_of(entries, items) for name, entries in named.items()}


def _numbered(lists: list[list[Token]], values: list[list[Value]], t: Tokens) -> Keys:
    """What only numbers something: identifiers of two words, and numbers beside their noun."""
    named = [
        (row, [f"ident={v.form}"])
        for row, found in enumerate(values)
        for v in found if v.kind == "ident" and " " in v.form
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


_FLIP = {"+": "-", "-": "+"}
_IDEOGRAPH = re.compile("[一-鿿]")
_SHAPELESS = ("url", "email", "phone")
_DOERS = ("由", "归")  # what follows is who does it, not what is spoken of
_OURSELVES = frozenset({"user", "we", "you"})


def _letters(plain: str) -> dict[str, frozenset[str]]:
    """The text as words and Chinese bigrams, as stems and single characters, as letter grams."""
    low = plain.lower()
    latin = re.findall(r"[^\W_一-鿿]+(?:['.:/-][^\W_一-鿿]+)*", low)
    runs = re.findall("[一-鿿]+", low)
    row = " ".join(re.findall(r"\w+", low))
    n = 2 if runs else 3
    return {
        "tokens": frozenset(latin)
        | {r[i : i + 2] for r in runs for i in range(max(1, len(r) - 1))},
        "atoms": frozenset(f"a:{stem(w)}" for w in re.findall(r"[^\W_一-鿿]+", low))
        | {f"a:{c}" for r in runs for c in r},
        "grams": frozenset(row[i : i + n] for i in range(max(1, len(row) - n + 1))),
    }


def _words(content: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Concepts by class."""

    def of(*kinds: str) -> frozenset[str]:
        return frozenset(t.concept for t in content if t.kind in kinds)

    solid = [t for t in content if t.kind in ("thing", "word", "name")]
    return {
        "things": frozenset(i for t in solid for i in parts(t)),
        "persons": of("person"),
        "qualifiers": of("qualifier"),
        "relations": of("single", "multi"),
    }


def _whole(
    plains: list[str], lists: list[list[Token]], said: Tokens, minus_sign: Array
) -> dict[str, Keys]:
    """The sets that only the scorer looks at, text by text."""
    ends = np.cumsum([len(tokens) for tokens in lists]).tolist()
    made: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for row, (plain, own, end) in enumerate(zip(plains, lists, ends, strict=True)):
        tokens = [t._replace(concept=DENYING.get(t.concept, t.concept)) for t in own]
        signs = ["-" if denied else "+" for denied in minus_sign[end - len(own) : end]]
        content = [t for t in tokens if t.kind in CONTENT]
        sets = _letters(plain) | _words(content) | _signed(tokens, signs)
        for name, items in (sets | _order(content) | _slotted(tokens)).items():
            made.setdefault(name, []).append((row, items))
    return {name: keys_of(entries, said.items) for name, entries in made.items()}


def _signed(said: Sequence[Token], signs: Sequence[str]) -> dict[str, frozenset[str]]:
    """Concepts with the sign of their clause, and with the other sign."""
    items = [
        (sign, item)
        for token, sign in zip(said, signs, strict=True)
        if token.kind in CONTENT
        for item in parts(token)
    ]
    return {
        "signed": frozenset(sign + item for sign, item in items),
        "turned": frozenset(_FLIP[sign] + item for sign, item in items),
    }


def _order(content: Sequence[Token]) -> dict[str, frozenset[str]]:
    return {
        "frames": _frames(content, False),
        "filled": _frames(content, True),
        "ordered": _ordered(content),
    }


def _slotted(said: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Values beside their neighbours."""
    slots = _slots(said)
    return {
        "slots": frozenset(slot for slot, _ in slots),
        "filled_slots": frozenset(f"{slot}={form}" for slot, form in slots),
    }


def _shape(form: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", form))


def _frames(content: Sequence[Token], filled: bool) -> frozenset[str]:
    """Each token's neighbours, with or without the token between them."""
    row = ["^", *(t.concept for t in content), "$"]
    return frozenset(
        f"{a}|{b if filled else ''}|{c}" for a, b, c in zip(row, row[1:], row[2:], strict=False)
    )


def _ordered(content: Sequence[Token]) -> frozenset[str]:
    row = [t.concept for t in content if t.kind in ("name", "person", "word", "thing", "value")][
        :14
    ]
    return frozenset(f"{a}<{b}" for i, a in enumerate(row) for b in row[i + 1 :] if a != b)


def _slots(said: Sequence[Token]) -> list[tuple[str, str]]:
    """Each value beside the content word that stands nearest to it."""
    solid = [t for t in said if t.kind in CONTENT]
    out = []
    for i, token in enumerate(solid):
        if token.kind == "value":
            kind, _, form = token.concept.partition("=")
            near = [solid[j] for j in (i - 1, i + 1) if 0 <= j < len(solid)]
            out += [(f"{kind}@{n.concept}", form) for n in near if n.kind != "value"]
    return out
