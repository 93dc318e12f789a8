"""Rules for how often and how long."""

from memops.values.forms import measured, per
from memops.values.grammar import Found, Rule, Span
from memops.values.lexicon import Num
from memops.values.value import number


def _every(seconds: float, months: float) -> list[Found] | None:
    if months == _HALF:  # half a month is 15 days
        months, seconds = 0, 15 * _DAY
    if months and not seconds:
        return [Found("frequency", f"every {number(months)} mo")]
    return [Found("frequency", f"every {number(seconds)} s")] if seconds else None


def _often(span: Span) -> list[Found] | None:
    """Twice a week, every 3 days, 一天三次: from one to the next."""
    if _prefixed(span):
        return None
    count = 1.0
    if span.has("count"):
        count = float(span.get("count", "count"))
    elif span.has("n"):
        value = span.get("n", "number")
        if isinstance(value, Num) and (value.high or value.bound):
            return None
        count = span.num("n")
    every = span.num("e") if span.has("e") else 1.0
    unit = span.get("u", "time_unit")
    if (
        span.all("interval") and unit is not None
    ):  # 隔一周 is every other week, 隔三天 every fourth day
        daily = unit.kind == "months" or unit.factor >= _DAY
        every += (every == 1 and daily) or (unit.kind == "duration" and unit.factor == _DAY)
    if span.has("nth"):
        every = float(span.get("nth", "ordinal"))
    if span.has("alternate"):
        every = 2.0
    if span.has("half"):
        every = 0.5
    found = _interval(span, every / count if count else 0.0)
    bound = str(span.get("b", "bound_before") or "")
    return found and [one._replace(form=bound + one.form) for one in found]


def _each_and_half(span: Span) -> list[Found] | None:
    """Every hour and a half."""
    return _interval(span, 1 + float(span.get("f", "fraction")))


def _prefixed(span: Span) -> bool:
    """Whether part of a word stands before: semi-annually is not annually."""
    line, at = span.line, span.begin
    return line.surface(at - 1) == "-" and line.joined(at) and line.joined(at - 1)


_DAY = 86400
_WORD = 12  # letters between "three" and "a week" in "three classes a week", 每天吃两次


def _apart(span: Span) -> list[Found] | None:
    """Three classes a week, 一天吃两次."""
    between = span.said("between").strip()
    return _often(span) if len(between) <= _WORD and " " not in between else None


def _interval(span: Span, many: float) -> list[Found] | None:
    if span.has("a"):
        size, family = str(span.get("a", "adverb")).split()
        scale = {"s": 1.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}.get(family)
        amount = float(size) * many
        return _every(0, amount) if scale is None else _every(amount * scale, 0)
    unit = span.get("u", "time_unit")
    if unit.kind == "workdays":
        return None
    amount = many * unit.factor
    return _every(0, amount) if unit.kind == "months" else _every(amount, 0)


def _days_per(span: Span) -> list[Found] | None:
    """Three days a week is three times; eight hours a day is a rate."""
    if len(span.said("between")) > _WORD:
        return None
    unit, told = span.get("of", "time_unit"), span.get("a", "adverb")
    if unit.factor == 86400:
        numbered = "day_mark" in span.line.roles[span.at("of")] and str(told).endswith("mo")
        return None if numbered else _often(span)
    found = measured(span.get("n", "number"), unit)
    if unit.kind == "workdays":
        return None
    size, _, family = (
        str(told).partition(" ") if told else ("1", "", per(span.get("u", "time_unit")))
    )
    said = family if size == "1" else f"{size} {family}"
    return [found._replace(kind="duration rate", unit=f"{found.unit}/{said}")]


_SIXTY, _HALF = 60, 0.5


