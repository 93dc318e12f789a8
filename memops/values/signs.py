"""Signs: whether two texts say what they say with one sign, and of the same in the same roles.

A text is read clause by clause into a normal form of its operators (`algebra.Sign`) and the words
that are left. Two texts are compared only where each word of one is read in the other: the same,
of one stem, or its opposite, which counts as a denial.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from memops.language.detection import spoken
from memops.language.packs import codes
from memops.values.algebra import ALL, NON, NOT, ONLY, SOME, WAS, Sign, compared, reduced
from memops.values.clauses import Word, Words, clauses, words
from memops.values.matching import exchanged, flips
from memops.values.reading import read
from memops.values.value import DIFFERENT, INCOMPARABLE, Comparison

ELSE, IF, THEN, UNLESS = "else", "if", "then", "unless"


class Statement(NamedTuple):
    """What one clause says: its sign, the words it says it with, and whether one behind "by" does it."""

    sign: Sign
    words: tuple[Word, ...]
    passive: bool = False


def sign(text: str, lang: str | None = None) -> Sign:
    """Return the sign of a text of one clause; of a longer one, that of what it says first."""
    said = statements(text, lang)
    return said[0].sign if said else Sign()


def bears(text: str) -> bool:
    """Return whether a text may hold a word that bears on its sign."""
    return words(spoken(text)).bear(text)


def signs(texts: Iterable[str]) -> list[Sign | None]:
    """Return the sign of each text; None where its clauses differ in sign."""
    return [_of_all(text) if bears(text) else Sign() for text in texts]


def _of_all(text: str) -> Sign | None:
    said = statements(text)
    held = {one.sign for one in said}
    return held.pop() if len(held) == 1 else None if held else Sign()


@cache
def turning() -> frozenset[str]:
    """Return the words after which who is named first stands second: borrowed, pupil."""
    return frozenset(word for code in codes() for word in words((code,)).turning)


@lru_cache(maxsize=4096)
def statements(text: str, lang: str | None = None) -> tuple[Statement, ...]:
    """Return what the clauses of a text say."""
    known = words((lang,) if lang in codes() else spoken(text))
    hidden = [(v.start, v.end) for v in read(text, lang=lang)]
    out: list[Statement] = []
    pending: list[Word] = []
    for clause in clauses(text, known, hidden):
        if pending:
            first = _conditional(pending) if _conditions(pending) else pending
            clause, pending = [*first, *clause], []
        elif out and _excepts(clause):
            out[-1] = _left_out(out[-1], clause)
            continue
        elif _opens(clause) or (not out and all(w.ops is not None for w in clause)):
            pending = clause
            continue
        _add(out, clause, known)
    if pending:
        _add(out, pending, known)
    return tuple(_merged(out))


def _opens(clause: Sequence[Word]) -> bool:
    """Whether a clause is a condition of the next one."""
    first = next((w for w in clause if w.ops != ()), None)
    ops = first.ops if first is not None else None
    last = clause[-1].ops or ()
    return ops is not None and (bool({UNLESS, IF} & {*ops}) or IF in last or _excepts(clause))


def _conditions(clause: Sequence[Word]) -> bool:
    return any(w.ops and {UNLESS, IF} & {*w.ops} for w in clause)


def _left_out(said: Statement, clause: Sequence[Word]) -> Statement:
    """A statement of which a clause behind it leaves something out: ..., except at weddings."""
    sign = said.sign.turned()
    held = tuple(w for w in clause if w.ops is None)
    return said._replace(
        sign=Sign(sign.ops - {ALL, SOME} | {ONLY}, sign.denies),
        words=(*said.words, *held),
    )


def _excepts(clause: Sequence[Word]) -> bool:
    """Whether a clause only says who is left out: apart from Ben, ..."""
    ops = [op for w in clause for op in w.ops or ()]
    return ops == ["except"]


def _conditional(clause: Sequence[Word]) -> list[Word]:
    """The words of a condition; one that denies holds unless the contrary does."""
    ops = [op for w in clause for op in w.ops or ()]
    denied = ops.count(NOT) % 2 == 1
    head = [UNLESS] if UNLESS in ops or denied else []
    kept = [w._replace(ops=(), stem=w.stem) if w.ops else w for w in clause]
    first = kept[0]
    return [
        first._replace(ops=tuple(head)),
        *(w._replace(ops=None if w.ops is None else ()) for w in kept[1:]),
    ]


def _add(out: list[Statement], clause: Sequence[Word], known: Words) -> None:
    if any(w.ops and THEN in w.ops for w in clause):
        at = next(i for i, w in enumerate(clause) if w.ops and THEN in w.ops)
        if sum(op == NOT for w in clause[:at] for op in w.ops or ()) % 2:
            clause = [*_conditional(clause[:at]), *clause[at + 1 :]]
    clause = _bare_condition(clause) if known.chained else clause
    clause = _once(clause) if known.concord else clause
    held = [w for w in clause if w.ops is None]
    ops = [op for w in clause for op in w.ops or ()]
    if clause[0].said in known.orders:
        ops = ["□", *ops]
    sign = _signed(ops)
    if ELSE in ops and out and "except" not in ops:
        last = out[-1]
        if sign.denies != last.sign.denies:
            out[-1] = last._replace(sign=Sign(last.sign.ops - {"∀"} | {ONLY}, last.sign.denies))
        return
    if not held:
        if out and WAS not in out[-1].sign.ops and (sign.ops or sign.denies):
            _elliptic(out, sign)
        elif not out and (sign.ops or sign.denies):
            out.append(Statement(sign, ()))
        return
    passive = any(word.said in known.passive for word in clause)
    out.append(Statement(sign, tuple(held), passive))


def _bare_condition(clause: Sequence[Word]) -> Sequence[Word]:
    """No badge, no entry, in a language that chains the two without a word: 没有工牌进不去."""
    denials = [n for n, w in enumerate(clause) if w.ops and NOT in w.ops]
    if len(denials) != _PAIR or clause[denials[0]].ops != (NOT,):
        return clause
    first, then = denials
    if not any(w.ops is None for w in clause[first:then]):
        return clause
    head = clause[first]._replace(ops=(UNLESS,))
    return [*clause[:first], head, *clause[first + 1 :]]


_PAIR = 2


def _once(clause: Sequence[Word]) -> list[Word]:
    """One denial that agreement says again: no vino nadie."""
    out: list[Word] = []
    denied = False
    for word in clause:
        if word.ops and denied and word.ops[:2] == (NOT, SOME):
            word = word._replace(ops=word.ops[1:])
        denied = denied or bool(word.ops and NOT in word.ops)
        out.append(word)
    return out


def _elliptic(out: list[Statement], sign: Sign) -> None:
    """A clause that says nothing but a sign: "but has stopped"."""
    if WAS in sign.ops:
        last = out[-1]
        out[-1] = last._replace(sign=Sign(last.sign.ops | {WAS}, True))


def _signed(ops: Sequence[str]) -> Sign:
    plain = [op for op in ops if op not in (ELSE, NON, IF, THEN, "still", "nor")]
    if "nor" in ops and NOT not in plain:
        plain.append(NOT)
    sign = reduced(plain)
    if IF in ops and sign.denies and ONLY not in sign.ops and NOT in ops[ops.index(IF) :]:
        sign = sign.turned()
        sign = Sign(sign.ops - {"◇"} | {ONLY}, True)
    if NON in ops and sign.denies and ONLY not in sign.ops:
        sign = sign.turned()
        sign = Sign(sign.ops - {"◇"} | {ONLY}, sign.denies)
    elif NON in ops:
        sign = Sign(sign.ops | {NON}, sign.denies)
    return sign


def _merged(said: Sequence[Statement]) -> list[Statement]:
    """Statements, those of one sign together; of what was and what is now so, one."""
    out: list[Statement] = []
    for one in said:
        if out and out[-1].sign == one.sign:
            last = out[-1]
            out[-1] = Statement(one.sign, (*last.words, *one.words), last.passive or one.passive)
        elif out and ONLY in out[-1].sign.ops and _within(one, out[-1]):
            continue
        elif out and WAS in out[-1].sign.ops and one.sign.denies:
            out[-1] = out[-1]._replace(words=(*out[-1].words, *one.words))
        else:
            out.append(one)
    return out


def _within(one: Statement, other: Statement) -> bool:
    return {w.stem for w in one.words} <= {w.stem for w in other.words}


def same_sign(a: str, b: str, lang: str | None = None) -> Comparison:
    """Return whether two texts agree in sign and roles, differ in one, or cannot be told."""
    one, two = statements(a, lang), statements(b, lang)
    known = words((lang,) if lang in codes() else spoken(a))
    if exchanged(clauses(a, known), clauses(b, known), known):
        return DIFFERENT
    if len(one) != 1 or len(two) != 1 or one[0].passive != two[0].passive:
        return INCOMPARABLE
    turned = flips(one[0].words, two[0].words, known)
    if turned is None:
        return INCOMPARABLE
    return compared(one[0].sign, two[0].sign.flipped() if turned % 2 else two[0].sign)
