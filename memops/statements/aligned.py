"""Alignment: where the words of two statements begin to part, and where they meet again.

Words that say nothing of the subject are left out (the user, light verbs, words of change), so
that "the cache uses Redis" and "the cache was moved to Valkey" differ in one place.
"""

from functools import cache
from typing import Any

import numpy as np
from xxhash import xxh3_64_intdigest

from memops.language.codes import numbered
from memops.language.lexicon import lexicon
from memops.language.packs import cues, function_words, rows
from memops.language.tokens import Keys, Tokens, in_order, keyed
from memops.statements.cues import denied
from memops.statements.elsewhere import equated, listed
from memops.statements.fact import PLAIN, filled_once, person
from memops.statements.passive import active, bare
from memops.values.signs import turning

Array = Any
_LONGEST = 16  # words of a statement that are aligned
_MOST = 8  # words of a statement of which the order is looked at
_SPEAKING = frozenset({"user", "we"})  # the writers themselves: who did it to whom


def edges(t: Tokens, code: Array) -> dict[str, tuple[Array, Array]]:
    """Return the beginnings and the endings of each statement, of one word and more, and its `cycle`.

    Two statements share as many of `opens` as they have first words in common, and of `closes` as
    last ones; an odd number of `sole`, if where they part one thing at a time can stand; the cycle, if
    one begins where the other ends; and `beyond`, if the words that are not aligned are the same.
    Each is of texts' numbers and codes, in their order; `code` is that of each item.
    """
    kept = aligned(t)
    row, nth = t.row[kept], t.before(kept)[kept]
    size = np.bincount(row, minlength=t.n)
    words = np.zeros((t.n, _LONGEST), np.uint64)
    words[row, nth] = code[t.concept[kept]]
    opens = _running(words, 1)[row, nth]
    words[row, size[row] - 1 - nth] = code[t.concept[kept]]
    closes = _running(words, 2)[row, size[row] - 1 - nth]
    sole = np.flatnonzero((filled_once(t) & ~denied(t))[kept] & (nth > 0))
    around = np.concatenate([numbered(opens[sole - 1]), opens[sole]])
    round_ = _cycles(t, code) | {
        "beyond": _beyond(t, code),
        "sole": (np.tile(row[sole], 2), around),
    }
    every = np.concatenate([opens, closes, *(codes_ for _, codes_ in round_.values())])
    known, number = np.unique(every, return_inverse=True)
    sides = {"opens": (row, opens), "closes": (row, closes), **round_}
    ends = np.cumsum([len(codes_) for _, codes_ in sides.values()])[:-1]
    parts = zip(sides.items(), np.split(number, ends), strict=True)
    return in_order({name: keyed(rows, part) for (name, (rows, _)), part in parts}, known)


def _beyond(t: Tokens, code: Array) -> tuple[Array, Array]:
    """Texts of more words than are aligned, and the code of the others in their order."""
    kept = t.solid & ~t.means(light())
    kept &= t.before(kept) >= _LONGEST
    rows, place = np.unique(t.row[kept], return_inverse=True)
    out = np.zeros(len(rows), np.uint64)
    np.add.at(out, place, numbered(code[t.concept[kept]] ^ numbered(t.before(t.solid)[kept])))
    return rows, out


def _cycles(t: Tokens, code: Array) -> dict[str, tuple[Array, Array]]:
    """Texts of one clause of which the end may be put first, and the code of their words round from the least.

    At noon the dog sleeps; the dog sleeps at noon. `active` is that of the words that tell who does what,
    and `voice` that of what is told in the passive as it would be told in the active: the dog was fed by Ann.
    """
    kept = (t.solid | ~t.means(_FORM)) & ~t.means(light())
    clauses = np.zeros(t.n, np.int64)
    np.maximum.at(clauses, t.row, t.clause)
    several = t.where(
        lambda concept, kind, said: concept == "conj" and said not in function_words("joining")
    )
    one = (clauses == 0) & ~t.texts(several)
    told_by = one & ~t.texts(t.said(turning()))  # who works for her is employed by her
    own = listed(t, bare(t, code)[t.word])
    size = np.bincount(t.row[kept], minlength=t.n)
    told = active(t, kept, told_by & (size >= _LEAST) & (size <= _LONGEST))
    passive = np.zeros((len(told), _LONGEST), np.uint64)
    for nth, (_, order) in enumerate(told):
        passive[nth, : len(order)] = own[order]
    acted = np.array([row for row, _ in told], np.int64)
    return {
        "equated": equated(t, one, own),
        "cycle": _rounds(t, ~t.means({"article"}), one, own),
        "active": _rounds(t, kept, told_by, own),
        "voice": (acted, _round(passive, size[acted])),
    }


