"""Portions: halves and fractions, decimals that are spelt, signs, and what a number ends with."""

from memops.values.lexicon import Lexicon, Num, Word, numeral
from memops.values.lexing import Line

Found = tuple[Word, int]
"""A number's token, and where it ends."""
_SLASHED = 100
_COUNTED = ("number", "unit", "time_unit", "currency", "month", "clock_token", "date_token")
_OPENS = frozenset(
    "other newline comma colon of bound_before approx currency at article dated range".split()  # noqa: SIM905
)
_MEASURES = (
    "unit", "time_unit", "percent", "currency", "fold", "measure", "tenths", "fold_price", "version",
)  # fmt: skip
_MARKS = ("minute_mark", "quarter_mark")


def below_zero(line: Line, at: int) -> bool:
    """Return whether a stroke right before digits is a minus: nothing that counts stands before it."""
    if line.surface(at) not in "-−" or not line.joined(at + 1) or not line.any(at + 1, "literal"):
        return False
    if line.joined(at):
        before = line.text[line.starts[at] - 1]
        if before >= "一":
            return not line.any(at - 1, *_COUNTED, "weekday", "day_mark", "oclock")
        return _OPENS.issuperset(line.of(at - 1)) and not (before.isascii() and before.isalnum())
    return not line.any(at - 1, *_COUNTED)


def slashed(line: Line, at: int, lex: Lexicon) -> Found | None:
    """Return 1/2, a fraction, or two numbers with a stroke between them."""
    if not (line.any(at + 1, "slash") and line.joined(at + 1) and line.joined(at + 2)):
        return None
    both = [line.of(k) for k in (at, at + 2)]
    if any("int" not in roles or "literal" not in roles for roles in both):
        return None
    above, below = (roles["number"].value for roles in both)
    if not 0 < above < _SLASHED or not 0 < below <= _SLASHED:
        return None
    more = ("slashed", "portion") if above < below else ("slashed",)
    return numeral(Num(above / below, f"{above:g}/{below:g}", 9), lex, False, *more), at + 3


def of_one(line: Line, at: int, lex: Lexicon) -> Found | None:
    """Return what stands after "a" or "one" in a quarter of, one third of."""
    roles = line.of(at)
    part = roles.get("fraction") or (1 / roles["ordinal"] if roles.get("ordinal", 0) > 2 else None)
    if part is None or not ("fraction" in roles or line.any(at + 1, "of", "off")):
        return None
    if line.any(at + 1, "past", "before") and not line.any(at + 1, "of"):
        return None
    found = numeral(Num(part, decimals=9), lex, False, "portion")
    return lex.word({**found.roles, "fraction": part}), at + 1


def fraction(line: Line, at: int, lex: Lexicon) -> Found | None:
    """Return half a million, half an hour, 半斤."""
    counted = line.joined(at) and line.any(at - 1, "measure") and line.any(at - 2, "number")
    if counted or line.any(at - 1, "ordinal"):
        return None  # 一个半小时, the third quarter
    value = float(line.roles[at]["fraction"])
    end = at + 2 if line.any(at + 1, "article") else at + 1
    then = line.of(end)
    times = then.get("few", then.get("scale") if "number" not in then else None)
    if times is not None:
        return numeral(Num(value * float(times)), lex), end + 1
    if then.keys() & {"unit", "time_unit", "percent"}:
        return numeral(Num(value, decimals=1), lex), end
    half = numeral(Num(value, decimals=1), lex, False, "portion", "half")
    return lex.word({**half.roles, "fraction": value}), at + 1


def ordinal(line: Line, end: int, num: Num, lex: Lexicon) -> Found | None:
    """Return twenty-first, one hundred and third."""
    step = end + 1 if line.surface(end) == "-" or line.any(end, "and") else end
    last = line.of(step).get("ordinal", 0)
    if 0 < last < 10 and num.value >= 20 and num.value % 10 == 0 and not num.decimals:
        return lex.word({"ordinal": int(num.value) + last}), step + 1
    return None


