"""Rules for shares, discounts, and how many times what it was."""

from memops.values.forms import measured, scalar
from memops.values.grammar import Found, Rule, Span
from memops.values.lexicon import Num
from memops.values.rules_rates import num_of
from memops.values.value import number


def _share(span: Span) -> list[Found] | None:
    num = num_of(span)
    if span.has("d"):  # one in five
        whole = num_of(span, "d").value
        if not whole or num.value > whole:
            return None
        num = Num(num.value / whole, decimals=9)
    scale = 100.0
    for role, factor in (
        ("percent", 1.0),
        ("per_hundred", 1.0),
        ("per_thousand", 0.1),
        ("per_ten_thousand", 0.01),
        ("tenths", 10.0),
    ):
        if span.all(role):
            scale = factor
            break
    if span.has("rest"):  # 三成五
        num = num._replace(value=num.value + span.num("rest") / 10)
    if span.has("half"):
        num = num._replace(value=num.value + 0.5)
    if span.has("neg"):
        num = num._replace(value=-num.value)
    return [portion(num) if scale == 100.0 else scalar("share", num, "%", scale)]


def _priced(span: Span) -> list[Found] | None:
    """80 % of the ticket price."""
    return _discount(span) if " " not in span.said("between").strip() else None


_WHOLES = (100, 1000)


def _out_of(span: Span) -> list[Found] | None:
    """One in five; of more than ten only out of hundreds."""
    counted = num_of(span).value <= _TEN or num_of(span, "d").value in _WHOLES
    return _share(span) if counted else None


_TEN = 10


def _time_part(span: Span) -> list[Found]:
    """Three quarters of an hour, a quarter of a litre."""
    return [measured(num_of(span), span.get("u", "time_unit") or span.get("u", "unit"))]


def portion(num: Num) -> Found:
    """Return a fraction as a share."""
    return scalar("share", num, "%", 100.0)._replace(converted=True)


def _grown(span: Span) -> list[Found] | None:
    """Rose by 12 %, fell by half, 多一倍: how many times what it was."""
    if span.has("share"):
        size = {"percent": 0.01, "tenths": 0.1, "per_hundred": 0.01}
        scale = next((size[role] for role in size if span.all(role)), 1.0)
        amount = span.num("share") * scale
    else:
        amount = span.num("fold")
    down = bool(span.all("down"))
    times = 1 - amount if down else 1 + amount
    if times <= 0 and span.has("fold"):
        times = 1 / (1 + amount)  # 降低了一倍
    return [scalar("factor", Num(times, decimals=4), "x")] if times > 0 else None


def _growth(span: Span) -> list[Found] | None:
    """A 12 % rise; one sign behind a share (三分之二多数) is another word."""
    return _grown(span) if len(span.line.surface(span.end - 1)) > 1 else None


def _over(span: Span) -> list[Found] | None:
    """三分之二."""
    below, above = num_of(span, "d").value, num_of(span, "n").value
    num = Num(above / below if below else 0.0, decimals=9)
    if span.has("u"):  # 四分之一小时
        return [measured(num, span.get("u", "time_unit") or span.get("u", "unit"))]
    return [portion(num)] if below else None


def _discount(span: Span) -> list[Found] | None:
    """20 % off, 八折, half price, 原价的八成: how much less."""
    if span.all("half_price"):
        return [scalar("discount", Num(50.0), "% off")]
    num = num_of(span)
    value = num.value / num_of(span, "d").value if span.has("d") else num.value
    if span.has("fold"):  # 八折, 85折, 七五折
        digits = num.digits or number(value)
        left = (
            value * 10 if value < 10 and num.decimals == 0 else value * 10 if value < 10 else value
        )
        if num.high is not None and len(digits) == 2:
            left = float(digits)
        value = 100 - left
    else:
        value *= (
            10.0
            if span.all("tenths")
            else 1.0
            if span.all("percent") or span.all("unit") or span.all("per_hundred")
            else 100.0
        )
        if span.all("of_price") or span.all("of_before") or span.has("of_price"):
            value = 100 - value
    if not 0 < value < 100:
        return None
    rounded = span.has("d") or "portion" in span.line.of(span.at("n"))
    found = scalar("discount", Num(value, decimals=9 if rounded else num.decimals), "% off")
    return [found._replace(converted=rounded)]


_SHARED = "(share:number percent | per_hundred share:number | share:small tenths | share:portion)"


SHARES: tuple[Rule, ...] = (
    (f"up/down (by/of)? {_SHARED} !off !of !of_price", _grown),
    ("up/down by? fold:number fold !up !adverb", _grown),
    (f"{_SHARED} up/down", _growth),
    ("half_price", _discount),
    ("cut? n:number fold:fold_price", _discount),
    ("n:number percent between:other? off", _discount),
    ("n:number percent of_price", _discount),
    ("n:number percent of of? between:other? of_price:price", _priced),
    ("n:number/portion of_price", _discount),
    ("n:portion off", _discount),
    (
        "off_before (percent? n:number (percent/tenths) | per_hundred n:number | n:portion)",
        _discount,
    ),
    ("of_before (n:number (percent/tenths) | per_hundred n:number | n:portion)", _discount),
    ("off_before/of_before d:number over n:number", _discount),
    ("(per_hundred/per_thousand/per_ten_thousand) neg:negative? n:number", _share),
    ("n:small tenths (rest:small | half:fraction)? !unit !measure", _share),
    ("d:number over n:number u:time_unit/unit", _over),
    ("d:number over n:number", _over),
    ("neg:negative? n:number percent", _share),
    ("n:portion of article u:time_unit/unit", _time_part),
    (
        "n:portion of",
        lambda span: [portion(num_of(span))._replace(begin=span.begin, end=span.begin + 1)],
    ),
    ("n:int out_of d:int !unit !time_unit !month !year !currency !oclock", _out_of),
)
