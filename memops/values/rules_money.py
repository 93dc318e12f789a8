"""Rules for money, and for amounts with a unit."""

from memops.values.forms import measured, scalar
from memops.values.grammar import Found, Rule, Span
from memops.values.lexicon import Num, Roles
from memops.values.rules_rates import BETWEEN, EACH, EVERY, LONE, OFTEN, ONE, num_of, rate
from memops.values.units import Unit, printed, units
from memops.values.value import number


def _currency(said: str) -> tuple[str, float]:
    code, _, part = said.partition("/")
    return code, 1 / float(part or 1)


_ALONE = (
    "!measure !unit !time_unit !currency !month_mark !day_mark !times !percent !oclock !numbered"
)
_SMALL = {"": "USD"}
"""Whose hundredth a cent is where no other currency is said."""


def _money(span: Span) -> list[Found] | None:
    """$1,200, 300 元, 三块五, 三块二毛五."""
    code, scale = _currency(span.get("over", "currency") or span.get("c", "currency"))
    num = _amount(span)
    if num is None or len(span.said("between")) > BETWEEN:
        return None
    value, last = num.value * scale, scale
    for at in range(span.at("n") + 1, span.at("half") if span.has("half") else span.end):
        roles = span.line.roles[at]
        if "currency" in roles and at > span.at("c"):
            other, last = _currency(roles["currency"])
            if other not in (code, "") and not span.has("over"):
                return None
        elif "number" in roles and (at + 1 >= span.end or at + 1 != span.at("per")):
            behind = span.line.roles[at + 1] if at + 1 < span.end else {}
            value += _small(roles["number"], behind, last)
    whole = num._replace(
        value=value, high=num.high * scale if num.high is not None else None, digits=""
    )
    return [rate(span, scalar("money", whole, f" {_SMALL.get(code, code)}"))]


def _amount(span: Span) -> Num | None:
    """The number before or behind a currency, with its sign and half; the stroke in $30-$40 is none."""
    num = num_of(span) if span.has("n") else None
    if num is not None and span.has("half"):
        num = num._replace(value=num.value + float(span.get("half", "fraction")), decimals=1)
    at = span.at("neg")
    if num is None or at < 0 or not span.line.joined(at + 1):
        return num
    if span.line.joined(at) and "number" in span.line.of(at - 1):
        return None
    return num._replace(value=-num.value)


def _small(number_: Num | float, behind: Roles, last: float) -> float:
    """What a number behind the first one adds: in a smaller coin, or as the next digits."""
    part = number_ if isinstance(number_, Num) else Num(float(number_))
    if "small_money" in behind:
        return part.value * float(behind["small_money"])
    if "currency" in behind:
        return part.value * _currency(behind["currency"])[1]
    return part.value * last / 10.0 ** (len(part.digits) or (2 if part.value >= _TWO else 1))


_TWO = 10  # from then on a number has two digits


def quantity(span: Span) -> list[Found] | None:
    """2500 g, 2.5 公斤, -5 °C, half a kilo."""
    unit = span.get("u", "unit") or span.get("sc", "unit")
    if span.get("sc", "unit") is not None:
        if (
            unit.kind not in ("degrees", "temperature")
            or span.get("sc", "unit").kind != "temperature"
        ):
            return None
        unit = span.get("sc", "unit")
    if unit is None or len(span.said("between")) > BETWEEN:
        return None  # three below hours
    said = span.said("u")
    if said.lower() == "k" and (said == "k" or span.line.joined(span.at("u"))):
        return None
    if said == "in" and not span.line.joined(span.at("u")):
        return None
    apart = span.all("measure") or (said.islower() and not span.line.joined(span.at("u")))
    if said.lower() in ("c", "f") and apart:
        return None  # 二层C区
    if said in _LARGE and span.line.joined(span.at("u")):
        unit = units()[_LARGE[said]]
    num = num_of(span) if span.has("n") else Num(1.0)
    if span.has("half"):
        num = num._replace(value=num.value + float(span.get("half", "fraction")))
    if (span.has("neg")) or (span.has("below")):
        num = num._replace(value=-abs(num.value))
    return [rate(span, measured(num, unit))]


_LARGE = {"G": "digital-gigabyte", "T": "digital-terabyte"}
"""Sizes that people write with one capital letter right behind a number."""


def _one(span: Span) -> list[Found]:
    """A pint of."""
    return [measured(Num(1.0), span.get("u", "unit"))._replace(begin=span.begin, end=span.end - 1)]


