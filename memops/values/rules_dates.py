"""Rules for dates, days of the week, and days told from the day of speaking."""

from calendar import monthrange
from collections.abc import Sequence
from typing import Any

from memops.values.forms import DAYS, date_form, date_found, days_form, whole_period
from memops.values.grammar import Found, Rule, Span
from memops.values.lexicon import Num


def _whole(span: Span, name: str) -> int | None:
    return int(span.num(name)) if span.has(name) else None


def _year(span: Span) -> int | None:
    if span.has("short"):
        short = int(span.num("short"))
        return short + (1900 if _CENTURY <= short < 100 else 2000)
    return _whole(span, "y")


def _month(span: Span) -> int | None:
    return int(span.get("m", "month")) if span.has("m") else _whole(span, "mn")


def _day(span: Span) -> int | None:
    if span.has("nth"):
        return int(span.get("nth", "ordinal"))
    return _whole(span, "d")


def _dated(span: Span) -> Found | None:
    edge = span.get("edge", "edge") or span.get("tail", "edge_after") or ""
    return date_found(_year(span), _month(span), _day(span), edge)


def _shy(span: Span) -> bool:
    return span.said("m").lower() in span.lex.beside


def _month_alone(span: Span) -> Found | None:
    """A month by itself; one that is a name or a verb too, only where something dates it."""
    if _shy(span) and not (span.has("before") or span.has("edge") or span.has("y")):
        return None
    found = _dated(span)
    first = span.at("edge") if span.has("edge") else span.at("m")
    return found._replace(begin=first, end=span.end) if found else None


def _days_of_month(span: Span) -> list[Found] | None:
    """3 to 5 May, May 3-5: a range of days."""
    low, high = int(span.num("d")), int(span.num("e"))
    one, two = (
        date_found(_year(span), _month(span), low),
        date_found(_year(span), _month(span), high),
    )
    if one is None or two is None or low >= high:
        return None
    return [Found("date", whole_period(one.form, two.form), begin=span.begin, end=span.end)]


def _year_alone(span: Span) -> Found | None:
    return Found(
        "date", date_form(int(span.num("y")), None, None), begin=span.at("y"), end=span.end
    )


def _century(span: Span) -> Found:
    """13th-century, 公元六世纪: by the year with which it begins."""
    nth = int(span.num("n")) if span.has("n") else int(span.get("o", "ordinal"))
    return Found("date", f"{nth - 1:02}XX-XX-XX")


def _headed(span: Span) -> Found | None:
    """1968: what took place then."""
    return Found("date", f"{int(span.num('y'))}-XX-XX", begin=0, end=1) if span.begin == 0 else None


def _decade(span: Span) -> Found | None:
    """The 1990s, 九十年代."""
    if span.has("s") and (span.said("s") != "s" or not span.line.joined(span.at("s"))):
        return None
    year = _whole(span, "y") or 1900 + int(span.get("short", "decade") or span.num("short"))
    if year % 10 or year >= 2100:
        return None
    begin = next(at for at in map(span.at, ("century", "y", "short")) if at >= 0)
    return Found("date", f"{year // 10}X-XX-XX", begin=begin, end=span.end)


def _quarter(span: Span) -> Found | None:
    n = int(span.num("n")) if span.has("n") else int(span.get("nth", "ordinal") or 0)
    year = _year(span)
    return Found("date", f"{'XXXX' if year is None else year}-{32 + n}") if 1 <= n <= 4 else None


def _season(span: Span) -> Found | None:
    """Spring 1998, 98年春天, by EDTF's numbers of the seasons."""
    if span.has("y"):
        year = _whole(span, "y") or 0
    else:
        year = _year(span) or 0
        if len(span.said("short")) != 2:
            return None
    return Found("date", f"{year}-{span.get('season', 'season')}")


_CENTURY = 50  # short years from then on are of the last century


def _half_year(span: Span) -> Found:
    year = _year(span)
    return Found(
        "date", f"{'XXXX' if year is None else year}-{39 + span.get('half', 'period_half')}"
    )


def _festival(span: Span) -> Found | None:
    """A day that has a name: 12-25, or lunar 8-15."""
    lunar, _, said = str(span.get("f", "festival")).rpartition(" ")
    if lunar:
        return Found("lunar date", f"lunar {said}")
    month, _, day = said.partition("-")
    return date_found(_year(span), int(month), int(day))


