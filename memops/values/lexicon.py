"""Lexicon: the words of some language packs, each with its roles, made ready to look up.

Each set of roles is a letter, so that a text becomes a string over which grammar is matched as
regular expressions.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from memops.language.packs import NEUTRAL, Pack, pack
from memops.values.units import symbols, units

Roles = Mapping[str, Any]
OTHER = "other"
HAN = "\u4e00-\u9fff"
_TOKEN = (
    r"{letter}+(?:'[a-z]+)?|{blank}+|{wide}0x[0-9a-f]+(?!\w)"
    r"|(?<![\w'])'\d\d(?![\w'])|\d{{1,3}}(?:['’]\d{{3}})+(?![\d'])"
    r"|\d{{1,3}}(?:[ \u2009]\d{{3}})+(?![\d.,]\d|\d| \d)|\d+(?:,\d{{3}})+(?!\d)(?:\.\d+)?"
    r"|\d+(?:\.\d+)?(?:e[+-]?\d+(?!\w))?|(?<![\w.])\.\d+"
    r"|\.\.|[<>]=?|[^\n]|\n"
)
TOKEN = re.compile(
    _TOKEN.format(letter=rf"[^\W\d_{HAN}\ue000-\uf8ff]", blank=r"[^\S\n]", wide=f"[{HAN}]+|")
)
"""Words, spaces, runs without spaces, hexadecimal, digits in groups, digits, signs and addresses taken out."""
PLAIN_TOKEN = re.compile(
    _TOKEN.format(letter="[a-z]", blank=r"[ \t\r\f\v\x1c-\x1f]", wide=""), re.A
)
"""The same of a text in ASCII, where it takes half the time."""
_STARTS = frozenset(
    "number scale fraction few denominator month weekday weekday_plural weekdays relative "  # noqa: SIM905
    "relative_year period_told adverb count clock half_price factor ordinal alternate nth per_hundred "
    "per_thousand lunar day_of_month period_half each interval festival ordinal_last nth_last "
    "era_before era_after decade".split()
)
"""Roles without one of which, and without a digit, a text holds no value."""
_OPENING = frozenset({"number", "scale", "fraction", "article", "few", "range", "digits"})
"""Roles of a token that a number may begin with."""
_ARTICLED = frozenset({"few", "scale", "fraction", "ordinal"})
"""Roles one of which follows an article that begins a number."""
_GOING_ON = frozenset(
    "scale scale_letter slash ordinal and point multi fraction literal denominator range vague either".split()  # noqa: SIM905
)
"""Roles beside which a number in digits may be a part of a longer one."""
_TAILS = frozenset({"number", "scale", "fraction", "quarter_mark"})


class Num(NamedTuple):
    """A number as written: what it is, in how many decimals, and whether in digits."""

    value: float
    digits: str = ""
    decimals: int = 0
    high: float | None = None
    bound: str = ""


class Word(NamedTuple):
    """Roles and the letter that stands for them."""

    letter: str
    roles: Roles


class Lexicon:
    """The words of some packs, made ready to look up."""

    def __init__(self, packs: Sequence[Pack]) -> None:
        self.packs = packs
        self.letters: dict[frozenset[str], str] = {}
        self.sets: dict[str, frozenset[str]] = {}
        self._among = defaultdict[str, str](str)
        self._made: dict[str, tuple[int, re.Pattern[str]]] = {}
        self.other = self.word({OTHER: True})
        self.breaks = self.word({"newline": True})
        self.words: dict[str, Word] = {}
        self.phrases: dict[str, list[tuple[tuple[str, ...], Word, int]]] = {}
        self.idle = frozenset(word for p in packs for word in p.idle)
        self.capital = frozenset(word for p in packs for word in p.capital)
        self.beside = frozenset(word for p in packs for word in p.beside)
        self.comma = any(p.comma for p in packs) and not any(p.everywhere for p in packs)
        self.regions = tuple(region for p in packs for region in p.regions)
        merged = _merged(packs)
        for said, roles in merged.items():
            self._place(said, self.word(roles))
        for said in self.idle - merged.keys():
            self._place(said, self.other)
        self.seconds = {
            head: frozenset(pieces[1] for pieces, *_ in listed)
            for head, listed in self.phrases.items()
        }
        """What stands second in longer words, by what stands first."""
        self.sizes = _sizes(self.words)
        self.known_runs = re.compile(f"[{''.join(self.sizes)}]" if self.sizes else "(?!)")
        self.latin = frozenset(
            max(_split(said), key=len)
            for said, roles in merged.items()
            if said.isascii() and _begins(said, roles)
        )
        self.han = re.compile(_hint(merged))
        streets = "|".join(said for said, roles in merged.items() if "street" in roles)
        self.street = (
            re.compile(
                rf"(?<![\w.])(?P<n>\d{{1,5}}) (?:[a-z]{{1,20}}\.? ){{1,3}}(?P<kind>{streets})(?!\w)"
            )
            if streets
            else None
        )
        single = {said: roles for said, roles in merged.items() if len(said) == 1}
        self.tails = frozenset(
            said for said, roles in single.items() if not _TAILS.isdisjoint(roles)
        )
        self.clocks = frozenset(said for said, roles in single.items() if "oclock" in roles)

        _enumerate(self)

    def word(self, roles: Roles) -> Word:
        """Return a token's roles with their letter."""
        key = frozenset(roles)
        letter = self.letters.get(key)
        if letter is None:
            letter = self.letters[key] = chr(0x100 + len(self.letters))
            self.sets[letter] = key
            for role in key:
                self._among[role] += letter
        return Word(letter, roles)

    def begins(self) -> re.Pattern[str]:
        """Return what a number begins with, as a pattern over letters, where what it needs follows."""
        return self._pattern("begins", _begins_number)

    def strokes(self) -> re.Pattern[str]:
        """Return where words of one number may be joined by strokes: one-hundred-and-fifty, half-a-dozen."""
        return self._pattern("strokes", _strokes)

    def _pattern(
        self, name: str, parts: Callable[[Mapping[frozenset[str], str]], Iterator[str]]
    ) -> re.Pattern[str]:
        """A pattern of the letters known so far; numbers bring new ones as they are met."""
        known, pattern = self._made.get(name, (0, None))
        if pattern is None or known != len(self.letters):
            pattern = re.compile("|".join(parts(self.letters)))
            self._made[name] = len(self.letters), pattern
        return pattern

    def _place(self, said: str, word: Word) -> None:
        pieces = _split(said)
        if len(pieces) == 1:
            self.words[said] = word
        else:
            listed = self.phrases.setdefault(pieces[0], [])
            tight = 0 if " " in said else len(said)  # US$ is one word, "a $" is not
            listed.append((pieces, word, tight))
            listed.sort(key=lambda phrase: -len(phrase[0]))

    def among(self, role: str) -> str:
        """Return the letters of tokens with a role."""
        return self._among.get(role, "")


