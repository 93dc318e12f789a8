"""Elsewhere: what may stand in another place of a statement and say the same.

What is listed, and the two sides of "is" of which one is a name: my editor is Helix.
"""

import numpy as np

from memops.language.codes import numbered
from memops.language.packs import function_words
from memops.language.tokens import Array, Tokens
from memops.statements.fact import grouped


def listed(t: Tokens, own: Array) -> Array:
    """Return the code of each word, of two names or things that "and" joins the lesser first."""
    joins = t.where(lambda concept, kind, said: said in function_words("joining"), "function")
    article = t.means({"article"})
    out, last = own.copy(), len(t.at) - 1
    for at in np.flatnonzero(joins).tolist():
        one, two = at - 1, at + 1 + int(at < last and article[at + 1])
        if one < 0 or two > last or t.row[one] != t.row[two]:
            continue
        if _list(t, one, two, bool(article[two - 1])) and out[one] > out[two]:
            out[one], out[two] = out[two], out[one]
    return out


def _list(t: Tokens, one: int, two: int, articles: bool) -> bool:
    """Whether two words stand for all that is joined: she speaks French and German; the cat and the dog sleep.

    Before a verb only where the text begins with them: Tom called Ann and Bob called Tim.
    """
    words = [t.words.words[t.word[n]] for n in (one, two)]
    if any(said.endswith("'s") for _, _, said in words):
        return False
    then = two + 1 < len(t.at) and t.row[two + 1] == t.row[two]
    concept, kind, _ = t.words.words[t.word[two + 1]] if then else ("", "function", "")
    if one == t.begin[t.row[one]] + articles and kind in ("single", "multi"):
        return articles or not words[0][2].isascii() or all(_named(*word) for word in words)
    ends = kind == "function" and concept not in ("copula", "aux")
    return ends and all(_named(*word) for word in words)


def _named(concept: str, kind: str, said: str) -> bool:
    return kind == "name" or (kind == "value" and grouped(concept))


def equated(t: Tokens, one: Array, own: Array) -> tuple[Array, Array]:
    """Return texts (of `one`, a mask) that say by a name who or what something is, and its two sides."""
    same = t.means({"copula"})
    after = t.before(same) > 0
    name = t.kinds("name") | t.where(lambda concept, kind, said: not said.isascii(), "word")
    kept = t.solid
    sizes = [t.count(kept & side) for side in (after, ~after)]
    named = [t.count(name & kept & side) for side in (after, ~after)]
    person = [t.count(t.kinds("person") & side) for side in (after, ~after)]
    bare = ~t.texts(t.kinds("negation", "quantifier") | t.means({"conj", "prep"}))
    fits = (t.count(same) == 1) & one & bare
    told = np.zeros(t.n, bool)
    for side in (0, 1):
        told |= (sizes[side] == 1) & (named[side] == 1) & (person[1 - side] > 0)
    rows = np.flatnonzero(fits & told)
    codes = [_summed(t, kept & side, own) for side in (after, ~after)]
    return rows, numbered(codes[0])[rows] + numbered(codes[1])[rows]


def _summed(t: Tokens, kept: Array, own: Array) -> Array:
    """The code of some words of each text in their order."""
    out = np.zeros(t.n, np.uint64)
    np.add.at(out, t.row[kept], numbered(own[kept] ^ numbered(t.before(kept)[kept])))
    return out