def _era(span: Span) -> Found | None:
    """44 BC, AD 44, 公元前 44 年."""
    era = next(iter([*span.all("era_before"), *span.all("era_after")]))
    return Found("date", f"{'-' if era < 0 else ''}{int(span.num('n')):04}-XX-XX")


def _last_day(span: Span) -> Found | None:
    """The last day of a month; of a February without a year nobody knows it."""
    year, month = _year(span), _month(span)
    if month is None or (month == 2 and year is None):
        return None
    return date_found(year, month, monthrange(year or 2001, month)[1])


def _months(span: Span) -> Found | None:
    """1 至 6 月."""
    one, two = (date_found(_year(span), int(span.num(name)), None) for name in ("mn", "e"))
    return Found("date", whole_period(one.form, two.form)) if one and two else None


def _last_weekday(span: Span) -> list[Found] | None:
    """The last Friday of a month."""
    if span.get("last", "shift") != -1:
        return None
    at = span.at("w")
    day = Found("weekday", DAYS[span.get("w", "weekday")], begin=at, end=at + 1)
    return [Found("ordinal", "#-1", begin=span.begin, end=at), day]


def _ready(span: Span) -> list[Found]:
    """What was a date before lexing (2026-05-14)."""
    return [Found("date", span.get("date", "date_token"))]


def _listed(span: Span) -> Found | None:
    """Weekdays in a row: named one by one, or from one to the other."""
    days: set[int] = set()
    last: int | None = None
    through = False
    for at in range(span.begin, span.end):
        roles = span.line.roles[at]
        day = next(
            (roles[r] for r in ("weekday", "weekday_plural", "weekday_tail") if r in roles), None
        )
        if "weekdays" in roles:
            days.update(roles["weekdays"])
        elif day is None:
            through = "range" in roles or through
        else:
            step = (last + 1) % 7 if through and last is not None else day
            while step != day:
                days.add(step)
                step = (step + 1) % 7
            days.add(day)
            last, through = day, False
    return Found("weekday", days_form(days))


def _weekday(span: Span) -> list[Found] | None:
    shy = span.end - span.begin == 1 and span.said("w").lower() in span.lex.beside
    if shy and not (span.begin and "dated" in span.line.roles[span.begin - 1]):
        return None
    found = _listed(span)
    return [found] if found else None


def _recurring(span: Span) -> list[Found] | None:
    """Every Tuesday, Tuesdays, 每周二: the day, and how often."""
    found = _listed(span)
    if found is None or str(span.get("a", "adverb") or "w")[-1] != "w":
        return None
    weeks = 2 if span.has("alternate") else 1
    if "," in found.form and weeks == 1:
        return [found]
    often = Found("frequency", f"every {weeks * 604800} s", begin=span.begin, end=span.end)
    return [found._replace(begin=span.begin, end=span.end), often]


def _other_days(span: Span) -> list[Found] | None:
    """Every day except Monday, 除周一外每天: the days that are left."""
    found = _listed(span)
    if found is None or span.get("a", "adverb") != "1 d":
        return None
    left = set(range(len(DAYS))) - {DAYS.index(day) for day in found.form.split(",")}
    return [found._replace(form=days_form(left), begin=span.begin, end=span.end)]


def _relative(span: Span) -> list[Found]:
    return [Found("date", f"day{span.get('r', 'relative'):+d}")]


def _relative_year(span: Span) -> list[Found] | None:
    year = span.get("r", "relative_year")
    month = _month(span)
    return None if month else [Found("date", f"year{year:+d}")]


_PERIODS = {
    "s 604800": "week",
    "mo 1": "month",
    "mo 12": "year",
    "mo 3": "quarter",
    "s 86400": "day",
}


def _period(unit: Any) -> str | None:
    family = "mo" if unit.kind == "months" else "s"
    return _PERIODS.get(f"{family} {unit.factor:g}")


def _shifted(span: Span) -> list[Found] | None:
    """Next week, 上个月, the end of this year."""
    period = _period(span.get("u", "time_unit"))
    if period is None:
        return None
    edge = span.get("edge", "edge") or span.get("tail", "edge_after") or ""
    step = span.get("s", "shift") if span.has("s") else 0
    return [Found("date", f"{period}{step:+d}" + (f" {edge}" if edge else ""))]


