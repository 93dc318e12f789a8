"""What only the scorer looks at in texts: letters, classes of words, order, signs, neighbours."""

import re
from collections.abc import Sequence

import numpy as np

from memops.language.tokens import Array, Keys, Tokens, keys_of
from memops.language.vocabulary import CONTENT, Token, parts, stem
from memops.statements.cues import DENYING

_FLIP = {"+": "-", "-": "+"}


def wholly(
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