def _rounds(t: Tokens, kept: Array, texts: Array, own: Array) -> tuple[Array, Array]:
    """Texts (a mask) with the code of their `kept` words round from the least."""
    row = t.row[kept]
    size = np.bincount(row, minlength=t.n)
    free = texts & (size >= _LEAST) & (size <= _LONGEST)
    words, fit = np.zeros((t.n, _LONGEST), np.uint64), free[row]
    words[row[fit], t.before(kept)[kept][fit]] = own[kept][fit]
    rows = np.flatnonzero(free)
    return rows, _round(words[rows], size[rows])


def _round(words: Array, size: Array) -> Array:
    """The code of the words of each row, from the least on round to it."""
    place, size = np.arange(_LONGEST), size[:, None]
    held = place < size
    least = np.where(held, words, np.iinfo(np.uint64).max).argmin(axis=1)
    round_ = np.take_along_axis(words, (least[:, None] + place) % np.maximum(size, 1), axis=1)
    return _running(np.where(held, round_, 0), 3)[:, -1]


_FORM = frozenset({"article", "copula", "prep", "conj"})


def places(t: Tokens, code: Array) -> dict[str, tuple[Array, Array]]:
    """Return of each two of a kind in a statement which comes first: `ordered`, and `reversed`.

    Of a kind are names and people, the writer too, values of one kind, and things with a verb
    between them; so are a thing and a name, where a statement speaks of nothing else (the clinic
    refused Dan). Where "and" or a comma joins the two, or the writer's is what stands beside, their
    order says nothing. Who manages whom is in no other set.
    Who acts comes first: in "B is managed by A" that is A. Nor does it matter if one says that
    the manager is Anna, or that Anna is the manager.
    """
    kind = _kind_of(t)
    like = (kind > 0) & (t.before(kind > 0) < _MOST)
    lone = (np.bincount(t.row[like], minlength=t.n) == 2)[t.row]
    at, kind = np.flatnonzero(like), kind[like]
    verb, refusal, joined, other = _passed(t, like)
    own, said = t.means(_SPEAKING), t.before(t.solid)
    same, role = t.before(t.means({"copula"})), t.kinds("person")
    acting = t.kinds("function") & t.said(function_words("acting"))
    turns = t.said(turning())
    acted = t.before(acting) + t.before(turns)
    pairs = []
    for step in range(1, _MOST):
        one, two = at[:-step], at[step:]
        least, most = np.minimum(kind[:-step], kind[step:]), np.maximum(kind[:-step], kind[step:])
        mixed = (least == 1) & (most == 2) & lone[one]
        alike = (t.row[one] == t.row[two]) & ((least == most) | mixed)
        alike &= t.concept[one] != t.concept[two]
        listed = (joined[two] > joined[one]) | (t.clause[two] > t.clause[one])
        listed &= other[two] == other[one]
        related = (least > 1) | (verb[two] > verb[one]) | (mixed & (refusal[two] > refusal[one]))
        equated = (same[two] > same[one]) & (role[one] != role[two])
        beside = said[two] - said[one] <= t.solid[one]  # my sister; Ida and I
        owned = beside & (own[one] | own[two])
        use = alike & related & ~listed & ~equated & ~owned
        between = acted[two] - acted[one] - turns[one]
        one, two, passive = one[use], two[use], (between % 2 == 1)[use]
        first, then = np.where(passive, two, one), np.where(passive, one, two)
        pairs.append((t.row[one], code[t.concept[first]], code[t.concept[then]]))
    row, first, then = (np.concatenate(side) for side in zip(*pairs, strict=True))
    said, turned = numbered(numbered(first) ^ then), numbered(numbered(then) ^ first)
    known, number = np.unique(np.concatenate([said, turned]), return_inverse=True)
    own, swapped = np.split(number, 2)
    return in_order({"ordered": keyed(row, own), "reversed": keyed(row, swapped)}, known)


_LEAST = 3


