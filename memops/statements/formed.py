"""Forms: what small words and endings say of what is told: when, whereto, on what condition, whether it is over.

Small words are those of which a language has few: words of relation and particles (put out, put in),
conjunctions, auxiliaries, words of degree. Two texts that hold the same content say the same only where
they hold the same of them, but for those that say nothing (`free` in `signs.toml` of the language packs).
"""

from functools import lru_cache

import numpy as np

from memops.language.packs import codes, function_words
from memops.language.tokens import Array, Keys, Tokens, keyed, union
from memops.language.vocabulary import meant
from memops.statements.aligned import same_relation
from memops.statements.cues import DENYING
from memops.values.operators import words

_SMALL = frozenset({"prep", "conj", "aux", "deg", "copula"})


def formed(t: Tokens) -> dict[str, Keys]:
    """Return the small words of texts and their endings, and the words `denied` by verbs that deny others: hates tea.

    And words that tell no certain time: put, has.
    """
    return _small_words(t) | _amounts(t) | _endings(t) | {
        "verbal": t.keys(t.means({"copula", "aux"}) | t.kinds("single", "multi")),
        "denied": _denied(t),
        "timeless": t.keys(_timeless(t)),
    }  # fmt: skip


def _timeless(t: Tokens) -> Array:
    known = words(codes())
    perfect = (word for word, told in known.tenses.items() if "perfect" in told)
    return t.said((*known.unchanged, *perfect))


def _small_words(t: Tokens) -> dict[str, Keys]:
    """The small words, and those of relation that a note without a verb leaves out.

    Not those between two values; nor by whom it is done, and what only ties a value: at six.
    """
    value, small = t.kinds("value"), t.means(_SMALL)
    before = t.ahead(value)
    small &= ~(before & t.behind(value)) & ~(_listed(t, "acting") & ~before)
    loose = _listed(t, "loose") | (_listed(t, "plain") & before)
    left = loose | _listed(t, "toward") | _listed(t, "away")
    return {
        "small": t.spread(small & ~left, _small),
        "loosely": t.spread(small & left & ~(loose & before), _small),
    }


def _small(concept: str, kind: str, said: str) -> list[str]:
    low = said.lower()
    return [] if low in function_words("free") else [f"small={same_relation(low)}"]


def _amounts(t: Tokens) -> dict[str, Keys]:
    """Words for a small amount, apart where an article makes it some: little, a little."""
    amount, article = _listed(t, "amounts"), t.behind(t.means({"article"}))
    bare = t.spread(amount & ~article, lambda concept, kind, said: [f"bare {said.lower()}"])
    some = t.spread(amount & article, lambda concept, kind, said: [f"some {said.lower()}"])
    return {"amounts": union(bare, some)}


def _endings(t: Tokens) -> dict[str, Keys]:
    """The words of content that may have an ending, and with the time or the manner that it tells.

    What is done has the time of the verb before it: it is fed, who feeds it. Of a state of which one
    has one at a time it is no matter whether it is going on: lives in, is living in.
    """
    known = words(codes())
    being = t.means({"copula"})
    now = being & t.said(word for word, told in known.tenses.items() if "present" in told)
    plain = t.those(t.behind(now | _listed(t, "becoming")), _done)
    plain |= t.those(t.behind(now) & t.kinds("single"), _doing)
    going = t.those(t.behind(t.those(being, _doing)), _done)
    ended = t.where(lambda *word: bool(_ending(*word))) & ~t.means({"called"})
    told = (
        t.spread(ended & going, lambda concept, *_: [f"{concept} {end}" for end in known.doing]),
        t.spread(ended & plain & ~going, lambda concept, *_: [f"{concept} "]),
        t.spread(ended & ~plain & ~going, _ending),
    )
    return {"ended": t.spread(ended, lambda concept, *_: [f"ended={concept}"]), "endings": union(*told)}  # fmt: skip


def _done(concept: str, kind: str, said: str) -> bool:
    return words(codes()).participle(said.lower())


def _doing(concept: str, kind: str, said: str) -> bool:
    return said.lower().endswith(words(codes()).doing)


@lru_cache(50_000)
def _ending(concept: str, kind: str, said: str) -> list[str]:
    """How a word of a script with spaces ends, where that tells a time or a manner."""
    low, known = said.lower(), words(codes())
    if kind in ("name", "value", "function") or not low.isascii():
        return []
    head = low.partition(" ")[0]
    if head in known.unchanged:
        return [f"{concept} past", f"{concept} "]
    if known.in_past(head):
        return [f"{concept} past"]
    manner = (end for end in function_words("manner") if meant(low.removesuffix(end)) == concept)
    ends = (end for end in (*known.doing, *manner) if low.endswith(end))
    return [f"{concept} {next(ends, '')}"]


def _denied(t: Tokens) -> Keys:
    """The words behind verbs that deny another."""
    after = t.following(t.solid)[np.flatnonzero(t.means(DENYING)) + 1]
    after = after[after < len(t.at)]
    return keyed(t.row[after], t.concept[after])


def _listed(t: Tokens, name: str) -> Array:
    """Which tokens are words of a list in a language pack."""
    return t.said(function_words(name))
