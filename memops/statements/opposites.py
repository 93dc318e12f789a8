"""Opposites: words that exclude each other, and what things are kinds of."""

from collections.abc import Callable
from functools import cache, lru_cache

from memops.language.lexicon import lexicon
from memops.language.tokens import Keys, Tokens, minus


@cache
def above() -> dict[str, tuple[str, ...]]:
    """Return of each concept what it is a kind of."""
    out: dict[str, tuple[str, ...]] = {}
    for above, below in lexicon("conflict")["kind_of"].items():
        for name in below:
            out[name] = (*out.get(name, ()), above)
    return out


@cache
def _pairs() -> dict[str, list[tuple[int, int]]]:
    """Each word or concept with the pairs of opposites that it belongs to, and its side."""
    out: dict[str, list[tuple[int, int]]] = {}
    for n, pair in enumerate(lexicon("conflict")["opposites"]["pairs"]):
        for side, names in enumerate(pair.split("|")):
            for name in names.split():
                out.setdefault(name, []).append((n, side))
    return out


@lru_cache(50_000)
def _placed(surface: str, concept: str) -> tuple[tuple[int, int], ...]:
    """Where a word, its concept or what it is a kind of stands among the opposites."""
    bare = concept[2:] if concept[1:2] == ":" else concept
    names = {surface.lower(), concept, bare, *above().get(concept, ())}
    return tuple(place for name in sorted(names) for place in _pairs().get(name, ()))


def opposites(t: Tokens) -> dict[str, Keys]:
    """Return the pairs of opposites that words belong to, on their own side and on the other.

    `states` are those on their own side that exclude the other whatever else is said.
    A text that holds both sides of a pair ("a man and a woman") speaks for neither. Words that
    deny (forbids, 拒绝) count as a sign, not here, too.
    """
    placed = t.where(_is_placed) & ~t.kinds("negation")
    sides, others = (t.spread(placed, _sides(other)) for other in (0, 1))
    one, other = minus(sides, others), minus(others, sides)
    return {"sides": one, "others": other, "states": one[t.of(one, _states())]}


@cache
def _states() -> list[str]:
    states = lexicon("conflict")["opposites"]["states"]
    placed = {n for state in states for n, side in _pairs()[state] if side == 0}
    return [f"{n}:{side}" for n in sorted(placed) for side in (0, 1)]


def _is_placed(concept: str, kind: str, surface: str) -> bool:
    """Whether a word has an opposite, which takes less time than where it stands."""
    return concept in _concepts() or surface.lower() in _pairs()


@cache
def _concepts() -> frozenset[str]:
    names = _pairs().keys()
    bare = {f"{mark}:{name}" for name in names for mark in "wh"}
    return frozenset({*names, *bare, *(low for low, high in above().items() if names & {*high})})


def _sides(other: int) -> Callable[[str, str, str], list[str]]:
    return lambda concept, kind, surface: [
        f"{n}:{side ^ other}" for n, side in _placed(surface, concept)
    ]


def opposed(t: Tokens) -> Keys:
    """Return the things that have an opposite."""
    return t.keys(t.where(_is_placed, "thing"))
