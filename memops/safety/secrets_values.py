"""Values that could be secrets: what stands alone between spaces, in quotes, behind a sign, in a clause.

Whether one is a secret `secrets_fitted` says; here is only what could be put in by itself. The
classes of a value tell its make without its letters: how many digits, mixed with what, how often
the kind of character changes.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memops.safety.secrets_sequences import HAN, sequences

_HANGUL = "\u1100-\u11ff\uac00-\ud7af"
_STOPS = "，。；：、！？（）「」『』“”‘’«»《》【】…—～·"
_RUN = re.compile(  # but for plain words between words, which nothing sets off
    rf"(?<![^\s{HAN}{_HANGUL}{_STOPS}])(?!(?<=[^\W_] )[A-Za-z]+\s)[^\s{HAN}{_HANGUL}{_STOPS}]+|[{_HANGUL}]+"
)
_HAN = re.compile(f"[{HAN}]")
_BLEND = re.compile(
    rf"[^\s{_STOPS}]*(?:[A-Za-z0-9!@#$%][{HAN}]|[{HAN}][A-Za-z0-9!@#$%])[^\s{_STOPS}]*"
)
_LINK = re.compile(
    r"(?<=/)[^\s/?&#=:@\"'<>，。（）]{6,}(?=$|[\s\"'<>，。（）])|(?<==)[^\s&#=\"'<>，。（）]{4,}(?=[\s&#\"'<>，。（）]|$)"
    r"|(?<=[^/\s]:)[^\s/@:]{3,}(?=@\w)|(?<=\s-p)[^\s-]\S{3,}"
)
_DIGITS = re.compile(
    r"(?<![\w.])\d(?:[ \-–、,，.]\s?\d){2,9}(?!\w)|(?<![\w.])\d{1,4}(?:[ \-–]\d{1,4}){1,5}(?!\w)"
)
_QUOTED = re.compile(
    r'"([^"\n]{2,60})"|“([^”\n]{1,60})”|(?<!\w)\'([^\'\n]{2,60})\'(?!\w)|`([^`\n]{2,80})`'
    r"|«\s?([^»\n]{2,60}?)\s?»|„([^“”\n]{2,60})[“”]|「([^」\n]{1,40})」|『([^』\n]{1,40})』|‘([^’\n]{1,40})’|[(（]([^()（）\n]{2,40})[)）]"
)
_CLAUSE = re.compile(r"[^\n,.;，。；!！?？:：=→()（）—、]+")
_SAID = re.compile(
    r"\b(?:is|was|are|it's|its|to|with|be|use|type|enter|say|reply)\s"
    r"|[是为叫答填输设成改换用报说按拨]+[的了过]?"
)
_OPENS, _CLOSES = "([{<\"'`*_“‘「『（【~", ")]}>\"'`*_.,;:!?”’」』）】。，；：！？…~"
_JOINS, _JOINED = "=:/>|", re.compile("[=:/>|]")
_PLAIN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*)*")
_BEFORE = frozenset(":：=→—–-\"“”‘'’「『`(（>\n*•") | {""}
_WORD, WIDE = re.compile(r"\S+"), re.compile("[\u2e81-\U0010ffff]")
_LONGEST, _WORDS, _SIGNS, _LIST, _LAST = 200, 7, 10, 10, 4

_PLACE = re.compile(
    r"(?i)^(?:[~.]{0,2}/|[a-z]:\\)|://|^www\.|^[\w.+-]+@[\w-]+\.[a-z]{2,}|\.[a-z]{2,5}$"
)
_HOLDER = re.compile(
    r"(?i)^[<\[{(%$]|\$\{|\{\{|x{4,}|\*{3,}|\.{3}|…|^(?:your|my)[-_ ]|placeholder|example|redacted"
    r"|env\b|getenv"
)
MAKES = {
    "version": re.compile(r"^v?\d+(?:\.\d+)+"),
    "date": re.compile(r"^(?:19|20)\d\d[-/.]?\d\d"),
    "time": re.compile(r"^\d{1,2}[:：]\d\d"),
    "ticket": re.compile(r"^[A-Z]{1,6}[-_]?\d+$"),
    "constant": re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"),
    "snake": re.compile(r"^[a-z]+(?:_[a-z]+)+$"),
    "code": re.compile(r"[(){}\[\]<>;|\\]"),
    "unsaid": re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{5}"),
    "kebab": re.compile(r"^[a-z]+(?:-[a-z]+)+(?:-?\d+)?$"),
    "place": _PLACE,
    "holder": _HOLDER,
}
_WORDED = ("unsaid", "holder")  # which letters alone may make
_OTHER, _CLASSED = re.compile("[^A-Za-z0-9]"), re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SHAPES = tuple(
    (re.compile(pattern), sign)
    for pattern, sign in (
        (f"[{HAN}]+", "H"), (r"[^\W\dA-ZÀ-Þ_H]+", "a"), ("[A-GI-ZÀ-Þ]+", "A"), ("[0-9]+", "0"), (r"\s+", " "),
    )
)  # fmt: skip
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_RANDOM, _CHANGING, _SHORT, _HEX = 16, 0.3, 8, 16


_SAYS = re.compile(r"[^\W_]")


class Value(NamedTuple):
    """Where a value stands in its text, and how it is set off, as `_stretches` names it."""

    start: int
    end: int
    how: str


def values(text: str, holding: re.Pattern[str] = _SAYS) -> list[Value]:
    """Return what could be a secret in a passage, in reading order; values may overlap.

    Only those are looked at that hold a match of a pattern.
    """
    found: dict[tuple[int, int], str] = {}
    for start, end, how in _stretches(text, holding):
        if holding.search(text, start, end) is None:
            continue
        start, end = trimmed(text, start, end)
        whole = 2 <= end - start <= _LONGEST and (start, end) not in found
        if whole and _set_off(text, start, end, how):
            found[start, end] = how
    return [Value(*span, how) for span, how in sorted(found.items())]


def _set_off(text: str, start: int, end: int, how: str) -> bool:
    """Whether a sign stands beside a plain word or words, or it says what a verb tells."""
    if how not in ("run", "clause") or not _PLAIN.fullmatch(text, start, end):
        return True
    before, after = _mark(text, start), text[end : end + 1]
    if " " in text[start:end]:
        return before in _BEFORE
    return not (before.isalnum() and (after.isspace() or after.isalnum()))


def _mark(text: str, at: int) -> str:
    """The last character before a place that is no space."""
    while at and text[at - 1] == " ":
        at -= 1
    return text[at - 1] if at else ""


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without what opens and closes it."""
    while start < end and (text[start] in _OPENS or text[start].isspace()):
        start += 1
    while end > start and (text[end - 1] in _CLOSES or text[end - 1].isspace()):
        end -= 1
    return start, end