def _half_told(span: Span) -> list[Found] | None:
    """The first half of 2026."""
    nth = span.get("nth", "ordinal")
    return [Found("date", f"{_year(span)}-{39 + nth}")] if nth <= 2 else None


def _shifted_weekday(span: Span) -> list[Found] | None:
    if span.has("u") and _period(span.get("u", "time_unit")) != "week":
        return None
    day = DAYS[span.get("w", "weekday")]
    return [Found("date", f"week{span.get('s', 'shift'):+d} {day}")]


def _ahead(span: Span) -> list[Found] | None:
    """In three days, two weeks ago: counted from the day of speaking."""
    unit = span.get("u", "time_unit")
    number = span.get("n", "number") if span.has("n") else Num(1.0)
    count = number.value if isinstance(number, Num) else float(number)
    sign = span.get("g", "ago") if span.has("g") else 1
    if unit.kind == "workdays" or (isinstance(number, Num) and (number.bound or number.high)):
        return None
    amount = count * unit.factor * sign
    if unit.factor < 86400 and unit.kind == "duration" and not span.has("g"):
        return None
    if unit.kind == "months" and abs(amount) == 0.5:
        return [Found("date", f"day{15 * sign:+d}")]
    if unit.kind == "months":
        return [Found("date", f"month{amount:+g}")] if amount == int(amount) else None
    if amount % 86400 == 0 and unit.factor >= 86400:
        return [Found("date", f"day{int(amount // 86400):+d}")]
    return [Found("date", f"second{amount:+.12g}")]


def _joined_date(span: Span) -> Found | None:
    """3-May-2024."""
    joined = all(span.line.joined(at) for at in range(span.begin + 1, span.end))
    return _dated(span) if joined else None


def _day_of_month(span: Span) -> list[Found] | None:
    """The 15th, 15号; a number and "times" behind it make it a span: 一日三次, 三日内."""
    spelt = span.line.any(span.end - 1, "time_unit")
    if spelt and span.line.of(span.end).get("bound_after") == "<=":
        return None
    if span.line.any(span.end, "number") and span.line.any(span.end + 1, "times"):
        return None
    day = _day(span)
    found = date_found(None, None, day)
    return [found] if found else None


def _lunar(span: Span) -> Sequence[Found]:
    month = span.get("l", "lunar") or _month(span)
    return [Found("lunar date", f"lunar {month}-{int(span.num('d'))}")] if month else []


