"""Lexing: a text as tokens with roles, by the words that language packs bring.

Words without a role become one token together: grammar steps over them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate

from memops.language.keeping import Kept
from memops.values.lexicon import PLAIN_TOKEN, TOKEN, Lexicon, Num, Roles, Word, numeral


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

    def extend(self, other: "Line", begin: int, end: int) -> None:
        """Put some tokens of another line at the end."""
        self.starts += other.starts[begin:end]
        self.ends += other.ends[begin:end]
        self.letters += other.letters[begin:end]
        self.roles += other.roles[begin:end]

    def without(self, places: Sequence[int]) -> "Line":
        """Return the line without some tokens."""
        if not places:
            return self
        out, start = Line(self.text), 0
        for at in places:
            out.extend(self, start, at)
            start = at + 1
        out.extend(self, start, len(self.letters))
        return out

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

    def named(self, at: int) -> bool:
        """Return whether a name with a capital letter stands right before a token."""
        if not self.any(at - 1, "other"):
            return False
        word = re.split("[ -]", self.text[: self.starts[at]].rstrip(" -")[-24:])[-1]
        return word.isascii() and word[:1].isalpha() and word != word.lower()

    def wide(self, at: int) -> bool:
        """Return whether a token is of a script without spaces."""
        return 0 <= at < len(self.starts) and self.text[self.starts[at]] >= "一"


def lexed(text: str, low: str, lex: Lexicon, known: Mapping[str, Word]) -> Line:
    """Return the tokens of a text; `known` are those that private characters stand for."""
    line = Line(text)
    said = (PLAIN_TOKEN if text.isascii() else TOKEN).findall(low)
    words = [*map(_told(lex).__getitem__, said)]
    kinds = "".join([word.letter for word in words])
    ends = [*accumulate(map(len, said))]
    heads = [
        at
        for at, then in enumerate(map(lex.seconds.get, said))
        if then is not None and not then.isdisjoint(said[at + 1 : at + 3])
    ]
    if heads or _SPECIAL.search(kinds):
        kinds = _settled(said, words, kinds, heads, ends, text, lex, known)
    runs = _RUNS.findall(kinds)
    lasts = [*accumulate(map(len, runs))]
    if _WIDE in kinds:
        _segmented(line, said, words, runs, lasts, ends, lex)
        return line
    kept = [
        (last - len(run), last - 1)
        for run, last in zip(runs, lasts, strict=True)
        if run[0] != _BLANK
    ]
    line.starts = [ends[at] - len(said[at]) for at, _ in kept]
    line.ends = [ends[last] for _, last in kept]
    line.letters = [kinds[at] for at, _ in kept]
    line.roles = [words[at].roles for at, _ in kept]
    return line


def _settled(
    said: Sequence[str],
    words: list[Word],
    kinds: str,
    heads: Iterable[int],
    ends: Sequence[int],
    text: str,
    lex: Lexicon,
    known: Mapping[str, Word],
) -> str:
    """The letters of tokens, with longer words, addresses and what capitals tell as one token each."""
    letters = [*kinds]
    for at in heads:
        letters[at] = _HEAD
    until = 0
    for match in _SPECIAL.finditer("".join(letters)):
        at, last = match.span()
        if at < until:
            continue
        if letters[at] == _HEAD:
            last, words[at] = _phrase(said, kinds, at, lex, ends)
        if words[at] is _SHOWN:
            words[at] = _shown(said[at], text[ends[at] - len(said[at]) : ends[at]], lex)
        elif kinds[at] in known:
            words[at] = known[kinds[at]]
        until = last
        letters[at:last] = [words[at].letter, *[_MORE] * (last - at - 1)]
    return "".join(letters)


def _segmented(
    line: Line,
    said: Sequence[str],
    words: Sequence[Word],
    runs: Sequence[str],
    lasts: Sequence[int],
    ends: Sequence[int],
    lex: Lexicon,
) -> None:
    """Add the tokens of a text that holds runs without spaces."""
    for run, last in zip(runs, lasts, strict=True):
        at = last - len(run)
        start = ends[at] - len(said[at])
        if run[0] == _WIDE:
            _segment(line, said[at], start, lex)
        elif run[0] == lex.other.letter and line.letters and line.letters[-1] == run[0]:
            line.ends[-1] = ends[last - 1]
        elif run[0] != _BLANK:
            line.add(start, ends[last - 1], words[at])


_BLANK, _HEAD, _WIDE, _MORE = " ", "!", "#", "\x01"
"""Spaces; a word with which a longer one may begin; a run without spaces; what goes on with a token."""
_SHOWN = Word("?", {})
"""What is a value only with capital letters."""
_SPECIAL = re.compile(r"[!?]|([\ue000-\uf8ff])\1*")
_RUNS = re.compile(r"\u0100\x01*(?: ?\u0100\x01*)*|[^\x01]\x01*")
"""Words without a role, any other token."""


@cache
def _told(lex: Lexicon) -> Kept[str, Word]:
    return Kept(partial(_alone, lex=lex))


def _alone(said: str, lex: Lexicon) -> Word:
    """What a token is by itself."""
    first = said[0]
    if "0" <= first <= "9" or (first in "'." and said[1:2].isdigit()):
        return _literal(said, lex)
    if said.isspace():
        return lex.breaks if said == "\n" else Word(_BLANK, {})
    if "一" <= first <= "鿿" or "\ue000" <= first <= "\uf8ff":
        return Word(_WIDE if first <= "鿿" else first, {})
    return _word(said, lex)


def _word(said: str, lex: Lexicon) -> Word:
    word = lex.words.get(said) or lex.words.get(said.removesuffix("'s"), lex.other)
    if said.endswith("'s") and not word.roles.keys() & _OWNING:
        word = lex.words.get(said, lex.other)
    roman = word is lex.other and said[0] in "xvi" and _ROMAN.fullmatch(said)
    return _SHOWN if roman or said in lex.capital else word


_OWNING = frozenset({"weekday", "relative"})
"""Roles of words that have what is theirs behind them: Tuesday's choir."""


