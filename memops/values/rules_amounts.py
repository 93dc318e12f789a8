"""Rules for amounts: money, shares, discounts, quantities, numbered things, versions, bare numbers."""

from typing import Any

from memops.values.forms import measured, per, scalar
from memops.values.grammar import Found, Rule, Span
from memops.values.lexing import Num
from memops.values.units import Unit, printed, units
from memops.values.value import number


def _num(span: Span, name: str = "n") -> Num:
    found = span.get(name, "number")
    return found if isinstance(found, Num) else Num(float(found))


def _currency(said: str) -> tuple[str, float]:
    code, _, part = said.partition("/")
    return code, 1 / float(part or 1)


def _money(span: Span) -> list[Found] | None:
    """$1,200, 300 元, 三块五, 三块二毛五."""
    code, scale = _currency(span.get("c", "currency"))
    if not span.has("n"):
        return None
    num = _num(span)
    value, last = num.value * scale, scale
    for at in range(span.at("n") + 1, span.end):
        roles = span.line.roles[at]
        if "currency" in roles and at > span.at("c"):
            other, last = _currency(roles["currency"])
            if other != code:
                return None
        elif "number" in roles and ("lone" not in roles or at + 1 >= span.end or at + 1 != span.at("per")):
            small = roles["number"]
            part = small if isinstance(small, Num) else Num(float(small))
            nxt = span.line.roles[at + 1] if at + 1 < span.end else {}
            if "currency" in nxt:
                value += part.value * _currency(nxt["currency"])[1]
            elif "small_money" in nxt:
                value += part.value * nxt["small_money"]
            else:
                size = len(part.digits) or 1
                value += part.value * last / 10**size
    if len(span.said("between")) > _BETWEEN:
        return None
    whole = num._replace(value=value, high=num.high * scale if num.high is not None else None, digits="")
    return [_rate(span, scalar("money", whole, f" {code}"))]


_BETWEEN = 12  # letters between "monthly" and the amount


def _rate(span: Span, found: Found) -> Found:
    """So much every week, an hour, a kilo; a length in a time is a speed."""
    told = span.get("per_day", "adverb") or span.get("per_day", "per_period")
    unit = span.get("per", "time_unit") or span.get("per", "unit")
    if unit is None and span.has("per"):
        return found._replace(kind=f"{found.kind} rate", unit=f"{found.unit}/1")
    if unit is not None:
        said = per(unit)
        if unit.kind not in ("months", "duration", "workdays"):
            found = found._replace(factor=found.factor / unit.factor)
    elif told is not None or span.has("hour"):
        size, _, family = str(told or "1 h").partition(" ")
        said = family if size == "1" else f"{size} {family}"
    else:
        return found
    if found.kind == "length" and said in _SPEEDS:
        return found._replace(kind="speed", factor=found.factor * _SPEEDS[said], unit=" km/h")
    return found._replace(kind=f"{found.kind} rate", unit=f"{found.unit}/{said}")


_SPEEDS = {"h": 1e-3, "1 s": 3.6, "s": 3.6, "60 s": 0.06}


def _quantity(span: Span) -> list[Found] | None:
    """2500 g, 2.5 公斤, -5 °C, half a kilo."""
    unit = span.get("sc", "unit") or span.get("u", "unit")
    if len(span.said("between")) > _BETWEEN:
        return None
    said = span.said("u")
    if len(said) == 1 and said in "cf" and not span.line.joined(span.at("u")):
        return None
    if said in _LARGE and span.line.joined(span.at("u")):
        unit = units()[_LARGE[said]]
    num = _num(span)
    if span.has("half"):
        num = num._replace(value=num.value + float(span.get("half", "fraction")))
    if (span.has("neg")) or (span.has("below")):
        num = num._replace(value=-abs(num.value))
    return [_rate(span, measured(num, unit))]


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
            pending = roles["number"] if isinstance(roles["number"], Num) else Num(float(roles["number"]))
        elif "unit" in roles and pending is not None:
            unit = roles["unit"]
            if (first is not None and unit.kind != first.kind) or unit.factor >= last:
                return None
            first, last = first or unit, unit.factor
            value += pending.value * unit.factor
            pending, grain = None, unit.factor
    if first is None or first.kind == "temperature":
        return None
    if pending is not None:
        value += _rest(first, pending)
    symbol = "%" if first.kind == "share" else " " + printed().get(first.kind, first.kind)
    return [Found(first.kind, amount=Num(value, decimals=2 if grain is None else 0), unit=symbol, converted=first.customary)]