def tail(line: Line, end: int, num: Num, lex: Lexicon, han: bool) -> tuple[Num, int, str]:
    """Read what follows a number: point five, 多; and a half, ½, thirds."""
    if line.any(end, "point") and line.any(end + 1, "number"):
        digits, last = _digits(line, end + 1)
        wide = han or line.wide(end)
        if digits and (not wide or _measured(line, last) or _decimal(line, end, digits, last)):
            value = num.value + float(f"0.{digits}")
            scale = line.of(last).get("scale", 1) if not wide or line.joined(last) else 1
            scaled = scale > 1
            exact = max(0, len(digits) - len(f"{scale:.0f}") + 1)
            return Num(value * scale, decimals=exact), last + scaled, "point"
    if line.surface(end) == "+" and line.joined(end) and line.any(end + 1, "unit", "time_unit"):
        return num._replace(bound=">="), end + 1, "multi"  # 8+ hours
    if line.any(end, "multi") and line.joined(end):
        scale = line.of(end + 1).get("scale") if line.joined(end + 1) else None
        return Num(num.value * float(scale or 1), bound=">"), end + (2 if scale else 1), "multi"
    return (num, end, "") if han else _parted(line, end, num, lex)


def _parted(line: Line, end: int, num: Num, lex: Lexicon) -> tuple[Num, int, str]:
    roles = line.of(end)
    if "fraction" in roles and line.joined(end) and line.surface(end)[0] > "\x7f":
        return Num(num.value + float(roles["fraction"]), decimals=1), end + 1, "half"
    if "literal" in roles and not num.decimals and not line.joined(end):
        part = slashed(line, end, lex)
        if part is not None and "portion" in part[0].roles:
            return Num(num.value + part[0].roles["portion"].value, decimals=3), part[1], "half"
    if "and" in roles:
        return _and_half(line, end, num)
    step = end + 1 if line.surface(end) == "-" else end
    below = line.of(step).get("denominator", 0)
    if 0 < num.value < below:
        return Num(num.value / below, decimals=9), step + 1, "share"
    one = of_one(line, step, lex) if num.value == 1 and not line.any(step, "time_unit") else None
    return (one[0].roles["portion"], one[1], "share") if one else (num, end, "")


def _and_half(line: Line, end: int, num: Num) -> tuple[Num, int, str]:
    """Two and a half, two and three quarters, one and a half million."""
    at, count = end + 1, line.of(end + 1).get("number")
    if isinstance(count, int) or line.any(at, "article"):
        at += 2 if line.surface(at + 1) == "-" else 1
    count = float(count) if isinstance(count, int) else 1.0
    part = line.of(at)
    below = part.get("denominator", 0)
    if "fraction" in part and count == 1:
        grown = num.value + float(part["fraction"])
    elif count < below:
        grown = num.value + count / below
    else:
        return num, end, ""
    scale = line.of(at + 1).get("scale")
    return Num(grown * float(scale or 1), decimals=3), at + (2 if scale else 1), "half"


def _digits(line: Line, at: int) -> tuple[str, int]:
    """The digits from a token on, spelled one by one, and where they end."""
    out, end = "", at
    while isinstance(value := line.of(end).get("number"), int) and value < 10:
        if end > at and line.wide(end) and not line.joined(end):
            break
        out += str(value)
        end += 1
    return out, end


def _decimal(line: Line, point: int, digits: str, last: int) -> bool:
    """Whether one digit follows the point, or a share is told: no minutes of an hour."""
    if (
        line.any(point - 2, "per_hundred", "per_thousand", "negative")
        or line.of(last).get("scale", 0) >= 1e4
    ):
        return True
    timed = line.any(point - 2, "meridiem", "relative_part", "relative", "at")
    return len(digits) == 1 and digits != "0" and not timed and not line.any(last, "scale", *_MARKS)


def _measured(line: Line, at: int) -> bool:
    """Whether a unit follows, so that the point before is a decimal one and not the hour's."""
    return line.joined(at) and line.any(at, *_MEASURES) and not line.any(at, *_MARKS)
