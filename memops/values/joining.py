"""Joining: ranges, bounds and "about", which stand around values of any kind."""

from collections.abc import Sequence

from memops.values.grammar import Found
from memops.values.lexing import Lexicon, Line, Num, Roles
from memops.values.value import Value, number

_ALONE = frozenset({"url", "email", "path", "ip", "phone", "ident", "ordinal", "version", "discount"})
"""Kinds that are never at most or about so much."""
_RANGED = frozenset({"date", "time", "weekday", "version", "ordinal"})
_LENT = frozenset({"money", "share"})
"""Kinds whose unit may stand at the lower end of a range: $30-40."""
_CLAUSE = 6  # tokens before "from" that may say that something changes


def joined(founds: Sequence[Found], line: Line, lex: Lexicon) -> list[Value]:
    """Return the values that findings make up, with what stands around them."""
    out: list[Value] = []
    at = 0
    while at < len(founds):
        found = founds[at]
        span = found
        high: Found | None = None
        if at + 1 < len(founds):
            high = _range(found, founds[at + 1], line)
            if high is not None:
                found, span = _lent(found, high), found._replace(end=high.end)
                at += 1
        at += 1
        out.append(_value(found, high, span, line))
    return out


def _roles(line: Line, at: int) -> Roles:
    return line.roles[at] if 0 <= at < len(line.roles) else {}


def _range(low: Found, high: Found, line: Line) -> Found | None:
    """The upper end of a range, where two findings are one."""
    between = [_roles(line, k) for k in range(low.end, high.begin)]
    if high.kind == "number" and high.amount is not None and low.amount is not None and low.kind in _LENT:
        high = low._replace(amount=high.amount, begin=high.begin, end=high.end)
    if not 1 <= len(between) <= 2 or low.kind in _ALONE - _RANGED:
        return None
    before = _roles(line, low.begin - 1)
    ranged = "range" in between[0] or ("between" in before and bool({"and", "list"} & between[0].keys()))
    alike = low.kind == high.kind or (low.kind == "number" and high.amount is not None)
    if not ranged or not alike or low.kind == "number" != high.kind and (low.amount is None):
        return None
    return None if _changing(line, low.begin) else _ordered(low, high)


def _ordered(low: Found, high: Found) -> Found | None:
    """Only what goes up is a range."""
    if low.amount is not None and high.amount is not None:
        if low.amount.high or high.amount.high:
            return None
        lent = high if low.kind == "number" else low
        one, two = low.amount.value * lent.factor, high.amount.value * high.factor
        return high if one < two and low.unit in ("", high.unit) else None
    if low.kind not in _RANGED or low.kind in ("version", "ordinal", "weekday"):
        return None
    return high if low.form != high.form else None


def _changing(line: Line, at: int) -> bool:
    """Whether a verb of change stands before "from" and a value: raised from 20 to 30."""
    for k in range(at - 1, max(-1, at - 1 - _CLAUSE), -1):
        roles = line.roles[k]
        if "change" in roles:
            return True
        if "comma" in roles or "newline" in roles or "dot" in roles:
            return False
    return False


def _lent(low: Found, high: Found) -> Found:
    """The lower end, in the unit of the upper one where it has none of its own."""
    if low.amount is None or low.kind != "number" or high.kind == "number":
        return low
    return high._replace(amount=low.amount, begin=low.begin, end=low.end)


def _value(found: Found, high: Found | None, span: Found, line: Line) -> Value:
    begin, end = span.begin, span.end
    sign = ""
    if found.kind not in _ALONE or found.kind == "discount":
        begin, end, sign = _around(begin, end, line)
    if found.amount is None:
        form = found.form if high is None else f"{found.form}..{high.form}"
        grain = 0.0
    else:
        form, grain = _printed(found, high)
        if found.amount.bound and not sign:
            sign = found.amount.bound
    return Value(line.starts[begin], line.ends[end - 1], found.kind, sign + form, grain, found.converted)


def _printed(found: Found, high: Found | None) -> tuple[str, float]:
    num = found.amount or Num(0.0)
    low = num.value * found.factor + found.offset
    said = _rounded(low)
    top = num.high * found.factor + found.offset if num.high is not None else None
    if high is not None and high.amount is not None:
        top = high.amount.value * high.factor + high.offset
    if top is not None:
        said += ".." + _rounded(top)
    grain = 0.5 * 10.0 ** -max(num.decimals, 0) * abs(found.factor)
    return said + found.unit, grain


def _rounded(amount: float) -> str:
    return number(round(amount, 9) if abs(amount) >= 1e-3 else amount)


def _around(begin: int, end: int, line: Line) -> tuple[int, int, str]:
    """What stands before and after: "about", a bound; where the value then begins and ends."""
    about, bound = "", ""
    held = _at_arms_length(begin, end, line)
    if begin > 1 and "approx" in line.roles[begin - 2] and "other" in line.roles[begin - 1]:
        about = "~" if len(line.surface(begin - 1)) <= _HAND else ""
    while begin > 0:
        roles = line.roles[begin - 1]
        if "bound_before" in roles and not bound and _bounds(line, begin):
            bound = roles["bound_before"]
        elif "approx" in roles and not about:
            about = "~"
        else:
            break
        begin -= 1
    while end < len(line.roles):
        roles = line.roles[end]
        if "bound_after" in roles and not bound:
            bound = roles["bound_after"]
        elif "approx_after" in roles and not about:
            about = "~"
        else:
            break
        end += 1
    return begin, end, about + (bound or held)


_HAND = 2  # letters between "about" and its number: 大概要一个小时
_ARM = 6  # letters between a bound and its number: 最多可以来二十人, three retries at most


def _at_arms_length(begin: int, end: int, line: Line) -> str:
    """A bound with one word between it and its number."""
    at, size = begin - 1, 0
    while at > 0 and size <= _ARM and not line.roles[at].keys() & _STOPS:
        size += line.ends[at] - line.starts[at]
        at -= 1
        if "bound_before" in line.roles[at] and size <= _ARM:
            return str(line.roles[at]["bound_before"])
    if "bound_after" in _roles(line, end + 1) and "other" in _roles(line, end):
        said = line.surface(end)
        if " " not in said and len(said) <= (_ARM if said > "\x7f" else 2 * _ARM):
            return str(line.roles[end + 1]["bound_after"])
    return ""


_STOPS = frozenset({"comma", "newline", "dot", "colon", "list", "number", "unit", "time_unit", "currency", "bound_before"})


def _bounds(line: Line, begin: int) -> bool:
    """A minimum stands before its number, not a minute or a name."""
    return "time_unit" not in line.roles[begin - 1] or begin < 2 or "number" not in line.roles[begin - 2]
