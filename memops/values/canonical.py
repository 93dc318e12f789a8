"""Canonical forms, read back: what `str(value)` prints is read as that value and nothing else."""

import re
from functools import cache

from memops.values.forms import DAYS
from memops.values.units import printed
from memops.values.value import Value

_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]\d+)?"
_AMOUNT = re.compile(
    r"~?(?:[<>]=?)?(?P<low>-?(?:0|[1-9]\d*)(?:\.(?P<part>\d+))?(?:e[+-]\d+)?)"
    rf"(?:\.\.{_NUMBER})?(?P<unit>(?:%| [^\s\d/]| ?x|/).*)?",
    re.A,
)
_DATE = r"-?[\dX]{4}-(?:[\dX]{2}-[\dX]{2}|2[1-4]|3[3-6]|4[01]|W\d\d)(?: (?:start|mid|end))?"
_DAY = "|".join(DAYS)
_TIME = r"\d\d:\d\d(?::\d\d)?Z?"
_SHAPES = tuple(
    (kind, re.compile(rf"~?(?:[<>]=?)?(?:{pattern})", re.A))
    for kind, pattern in (
        ("date", rf"{_DATE}(?:\.\.{_DATE})?|\d{{4}}-\d\d-\d\dT\d\d:\d\d"),
        (
            "date",
            rf"(?:day|week|month|quarter|year|second)[+-]\d+(?:\.\d+)?(?: (?:start|mid|end|{_DAY}))?",
        ),
        ("time", rf"{_TIME}(?:\.\.{_TIME})?"),
        ("weekday", rf"(?:{_DAY})(?:,(?:{_DAY}))*"),
        ("frequency", rf"every {_NUMBER} (?:s|mo)"),
        ("duration", rf"{_NUMBER} mo {_NUMBER} s"),
        ("lunar date", r"lunar \d+-\d+"),
        ("ordinal", r"#-?\d+"),
        ("ident", r"[^\W\d_]+#[\w.]+"),
        ("version", r"\^v\d[\w.-]*"),
        ("url", r"\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}"),
        ("size", rf"{_NUMBER}(?:x{_NUMBER})+(?: \S+)?"),
        ("slashed", r"\d+/\d+"),
        ("phone", r"tel \d{7,15}"),
        ("tax basis", "(?:before|after) tax"),
    )
)
_FIRST = frozenset("^~<>-0123456789#MTWFSXabcdefghijklmnopqrstuvwxyz")
_LONGEST = 64
_LOCAL = 7  # digits by themselves that may be a telephone's


def canonical(text: str) -> Value | None:
    """Return the value of which a text is the canonical form, or None."""
    if len(text) > _LONGEST or text[:1] not in _FIRST:
        return None
    for kind, shape in _SHAPES:
        if shape.fullmatch(text):
            return Value(0, len(text), kind, text)
    amount = _AMOUNT.fullmatch(text)
    told = _kind(amount["unit"] or "") if amount else None
    if amount is None or told is None or (told == "number" and len(text) >= _LOCAL):
        return None
    low = float(amount["low"])
    return Value(0, len(text), told, text, 0.5 * 10.0 ** -len(amount["part"] or ""), written=low)


def _kind(unit: str) -> str | None:
    changed, _, rest = unit.partition(" change")
    if changed != unit and not rest:
        kind = "money" if re.fullmatch(r" [A-Z]{3}", changed) else _symbols().get(changed)
        return f"{kind} change" if kind else None
    if unit in _symbols():
        return _symbols()[unit]
    base, slash, per = unit.partition("/")
    whole = re.fullmatch(rf"(?:{_NUMBER} )?(?:mo|s|d|w|h)|1|ea|{_per()}", per) if slash else None
    kind = "money" if re.fullmatch(r" [A-Z]{3}", base) else _symbols().get(base)
    if kind is None or (slash and whole is None):
        return None
    return f"{kind} rate" if slash else kind


@cache
def _symbols() -> dict[str, str]:
    units = {
        f" {symbol}": kind for kind, symbol in printed().items() if kind not in ("months", "share")
    }
    own = {
        "": "number",
        "%": "share",
        "% off": "discount",
        "x": "factor",
        " mo": "duration",
        " s": "duration",
    }
    return {**units, **own}


@cache
def _per() -> str:
    return "|".join(map(re.escape, printed().values()))
