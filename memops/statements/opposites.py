"""Opposites: words that exclude each other, kinds of things, and things that rival each other."""

from collections.abc import Callable
from functools import cache, lru_cache

from memops.language.lexicon import lexicon
from memops.language.tokens import Keys, Tokens, minus


def choices(t: Tokens) -> Keys:
    """Return the kinds of thing of which each text says what somebody prefers."""
    prefers = t.texts(t.means({"prefer"}))[t.row]
    return t.spread(prefers, _kinds)


def _kinds(concept: str, kind: str, surface: str) -> list[str]:
    rivals = _rivals()
    return [rivals[name] for name in (surface, surface.lower(), concept) if name in rivals]


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


def opposites(t: Tokens) -> dict[str, Keys]:
    """Return the pairs of opposites that words belong to, on their own side and on the other.

    A text that holds both sides of a pair ("a man and a woman") speaks for neither. Words that
    deny (forbids, 拒绝) count as a sign, not here, too.
    """
    out: dict[str, Keys] = {}
    for table, own, against in (("pairs", "sides", "others"), ("alone", "alone", "alone_others")):
        placed = t.where(_placed_in(table)) & ~t.kinds("negation")
        sides, others = (t.spread(placed, _sides(table, other)) for other in (0, 1))
        out |= {own: minus(sides, others), against: minus(others, sides)}
    return out


def _placed_in(table: str) -> Callable[[str, str, str], bool]:
    """A test whether a word stands in a table, which takes less time than where it does."""
    pairs, concepts = _pairs(table), _concepts(table)
    return lambda concept, kind, surface: concept in concepts or surface.lower() in pairs


@cache
def _concepts(table: str) -> frozenset[str]:
    names = _pairs(table).keys()
    bare = {f"{mark}:{name}" for name in names for mark in "wh"}
    return frozenset({*names, *bare, *(low for low, high in above().items() if names & {*high})})


def _sides(table: str, other: int) -> Callable[[str, str, str], list[str]]:
    return lambda concept, kind, surface: [
        f"{n}:{side ^ other}" for n, side in _placed(surface, concept, table)
    ]


def excludes(surface: str, concept: str) -> bool:
    """Return whether a word belongs to a pair of states that exclude each other."""
    return bool(_placed(surface, concept, "alone"))


def opposed(t: Tokens) -> Keys:
    """Return the things that have an opposite."""
    return t.keys(t.where(_placed_in("pairs"), "thing"))