def _shown(said: str, shown: str, lex: Lexicon) -> Word:
    """A word that is a value only with a capital letter, or with all, as it is shown."""
    if said in lex.capital:
        return lex.words.get(said, lex.other) if shown[0].isupper() else lex.other
    return lex.word({"roman": _roman(said)}) if shown.isupper() else lex.other


_ROMAN = re.compile(r"(?=[xvi]{2,5}$)(?!x+$)x{0,3}(?:ix|iv|v?i{0,3})")


def _roman(said: str) -> int:
    """The number that Roman numerals to thirty-nine write."""
    worth = [{"x": 10, "v": 5, "i": 1}[sign] for sign in said]
    return sum(-n if n < after else n for n, after in zip(worth, [*worth[1:], 0], strict=True))


def _phrase(
    said: Sequence[str], kinds: str, at: int, lex: Lexicon, width: Sequence[int]
) -> tuple[int, Word]:
    """Where the longest word that begins with a token ends, and what it is."""
    for pieces, word, tight in lex.phrases[said[at]]:
        end = at
        for piece in pieces[1:]:
            end += 1
            end += kinds[end : end + 1] == _BLANK
            if said[end : end + 1] != [piece]:
                break
        else:
            together = tight == 0 or width[end] - width[at] == tight - len(said[at])
            if pieces[-1] == "." and "bound_before" in word.roles:  # "for 5 min." ends here
                then = said[end + 1 + (kinds[end + 1 : end + 2] == _BLANK) :][:1]
                together = together and bool(then) and _numbers(then[0], lex)
            if together and (not pieces[-1].isdigit() or kinds[at + 1] != _BLANK):
                return end + 1, word
    return at + 1, _word(said[at], lex)


def _numbers(said: str, lex: Lexicon) -> bool:
    return said[0].isdigit() or "number" in lex.words.get(said, lex.other).roles


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
            elif _of_more(line, run, start, at, n, word, lex):
                continue
            line.add(start + at, start + at + n, word)
            at += n
            break
        else:
            begins = lex.known_runs.search(run, at + 1)
            after = begins.start() if begins else size
            if line.letters and line.letters[-1] == other.letter and line.ends[-1] == start + at:
                line.ends[-1] = start + after
            else:
                line.add(start + at, start + after, other)
            at = after


_COUNTS = frozenset(
    "oclock time_unit unit day_mark month_mark year_mark minute_mark currency measure".split()  # noqa: SIM905
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
        and line.ends[-1] >= start + at - 1  # 26 日记入
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


def _counting(line: Line, start: int) -> bool:
    """Whether a number stands right before a place: 二十一次 is not twenty, once."""
    return line.ends[-1:] == [start] and not {"number", "scale"}.isdisjoint(line.roles[-1])


def _of_more(line: Line, run: str, start: int, at: int, n: int, word: Word, lex: Lexicon) -> bool:
    """Whether a word goes on with the number before it, or into the one behind: 一周三次, 二十一次, 零点五."""
    end = at + n
    if not word.roles.keys().isdisjoint(_COUNTED):
        each = bool(line.roles) and "each" in line.roles[-1] and _times(run[end : end + 1], lex)
        return each or _counting(line, start + at)
    return "clock" in word.roles and run[end - 1] in lex.clocks and run[end : end + 1] in lex.tails


_COUNTED = frozenset({"weekday", "once_word"})


def _times(said: str, lex: Lexicon) -> bool:
    return said in lex.words and "times" in lex.words[said].roles


_ARTICLE = 13  # digits that number articles of trade and books
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
    if (
        (len(whole) > 1 and whole[0] == "0")
        or len(whole) > 15
        or (said.isdigit() and len(said) == _ARTICLE)
    ):
        return lex.word({"digits": bare})
    return numeral(Num(float(bare), bare if bare == said else "", len(part)), lex, literal=True)
