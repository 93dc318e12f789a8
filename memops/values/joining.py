"""Joining: ranges, bounds and "about", which stand around values of any kind."""

from collections.abc import Iterator, Sequence

from memops.values.bounds import around, dated
from memops.values.grammar import Found
from memops.values.lexicon import Num
from memops.values.lexing import Line
from memops.values.value import Gap, Value, number

HALF_DAY = 12.0
"""How much may lie between two times of which one does not tell its half of the day."""
_WHOLE = frozenset({"url", "email", "path", "ip", "phone", "ident", "ordinal"})
"""Kinds that are never at most or about so much, and between whose parts no other words stand."""
_ALONE = _WHOLE | {"discount"}
_RANGED = frozenset({"date", "time"})
_LENT = frozenset({"money", "share", "duration"})
"""Kinds whose unit may stand at the lower end of a range: $30-40."""
_FEW = 2  # tokens between the ends of a range
_CLAUSE = 6  # tokens before "from" that may say that something changes


def joined(founds: Sequence[Found], line: Line) -> list[Value]:
    """Return the values that findings make up, with what stands around them."""
    out: list[Value] = []
    at = 0
    while at < len(founds):
        low, high = founds[at], None
        both = _range(low, founds[at + 1], line) if at + 1 < len(founds) else None
        if both is not None:
            low, high = both
            at += 1
        at += 1
        value = _value(low, high, line)
        if out and value.start < out[-1].end:
            value = value._replace(start=line.starts[low.begin], gaps=())
        out.append(value)
    return out


def _range(low: Found, high: Found, line: Line) -> tuple[Found, Found] | None:
    """The ends of a range, where two findings are one. Only what goes up is."""
    between, before = [line.of(k) for k in range(low.end, high.begin)], line.of(low.begin - 1)
    if not 1 <= len(between) <= _FEW or low.kind in _ALONE:
        return None
    paired = "between" in before
    if "range" not in between[0] and not (paired and between[0].keys() & {"and", "list"}):
        return None
    if paired and line.surface(low.end)[:1].isalnum() and _changing(line, low.begin):
        return None
    low, high = _lent(low, high)
    if low.kind != high.kind:
        return None
    if low.amount is not None and high.amount is not None:
        one, two = low.amount.value * low.factor, high.amount.value * high.factor
        rising = one < two and low.unit == high.unit
        return (low, high) if rising and not low.amount.high and not high.amount.high else None
    if low.kind not in _RANGED:
        return None
    if high.half and high.form < low.form:  # two in the afternoon to half past four
        high = high._replace(form=f"{int(high.form[:2]) + 12:02}{high.form[2:]}", half=False)
    return (low, high) if low.form != high.form else None


def _lent(low: Found, high: Found) -> tuple[Found, Found]:
    """Two findings, each in the unit of the other where it has none of its own; numbers as years."""
    if _is_year(low) and (_is_year(high) or high.form[4:] == "-XX-XX"):
        return _as_year(low), _as_year(high)
    if low.kind == "money" and high.kind == "number rate":  # $80-100 an hour
        high = high._replace(kind="money rate", unit=low.unit + high.unit)
    if low.kind == "money" and high.kind == "money rate":
        return low._replace(kind=high.kind, unit=high.unit), high
    if low.amount is None or high.amount is None or low.kind == high.kind:
        return low, high
    if low.kind == "number":
        return high._replace(amount=low.amount, begin=low.begin, end=low.end), high
    if high.kind == "number" and low.kind in _LENT:
        return low, low._replace(amount=high.amount, begin=high.begin, end=high.end)
    return low, high


def _is_year(found: Found) -> bool:
    num = found.amount if found.kind == "number" else None
    return num is not None and len(num.digits) == 4 and 1500 <= num.value <= 2100


def _as_year(found: Found) -> Found:
    """A number as a year, where the other end of the range may be one too."""
    if found.amount is None:
        return found
    return Found("date", f"{int(found.amount.value)}-XX-XX", begin=found.begin, end=found.end)


def _changing(line: Line, at: int) -> bool:
    """Whether a verb of change stands before "from" and a value: raised from 20 to 30."""
    for roles in reversed(line.roles[max(0, at - _CLAUSE) : at]):
        if not roles.keys().isdisjoint({"change", "comma", "newline", "dot"}):
            return "change" in roles
    return False


def _value(found: Found, high: Found | None, line: Line) -> Value:
    begin, end, sign = found.begin, (high or found).end, ""
    if high is None:
        found = _changed(found, begin, end, line)
    elif line.any(begin - 1, "between"):
        begin -= 1
    if found.kind not in _WHOLE:
        begin, end, sign = around(begin, end, line)
        named = found.kind == "version" or (found.kind == "number" and line.named(begin))
        if named and "bound_earlier" in line.of(end - 1):
            sign = "<="
        if found.kind in ("date", "time") and high is None and not sign:
            found, begin, end, sign = dated(found, begin, end, line)
    num = found.amount
    if num is None:
        form = f"{found.form}..{high.form}" if high is not None else found.form
        grain = HALF_DAY if found.half and high is None else 0.0
    else:
        form, grain = _printed(found, num, high)
        sign = sign or num.bound
    written = num.value if num is not None and num.high is None and high is None else None
    gaps = (*_gaps(begin, end, line),) if end - begin > 1 and found.kind not in _WHOLE else ()
    start, last = line.starts[begin], line.ends[end - 1]
    return Value(start, last, found.kind, sign + form, grain, found.converted, written, gaps)


def _gaps(begin: int, end: int, line: Line) -> Iterator[Gap]:
    """Words of no role between the parts of a value, and what is counted: 五双, 五个人以上."""
    for at in range(begin, end):
        nominal = line.any(at, "nominal") and line.any(at - 1, "number")
        counted = (
            line.any(at, "measure") and (nominal or line.any(at - 1, "measure")) and at > begin
        )
        if "other" in line.roles[at] or counted:
            ahead = any("number" in roles for roles in line.roles[at + 1 : end])
            yield Gap(line.starts[at], line.ends[at], ahead)


def _changed(found: Found, begin: int, end: int, line: Line) -> Found:
    """An amount by which something changes: 升高两度, gained 5 kg, two degrees warmer; down is negative."""
    if found.amount is None or found.kind not in _CHANGING or found.amount.high is not None:
        return found
    before, after = line.of(begin - 1), line.of(end)
    if "by" in before:
        near = line.roles[max(0, begin - 5) : begin - 1]
        before = next((roles for roles in near if roles.keys() & {"up", "down"}), {})
    told = before.keys() & {"up", "down", "gained", "lost"} or after.keys() & {"more", "fewer"}
    if not told:
        return found
    size = -found.amount.value if told & {"down", "lost", "fewer"} else found.amount.value
    unit, amount = f"{found.unit} change", found.amount._replace(value=size)
    return found._replace(kind=f"{found.kind} change", unit=unit, amount=amount, offset=0.0)


_CHANGING = frozenset(
    "mass length money degrees temperature points speed volume area duration energy power".split()  # noqa: SIM905
)


def _printed(found: Found, num: Num, high: Found | None) -> tuple[str, float]:
    said = _rounded(num.value * found.factor + found.offset)
    if high is not None and high.amount is not None:
        said += ".." + _rounded(high.amount.value * high.factor + high.offset)
    elif num.high is not None:
        said += ".." + _rounded(num.high * found.factor + found.offset)
    grain = 0.5 * 10.0 ** -max(num.decimals, 0) * abs(found.factor)
    return said + found.unit, grain


def _rounded(amount: float) -> str:
    return number(round(amount, 9) if abs(amount) >= 1e-3 else amount)