def _compound(span: Span) -> Found | None:
    """An hour and 30 minutes, 2 years and 3 months, 1h 30m."""
    total, months, last = 0.0, 0.0, float("inf")
    amounts = [roles for roles in span.line.roles[span.begin : span.end]]
    count: float | None = None
    for at, roles in enumerate(amounts):
        if "number" in roles:
            value = roles["number"]
            count = value.value if isinstance(value, Num) else float(value)
        elif "minute_mark" in roles and "time_unit" not in roles:
            total, count = total + (count or 0) * 60, None
        elif "time_unit" in roles or span.line.surface(span.begin + at).lower() == "m":
            unit = roles.get("time_unit")
            size = 60.0 if unit is None else unit.factor * (2592000 if unit.kind == "months" else 1)
            if size >= last or count is None:
                return None
            last = size
            if unit is not None and unit.kind == "months":
                months += count * unit.factor
            else:
                total += count * (60.0 if unit is None else unit.factor)
            count = None
        elif "article" in roles:
            count = 1.0
    if count is not None:  # 1h30; a number behind any other unit is of something else
        if last not in (3600, 60) or count >= _SIXTY:
            return None
        total += count * last / _SIXTY
    return _length(months, total)


def _length(months: float, seconds: float) -> Found | None:
    if months and seconds:
        return Found("duration", f"{number(months)} mo {number(seconds)} s")
    if months:
        return Found("duration", amount=Num(months), unit=" mo")
    return Found("duration", amount=Num(seconds), unit=" s") if seconds else None


def _long(span: Span) -> Found | None:
    """90 minutes, three months, an hour and a half, 三个半月."""
    unit = span.get("u", "time_unit")
    num = span.get("n", "number") if span.has("n") else Num(1.0)
    if not isinstance(num, Num):
        num = Num(float(num))
    if not span.has("n") and span.said("u").lower() in span.lex.beside:
        return None
    if span.has("half"):
        part = span.get("half", "fraction") or span.get("half", "portion").value
        num = num._replace(value=num.value + float(part))
    if unit.kind == "months" and unit.factor == 1 and num.value == 0.5:
        return Found(
            "duration", amount=Num(15.0), factor=86400.0, unit=" s"
        )  # half a month is 15 days
    return measured(num, unit)


_BETWEEN = "(between:other/measure measure?)?"
OFTEN: tuple[Rule, ...] = (
    ("each u:time_unit and article? f:fraction", _each_and_half),
    ("alternate u:time_unit", lambda span: _interval(span, 2.0)),
    (
        "(count:count | n:number times/fold/times_sign) (every? a:adverb | in (e:number | article) u:time_unit"
        " | (every e:number | alternate:alternate | every) u:time_unit)",
        _often,
    ),
    ("(e:number range? u:time_unit intervals | intervals of e:number u:time_unit)", _often),
    (
        "(a:adverb | ((each | interval)? e:number measure? | each) u:time_unit)"
        f" {_BETWEEN} (once_word | b:bound_before? n:number times)",
        _apart,
    ),
    ("((each | interval) e:number measure? | each nth:ordinal) u:time_unit", _often),
    (
        "(a:adverb (between:other/shift other/measure?)? | lone u:time_unit between:other/shift other/measure?)"
        " n:number measure? of:time_unit",
        _days_per,
    ),
    ("n:number between:other every u:time_unit", _apart),
    ("n:number of:time_unit (of between:other)? every u:time_unit", _days_per),
    ("(each u:time_unit | a:adverb)", _often),
)


LONG: tuple[Rule, ...] = (
    (
        "(n:number | article) range? time_unit ((and/comma)? number range? (time_unit | unit))+",
        _compound,
    ),
    ("n:number measure? time_unit (and? number time_unit/minute_mark)+", _compound),
    ("n:number minute_mark number time_unit", _compound),
    ("n:number time_unit !range int !unit !measure !times !currency !month_mark", _compound),
    ("n:number measure half:fraction u:time_unit", _long),
    ("n:number range? u:time_unit (and article?)? half:fraction/portion", _long),
    ("article u:time_unit and article? half:fraction/portion", _long),
    ("n:number measure? range? u:time_unit", _long),
    ("article u:time_unit", _long),
)
