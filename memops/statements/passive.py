"""The passive: what is told of the one to whom something is done, put as it is told of the one who does it."""

import numpy as np
from xxhash import xxh3_64_intdigest

from memops.language.packs import codes, function_words
from memops.language.tokens import Array, Keys, Tokens, keyed
from memops.language.vocabulary import meaning, stem
from memops.values.operators import words


def passives(t: Tokens) -> dict[str, Keys]:
    """Return which texts tell what is done to something, and which of them by whom: it is included, 被.

    And the `first` thing of each.
    """
    known = words(codes())
    by = t.kinds("function") & t.said(function_words("acting"))
    done = t.where(lambda concept, kind, said: known.participle(said.lower()))
    first = t.where(lambda concept, kind, said: said in known.suffering, "function")
    acted = (by & (t.before(done) > 0)) | first
    told = {"acted": acted, "passive": acted | (done & t.behind(t.means({"copula"})))}
    sets = {name: keyed(np.unique(t.row[mask]), t.items[name]) for name, mask in told.items()}
    things = t.solid & ~t.kinds("value")
    return sets | {"first": t.keys(things & (t.before(things) == 0))}


def active(t: Tokens, kept: Array, texts: Array) -> list[tuple[int, list[int]]]:
    """Return of texts (a mask) in the passive the number, and the `kept` tokens in the order of who does what."""
    by = t.kinds("function") & t.said(function_words("acting"))
    told = (
        (int(t.row[at]), _active(t, kept, at)) for at in np.flatnonzero(by & texts[t.row]).tolist()
    )
    return [(row, order) for row, order in told if order]


def bare(t: Tokens, code: Array) -> Array:
    """Return the code of each word, of forms of irregular verbs that of the verb."""
    known = words(codes())
    out = code[t.words.concept]
    for nth, (_, kind, said) in enumerate(t.words.words):
        base = known.base.get(said.lower()) if kind != "name" else None
        if base is not None:
            found = meaning(base)
            out[nth] = xxh3_64_intdigest((found[0] if found else f"w:{stem(base)}").encode())
    return out


def _active(t: Tokens, kept: Array, by: int) -> list[int]:
    """The tokens of a text in the passive, in the order of who does what; none if it is in the active."""
    known = words(codes())
    begin, end = t.begin[t.row[by]], np.searchsorted(t.row, t.row[by], "right")
    said = [t.words.words[word] for word in t.word[begin:end].tolist()]
    use, at = kept[begin:end].tolist(), by - begin
    done = [n for n in range(at) if use[n] and known.participle(said[n][2].lower())]
    being = [n for n in range(done[-1] if done else 0) if said[n][0] == "copula"]
    if len(being) != 1:
        return []
    last = next(
        (n for n in range(at + 1, len(said)) if not use[n] and said[n][0] != "article"), len(said)
    )
    heard = [n for n in range(len(said)) if use[n]]
    who, before = [n for n in heard if at < n < last], [n for n in heard if n < being[0]]
    mood = [n for n in before if said[n][1] == "function"]
    whom = [n for n in before if n not in mood]
    rest = [n for n in heard if n > being[0] and n not in (*who, done[-1])]
    early = [n for n in rest if n < done[-1]]
    order = [*who, *mood, *early, done[-1], *whom, *(n for n in rest if n not in early)]
    return [int(begin) + n for n in order] if who and whom else []
