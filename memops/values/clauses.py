"""Clauses: a text as the words that say something, and the operators over them, clause by clause."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, takewhile

from memops.values.algebra import ALL, MAY, MUST, NOT, SOME, TWO
from memops.values.operators import (
    BLANK,
    ENDING,
    GAP,
    LEAVING,
    RUN,
    WORD,
    Told,
    Word,
    Words,
    written_out,
)

_PIECE = re.compile(
    r"[^\W\d_\u4e00-\u9fff]+(?:[+#]+(?!\w))?|(?<=[a-z])'[a-z]{1,2}(?![a-z])|[^\S\n]+|[\u4e00-\u9fff]+|\d+(?:[.,:]\d+)*|\[[a-z]+\]|[^\w\s]|\n|_+"
)
_NONE = (NOT, SOME)
_QUALITIES = {MUST, MAY}  # of words that behind an article name a thing: a permit, a can
_word: Callable[[tuple[int, int, str, tuple[str, ...] | None]], Word] = partial(tuple.__new__, Word)
"""A word of its parts, which takes half the time of `Word`."""
Piece = tuple[int, int, str, Told]


def clauses(text: str, known: Words, hidden: Sequence[tuple[int, int]] = ()) -> list[list[Word]]:
    """Return the words of each clause of a text; operators within `hidden` spans are left out."""
    low = written_out(text.lower())
    if any(head in low for head in known.openers):
        low = known.opening.sub(lambda m: " " * len(m[0]), low)
    out: list[list[Word]] = []
    ends: list[str] = []
    clause: list[Word] = []
    near, last = 0, len(hidden) - 1
    for start, end, said, (kind, ops) in _with_gaps(_cut(low, known), low, known):
        if kind:
            if kind != ENDING and _counts(clause):
                clause.append(Word(start, end, said, ("except",)))
                continue
            if kind != LEAVING:
                out.append(clause)
                ends.append(said)
                clause = []
                continue
        if hidden:
            while near < last and hidden[near + 1][0] <= start:
                near += 1
            if ops is None and not said.isascii() and GAP not in said:
                clause += _beside(Word(start, end, said, ops), hidden, near)
                continue
            if _within(hidden[near], start) and not (GAP in said and ops == _NONE):
                continue
        thing = (
            ops
            and clause
            and clause[-1].said in known.indefinite
            and not _QUALITIES.isdisjoint(ops)
        )
        clause.append(_word((start, end, said, None if thing else ops)))
    out.append(clause)
    return _joined(_conditioned([*map(_supposed, _listed(out, ends, known))], low, known))


def _within(span: tuple[int, int], at: int) -> bool:
    """Whether a span covers a place."""
    return span[0] <= at < span[1]


def _listed(cut: list[list[Word]], ends: Sequence[str], known: Words) -> list[list[Word]]:
    """Clauses that hold words, with what names one thing more put to what is said of it: cats and dogs must wait.

    Such a part holds no sign and no verb, and no more words than stand beside it on its side of the sign.
    """
    told = [clause for clause in cut if clause]
    if len(told) < 2 or not any(word.ops for clause in told for word in clause):
        return told
    out: list[list[Word]] = []
    behind = ""
    for clause, before in zip(reversed(cut), reversed(["", *ends]), strict=True):
        joins = bool(clause and out) and behind in known.listing
        comma = bool(clause and out) and behind in _COMMAS and before not in known.listing
        if joins and clause[0].ops == (ALL, TWO):  # both the potter and the miller
            clause = clause[1:]
        ahead = (joins or comma) and _one_more(clause, out[-1], known)
        if ahead or (joins and _one_more(out[-1], clause[::-1], known)):
            out[-1] = clause + out[-1]
        elif clause:
            out.append(clause)
        behind = before if clause or behind not in known.listing else behind
    return out[::-1]


_COMMAS = (",", "，")


def _one_more(part: Sequence[Word], whole: Sequence[Word], known: Words) -> bool:
    """Whether a part of a list only names one thing more beside the first words of a clause."""
    beside = [*takewhile(lambda word: not word.ops, whole)]
    held = len(beside) < len(whole) and not any(
        word.ops or known.verbal(word.said) for word in part
    )
    return held and 0 < _content(part) <= _content(beside)


def _content(part: Sequence[Word]) -> float:
    """How many words of content a part holds, of a script without spaces its signs by two."""
    said = (word.said for word in part if word.ops is None)
    return sum(1 if word.isascii() else len(word) / _LONGER for word in said)


def _supposed(clause: list[Word]) -> list[Word]:
    """A clause, with unless in place of if and a denial behind it: if you have no card, if you do not have a card."""
    at = next((n for n, word in enumerate(clause) if word.ops == ("if",)), len(clause))
    then = next((n for n in range(at + 1, len(clause)) if clause[n].ops != ()), at)
    if at == len(clause) or clause[then].ops not in ((NOT,), _NONE):
        return clause
    held = [*clause[at + 1 : then], *clause[then + 1 :]]
    return [*clause[:at], clause[at]._replace(ops=("unless",)), *held]


def _conditioned(cut: list[list[Word]], low: str, known: Words) -> list[list[Word]]:
    """Clauses; what denies before what forbids or permits is a condition: 没有门卡不能进, 没有门卡也能进."""
    if low.isascii() or not known.conditions.search(low):
        return cut
    return [_on_condition(clause, known) for clause in cut]


def _on_condition(clause: list[Word], known: Words) -> list[Word]:
    for at, word in enumerate(clause):
        if word.said not in known.absent or clause[at + 1 : at + 2] == []:
            continue
        behind = clause[at + 2 :]
        forbids = any(w.ops == (NOT, MAY) for w in behind)
        permits = any(w.ops == (MAY,) for w in behind) and any(
            w.said in known.echoes for w in behind
        )
        if clause[at + 1].ops is None and (forbids or permits):
            condition = ("except" if forbids else "without",)
            return [*clause[:at], word._replace(ops=condition), *clause[at + 1 :]]
    return clause


def _joined(cut: list[list[Word]]) -> list[list[Word]]:
    """Clauses, with those put to another that only say of it whom it leaves out, or that it is all.

    But for him, all left; without exception, all left; all left, with the exception of him.
    """
    out: list[list[Word]] = []
    for clause in cut:
        if out and (_bears(out[-1]) or (clause is cut[-1] and _bears(clause))):
            out[-1] += clause
        else:
            out.append(clause)
    return out


_LEAVING = (("except",), ("unless",), ("without",))


def _bears(clause: Sequence[Word]) -> bool:
    """Whether a clause only leaves out what it names, by its first word or its last one, or says that it is all."""
    leaves = clause[0].ops in _LEAVING or clause[-1].ops == ("except",)
    alone = leaves and sum(bool(word.ops) for word in clause) == 1
    return alone or all(word.ops == (ALL,) for word in clause)


def _beside(word: Word, hidden: Sequence[tuple[int, int]], near: int) -> list[Word]:
    """What of an unknown run stands in no value."""
    at, out = word.start, list[Word]()
    last = bisect_left(hidden, (word.end, 0))
    inside = [(a, b) for a, b in hidden[near:last] if b > word.start]
    for a, b in (*inside, (word.end, word.end)):
        if at < a:
            said = word.said[at - word.start : a - word.start]
            out.append(Word(at, a, said, None))
        at = max(at, b)
    return out


def _counts(clause: Sequence[Word]) -> bool:
    """Whether a clause has only said so far of all or none of what it speaks."""
    ops = {op for word in clause for op in word.ops or ()}
    return bool({ALL, SOME} & ops) and sum(word.ops is None for word in clause) <= 1


def _with_gaps(pieces: Iterable[Piece], low: str, known: Words) -> Iterable[Piece]:
    """Pieces, with words of two parts in place of what they are made of."""
    gaps = {} if low.isascii() else _gaps(low, known)
    return pieces if not gaps else _filled(pieces, gaps, known)


def _filled(
    pieces: Iterable[Piece], gaps: Mapping[int, str | None], known: Words
) -> Iterator[Piece]:
    for start, end, said, told in pieces:
        word = said if told[0] else gaps.get(start, said)
        if word is not None:
            yield start, end, word, told if word is said else known.told[word]


def _gaps(low: str, known: Words) -> dict[int, str | None]:
    """Where words of two parts stand; their last parts stand for nothing."""
    out: dict[int, str | None] = {}
    for pattern, word in known.gapped:
        if word[0] not in low:
            continue
        for match in pattern.finditer(low):
            out.setdefault(match.start(), word)
            out |= dict.fromkeys(range(match.end("between"), match.end()), None)
    return out


def _cut(low: str, known: Words) -> Iterator[Piece]:
    """The words of a text, the longest known first; what is unknown in a run stays in one piece."""
    said = _PIECE.findall(low)
    told = [*map(known.told.__getitem__, said)]
    ends = [*accumulate(map(len, said))]
    at, size = 0, len(said)
    while at < size:
        kind, piece = told[at], said[at]
        if kind is BLANK:
            at += 1
        elif kind is RUN:
            yield from _run(piece, ends[at] - len(piece), known)
            at += 1
        else:
            start, last = ends[at] - len(piece), at + 1
            for parts in known.phrases.get(piece, ()):
                end = _phrase(parts, said, told, at)
                if end:
                    piece, last = " ".join(parts), end
                    kind = known.told[piece]
                    break
            yield start, ends[last - 1], piece, kind
            at = last


def _phrase(parts: Sequence[str], said: Sequence[str], told: Sequence[Told], at: int) -> int:
    """Where a phrase that begins with a piece ends, or 0 if it does not stand there."""
    for part in parts[1:]:
        at += 1
        while told[at : at + 1] == [BLANK]:
            at += 1
        if said[at : at + 1] != [part]:
            return 0
    return at + 1


def _run(run: str, start: int, known: Words) -> Iterator[Piece]:
    at = unknown = last = 0
    while at < len(run):
        sizes = known.sizes.get(run[at])
        if sizes is None:
            at += 1
            continue
        alone = unknown < at or at - last < _LONGER
        if alone and known.ops.get(run[at]) == (NOT,) and _asks(run, at):
            if unknown < at:
                yield start + unknown, start + at, run[unknown:at], WORD
            unknown = last = at = at + 1
            continue
        for size in sizes:
            said = run[at : at + size]
            if len(said) == size and said in known.known:
                if unknown < at:
                    yield start + unknown, start + at, run[unknown:at], WORD
                yield start + at, start + at + size, said, known.told[said]
                last = at
                at += size
                unknown = at
                break
        else:
            at += 1
    if unknown < len(run):
        yield start + unknown, start + len(run), run[unknown:], WORD


_LONGER = 2  # a word of so many signs is none that is asked for: 现在不在


def _asks(run: str, at: int) -> bool:
    """Whether a sign stands between twice the same one: 是不是 asks, and denies nothing."""
    return at > 0 and run[at - 1] == run[at + 1 : at + 2]