def _rest(unit: Unit, num: Num) -> float:
    """What a number after a unit stands for: inches after feet, else decimals."""
    if unit.factor == 0.3048:
        return num.value * 0.0254
    digits = num.digits or number(num.value)
    return float(f"0.{digits}") * unit.factor


def _share(span: Span) -> list[Found] | None:
    num = _num(span)
    if span.has("d"):  # one in five
        whole = _num(span, "d").value
        if not whole or num.value > whole:
            return None
        num = Num(num.value / whole, decimals=9)
    scale = 100.0
    for role, factor in (("percent", 1.0), ("per_hundred", 1.0), ("per_thousand", 0.1), ("per_ten_thousand", 0.01), ("tenths", 10.0)):
        if span.all(role):
            scale = factor
            break
    if span.has("rest"):  # 三成五
        num = num._replace(value=num.value + span.num("rest") / 10)
    if span.has("half"):
        num = num._replace(value=num.value + 0.5)
    if span.has("neg"):
        num = num._replace(value=-num.value)
    return [_part(num) if scale == 100.0 else scalar("share", num, "%", scale)]


def _time_part(span: Span) -> list[Found]:
    """Three quarters of an hour."""
    return [measured(_num(span), span.get("u", "time_unit"))]


def _part(num: Num) -> Found:
    return scalar("share", num, "%", 100.0)._replace(converted=True)


def _over(span: Span) -> list[Found] | None:
    """三分之二."""
    below, above = _num(span, "d").value, _num(span, "n").value
    return [_part(Num(above / below, decimals=9))] if below else None


def _discount(span: Span) -> list[Found] | None:
    """20 % off, 八折, half price, 原价的八成: how much less."""
    if span.all("half_price"):
        return [scalar("discount", Num(50.0), "% off")]
    num = _num(span)
    value = num.value
    if span.has("fold"):  # 八折, 85折, 七五折
        digits = num.digits or number(value)
        left = value * 10 if value < 10 and num.decimals == 0 else value * 10 if value < 10 else value
        if num.high is not None and len(digits) == 2:
            left = float(digits)
        value = 100 - left
    else:
        value *= 10.0 if span.all("tenths") else 1.0 if span.all("percent") or span.all("unit") or span.all("per_hundred") else 100.0
        if span.all("of_price") or span.all("of_before"):
            value = 100 - value
    return [scalar("discount", Num(value, decimals=num.decimals), "% off")] if 0 < value < 100 else None


def _factor(span: Span) -> list[Found]:
    if span.has("f"):
        return [scalar("factor", Num(float(span.get("f", "factor"))), "x")]
    return [scalar("factor", _num(span), "x")]


def _size(span: Span) -> list[Found]:
    """1920 x 1080, 3 by 4 metres."""
    numbers = [n.value if isinstance(n, Num) else float(n) for n in span.all("number")]
    unit = span.get("u", "unit") if span.has("u") else None
    scale, tail = (unit.factor, " " + printed().get(unit.kind, unit.kind)) if unit else (1.0, "")
    return [Found("size", "x".join(number(n * scale) for n in numbers) + tail)]


def _ratio(span: Span) -> list[Found] | None:
    a, b = span.num("n"), span.num("d")
    return [Found("ratio", f"{number(a)}:{number(b)}")]


def _digits(num: Num) -> str:
    return number(num.value)


def _numbered(span: Span) -> list[Found] | None:
    """Room 12, third floor, 第三章, 3号楼: a thing that its number tells from its like."""
    head = span.get("h", "numbered")
    if span.has("nth"):
        said = number(float(span.get("nth", "ordinal")))
    elif span.has("code"):
        said = str(span.get("code", "digits"))
    else:
        num = _num(span)
        if num.bound or num.high is not None:
            return None
        said = num.digits or _digits(num)
    return [Found("ordinal", f"#{said}") if head == "#" else Found("ident", f"{head}#{said}")]


def _ordinal(span: Span) -> list[Found] | None:
    if span.has("o"):
        return [Found("ordinal", f"#{span.get('o', 'ordinal')}", begin=span.at("o"), end=span.at("o") + 1)]
    if span.said("s").lower() == "no" and not span.all("dot") and span.said("s") != "No":
        return None
    num = _num(span)
    return None if num.bound or num.high is not None else [Found("ordinal", f"#{_digits(num)}")]