_MDY = "comma? of? y:year"
_LIST = "(dot? comma/list/and/slash/range/either)* w:weekday/weekday_plural/weekday_tail/weekdays"
RULES: tuple[Rule, ...] = (
    ("date:date_token", _ready),
    ("f:festival (comma? of? y:year)?", _festival),
    ("(y:year year_mark? | short:literal year_mark) f:festival", _festival),
    ("d:day range/slash m:month range/slash (y:year | short:literal)", _joined_date),
    ("of? (n:int ordinal_suffix | o:ordinal) range? century", _century),
    ("era_before? n:int century", _century),
    ("era_before n:int year_mark?", _era),
    ("n:int era_after", _era),
    ("last_day of? m:month (comma? of? y:year)?", _last_day),
    ("(y:year year_mark)? (mn:month_no month_mark | m:month) of? last_day", _last_day),
    ("(y:year year_mark)? mn:month_no month_mark? range e:month_no month_mark", _months),
    ("lunar? l:lunar (m:month | mn:month_no month_mark)? day_of_month? d:day", _lunar),
    (
        "m:month dot? of? d:day ordinal_suffix? range of? e:day ordinal_suffix? !hour !month"
        f" ({_MDY})?",
        _days_of_month,
    ),
    (
        "(of? d:day ordinal_suffix? range | between of? d:day ordinal_suffix? and) of? e:day ordinal_suffix?"
        f" of? m:month ({_MDY})?",
        _days_of_month,
    ),
    ("(mn:month_no month_mark | m:month) d:day day_mark? range e:day day_mark", _days_of_month),
    (
        f"m:month dot? of? (d:day (ordinal_suffix/day_mark)? | nth:ordinal) !oclock !meridiem !colon ({_MDY})?",
        _dated,
    ),
    (f"of? (d:day ordinal_suffix? | nth:ordinal) of? m:month dot? ({_MDY})?", _dated),
    ("y:year colon/range/comma", _headed),
    ("(dated of?)? y:year s:time_unit", _decade),
    ("of short:number s:time_unit", _decade),
    ("of short:decade", _decade),
    ("dated? century:last_century? (y:year year_mark? | short:number) decade_mark", _decade),
    ("(edge:edge range?)? m:month dot? comma? of? y:year", _dated),
    (
        "(y:year | short:literal) year_mark (mn:month_no month_mark | m:month) d:day day_mark?",
        _dated,
    ),
    (
        "(y:year | short:literal) year_mark (mn:month_no month_mark | m:month) tail:edge_after?",
        _dated,
    ),
    ("(mn:month_no month_mark | m:month) d:day day_mark", _dated),
    ("(mn:month_no month_mark) d:day !measure !unit !time_unit !times", _dated),
    (
        "(y:year | short:literal) year_mark (n:small period_quarter | nth_mark:nth n:small period_quarter)",
        _quarter,
    ),
    ("(y:year year_mark? | short:literal year_mark) period_quarter n:small !unit", _quarter),
    ("n:small period_quarter of? y:year", _quarter),
    ("season:season comma? of? y:year", _season),
    ("(y:year year_mark? | short:literal year_mark) of? season:season", _season),
    ("(y:year year_mark? | short:literal year_mark) half:period_half", _half_year),
    ("half:period_half (comma? of? y:year)?", _half_year),
    ("y:year year_mark tail:edge_after?", _dated),
    ("period_quarter n:small !unit (comma? of? y:year)?", _quarter),
    ("nth? n:small period_quarter !measure", _quarter),
    ("of? nth:ordinal range? period_quarter (of? y:year)?", _quarter),
    ("(mn:month_no month_mark | m:month) tail:edge_after", _dated),
    ("mn:month_no month_mark", _dated),
    ("edge:edge range? of? m:month", _month_alone),
    ("before:dated? m:month !spelt !day !ordinal (comma? y:year)?", _month_alone),
    ("edge:edge of? s:shift? u:time_unit", _shifted),
    ("edge:edge y:year", _dated),
    ("dated of? y:year !year_mark !unit !currency !measure !other_count", _year_alone),
    (f"a:adverb excluding dated? w:weekday/weekday_plural ({_LIST})*", _other_days),
    (f"excluding w:weekday ({_LIST})* outside? comma? a:adverb", _other_days),
    (f"(each/shift_each) w:weekday/weekday_plural/weekdays ({_LIST})*", _recurring),
    (f"a:adverb w:weekday_tail !times !measure !time_unit ({_LIST})*", _recurring),
    (f"alternate:alternate w:weekday/weekday_plural ({_LIST})*", _recurring),
    (f"w:weekday_plural ({_LIST})*", _recurring),
    ("of? nth:ordinal fraction (of? y:year)", _half_told),
    ("of? last:shift w:weekday of", _last_weekday),
    ("s:shift w:weekday", _shifted_weekday),
    ("s:shift u:time_unit of? w:weekday", _shifted_weekday),
    ("w:weekday of? s:shift u:time_unit", _shifted_weekday),
    (f"w:weekday/weekdays ({_LIST})+", _weekday),
    ("w:weekday/weekdays", _weekday),
    ("r:relative", _relative),
    ("r:relative_year", _relative_year),
    ("p:period_told", lambda span: Found("date", span.get("p", "period_told"))),
    ("n:number measure? u:time_unit g:ago", _ahead),
    ("article u:time_unit g:ago", _ahead),
    ("in n:number range? u:time_unit !every !of", _ahead),
    ("in article u:time_unit !every !of", _ahead),
    ("s:shift u:time_unit tail:edge_after?", _shifted),
    ("u:time_unit tail:edge_after", _shifted),
    ("day_of_month d:day !unit", _day_of_month),
    ("d:day day_mark !numbered !measure !unit", _day_of_month),
    (
        "of d:day ordinal_suffix !other !street !numbered !unit !measure !time_unit !times",
        _day_of_month,
    ),
)
