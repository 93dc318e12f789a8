"""Signs: how the clauses of a text say what they say, in one normal form (`algebra.Sign`)."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from memops.language.detection import spoken
from memops.language.packs import codes
from memops.values.algebra import NON, NOT, ONLY, SOME, TWO, WAS, Sign, reduced
from memops.values.clauses import clauses
from memops.values.operators import Word, Words, words
from memops.values.reading import read
from memops.values.value import Value


def sign(text: str, lang: str | None = None) -> Sign:
    """Return the sign of a text of one clause; of a longer one, that of what it says first."""
    known = words((lang,) if lang in codes() else spoken(text))
    return next(_clauses(text, known, read(text, lang=lang)), Sign())


def begins(word: str) -> bool:
    """Return whether what bears on the sign of a text may begin with a word."""
    return words(spoken(word)).begins(word)


@cache
def turning() -> frozenset[str]:
    """Return the words after which who is named first stands second: borrowed, pupil."""
    return frozenset(word for code in codes() for word in words((code,)).turning)


def _clauses(text: str, known: Words, values: Iterable[Value]) -> Iterator[Sign]:
    """The sign of each clause of a text."""
    hidden = [piece for value in values for piece in value.pieces()]
    return (signed(clause, known) for clause in clauses(text, known, hidden))


def signed(clause: Sequence[Word], known: Words) -> Sign:
    """Return what the operators of a clause come to.

    Where denials agree, the second says the first again.
    """
    told = [word.ops for word in clause if word.ops]
    if clause[-1].said in known.ending and any(NOT in ops for ops in told):
        told.append((WAS,))
    return _signed(tuple(told), known.concord, clause[0].said in known.orders)


@lru_cache(50_000)
def _signed(told: Sequence[tuple[str, ...]], concord: bool, ordered: bool) -> Sign:
    ops: list[str] = ["□"] if ordered else []
    for said in told:
        again = concord and NOT in ops and said[:2] == (NOT, SOME)
        ops += said[1:] if again else said
    plain = [op for op in ops if op not in _UNHEARD]
    if "nor" in ops:  # neither the potter nor the miller
        plain = [op for op in plain if op not in (SOME, TWO)]
        plain += [] if NOT in plain else [NOT]
    sign = reduced(plain)
    if NON in ops and sign.denies and ONLY not in sign.ops:
        sign = sign.turned()
        return Sign(sign.ops - {"◇"} | {ONLY}, sign.denies)
    return Sign(sign.ops | {NON}, sign.denies) if NON in ops else sign


_UNHEARD = ("else", NON, "if", "then", "nor")
