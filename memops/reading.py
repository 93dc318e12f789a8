"""Readings: what a statement says, taken apart into sets that can be compared by the million.

Each text is read once, in Python; a reading is a dictionary of families (sets of items) and of
marks (numbers). `Readings` holds them as sparse matrices, so that the features of any number of
pairs are products of rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memops.aligned import edges
from memops.cues import DENYING, marks, signs_of
from memops.fact import FRAME, frame, person
from memops.hints import hints
from memops.numbering import numbering
from memops.opposites import above, choices, opposed, opposites
from memops.turns import retired_in, turned
from memops.values import Value
from memops.vocabulary import CONTENT, Token, heard, parts, plainly, stem

JUDGED = (
    "content", "values", "kinds", "held", "shapes", "numbered", "counters", "current", "named",
    "sides", "others", "alone", "alone_others", "was", "becomes", "wide", "stated", "head", "choices",
    "opens", "closes", "steps", "solid", "refused", *FRAME,
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


def read(text: str, whole: bool = True) -> Reading:
    """Return the reading of one text; unless whole, only what the judgement looks at."""
    return next(read_many([text], whole))


def read_many(texts: Sequence[str], whole: bool = True) -> Iterator[Reading]:
    """Yield the reading of each text in turn."""
    plains = [plainly(text[:LIMIT]) for text in texts]
    for text, plain, (may, cued) in zip(texts, plains, hints(plains), strict=True):
        yield _read(text, plain, *heard(plain, may), cued, whole)


def _read(
    text: str, plain: str, tokens: Sequence[Token], values: list[Value], cued: bool, whole: bool
) -> Reading:
    denying = not DENYING.keys().isdisjoint([t.concept for t in tokens])
    said = (
        [t._replace(concept=DENYING.get(t.concept, t.concept)) for t in tokens]
        if denying
        else tokens
    )
    content = [t for t in said if t.kind in CONTENT]
    was, becomes = turned(plain, tokens)
    typed = frozenset(t.concept for t in content if t.kind == "value") | {
        f"{v.kind}={v.form}" for v in values if v.kind != "currency"
    }
    gone = was | retired_in(tokens)
    framed = frame(tokens, was | becomes, frozenset(opposed(tokens)))
    foreign = not plain.isascii() and re.search("[一-鿿]", plain) is not None
    names = frozenset([t.concept for t in content if t.kind == "name" or (foreign and _foreign(t))])
    sets = framed | _meant(content) | _valued(values, tokens)
    if whole:
        sets |= _letters(plain) | _words(content) | _signed(said, signs_of(tokens))
        sets |= _order(content, tokens) | _slotted(said) | {"names": names}
    sets |= {
        "head": _head(tokens),
        "choices": choices(tokens),
        "was": was,
        "becomes": becomes,
        "values": typed,
        "kinds": frozenset(item.split("=")[0] for item in typed),
        "held": typed - gone,
        "current": (framed["open"] | typed) - gone,
        "named": typed | names | _people(content),
    }
    sets |= opposites(tokens) | edges(said, signs_of(tokens))
    told = {
        "copular": _copular(tokens, framed["subject"]),
        "equates": float(any(t.concept == "copula" for t in tokens)),
        "masked": float("[redacted" in text),
        "cut": float(len(text) > LIMIT),
    }
    return Reading(sets, marks(plain, tokens, content, cued) | told, tuple(tokens))


_FLIP = {"+": "-", "-": "+"}
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


def _meant(content: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Concepts, and widened by what they are a kind of."""
    concepts = frozenset(t.concept for t in content)
    wider = above()
    return {
        "content": frozenset([i for t in content for i in parts(t)]),
        "wide": concepts.union(*(wider[c] for c in concepts if c in wider)),
        "stated": concepts - _OURSELVES,
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


def _order(content: Sequence[Token], tokens: Sequence[Token]) -> dict[str, frozenset[str]]:
    return {
        "frames": _frames(content, False),
        "filled": _frames(content, True),
        "ordered": _ordered(content),
    }


def _valued(values: Sequence[Value], tokens: Sequence[Token]) -> dict[str, frozenset[str]]:
    """The shapes of values, and those that only number something."""
    shaped = {_shape(v.form) for v in values if v.kind in ("ident", "version")}
    named = {f"{v.kind}={v.form}" for v in values if v.kind == "ident" and " " in v.form}
    return {
        "shapes": frozenset(
            shaped | {v.kind for v in values if v.kind in ("url", "email", "phone")}
        ),
        "numbered": frozenset(named | numbering(tokens)),
        "counters": frozenset(v.kind for v in values if v.kind == "counter"),
    }


def _slotted(said: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Values beside their neighbours."""
    slots = _slots(said)
    return {
        "slots": frozenset(slot for slot, _ in slots),
        "filled_slots": frozenset(f"{slot}={form}" for slot, form in slots),
    }


def _people(content: Sequence[Token]) -> frozenset[str]:
    return frozenset([t.concept for t in content if t.concept[:2] == "h:" and person(t)])


def _shape(form: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", form))


def _copular(tokens: Sequence[Token], subject: frozenset[str]) -> float:
    """1 for "the <attribute> ... is <value>": a subject that names an attribute in lower case."""
    if "copula" not in [t.concept for t in tokens]:
        return 0.0
    named = any(
        t.concept in subject
        and t.kind in ("thing", "single", "word", "person")
        and not t.surface[0].isupper()
        for t in tokens
    )
    doing = any(
        one.concept == "copula" and two.surface.endswith("ing") and two.surface.islower()
        for one, two in pairwise(tokens)
    )
    return float(named and not doing)


def _foreign(token: Token) -> bool:
    """A Latin word in a Chinese sentence is a name."""
    return token.kind == "word" and token.surface.isascii()


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


def _head(tokens: Sequence[Token]) -> frozenset[str]:
    """What stands before the first relation."""
    out: list[str] = []
    for token in tokens:
        if out and (
            token.kind in ("single", "multi", "change", "negation")
            or token.concept in ("copula", "aux")
            or token.surface in _DOERS
        ):
            break
        if token.kind in CONTENT:
            out += parts(token)
    return frozenset(out)


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
