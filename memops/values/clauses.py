"""Clauses: a text as the words that say something, and the operators over them.

The words of operators stand in `signs.toml` of the language packs; what is written in the notation
of `memops.values.algebra` is read in any language.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from memops.language.packs import table
from memops.language.stemming import stemmed
from memops.values.algebra import ALL, FEW, MANY, NOT, ORDER, SOME, shown

GAP = "…"
_ATOMS = re.compile(r"[¬∀∃□◇]|[a-z]+")
_PIECE = re.compile(
    r"\[[a-z]+\]|[^\W\d_\u4e00-\u9fff]+|\d+(?:[.,:]\d+)*|[\u4e00-\u9fff]+|[^\w\s]|\n"
)
_ENDS = frozenset(",;.!?:，。；！？：\n()（）—")
_COUNTED = frozenset({MANY, FEW, SOME})
"""What says how many, and is a value too."""
_GAP = 12  # signs between the two parts of a word


_LATIN = re.compile(r"[a-z]+")


class Word(NamedTuple):
    """A word with what it does to the sign (`ops`, null for one that says something), and its stem."""

    start: int
    end: int
    said: str
    ops: tuple[str, ...] | None
    stem: str


class Words:
    """The words of some packs that bear on signs and roles."""

    def __init__(self, langs: Sequence[str]) -> None:
        self.ops: dict[str, tuple[str, ...]] = {}
        self.idle: set[str] = set()
        self.joints: set[str] = set()
        self.leaving: set[str] = set()
        self.passive: set[str] = set()
        self.orders: set[str] = set()
        self.converse: dict[str, list[tuple[str, int]]] = {}
        self.gapped: list[tuple[re.Pattern[str], str]] = []
        self.opposed: dict[str, list[tuple[str, int]]] = {}
        self.stemmer = ""
        self.concord = False
        """Whether one denial may be said twice."""
        self.chained = False
        """Whether a condition may stand before what it is for without any word."""
        opening: list[str] = []
        for lang in langs:
            told = table(lang, "signs")
            self.stemmer = self.stemmer or told.get("stemmer", "")
            for ops, listed in told["signs"].items():
                for word in listed:
                    self._operator(word, tuple(_ATOMS.findall(ops)))
            self.idle |= set(told["idle"].split())
            self.leaving |= set(told.get("leaving", ()))
            self.joints |= set(told["joints"])
            self.passive |= set(told["passive"])
            self.concord = self.concord or told.get("concord", False)
            self.chained = self.chained or told.get("chained", False)
            opening += told.get("opening", ())
            self.orders |= set(told.get("orders", ()))
            for pair in told["roles"]["converse"]:
                self._relation(pair)
        for op in (*ORDER, NOT):
            self.ops[shown(op)] = (op,)
        ends = "[" + re.escape("".join(sorted(_ENDS))) + "]"
        self.opening = re.compile(rf"(?:(?<={ends})|^)(?:{'|'.join(opening) or '(?!)'})")
        for left, right in opposites():
            for side, listed in enumerate((left, right)):
                for word in listed:
                    self.opposed.setdefault(word, []).append((left[0], side))
        self.ops |= {word: (NOT,) for word in self.orders}
        known = {*self.ops, *self.idle, *self.joints, *self.passive, *self.converse, *self.opposed}
        self.dictionary = known
        said = [word.partition(GAP)[0] for word, ops in self.ops.items() if ops]
        self._han = re.compile(
            "|".join(w for w in said if not w.isascii() and w[0].isalpha()) or "(?!)"
        )
        self._latin = {w.split()[0] for w in said if w.isascii() and w} | {"cannot"}
        self.phrases: dict[str, list[tuple[str, ...]]] = {}
        self.sizes: dict[str, list[int]] = {}
        for word in known:
            self._place(word)

    def bear(self, text: str) -> bool:
        """Return whether a text may hold an operator: the cheap first look."""
        if not text.isascii() and self._han.search(text):
            return True
        low = text.lower()
        return "n't" in low or "n’t" in low or not self._latin.isdisjoint(_LATIN.findall(low))

    def _operator(self, word: str, ops: tuple[str, ...]) -> None:
        self.ops[self._joined(word)] = ops

    def _joined(self, word: str) -> str:
        """A word of two parts with others between them stands where its first part does."""
        if GAP in word:
            first, _, last = map(re.escape, word.partition(GAP))
            between = f"(?P<between>[^，。；,;.!?！？]{{1,{_GAP}}}?)"
            self.gapped.append((re.compile(f"{first}{between}{last}"), word))
        return word

    def _relation(self, pair: str) -> None:
        left, _, right = pair.partition("|")
        name = left.split()[0].replace("_", " ")
        for side, said in enumerate((left, right)):
            for word in said.split():
                held = self.converse.setdefault(self._joined(word.replace("_", " ")), [])
                held.append((name, side))

    def _place(self, word: str) -> None:
        if "\u4e00" <= word[0] <= "\u9fff":
            sizes = self.sizes.setdefault(word[0], [])
            if len(word) not in sizes:
                sizes.append(len(word))
                sizes.sort(reverse=True)
        elif len(parts := tuple(word.split())) > 1:
            listed = self.phrases.setdefault(parts[0], [])
            listed.append(parts)
            listed.sort(key=lambda one: -len(one))


@cache
def words(langs: tuple[str, ...]) -> Words:
    """Return the words of some languages."""
    return Words(langs)


@cache
def opposites() -> list[tuple[list[str], list[str]]]:
    """Return the pairs of words that exclude each other, one side and the other."""
    from memops.language.lexicon import lexicon

    out = []
    concepts = lexicon("concepts")
    kinds = ("single", "multi", "change", "thing", "qualifier", "person")
    meant = {
        name: [word.replace("_", " ") for word in listed.split()]
        for kind in kinds
        for name, listed in concepts[kind].items()
    }
    for pair in lexicon("conflict")["opposites"]["pairs"]:
        left, right = (
            [said for word in side.split() for said in meant.get(word, (word.replace("_", " "),))]
            for side in pair.split("|")
        )
        out.append((left, right))
    return out


def clauses(text: str, known: Words, hidden: Sequence[tuple[int, int]] = ()) -> list[list[Word]]:
    """Return the words of each clause of a text; operators within `hidden` spans are left out."""
    low = known.opening.sub(lambda m: " " * len(m[0]), _plain(text.lower()))
    out: list[list[Word]] = [[]]
    gaps = _gaps(low, known)
    for start, end, said in _cut(low, known):
        if said in known.leaving and _counts(out[-1]):
            out[-1].append(Word(start, end, said, ("except",), said))
        elif said in _ENDS or said in known.joints:
            out.append([])
        elif (word := gaps.get(start, said)) is not None:
            told = _word(start, end, word, known)
            if _COUNTED.intersection(told.ops or ()):
                out[-1].append(told)
            else:
                out[-1] += _beside(told, hidden)
    return [clause for clause in out if clause]


def _beside(word: Word, hidden: Sequence[tuple[int, int]]) -> list[Word]:
    """A word that begins in no value; an unknown run, without the values in it."""
    first = max(bisect_right(hidden, (word.start, math.inf)) - 1, 0)
    if word.ops is not None or word.said.isascii() or GAP in word.said:
        return [] if any(a <= word.start < b for a, b in hidden[first : first + 1]) else [word]
    at, out = word.start, list[Word]()
    last = bisect_left(hidden, (word.end, 0))
    inside = [(a, b) for a, b in hidden[first:last] if b > word.start]
    for a, b in (*inside, (word.end, word.end)):
        if at < a:
            said = word.said[at - word.start : a - word.start]
            out.append(Word(at, a, said, None, said))
        at = max(at, b)
    return out


def _counts(clause: Sequence[Word]) -> bool:
    """Whether a clause has only said so far of all or none of what it speaks."""
    ops = {op for word in clause for op in word.ops or ()}
    return bool({ALL, SOME} & ops) and sum(word.ops is None for word in clause) <= 1


def _plain(low: str) -> str:
    """The text with short denials written out: isn't is "is not"."""
    low = low.replace("’", "'")
    low = low.replace("can't", "can not").replace("won't", "will not").replace("cannot", "can not")
    return low.replace("n't", " not")


