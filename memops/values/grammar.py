"""Grammar: rules over the roles of tokens, each a pattern and what is read where it fits.

A pattern is a regular expression of roles: `day month (comma? y:year)?` is a day, a month and
perhaps a year that is called y; `!role` is one that must not follow, `a/b` one of either. Rules
are tried in their order wherever a value may begin; one that returns None leaves it to the next.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from memops.values.lexicon import Lexicon, Num
from memops.values.lexing import Line


class Found(NamedTuple):
    """What a rule read: kind, canonical form or amount, and the tokens it stands on."""

    kind: str
    form: str = ""
    amount: Num | None = None
    """The amount of a scalar in its own unit; its form is made of it."""
    factor: float = 1.0
    offset: float = 0.0
    unit: str = ""
    """The unit that the form ends with."""
    converted: bool = False
    begin: int = -1
    end: int = -1
    half: bool = False
    """Whether a time may be of either half of the day."""


class Span:
    """The tokens that a pattern fits."""

    __slots__ = ("_match", "begin", "end", "lex", "line")

    def __init__(self, line: Line, lex: Lexicon, match: re.Match[str]) -> None:
        self.line, self.lex, self._match = line, lex, match
        self.begin, self.end = match.span()

    def at(self, name: str) -> int:
        """Return where the token called so stands, or -1."""
        groups = self._match.re.groupindex
        start, nth = -1, 1
        own = name
        while start < 0 and own in groups:
            start, nth = self._match.start(own), nth + 1
            own = f"{name}_{nth}"
        return start

    def has(self, name: str) -> bool:
        """Return whether there is a token called so."""
        return self.at(name) >= 0

    def get(self, name: str, role: str = "") -> Any:
        """Return what the token called so carries in a role, the one of its name if none is given."""
        at = self.at(name)
        return None if at < 0 else self.line.roles[at].get(role or name)

    def num(self, name: str) -> float:
        """Return the number of the token called so."""
        found = self.get(name, "number")
        return float(found.value) if isinstance(found, Num) else float(found)

    def said(self, name: str) -> str:
        """Return how the token called so is written."""
        at = self.at(name)
        return "" if at < 0 else self.line.surface(at)

    def all(self, role: str) -> list[Any]:
        """Return what all tokens with a role carry in it."""
        rows = self.line.roles[self.begin : self.end]
        return [roles[role] for roles in rows if role in roles]


_OFTEN = 300  # times a letter begins a value, after which its own pattern pays
Read = Callable[[Span], "Sequence[Found] | Found | None"]
Rule = tuple[str, Read]
_PIECE = re.compile(r"(?:(\w+):)?(!)?([a-z_]+(?:/[a-z_]+)*)|([()|?*+])|\s+")


_SIGNS = {"(": "(?:", "+": "{1,8}", "*": "{0,8}"}
"""No run is longer than a few, so that what a rule refuses costs linear time."""


def compiled(pattern: str, lex: Lexicon, named: bool = True) -> str:
    """Return a pattern over letters; a role that no word has fits nowhere."""
    out, used = [], dict[str, int]()
    for name, refused, roles, sign in _PIECE.findall(pattern):
        if sign:
            out.append(_SIGNS.get(sign, sign))
        elif roles:
            letters = "".join(lex.among(role) for role in roles.split("/"))
            one = f"[{letters}]" if letters else "(?!)"
            if refused:
                out.append(f"(?!{one})")
            elif name and named:
                used[name] = used.get(name, 0) + 1
                own = name if used[name] == 1 else f"{name}_{used[name]}"
                out.append(f"(?P<{own}>{one})")
            else:
                out.append(one)
    return "".join(out)


def openings(pattern: str) -> set[str]:
    """Return the roles of which a match of a pattern begins with one."""
    return _openings([piece for piece in _PIECE.findall(pattern) if any(piece)], 0)[0]


def _openings(pieces: Sequence[tuple[str, ...]], at: int) -> tuple[set[str], bool, int]:
    """The roles that a part of a pattern may begin with, whether it may be empty, where it ends."""
    every: set[str] = set()
    empty_any, open_ = False, True
    while at < len(pieces) and pieces[at][3] != ")":
        _, refused, roles, sign = pieces[at]
        at += 1
        if sign == "|":
            empty_any, open_ = empty_any or open_, True
            continue
        if refused:
            continue
        first, empty = set(roles.split("/")), False
        if sign == "(":
            first, empty, at = _openings(pieces, at)
            at += 1
        if at < len(pieces) and pieces[at][3] in ("?", "*"):
            empty = True
        if open_ and sign in ("", "("):
            every |= first - {""}
            open_ = empty
        at += at < len(pieces) and pieces[at][3] in ("?", "*", "+")
    return every, empty_any or open_, at


class _Made:
    """A rule for the words of some languages; its own pattern is compiled when it is first needed."""

    def __init__(self, pattern: str, opens: set[str], read: Read, lex: Lexicon) -> None:
        self.opens, self.read = opens, read
        self.bare = compiled(pattern, lex, False)
        self._pattern, self._lex = pattern, lex

    @cached_property
    def own(self) -> re.Pattern[str]:
        return re.compile(compiled(self._pattern, self._lex))


class Grammar:
    """Rules made ready for the words of some languages."""

    def __init__(self, rules: Sequence[Rule], lex: Lexicon) -> None:
        self._met = Counter[str]()
        self._rules = [(pattern, openings(pattern), read) for pattern, read in rules]
        self._lex = lex
        self._known = -1
        self._compile()

    def _compile(self) -> None:
        """Make patterns of the letters known so far; numbers bring new ones as they are met."""
        lex = self._lex
        self._known = len(lex.letters)
        self._by_letter: dict[str, tuple[re.Pattern[str], list[_Made]]] = {}
        self._made = [_Made(p, opens, read, lex) for p, opens, read in self._rules]
        self._every = self._either(self._made)
        every = frozenset().union(*(opens for _, opens, _ in self._rules))
        starts = "".join(letter for letter, roles in lex.sets.items() if every & roles)
        self._starts = re.compile(f"[{starts}]")

    def _of(self, letter: str) -> tuple[re.Pattern[str], list["_Made"]]:
        """The rules that may begin with a letter, as one pattern and each by itself.

        Until the letter is met often they are all of them, which takes less than making a pattern.
        """
        self._met[letter] += 1
        if self._met[letter] <= _OFTEN:
            return self._every
        roles = self._lex.sets[letter]
        self._by_letter[letter] = self._either([m for m in self._made if m.opens & roles])
        return self._by_letter[letter]

    def _either(self, made: list["_Made"]) -> tuple[re.Pattern[str], list["_Made"]]:
        return re.compile("|".join(f"({one.bare})" for one in made)), made

    def found(self, line: Line) -> Iterator[Found]:
        """Yield what the rules read in a line, from left to right."""
        if len(self._lex.letters) != self._known:
            self._compile()
        said, at = "".join(line.letters), 0
        while (start := self._starts.search(said, at)) is not None:
            begin = start.start()
            at = begin + 1
            either, rules = self._by_letter.get(said[begin]) or self._of(said[begin])
            match = either.match(said, begin)
            if match is None:
                continue
            roles = self._lex.sets[said[begin]]
            for made in rules[(match.lastindex or 1) - 1 :]:
                fits = made.own.match(said, begin) if made.opens & roles else None
                told = made.read(Span(line, self._lex, fits)) if fits is not None else None
                if told is None or fits is None:
                    continue
                placed = [
                    _placed(one, fits) for one in ([told] if isinstance(told, Found) else told)
                ]
                yield from placed
                at = max(at, *(one.end for one in placed)) if placed else fits.end()
                break


def _placed(found: Found, match: re.Match[str]) -> Found:
    if found.begin >= 0:
        return found
    return found._replace(begin=match.start(), end=match.end())