def _merged(packs: Sequence[Pack]) -> dict[str, dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {s: {"unit": name} for s, name in symbols().items()}
    for pack_ in packs:
        for said, roles in pack_.words.items():
            merged.setdefault(said, {}).update(roles)
    known = units()
    for roles in merged.values():
        name = roles.get("unit")
        if name is not None:
            del roles["unit"]
            if name == "concentr-percent":
                roles["percent"] = True
            elif name in known:
                unit = known[name]
                timed = unit.kind in ("duration", "months", "workdays")
                roles["time_unit" if timed else "unit"] = unit
    return {said: roles for said, roles in merged.items() if roles}


def _hint(merged: Mapping[str, Roles]) -> str:
    """What a value in a script without spaces begins with: a digit, or the first signs of a word."""
    wide = {said: roles for said, roles in merged.items() if not said.isascii()}
    starts = {
        said
        for said, roles in wide.items()
        if not _STARTS.isdisjoint(roles) and roles.get("scale") != 12
    }
    timed = {said[0] for said, roles in wide.items() if "time_unit" in roles}
    starts |= {
        said[:1] + first
        for said, roles in wide.items()
        if "shift" in roles
        for first in ({said[1]} if said[1:] else timed)
    }
    starts |= {
        first + said[0] for said, roles in wide.items() if "edge_after" in roles for first in timed
    }
    single = {said for said in starts if len(said) == 1}
    pairs: dict[str, set[str]] = {}
    for said in starts - single:
        if said[0] not in single:
            pairs.setdefault(said[0], set()).add(said[1])
    listed = "|".join(
        f"(?<={first})[{re.escape(''.join(sorted(then)))}]" for first, then in sorted(pairs.items())
    )
    ones = re.escape("".join(sorted(single)))
    return rf"[\d{ones}{''.join(sorted(pairs))}](?:(?<=[\d{ones}])|{listed or '(?!)'})"


def _among(
    letters: Mapping[frozenset[str], str], roles: Iterable[str], but: Iterable[str] = ()
) -> str:
    fit = [x for key, x in letters.items() if not key.isdisjoint(roles) and key.isdisjoint(but)]
    return f"[{''.join(fit)}]" if fit else "(?!)"


def _begins_number(letters: Mapping[frozenset[str], str]) -> Iterator[str]:
    """Patterns of letters with which a number of more than one token, or in words, may begin."""
    among = partial(_among, letters)
    more = among(_GOING_ON)
    yield among(_OPENING - {"article", "range"}, ["literal"])
    yield f"{among(['literal'])}(?:(?={more})|(?<={more}.))"
    yield f"{among(['range'], _OPENING - {'range'})}(?={among(['literal'])})"
    yield f"{among(['article'], _OPENING - {'article'})}(?={among(_ARTICLED)})"


def _strokes(letters: Mapping[frozenset[str], str]) -> Iterator[str]:
    """A stroke beside a word that puts numbers together, and a number on its other side."""
    among, joint = partial(_among, letters), {"and", "article", "scale", "fraction"}
    number, stroke = {"number", *joint}, among(["range"])
    yield f"(?<={among(joint)}){stroke}(?={among(number, ['literal'])})"
    yield f"(?<={among(number, ['literal'])}){stroke}(?={among(joint)})"


def _begins(said: str, roles: Roles) -> bool:
    return (
        not _STARTS.isdisjoint(roles)
        or ("time_unit" in roles and len(said) > 2)
        or ("unit" in roles and len(said) > 3)
    )


def _split(said: str) -> tuple[str, ...]:
    return tuple(piece for piece in TOKEN.findall(said) if not piece.isspace())


def _sizes(words: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    out: dict[str, set[int]] = {}
    for word in words:
        if "一" <= word[0] <= "鿿":
            out.setdefault(word[0], set()).add(len(word))
    return {first: tuple(sorted(sizes, reverse=True)) for first, sizes in out.items()}


@cache
def lexicon(codes: tuple[str, ...]) -> Lexicon:
    """Return the lexicon of some languages, with what all languages share."""
    return Lexicon([pack(code) for code in (NEUTRAL, *codes)])


def holds(low: str, lex: Lexicon) -> bool:
    """Return whether a text in lower case may hold a value: the cheap first look."""
    if (_DIGIT if low.isascii() else lex.han).search(low):
        return True
    return not lex.latin.isdisjoint(_LATIN.findall(low))


_DIGIT = re.compile(r"\d")
_LATIN = re.compile(r"[^\W\d_]+(?:'(?!s\b)[a-z]+)?")


@cache
def _number_roles(whole: bool, size: int, literal: bool) -> tuple[str, ...]:
    roles = ["number", "literal"] if literal else ["number", "spelt"]
    if whole:
        roles.append("int")
        roles += [role for role, low, high in _RANGES if low <= size <= high]
    return tuple(roles)


def _enumerate(lex: Lexicon) -> None:
    """Give every kind of token its letter, so that grammar is compiled once."""
    for role in ("digits", "date_token", "clock_token", "address", "roman", "ordinal"):
        lex.word({role: True})
    lex.word({"number": True, "spelt": True, "weekday_tail": True})
    marks = (
        "portion",
        "portion half",
        "portion fraction",
        "portion half fraction",
        "slashed",
        "slashed portion",
    )
    for size in (0, 1, 11, 13, 25, 32, 60):
        for literal in (True, False):
            for said in ("", "lone", "lone weekday_tail", "slashed"):
                numeral(Num(float(size)), lex, literal, *said.split())
    for literal in (True, False):
        numeral(Num(2026.0, "2026"), lex, literal)
        numeral(Num(0.5, decimals=1), lex, literal)
        numeral(Num(1.0, high=2.0), lex, literal, "pair")
        numeral(Num(1.0, high=2.0), lex, literal)
        for said in marks:
            numeral(Num(0.5, decimals=1), lex, literal, *said.split())


_RANGES = (
    ("day", 1, 31),
    ("month_no", 1, 12),
    ("hour", 0, 24),
    ("minute", 0, 59),
    ("small", 1, 10),
)


def numeral(num: Num, lex: Lexicon, literal: bool = False, *more: str) -> Word:
    """Return the token of a number: its roles tell what it may number."""
    value = num.value
    whole = (
        value == int(value) and not num.decimals and num.high is None and not num.bound
        if abs(value) < 1e15
        else False
    )
    year = whole and 1500 <= value <= 2100 and len(num.digits) == 4
    roles = dict.fromkeys(
        _number_roles(whole, int(value) if whole and value < 60 else 99, literal), num
    )
    if year:
        roles["year"] = num
    roles |= dict.fromkeys(more, num)
    return lex.word(roles)