def _gaps(low: str, known: Words) -> dict[int, str | None]:
    """Where words of two parts stand; their last parts stand for nothing."""
    out: dict[int, str | None] = {}
    for pattern, word in known.gapped:
        if word[0] not in low:
            continue
        for match in pattern.finditer(low):
            out.setdefault(match.start(), word)
            out.setdefault(match.end("between"), None)
    return out


def _cut(low: str, known: Words) -> Iterator[tuple[int, int, str]]:
    """The words of a text, the longest known first; what is unknown in a run stays in one piece."""
    found = list(_PIECE.finditer(low))
    at = 0
    while at < len(found):
        match = found[at]
        said = match[0]
        if "\u4e00" <= said[0] <= "\u9fff":
            yield from _run(said, match.start(), known)
            at += 1
            continue
        size = 1
        for parts in known.phrases.get(said, ()):
            if all(at + k < len(found) and found[at + k][0] == parts[k] for k in range(len(parts))):
                size = len(parts)
                break
        end = found[at + size - 1].end()
        yield match.start(), end, low[match.start() : end] if size == 1 else " ".join(parts)
        at += size


def _run(run: str, start: int, known: Words) -> Iterator[tuple[int, int, str]]:
    at = unknown = 0
    while at < len(run):
        for size in known.sizes.get(run[at], ()):
            said = run[at : at + size]
            if len(said) == size and said in known.dictionary:
                if unknown < at:
                    yield start + unknown, start + at, run[unknown:at]
                yield start + at, start + at + size, said
                at += size
                unknown = at
                break
        else:
            at += 1
    if unknown < len(run):
        yield start + unknown, start + len(run), run[unknown:]


def _word(start: int, end: int, said: str, known: Words) -> Word:
    ops = known.ops.get(said) or None
    if ops is None and (said in known.idle or not said[0].isalnum()):
        ops = ()
    if ops is not None or not said.isascii() or not known.stemmer or " " in said:
        return Word(start, end, said, ops, said)
    return Word(start, end, said, None, stemmed(said, known.stemmer))
