"""Views of texts for secrets: what a reader sees where the characters say something else.

A key goes on in the next line, invisible characters stand inside, a label is the head of a
column. Such a text is read in another spelling, too, and what is found there is told in places of
the text itself.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import polars as pl

from memops.language.text import wordlist
from memops.safety.secrets_around import USERS
from memops.safety.secrets_labels import expanded, triggers

_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]"
)
_ESCAPED = r"[A-Za-z0-9]\\[_*~.+-][A-Za-z0-9]"
_WIDE = "[\uff0d\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a]"
_FOLDED = {0xFEE0 + at: at for at in range(0x21, 0x7F) if re.match(_WIDE, chr(0xFEE0 + at))}
_FOLDED |= dict.fromkeys(map(ord, "\u2010\u2011\u2212"), ord("-"))
_BREAK = r"[A-Za-z0-9+/_=.-]{4}[ \t]*\\?\r?\n[ \t>]*[A-Za-z0-9+/_.-]{4,}={0,2}[ \t]*[\"'`)]?[ \t]*(?:\r?\n|$)"
_GAP = re.compile(
    r"(?<=[A-Za-z0-9+/_=.-]{4})[ \t]*\\?\r?\n[ \t>]*(?=([A-Za-z0-9+/_.-]{4,}={0,2})[ \t]*[\"'`)]?[ \t]*(?:\r?\n|$))"
)
_LINES = r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"  # what ends a line (`str.splitlines`)
_RULE = r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?:\r?\n|$)"
_COLUMNS = (r"\|", "[;；]", "[,，]", "\t", "[ \t][–—-][ \t]")  # what stands between cells
_TURN = (  # who speaks in this line
    r"(?:[ \t>]*(?:[-*•][ \t]+)?[*_]{0,2}[^\W\d][\w.-]{0,11}[*_]{0,2}[:：][*_]{0,2}[ \t]*"
    r"|[ \t>]*[—–-]{1,2}[ \t]+)"
)
_GROUPS = r"[0-9A-Za-z]{3,6}(?:[ -][0-9A-Za-z]{3,6}){1,7}"  # of a code
_POINT = re.compile(
    r"[ \t]*(?:(?:[-*+•]|[0-9]{1,2}[.)])[ \t]+(?P<point>[^\s][^\n]{2,40})"
    rf"|(?!\W*(?i:{USERS})[\"'*]*\s?[:：])(?:{_TURN})?(?P<alone>[^\s:：]{{6,64}}|{_GROUPS}))[ \t]*(?:\n|$)"
)


@dataclass(frozen=True)
class View:
    """Another spelling of a row's text: for each character its place in the text, -1 for none.

    `joints` are places where something was left out: only what spans one is news, if there are any.
    """

    row: int
    text: str
    places: list[int]
    joints: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a span of the view stands in the text; None if it is no news, or not there."""
        first, last = self.places[start], self.places[end - 1]
        if first < 0 or last < 0:
            return None
        news = not self.joints or any(first < joint <= last for joint in self.joints)
        return (first, last + 1) if news else None


def views(texts: pl.Series) -> list[View]:
    """Return the other spellings of texts; most have none."""
    made: list[View] = []
    for pattern, viewed in _KINDS.items():
        rows = texts.str.contains(pattern).fill_null(False).arg_true()
        made += [view for row in rows for view in viewed(row, texts[row])]
    told = texts.str.contains(_LINES).fill_null(False).arg_true()
    if len(told):
        labels = sorted({*triggers("code"), *triggers("password")})
        said = texts.gather(told).str.contains_any(wordlist(labels), ascii_case_insensitive=True)
        told = told.filter(said)
    if len(told):
        columns = rf"{_heads()}(?:[|;；,，\t]|[–—-] |\r?\n)"
        for pattern, viewed in ((_under(), _listed), (columns, _tabled)):
            for row in told.filter(texts.gather(told).str.contains(pattern)):
                made += viewed(row, texts[row])
    return made


def _cleaned(row: int, text: str) -> Iterator[View]:
    """The text without characters that nobody sees."""
    yield _without(row, text, [match.span() for match in re.finditer(_INVISIBLE, text)])


def _unescaped(row: int, text: str) -> Iterator[View]:
    """The text without the backslashes that Markdown puts before signs inside a word."""
    found = re.finditer(r"(?<=[A-Za-z0-9])\\(?=[_*~.+-])", text)
    yield _without(row, text, [match.span() for match in found])


def _folded(row: int, text: str) -> Iterator[View]:
    """The text in letters, digits and hyphens of common width."""
    yield View(row, text.translate(_FOLDED), [*range(len(text))])


def _joined(row: int, text: str) -> Iterator[View]:
    """The text with lines put together where a string may go on alone in the next one."""
    made = re.compile(r"[0-9]|[a-z][A-Z]|[A-Za-z]{16}")
    gaps = [gap.span() for gap in _GAP.finditer(text) if made.search(gap[1])]
    if gaps:
        yield _without(row, text, gaps)


