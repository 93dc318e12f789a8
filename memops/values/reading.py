"""Reading: the values of a text, in the languages that its letters are of.

A cheap look tells texts without a value apart; addresses are taken out by their shape; the rest is
lexed by the words of language packs, and grammar is matched over the roles of words. No step takes
more than linear time.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple

from memops.language.detection import spoken
from memops.language.packs import codes
from memops.values.addresses import masked
from memops.values.canonical import canonical
from memops.values.grammar import Grammar
from memops.values.joining import joined
from memops.values.lexicon import Lexicon, Num, holds, lexicon
from memops.values.lexing import lexed
from memops.values.numerals import assembled
from memops.values.relative import resolved
from memops.values.rules_clock import CLOCK
from memops.values.rules_counts import COUNTS, MUCH, STREETS
from memops.values.rules_dates import RULES as DATES
from memops.values.rules_money import MONEY, QUANTITIES, SIZES
from memops.values.rules_shares import SHARES
from memops.values.rules_spans import LONG, OFTEN
from memops.values.value import Value

_AT_ONCE = 200
_WIDE = {0xFF01 + n: 0x21 + n for n in range(94)} | {
    0x3000: 0x20,
    0x2019: 0x27,
    0x2018: 0x27,
    0x00A0: 0x20,
    0x202F: 0x20,
    0x3007: 0x96F6,
    0xFFE0: 0xA2,
    0xFFE1: 0xA3,
    0xFFE5: 0xA5,
}
_PRIVATE = re.compile("[\ue000-\uf8ff]")  # they stand for addresses
_ODD = re.compile(f"[\ue000-\uf8ff{''.join(map(chr, _WIDE))}]")
_RULES = (
    *STREETS,
    *MONEY,
    *CLOCK,
    *DATES,
    *MUCH,
    *OFTEN,
    *SHARES,
    *SIZES,
    *QUANTITIES,
    *LONG,
    *COUNTS,
)


def read(text: str, at: datetime | None = None, lang: str | None = None) -> list[Value]:
    """Return the values of a text in reading order; spans do not overlap, but for two of one day.

    With `at`, the time at which the text was written, days told from then ("tomorrow") are days of
    the calendar. `lang` is one language's code; without it the text is read in all that have a pack.
    """
    (values,) = _read([text], [(lang,) if lang in codes() else spoken(text)])
    return values if at is None else [resolved(value, at) for value in values]


def read_all(
    texts: Sequence[str], langs: Sequence[tuple[str, ...]] | None = None
) -> list[list[Value]]:
    """Return the values of each text; `langs` are the languages of each, if they are known."""
    langs = [*map(spoken, texts)] if langs is None else langs
    parts = (slice(start, start + _AT_ONCE) for start in range(0, len(texts), _AT_ONCE))
    return [values for part in parts for values in _read(texts[part], langs[part])]


class _Opened(NamedTuple):
    """A text that may hold values: as it is shown, in lower case, and the words that it is read by."""

    plain: str
    low: str
    lex: Lexicon
    grammar: Grammar


def _read(texts: Sequence[str], langs: Sequence[tuple[str, ...]]) -> list[list[Value]]:
    """The values of texts as they stand, each step taken with all of them, which is sooner done."""
    looked = [*map(_opened, texts, langs)]
    opened = [text for text in looked if isinstance(text, _Opened)]
    hidden = [masked(text.low, text.lex, text.plain) for text in opened]
    lexes = [text.lex for text in opened]
    lines = [
        lexed(text.plain, low, text.lex, known)
        for text, (low, known) in zip(opened, hidden, strict=True)
    ]
    lines = [assembled(line, lex) for line, lex in zip(lines, lexes, strict=True)]
    founds = [[*text.grammar.found(line)] for text, line in zip(opened, lines, strict=True)]
    made = [joined(*told) for told in zip(founds, lines, lexes, strict=True)]
    read = iter([_whole(values, text.low) for values, text in zip(made, opened, strict=True)])
    return [next(read) if isinstance(text, _Opened) else text for text in looked]


def _opened(text: str, langs: tuple[str, ...]) -> _Opened | list[Value]:
    """A text made ready; its values where it is the form of one, or holds none."""
    exact = canonical(text)
    if exact is not None:
        return [exact]
    lex, grammar = _grammar(langs)
    plain = text
    if not text.isascii() and _ODD.search(text):
        plain = _PRIVATE.sub("\ufffd", text.translate(_WIDE))
    if lex.comma:
        plain = _MARKS.sub(_turned, plain)
    low = plain.lower()
    if len(low) != len(plain):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in plain)
    if not holds(low, lex) and not _SHAPED.search(plain):
        return []
    return _Opened(plain, low, lex, grammar)


def numeral(text: str) -> float | None:
    """Return the number that a text writes, in digits or in the words of any pack, or None."""
    lex, _ = _grammar(spoken(text))
    low = text.translate(_WIDE).strip().lower()
    line = assembled(lexed(low, low, lex, {}), lex)
    num = line.roles[0].get("number") if len(line.roles) == 1 else None
    if isinstance(num, Num):
        return num.value if num.high is None else None
    return None if num is None else float(num)


_SHAPED = re.compile(r"@\w|[(\[]at[)\]]|[/\\]\w|\.[a-z]{2}|\b[XVI]{2,5}\b", re.A)
_MARKS = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d{1,9})?|\d{1,9},\d{1,9})(?![.,]?\d)", re.A
)
_TURN = str.maketrans(".,", ",.")


def _turned(number: re.Match[str]) -> str:
    """A number with its marks as English writes them: 1.200,50 is 1,200.50."""
    return number[0].translate(_TURN)


_CHUNK = re.compile(r"[a-z0-9_]+(?:[-_./+#·][a-z0-9_]+)*", re.A)


@cache
def _grammar(langs: tuple[str, ...]) -> tuple[Lexicon, Grammar]:
    lex = lexicon(langs)
    return lex, Grammar(_RULES, lex)


def _whole(found: list[Value], low: str) -> list[Value]:
    """Values, and as identifiers the words of letters and digits of which they would be a part."""
    if not _MIXED.search(low):
        return found
    out: list[Value] = []
    at = 0
    for match in _CHUNK.finditer(low):
        start, end = match.span()
        while at < len(found) and found[at].end <= start:
            out.append(found[at])
            at += 1
        if not (_DIGIT.search(low, start, end) and _LETTER.search(low, start, end)):
            continue
        last = at
        while last < len(found) and found[last].start < end:
            last += 1
        inside = found[at:last]
        if not _stands(inside, match):
            head = (
                inside[0]
                if inside and inside[0].start < start and inside[0].kind == "ident"
                else None
            )
            named = match[0] if head is None else f"{head.form.partition('#')[0]}#{match[0]}"
            out.append(Value(start if head is None else head.start, end, "ident", named))
            at = last
    return [*out, *found[at:]]


def _stands(inside: list[Value], match: re.Match[str]) -> bool:
    """Whether the values in a word cover it, or reach beyond it, or are a number before its noun."""
    start, end = match.span()
    if not inside:
        return False
    if inside[0].start <= start and max(v.end for v in inside) >= end:
        return True
    last = inside[-1].end
    if inside[0].start < start or last > end:
        return last >= end or not match.string[last].isalnum()
    return inside[0].start == start and _COMPOUND.fullmatch(match[0]) is not None


_MIXED = re.compile(r"[a-z][-_./+#·]*\d|\d[-_./+#·]*[a-z]", re.A)
_COMPOUND = re.compile(r"\d+(?:\.\d+)?(?:-[a-z]{3,})+", re.A)
"""A number in front of its noun: a 5-star hotel."""
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[a-z]")
