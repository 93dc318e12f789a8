"""Joining: ranges, bounds and "about", which stand around values of any kind."""

from collections.abc import Iterator, Sequence

from memops.values.bounds import around, dated
from memops.values.forms import whole_period
from memops.values.grammar import Found
from memops.values.lexicon import Lexicon, Num
from memops.values.lexing import Line
from memops.values.value import Gap, Value, number

HALF_DAY = 12.0
"""How much may lie between two times of which one does not tell its half of the day."""
_ALONE = frozenset({"url", "email", "path", "ip", "phone", "ident", "ordinal", "discount"})
"""Kinds that are never at most or about so much."""
_WHOLE = _ALONE - {"discount"}
"""Kinds between whose parts no other words stand."""
_RANGED = frozenset({"date", "time", "weekday", "version", "ordinal"})
_LENT = frozenset({"money", "share", "duration"})
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
                if high.kind == "date" and _is_year(found):
                    found = _as_year(found)
                found, span = _lent(found, high), found._replace(end=high.end)
                at += 1
        at += 1
        value = _value(found, high, span, line)
        if out and value.start < out[-1].end != value.end:  # two of one day stand at one place
            value = value._replace(start=line.starts[span.begin], gaps=())
        out.append(value)
    return out


def _range(low: Found, high: Found, line: Line) -> Found | None:
    """The upper end of a range, where two findings are one."""
    between = [line.of(k) for k in range(low.end, high.begin)]
    if (
        high.kind == "number"
        and high.amount is not None
        and low.amount is not None
        and low.kind in _LENT
    ):
        high = low._replace(amount=high.amount, begin=high.begin, end=high.end)
    if high.kind == "number rate" and low.kind == "money":  # $80-100 an hour
        high = high._replace(kind="money rate", unit=low.unit + high.unit)
    if high.kind == "money rate" and low.kind == "money":
        low = low._replace(kind=high.kind, unit=high.unit)
    if _is_year(low) and (_is_year(high) or high.form[4:] == "-XX-XX"):
        low, high = _as_year(low), _as_year(high)
    if not 1 <= len(between) <= 2 or low.kind in _ALONE - _RANGED:
        return None
    before = line.of(low.begin - 1)
    ranged = "range" in between[0] or (
        "between" in before and bool({"and", "list"} & between[0].keys())
    )
    alike = low.kind == high.kind or (low.kind == "number" and high.amount is not None)
    if not ranged or not alike or (low.kind == "number" != high.kind and (low.amount is None)):
        return None
    told = "between" in before and line.surface(low.end)[:1].isalnum()
    return None if told and _changing(line, low.begin) else _ordered(low, high)


def _is_year(found: Found) -> bool:
    amount = found.amount
    return (
        found.kind == "number"
        and amount is not None
        and len(amount.digits) == 4
        and 1500 <= amount.value <= 2100
    )


def _as_year(found: Found) -> Found:
    """A number as a year, where the other end of the range may be one too."""
    if found.amount is None:
        return found
    return Found("date", f"{int(found.amount.value)}-XX-XX", begin=found.begin, end=found.end)


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
    if high.half and high.form < low.form:  # two in the afternoon to half past four
        high = high._replace(form=f"{int(high.form[:2]) + 12:02}{high.form[2:]}", half=False)
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
    if low.kind == "money" and high.kind == "money rate":
        return low._replace(kind=high.kind, unit=high.unit)
    if low.amount is None or low.kind != "number" or high.kind == "number":
        return low
    return high._replace(amount=low.amount, begin=low.begin, end=low.end)


def _value(found: Found, high: Found | None, span: Found, line: Line) -> Value:
    begin, end = span.begin, span.end
    sign = ""
    if high is not None and line.any(begin - 1, "between"):
        begin -= 1
    if high is None:
        found = _changed(found, begin, end, line)
    if found.kind not in _ALONE or found.kind == "discount":
        begin, end, sign = around(begin, end, line)
        named = found.kind == "version" or (found.kind == "number" and line.named(begin))
        if named and "bound_earlier" in line.of(end - 1):
            sign = "<="
        if found.kind in ("date", "time") and high is None and not sign:
            found, begin, end, sign = dated(found, begin, end, line)
    if found.amount is None:
        ranged = f"{found.form}..{high.form}" if high is not None else ""
        if high is not None and found.kind == "date":
            ranged = whole_period(found.form, high.form)
        form = ranged or found.form
        grain = HALF_DAY if found.half and high is None else 0.0
    else:
        form, grain = _printed(found, high)
        if found.amount.bound and not sign:
            sign = found.amount.bound
    written = (
        found.amount.value
        if found.amount is not None and found.amount.high is None and high is None
        else None
    )
    return Value(
        line.starts[begin],
        line.ends[end - 1],
        found.kind,
        sign + form,
        grain,
        found.converted,
        written,
        (*_gaps(begin, end, line),) if end - begin > 1 and found.kind not in _WHOLE else (),
    )


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
        before = next(
            (r for r in line.roles[max(0, begin - 5) : begin - 1] if r.keys() & {"up", "down"}), {}
        )
    elif "up" in before and len(line.surface(begin - 1)) < 2:
        before = {}
    told = (
        before
        if before.keys() & {"up", "down", "gained", "lost"}
        else {k: v for k, v in after.items() if k in ("more", "fewer")}
    )
    if not told:
        return found
    down = bool(told.keys() & {"down", "lost", "fewer"})
    sign = -1 if down else 1
    unit = f"{found.unit} change"
    return found._replace(
        kind=f"{found.kind} change",
        unit=unit,
        amount=found.amount._replace(value=sign * found.amount.value),
        offset=0.0,
    )


_CHANGING = frozenset(
    "mass length money degrees temperature points speed volume area duration energy power".split()  # noqa: SIM905
)


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