def _without(row: int, text: str, gaps: list[tuple[int, int]]) -> View:
    left: list[str] = []
    places: list[int] = []
    at = 0
    for start, end in [*gaps, (len(text), len(text))]:
        left.append(text[at:start])
        places += range(at, start)
        at = end
    return View(row, "".join(left), places, tuple(end for _, end in gaps))


def _tabled(row: int, text: str) -> Iterator[View]:
    """Each cell of a table after the head of its column, as a line of its own."""
    made: list[str] = []
    places: list[int] = []
    lines = [*text.splitlines(keepends=True), ""]
    heads: list[str] = []
    at, between = 0, ""
    for line, below in itertools.pairwise(lines):
        cells = _cells(line, between) if heads else []
        if not heads or len(cells) != len(heads):
            between = next((way for way in _COLUMNS if re.search(way, line.strip("| \n"))), "$")
            heads, cells = [head.strip() for head, _ in _cells(line, between)], []
            ruled = between == _COLUMNS[0] and re.match(_RULE, below)
            if not ruled and not any(re.fullmatch(_heads(), f" {head}") for head in heads[1:]):
                heads = []
        for head, (cell, start) in zip(heads, cells, strict=False):
            made += [f"{head}: ", cell, "\n"]
            start += at
            places += [-1] * (len(head) + 2) + list(range(start, start + len(cell))) + [-1]
        at += len(line)
    if made:
        yield View(row, "".join(made), places)


def _cells(line: str, between: str) -> list[tuple[str, int]]:
    """What stands in the columns of a line, and where."""
    left = len(line) - len(re.sub(r"^[ \t]*\|?", "", line))
    body = line.rstrip().removesuffix("|")
    marks = [match.span() for match in re.finditer(between, body) if match.start() >= left]
    starts, ends = [left, *(end for _, end in marks)], [*(start for start, _ in marks), len(body)]
    return [(body[start:end], start) for start, end in zip(starts, ends, strict=True)]


@cache
def _heads() -> str:
    """A cell that is a label and nothing else (Rust's syntax, too)."""
    return expanded(r"(?i)[ \t*`|;；,，–—-]*(?:@{password}|@{code}|@{weak})[ \t*`]*")


def _listed(row: int, text: str) -> Iterator[View]:
    """Each point of a list, or the next line alone, after the label in the line above it."""
    made: list[str] = []
    places: list[int] = []
    at, above, label, apart = 0, "", "", False
    for line in text.splitlines(keepends=True):
        point = _POINT.match(line)
        if not line.strip() and above.rstrip(" \t\r\n*_").endswith((":", "：")):
            at, apart = at + len(line), True
            continue
        if point and above:
            above, label = "", "" if apart and point["point"] else _heading(above)
        if point and label:
            whole = point["point"] or point["alone"]
            for value in dict.fromkeys((whole, re.split(r"[\s:：]+", whole)[-1])):
                start = at + line.rindex(value)
                made += [label, value, "\n"]
                places += [-1] * len(label) + list(range(start, start + len(value))) + [-1]
        elif not point or point["alone"]:
            above, label, apart = line, "", False
        at += len(line)
    if made:
        yield View(row, "".join(made), places)


def _heading(line: str) -> str:
    """The label that a line begins with, or that it ends with, as one that stands before a value.

    A password's stands as if it were farther off, so that no plain word after it counts.
    """
    for group, joined in (("code", ": "), ("password", " / : ")):
        if found := _labelling(group).match(line):
            return next(label for label in found.groups() if label).strip() + joined
    return ""


@cache
def _labelling(group: str) -> re.Pattern[str]:
    label = expanded(rf"((?i:@{{{group}}}))@{{right}}")
    words = r"(?:[^\W\d_]+ ){0,2}" if group == "code" else ""
    return re.compile(
        rf"[ \t#*_>-]*{words}{label}|[^\n]*?{label}[^\n]{{0,40}}[?？]\s*$|{_TURN}[^\n]*?{label}"
        rf"|[^\n]*?{label}(?:[^\n]{{0,80}}[:：]|[ \t]*\([^()\n]*\))?[*_]*\s*$|[^:：\n]*[:：][^\n]*?{label}"
    )


@cache
def _under() -> str:
    """A line with a label, and under it a point of a list or something alone (Rust's syntax)."""
    return expanded(
        r"(?i)(?:@{code}|@{password})[^\n]*\n\s*"
        r"(?:(?:[-*+•]|[0-9]{1,2}[.)])[ \t]+[^\s]"
        rf"|(?:{_TURN})?(?:[^\s:：]{{6,}}|{_GROUPS})[ \t]*(?:\n|$))"
    )


_KINDS: dict[str, Callable[[int, str], Iterator[View]]] = {
    f"[!-~]{_INVISIBLE}+[!-~]": _cleaned,
    _ESCAPED: _unescaped,
    rf"{_WIDE}{{6}}|[A-Za-z0-9][\u2010\u2011\u2212][A-Za-z0-9]": _folded,
    _BREAK: _joined,
    rf"\|[^\n]*\n{_RULE}": _tabled,
}
"""How texts that fit an expression (Rust's) are read besides."""