def _stretches(text: str, holding: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    for match in _RUN.finditer(text):
        yield *match.span(), "run"
        if _JOINED.search(text, *match.span()):
            yield from _parts(text, *trimmed(text, *match.span()))
    for match in _DIGITS.finditer(text):
        yield *match.span(), "digits"
    for match in _QUOTED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        if text.count(" ", start, end) < _WORDS:
            yield start, end, "quoted"
    said = _SAID.search(text) is not None
    for match in _CLAUSE.finditer(text):
        if holding.search(text, *match.span()):
            yield from _clauses(text, *match.span(), said)
    if _HAN.search(text):
        yield from ((*match.span(), "blend") for match in _BLEND.finditer(text))
    for match in _LINK.finditer(text):
        yield *match.span(), "link"
    yield from ((*span, "sequence") for span in sequences(text))


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """What follows a sign inside a run."""
    if "://" in text[start:end]:
        return
    for sign in _JOINS:
        ends = {text.find(sign, start, end), text.rfind(sign, start, end)}
        yield from ((at + 1, end, "part") for at in ends if start <= at < end - 2)


def _clauses(text: str, start: int, end: int, said: bool) -> Iterator[tuple[int, int, str]]:
    words = [m.start() for m in _WORD.finditer(text, start, end)]
    if len(words) <= _WORDS and _narrow(text, start, end):
        yield start, end, "clause"
    elif _LIST <= len(words) <= 2 * _LIST + 1 and _mark(text, start) in _BEFORE:
        yield start, end, "list"
    for at in words[max(1, len(words) - _LAST) :]:
        yield at, end, "last"
    for match in _SAID.finditer(text, start, end) if said else ():
        few = len(text[match.end() : end].split()) <= _WORDS
        if few and _narrow(text, match.end(), end):
            yield match.end(), end, "said"


def _narrow(text: str, start: int, end: int) -> bool:
    return text.isascii() or len(WIDE.findall(text, start, end)) <= _SIGNS


@lru_cache(50_000)
def measured(value: str) -> tuple[str, int, int, int]:
    """Return the class of a value, its size and digits, and how often it changes, in tenths."""
    changes, digits = _changes(value), _count(value)
    return _class(value, changes, digits), len(value), digits, int(changes * 10)


def by_size(kind: str, size: int, digits: int, changes: int) -> tuple[str, ...]:
    """Return the signs of a value that its class and what is `measured` give."""
    told = [f"class={kind}", f"size={_size(size)}", f"classsize={kind}{min(size, 40) // 3}"]
    told += [f"digits={min(digits, _SHORT)}", f"changes={changes}", f"classchanges={kind}{changes}"]
    return tuple(told)


@lru_cache(50_000)
def by_shape(value: str) -> tuple[str, ...]:
    """Return the signs of a value that its characters give."""
    plain = value.replace(" ", "").isalpha()
    names = (name for name in (_WORDED if plain else MAKES) if MAKES[name].search(value))
    return f"shape={_shape(value)}", *(f"make={name}" for name in names)


def _size(size: int) -> int:
    return size if size < _SHORT else _SHORT + sum(size >= most for most in (10, 14, 20, 32))


def _count(value: str) -> int:
    return sum(map(str.isdigit, value))


def _changes(value: str) -> float:
    """Runs of one class of character for each of its letters and digits."""
    bare = _OTHER.sub("", value)
    return len(_CLASSED.findall(bare)) / max(1, len(bare))


def _shape(value: str) -> str:
    for pattern, sign in _SHAPES:
        value = pattern.sub(sign, value)
    return value[:12]


def _class(value: str, changes: float, digits: int) -> str:
    if not value.isascii() and _HAN.search(value):
        return "han with others" if re.search("[A-Za-z0-9]", value) else "han"
    if " " in value:
        return _spaced(value, digits)
    if len(value) >= _HEX and _UUID.fullmatch(value):
        return "uuid"
    if digits and len(value) >= _HEX and re.fullmatch("[0-9a-f]+|[0-9A-F]+", value):
        return "hex"
    if digits and re.fullmatch(r"[#*]?\d+[#*]?", value):
        return "year" if digits == 4 and value[:2] in ("19", "20") else f"{min(digits, 9)} digits"
    if digits and not any(map(str.isalpha, value)):
        return "digits and signs"
    if len(value) >= _RANDOM and changes >= _CHANGING:
        return "random"
    if digits:
        changing = "mixed" if changes < _CHANGING else "changing"
        return "short" if len(value) < _SHORT else changing
    return _worded(value)


def _spaced(value: str, digits: int) -> str:
    if digits:
        groups = re.fullmatch(r"[\d ,、\-–]+", value)
        return "digit groups" if groups else "words and digits"
    return "many words" if value.count(" ") >= _LIST - 1 else "words"


def _worded(value: str) -> str:
    if re.search(r"[!#$%^&*+~@]", value.strip("@#*")):
        return "signed"
    if re.search("[-_]", value):
        return "joined"
    if re.search("[a-z][A-Z]", value):
        return "camel"
    return "upper" if value.isupper() else "capital" if value[:1].isupper() else "lower"
