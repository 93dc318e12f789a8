"""Opposites: words that exclude each other, kinds of things, and things that rival each other."""

from collections.abc import Sequence
from functools import cache, lru_cache

from memops.lexicon import lexicon
from memops.vocabulary import Token


def choices(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the kinds of thing of which the text says what somebody prefers."""
    if "prefer" not in [t.concept for t in tokens]:
        return frozenset()
    names = (name for t in tokens for name in (t.surface, t.surface.lower(), t.concept))
    return frozenset(_rivals()[name] for name in names if name in _rivals())


@cache
def _rivals() -> dict[str, str]:
    table = lexicon("conflict")["rivals"].items()
    return {name: kind for kind, names in table for name in names}


@cache
def above() -> dict[str, tuple[str, ...]]:
    """Return of each concept what it is a kind of."""
    out: dict[str, tuple[str, ...]] = {}
    for above, below in lexicon("conflict")["kind_of"].items():
        for name in below:
            out[name] = (*out.get(name, ()), above)
    return out


@cache
def _pairs(table: str) -> dict[str, list[tuple[int, int]]]:
    """Each word or concept with the pairs of opposites that it belongs to, and its side."""
    out: dict[str, list[tuple[int, int]]] = {}
    for n, pair in enumerate(lexicon("conflict")["opposites"][table]):
        for side, names in enumerate(pair.split("|")):
            for name in names.split():
                out.setdefault(name, []).append((n, side))
    return out


@lru_cache(maxsize=200_000)
def _placed(surface: str, concept: str, table: str) -> tuple[tuple[int, int], ...]:
    """Where a word, its concept or what it is a kind of stands in a table of opposites."""
    bare = concept[2:] if concept[1:2] == ":" else concept
    names = {surface.lower(), concept, bare, *above().get(concept, ())}
    return tuple(place for name in sorted(names) for place in _pairs(table).get(name, ()))


_NOWHERE: dict[str, frozenset[str]] = dict.fromkeys(
    ("sides", "others", "alone", "alone_others"), frozenset()
)


def opposites(tokens: Sequence[Token]) -> dict[str, frozenset[str]]:
    """Return the pairs of opposites that words belong to, on their own side and on the other."""
    out = _NOWHERE
    for table, own, other in (("pairs", "sides", "others"), ("alone", "alone", "alone_others")):
        at = [place for t in tokens if (p := _placed(t.surface, t.concept, table)) for place in p]
        if at:
            out = out | {
                own: frozenset(f"{n}:{side}" for n, side in at),
                other: frozenset(f"{n}:{side ^ 1}" for n, side in at),
            }
    return out


def excludes(surface: str, concept: str) -> bool:
    """Return whether a word belongs to a pair of states that exclude each other."""
    return bool(_placed(surface, concept, "alone"))


def opposed(tokens: Sequence[Token]) -> set[str]:
    """Return the things that have an opposite."""
    things = (t for t in tokens if t.kind == "thing")
    return {t.concept for t in things if _placed(t.surface, t.concept, "pairs")}