def _version(span: Span) -> list[Found] | None:
    num = _num(span)
    said = num.digits or _digits(num)
    if span.said("v").lower() == "v" and not span.line.joined(span.at("n")):
        return None
    return [Found("version", version_form(said))]


def version_form(said: str) -> str:
    """Return a version without zeros at its end: 2.0 is 2."""
    parts = said.split(".")
    while len(parts) > 1 and parts[-1].strip("0") == "":
        parts.pop()
    return "v" + ".".join(parts)


def _ready(span: Span) -> list[Found]:
    kind, form = span.get("a", "address")
    return [Found(kind, form)]


def _code(span: Span) -> list[Found]:
    return [Found("ident", str(span.get("d", "digits")))]


def _ages(span: Span) -> list[Found]:
    num = _num(span)
    return [Found("duration", amount=num, factor=12.0, unit=" mo", begin=span.begin, end=span.end)]


def _plain(span: Span) -> list[Found] | None:
    num = _num(span)
    if span.has("neg"):
        num = num._replace(value=-num.value)
    at = span.at("n")
    roles = span.line.roles[at]
    if "lone" in roles and not span.all("measure") and not _ranged(span, at):
        return None
    if "slashed" in roles:
        shared = "portion" in roles and span.line.roles[at + 1 : at + 2] and span.line.roles[at + 1].keys() & {"of", "measure"}
        return [_part(num)] if shared else [Found("slashed", num.digits)]
    if "portion" in roles:
        bare = "half" in roles and len(span.said("n").strip()) in (1, 4)
        return None if bare else [_part(num)]
    if _named_before(span, at, num):
        return [Found("version", version_form(num.digits))]
    return [scalar("number", num, "")]


def _one_thing(span: Span) -> list[Found] | None:
    """One tablet; a numeral of one sign needs a measure instead."""
    if span.said("n")[0] >= "一":
        return None
    return [scalar("number", _num(span), "")._replace(begin=span.begin, end=span.begin + 1)]


def _much(span: Span) -> list[Found] | None:
    """年薪三十万: so much in a time, of what is not said."""
    return None if len(span.said("between")) > _BETWEEN else [_rate(span, scalar("number", _num(span), ""))]


_OFTEN_AT_MOST = 99


def _often_told(span: Span) -> list[Found] | None:
    """3 per week is how often, 85,000 a year how much."""
    num, unit = _num(span), span.get("per", "time_unit")
    if unit.kind == "workdays":
        return None
    if "int" not in span.line.roles[span.at("n")] or num.value > _OFTEN_AT_MOST or not num.value:
        return [scalar("number rate", num, f"/{per(unit)}")]
    family = "mo" if unit.kind == "months" else "s"
    return [Found("frequency", f"every {number(unit.factor / num.value)} {family}")]


def _ranged(span: Span, at: int) -> bool:
    """Whether a number begins a range: the 三 in 三至五公斤."""
    ahead = span.line.roles[at + 1 : at + 3]
    return len(ahead) == 2 and "range" in ahead[0] and "number" in ahead[1]


def _named_before(span: Span, at: int, num: Num) -> bool:
    """Whether a decimal stands right behind a name: Python 3.10 is a version."""
    if not num.decimals or not num.digits or at == 0 or "other" not in span.line.roles[at - 1]:
        return False
    before = span.line.text[: span.line.starts[at]].rstrip(" -")
    word = before[-24:].replace("-", " ").split(" ")[-1]
    return word[:1].isalpha() and word.isascii() and (word[0].isupper() or any(c.isupper() for c in word))