def relations(t: Tokens, code: Array) -> dict[str, tuple[Array, Array]]:
    """Return `relators`, words of relation (under, to, 向), and `governed`, each with the word that it rules.

    Two statements hold one of `related` and not its `relations` where another such word, of one script,
    stands between the same two words.
    """
    bare = function_words("joining") | function_words("particles")
    related = t.where(lambda concept, _, said: concept == "prep" and said not in bare, "function")
    after = t.following(t.solid | t.kinds("change"))
    at = np.flatnonzero(related)
    at = at[after[at] < len(t.at)]
    ruled = after[at]
    same = (t.row[ruled] == t.row[at]) & (t.clause[ruled] == t.clause[at])
    at, ruled = at[same], ruled[same]
    used, place = np.unique(t.word[at], return_inverse=True)
    said = [same_relation(t.words.words[word][2].lower()) for word in used.tolist()]
    word = np.array([xxh3_64_intdigest(tie.encode()) for tie in said], np.uint64)[place]
    script = np.array([tie.isascii() for tie in said], np.uint64)[place]
    last = np.maximum.accumulate(np.where(t.solid, t.at, -1))[at]
    near = (last >= t.begin[t.row[at]]) & (t.clause[last] == t.clause[at])
    one, two = np.where(near, code[t.concept[last]], np.uint64(0)), code[t.concept[ruled]]
    span = numbered(numbered(one + script) ^ two)
    made = {
        "related": span,
        "relations": numbered(span ^ word),
        "relators": word,
        "governed": numbered(numbered(word) ^ two),
    }
    known, number = np.unique(np.concatenate([*made.values()]), return_inverse=True)
    parts = zip(made, np.split(number, len(made)), strict=True)
    return in_order({name: keyed(t.row[at], part) for name, part in parts}, known)


@cache
def same_relation(word: str) -> str:
    """The first of the words of relation that say what this one does."""
    return next((row[0] for row in map(str.split, rows("alike")) if word in row), word)


def _kind_of(t: Tokens) -> Array:
    """For each token 0, or a number for what its order may matter with: 1 things, 2 names, values."""
    kinds: dict[str, int] = {}

    def number(concept: str, kind: str, surface: str) -> int:
        if kind == "value":
            return 3 + kinds.setdefault(concept.split("=")[0], len(kinds))
        if kind in ("name", "person") or (kind == "word" and person(concept, kind, surface)):
            told = concept in _SPEAKING or surface.lower() in function_words("parties")
            return 2 if told or concept not in PLAIN else 0
        return int(kind in ("thing", "word"))

    return np.array([number(*word) for word in t.words.words], np.int64)[t.word]


def _passed(t: Tokens, like: Array) -> list[Array]:
    """How many verbs, denials in place of any, joining and other words (not `like`) stand before each."""
    joins = t.means({"conj"}) | t.where(
        lambda concept, kind, said: said in function_words("joining"), "function"
    )
    quiet = t.means({"article"})
    verbs = t.kinds("single", "multi")
    refusals = t.kinds("negation") & ~t.texts(verbs)[t.row]
    return [t.before(mask) for mask in (verbs, refusals, joins, ~(like | joins | quiet))]


def aligned(t: Tokens) -> Array:
    """Return which tokens are laid side by side: the first with content that are not light."""
    told = t.solid & ~t.means(light())
    return told & (t.before(told) < _LONGEST)


def left(t: Tokens) -> Keys:
    """Return what texts say that something was: the word behind "from", "replaced" and their like."""
    at = np.flatnonzero(t.said(_leaving()))
    after = t.following(t.solid)[at + 1]
    at, after = at[after < len(t.at)], after[after < len(t.at)]
    near = (t.row[at] == t.row[after]) & (t.clause[at] == t.clause[after])
    return keyed(t.row[after[near]], t.concept[after[near]])


@cache
def _leaving() -> frozenset[str]:
    return frozenset(cues("shift", "from"))


def refused(t: Tokens, denied: Array) -> Keys:
    """Return the parts of the aligned words that a statement denies, other than values."""
    return t.parted(aligned(t) & denied & ~t.kinds("value", "qualifier"))


def _running(words: Array, seed: int) -> Array:
    """The code of all words up to each place, row by row."""
    out = np.empty_like(words)
    last = numbered(np.full(len(words), seed))
    for place in range(words.shape[1]):
        last = out[:, place] = numbered(last ^ words[:, place])
    return out


@cache
def light() -> frozenset[str]:
    """Return the concepts that say nothing of a subject."""
    return frozenset(lexicon("conflict")["alignment"]["light"])
