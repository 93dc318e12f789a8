"""Lexing: a text as tokens with roles, by the words that language packs bring.

Words without a role become one token together: grammar steps over them.
"""

import re
from collections.abc import Mapping, Sequence

from memops.values.lexicon import TOKEN, Lexicon, Num, Roles, Word, numeral


class Line:
    """The tokens of a text: where they stand, their letters, roles and surfaces."""

    __slots__ = ("ends", "letters", "roles", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.letters: list[str] = []
        self.roles: list[Roles] = []

    def add(self, start: int, end: int, word: Word) -> None:
        """Put a token at the end."""
        self.starts.append(start)
        self.ends.append(end)
        self.letters.append(word.letter)
        self.roles.append(word.roles)

    def surface(self, at: int) -> str:
        """Return how a token is written."""
        return self.text[self.starts[at] : self.ends[at]] if 0 <= at < len(self.starts) else ""

    def of(self, at: int) -> Roles:
        """Return a token's roles; none where there is no token."""
        return self.roles[at] if 0 <= at < len(self.roles) else {}

    def any(self, at: int, *roles: str) -> bool:
        """Return whether a token has one of some roles."""
        return 0 <= at < len(self.roles) and not self.roles[at].keys().isdisjoint(roles)

    def joined(self, at: int) -> bool:
        """Return whether a token follows the one before without a space."""
        return 0 < at < len(self.starts) and self.starts[at] == self.ends[at - 1]

    def wide(self, at: int) -> bool:
        """Return whether a token is of a script without spaces."""
        return 0 <= at < len(self.starts) and self.text[self.starts[at]] >= "一"


def lexed(text: str, low: str, lex: Lexicon, known: Mapping[str, Word]) -> Line:
    """Return the tokens of a text; `known` are those that private characters stand for."""
    line = Line(text)
    phrases, other = lex.phrases, lex.other
    found = list(TOKEN.finditer(low))
    at, size = 0, len(found)
    letters, ends = line.letters, line.ends
    while at < size:
        match = found[at]
        said, (start, end) = match[0], match.span()
        at += 1
        first = said[0]
        if "0" <= first <= "9" or (first == "'" and len(said) > 1):
            line.add(start, end, _literal(said, lex))
            continue
        if first == "." and len(said) > 1 and said[1] != ".":
            line.add(start, end, _literal(said, lex))
            continue
        if "一" <= first <= "鿿":
            _segment(line, said, start, lex)
            continue
        if "\ue000" <= first <= "\uf8ff":
            line.add(start, end, known[first])
            continue
        step, word = _phrase(found, at - 1, phrases[said]) if said in phrases else (0, other)
        if not step:
            step, word = 1, _word(said, text[start:end], lex)
        at += step - 1
        end = found[at - 1].end()
        if word is other and letters and letters[-1] == other.letter:
            ends[-1] = end
        else:
            line.add(start, end, word)
    return line


def _word(said: str, shown: str, lex: Lexicon) -> Word:
    """A single word; one that is a value only with a capital letter, as it is shown."""
    word = lex.words.get(said, lex.other)
    if said == "\n":
        return lex.breaks
    if word is lex.other and said[0] in "xvi" and shown.isupper() and _ROMAN.fullmatch(said):
        return lex.word({"roman": _roman(said)})
    return lex.other if said in lex.capital and not shown[0].isupper() else word


_ROMAN = re.compile(r"(?=[xvi]{2,5}$)(?!x+$)x{0,3}(?:ix|iv|v?i{0,3})")


def _roman(said: str) -> int:
    """The number that Roman numerals to thirty-nine write."""
    worth = [{"x": 10, "v": 5, "i": 1}[sign] for sign in said]
    return sum(-n if n < after else n for n, after in zip(worth, [*worth[1:], 0], strict=True))


def _phrase(
    found: Sequence[re.Match[str]], at: int, longer: Sequence[tuple[tuple[str, ...], Word, int]]
) -> tuple[int, Word]:
    for pieces, word, tight in longer:
        n = len(pieces)
        fits = at + n <= len(found) and all(found[at + k][0] == pieces[k] for k in range(1, n))
        fits = fits and not (tight and found[at + n - 1].end() - found[at].start() != tight)
        if fits and (not pieces[-1].isdigit() or found[at].end() == found[at + 1].start()):
            return n, word
    return 0, longer[0][1]


def _segment(line: Line, run: str, start: int, lex: Lexicon) -> None:
    """Cut a run without spaces into words, the longest known first."""
    at, size = 0, len(run)
    words, sizes, other = lex.words, lex.sizes, lex.other
    while at < size:
        for n in sizes.get(run[at], ()):
            said = run[at : at + n]
            word = words.get(said)
            if word is None or len(said) < n:
                continue
            if word is other:
                if _turns(line, run, at, n, start, lex):
                    continue
            elif "weekday" in word.roles and _counted(run, at + n, lex):
                continue
            line.add(start + at, start + at + n, word)
            at += n
            break
        else:
            if line.letters and line.letters[-1] == other.letter and line.ends[-1] == start + at:
                line.ends[-1] += 1
            else:
                line.add(start + at, start + at + 1, other)
            at += 1


_COUNTS = frozenset(
    {
        "oclock",
        "time_unit",
        "unit",
        "day_mark",
        "month_mark",
        "year_mark",
        "minute_mark",
        "currency",
        "measure",
    }
)


_BEFORE = frozenset(
    {"oclock", "number", "scale", "meridiem", "relative", "weekday", "day_mark", "literal"}
)


def _turns(line: Line, run: str, at: int, n: int, start: int, lex: Lexicon) -> bool:
    """Whether a word that is no value is the tail of one here: 十分 in 三十分, 一点 in 下午一点半."""
    joint = lex.words.get(run[at + n - 1 : at + n + 1])
    if joint is not None and at + n < len(run) and joint.roles.keys() & {"over", "time_unit"}:
        return True  # 十分之一, 十分钟
    if (
        line.ends
        and line.ends[-1] == start + at
        and line.roles[-1].keys() & {"number", "scale", "literal"}
    ):
        first = lex.words.get(run[at])
        if first is not None and not _COUNTS.isdisjoint(first.roles):
            return True  # 十点开会
    if run[at] not in lex.tails and run[at + n - 1] not in lex.clocks:
        return False
    if line.ends and line.ends[-1] == start + at and not _BEFORE.isdisjoint(line.roles[-1]):
        return True
    return at + n < len(run) and run[at + n] in lex.tails


def _counted(run: str, at: int, lex: Lexicon) -> bool:
    """Whether what follows a weekday counts: 每周三次 is three times a week, not on Wednesdays."""
    for n in (2, 1):
        word = lex.words.get(run[at : at + n])
        if word is not None and word is not lex.other:
            return (
                bool(word.roles.keys() & {"times", "measure", "time_unit"})
                and "meridiem" not in word.roles
            )
        if word is lex.other:
            return False
    return False


_CENTURY = 50  # short years from then on are of the last century


def _literal(said: str, lex: Lexicon) -> Word:
    if said[1:2] == "x":
        return numeral(Num(float(int(said, 16)), str(int(said, 16))), lex, literal=True)
    if said[0] == "'":  # class of '98
        year = int(said[1:]) + (1900 if int(said[1:]) >= _CENTURY else 2000)
        return numeral(Num(float(year), str(year)), lex, literal=True)
    bare = said.replace(",", "").replace(" ", "").replace("\u2009", "").replace("'", "")
    whole, _, part = bare.partition(".")
    part = part.partition("e")[0]
    if (len(whole) > 1 and whole[0] == "0") or len(whole) > 15:
        return lex.word({"digits": bare})
    return numeral(Num(float(bare), bare, len(part)), lex, literal=True)