_EVERY = "(every/slash per:time_unit/unit | per_day:adverb)"
_EACH = "(of between:other)? (every/slash per:time_unit/unit | per_day:adverb)"
_ONE = "lone per:time_unit/unit/measure"
_OFTEN = "per_day:adverb/per_period between:other? of?"
MONEY: tuple[Rule, ...] = (
    ("a:address", _ready),
    ("(per_day:adverb | lone per:time_unit) between:other? n:number u:unit", _quantity),
    (f"n:number range? u:unit {_EACH}", _quantity),
    (f"c:currency n:number currency {_EVERY}?", _money),
    (f"c:currency n:number {_EVERY}?", _money),
    ("n:number c:currency number currency (number currency)? (int !measure !unit !time_unit !times)?", _money),
    ("n:number c:currency number small_money", _money),
    (f"n:number c:currency (int/pair)? {_ONE}", _money),
    ("each per:unit/time_unit/measure between:other? (n:number c:currency | c:currency n:number)", _money),
    ("n:number c:currency (int/pair) !measure !unit !time_unit !currency !month_mark !day_mark !times !percent !fold_price !oclock !numbered", _money),
    (f"n:number c:currency {_EVERY}?", _money),
    (f"{_OFTEN} n:number c:currency", _money),
    (f"{_OFTEN} c:currency n:number", _money),
)
MUCH: tuple[Rule, ...] = (
    (f"{_OFTEN} n:number !measure !unit !time_unit !times !currency !month_mark !day_mark !oclock !range !percent", _much),
)
SHARES: tuple[Rule, ...] = (
    ("half_price", _discount),
    ("cut? n:number fold:fold_price", _discount),
    ("n:number percent off", _discount),
    ("n:number percent of_price", _discount),
    ("n:number/portion of_price", _discount),
    ("n:portion off", _discount),
    ("off_before (percent? n:number (percent/tenths) | per_hundred n:number)", _discount),
    ("of_before (n:number (percent/tenths) | per_hundred n:number)", _discount),
    ("(per_hundred/per_thousand/per_ten_thousand) neg:negative? n:number", _share),
    ("n:small tenths (rest:small | half:fraction)? !unit !measure", _share),
    ("d:number over n:number", _over),
    ("neg:negative? n:number percent", _share),
    ("n:portion of article u:time_unit", _time_part),
    ("n:portion of article u:unit", _quantity),
    ("n:portion of", lambda span: [_part(_num(span))._replace(begin=span.begin, end=span.begin + 1)]),
    ("n:small out_of d:int !unit !time_unit !month !year !currency !oclock", _share),
)
SIZES: tuple[Rule, ...] = (
    ("n:number unit? times_sign number (unit? times_sign number)? u:unit?", _size),
    ("n:int unit? dimension int (dimension int)? u:unit", _size),
)
QUANTITIES: tuple[Rule, ...] = (
    ("n:number unit ((and)? number unit)+", _feet),
    ("n:number unit (int/pair) !unit !time_unit !currency !measure !month_mark !day_mark !times !percent !oclock !numbered !range", _feet),
    ("n:number range? u:unit (and article)? half:fraction !unit !time_unit", _quantity),
    ("neg:negative n:number range? u:unit", _quantity),
    ("hour:by_hour n:number u:unit", _quantity),
    ("n:number measure? u:unit below:below_zero sc:unit?", _quantity),
    ("article u:unit of", _one),
    (f"n:number multi? measure? range? u:unit {_EVERY}?", _quantity),
    ("n:number (and article)? measure half:fraction u:unit", _quantity),
)
COUNTS: tuple[Rule, ...] = (
    ("f:factor", _factor),
    ("n:number fold", _factor),
    ("v:version dot? n:number", _version),
    ("n:literal v:version", _version),
    ("of? nth:ordinal h:numbered", _numbered),
    ("of? n:int ordinal_suffix h:numbered", _numbered),
    ("h:numbered range? (number_sign dot?)? (n:literal | code:digits) !percent !currency !unit !time_unit", _numbered),
    ("h:numbered (number_sign dot?)? n:spelt !measure !unit !time_unit !currency !numbered", _numbered),
    ("nth n:number h:numbered", _numbered),
    ("n:number h:numbered !measure", _numbered),
    ("nth n:number measure?", _ordinal),
    ("n:int o:ordinal_suffix", lambda span: [Found("ordinal", f"#{_digits(_num(span))}")]),
    ("of o:ordinal", _ordinal),
    ("o:ordinal other", _ordinal),
    ("s:number_sign dot? (n:int | o:code)", _ordinal),
    ("aged n:int", _ages),
    ("n:int colon/ratio d:int", _ratio),
    ("d:digits", _code),
    ("n:number every per:time_unit", _often_told),
    ("neg:negative? n:number measure", _plain),
    ("n:lone other", _one_thing),
    ("neg:negative? n:number", _plain),
)