def _feet(span: Span) -> list[Found] | None:
    """5 ft 11, 6 lb 4 oz, 1 米 78, 一米七八: smaller units, or decimals."""
    first: Unit | None = None
    value, last, grain = 0.0, float("inf"), None
    rows = span.line.roles[span.begin : span.end]
    pending: Num | None = None
    for roles in rows:
        if "number" in roles:
            pending = (
                roles["number"] if isinstance(roles["number"], Num) else Num(float(roles["number"]))
            )
        elif "unit" in roles and pending is not None:
            unit = roles["unit"]
            if "in" in roles and (first is None or first.factor != _FOOT):  # forty in 2020
                return None
            if (first is not None and unit.kind != first.kind) or unit.factor >= last:
                return None
            first, last = first or unit, unit.factor
            value += pending.value * unit.factor
            pending, grain = None, unit.factor
    if first is None or first.kind == "temperature":
        return None
    if pending is not None:
        mixed = "literal" in rows[0] and "literal" not in rows[-1]
        mixed |= (
            first.kind == "mass" and span.line.joined(span.end) and span.line.any(span.end, "other")
        )
        if mixed or "int" not in rows[0]:
            return None  # 250克五花肉, 半斤五花肉
        if first.factor == _POUND:
            return [scalar("money", Num(value / _POUND + pending.value / 100), " GBP")]
        value += _rest(first, pending)
    symbol = "%" if first.kind == "share" else " " + printed().get(first.kind, first.kind)
    return [
        Found(
            first.kind,
            amount=Num(value, decimals=2 if grain is None else 0),
            unit=symbol,
            converted=first.customary,
        )
    ]


def _rest(unit: Unit, num: Num) -> float:
    """What a number after a unit stands for: inches after feet, else decimals."""
    if unit.factor == _FOOT:
        return num.value * 0.0254
    digits = num.digits or number(num.value)
    return float(f"0.{digits}") * unit.factor


_FOOT = 0.3048
_POUND = 453.59237  # grams; three pounds fifty are money, as ounces are said of what is weighed


def _size(span: Span) -> list[Found]:
    """1920 x 1080, 3 by 4 metres."""
    numbers = [n.value if isinstance(n, Num) else float(n) for n in span.all("number")]
    unit = span.get("u", "unit") if span.has("u") else None
    scale, tail = (unit.factor, " " + printed().get(unit.kind, unit.kind)) if unit else (1.0, "")
    return [Found("size", "x".join(number(n * scale) for n in numbers) + tail)]


MONEY: tuple[Rule, ...] = (
    ("(neg:minus c:currency | c:currency neg:minus) n:number", _money),
    (f"{LONE} between:other? of? (n:number c:currency | c:currency n:number)", _money),
    ("lone per:unit n:number c:currency (int/pair)?", _money),
    ("(per_day:adverb/per_period | lone per:time_unit) between:other? n:number u:unit", quantity),
    (f"n:number range? u:unit {EACH}", quantity),
    (f"c:currency n:number over:currency {EVERY}?", _money),
    ("c:currency n:number and number currency", _money),
    (f"c:currency n:number {EVERY}?", _money),
    (
        "n:number c:currency and? number currency (number currency/small_money)?"
        " (int !measure !unit !time_unit !times)?",
        _money,
    ),
    ("n:number c:currency half:fraction !unit !time_unit", _money),
    (f"n:number c:currency (int/pair)? {ONE}", _money),
    (
        "(each number? per:unit/time_unit/measure | lone per:measure) between:other?"
        f" (n:number c:currency (int/pair) {_ALONE} | n:number c:currency | c:currency n:number)",
        _money,
    ),
    ("(n:number c:currency | c:currency n:number) slash per:measure", _money),
    (
        f"n:number c:currency (int/pair) {_ALONE} !fold_price",
        _money,
    ),
    (f"n:number c:currency {EVERY}?", _money),
    (f"{OFTEN} (n:number c:currency | c:currency n:number)", _money),
)


SIZES: tuple[Rule, ...] = (
    ("n:number unit? times_sign number (unit? times_sign number)? u:unit?", _size),
    ("n:number unit? by number u:unit", _size),
)


QUANTITIES: tuple[Rule, ...] = (
    ("n:number unit ((and)? number unit)+", _feet),
    (
        f"n:number unit (int/pair) {_ALONE} !range",
        _feet,
    ),
    ("n:number range? u:unit (and article?)? half:fraction !unit !time_unit", quantity),
    ("article u:unit and article? half:fraction !unit !time_unit", quantity),
    ("neg:negative n:number range? u:unit", quantity),
    ("n:number (measure? u:unit)? below:below_zero sc:unit?", quantity),
    ("sc:unit n:number u:unit", quantity),
    ("article u:unit of", _one),
    (f"n:number multi? measure? range? u:unit {EVERY}?", quantity),
)
