"""Rules for numbers, numbered things, ranks and versions."""

from memops.values.forms import per, scalar
from memops.values.grammar import Found, Rule, Span
from memops.values.lexicon import Num
from memops.values.rules_rates import BETWEEN, LONE, OFTEN, num_of, rate
from memops.values.rules_shares import portion
from memops.values.value import number


def _factor(span: Span) -> list[Found]:
    if span.has("f"):
        return [scalar("factor", Num(float(span.get("f", "factor"))), "x")]
    return [scalar("factor", num_of(span), "x")]


def _ratio(span: Span) -> list[Found] | None:
    a, b = span.num("n"), span.num("d")
    return [Found("ratio", f"{number(a)}:{number(b)}")]


def _score(span: Span) -> list[Found] | None:
    """Three to one: what goes down is no range."""
    told = span.line.any(span.begin - 1, "between") or span.num("n") <= span.num("d")
    return None if told else _ratio(span)


def _digits(num: Num) -> str:
    return number(num.value)


def _numbered(span: Span) -> list[Found] | None:
    """Room 12, third floor, 第三章, 3号楼: a thing that its number tells from its like."""
    head = span.get("h", "numbered")
    if len(span.said("h")) == 1 and -1 < span.at("h") < span.at("n") and span.said("h") >= "一":
        return None  # A座1203
    if span.has("nth"):
        said = number(float(span.get("nth", "ordinal")))
    elif span.has("r"):
        said = str(span.get("r", "roman"))
    elif span.has("code"):
        said = str(span.get("code", "digits"))
    else:
        num = num_of(span)
        if num.bound or num.high is not None:
            return None
        said = num.digits or _digits(num)
    return [Found("ordinal", f"#{said}") if head == "#" else Found("ident", f"{head}#{said}")]


def _called(span: Span) -> list[Found] | None:
    """Gate 12, room no. 5, but for room 12 m long; behind a space "in" is no inch."""
    then = span.line.of(span.end)
    placed = "in" in then and not span.line.joined(span.end)
    return _numbered(span) if "unit" not in then or placed else None


def _lettered(span: Span) -> list[Found] | None:
    """Flight BA 249, gate B 12."""
    said = span.said("o").strip()
    letters = len(said) <= _LETTERS and said.isascii() and said.isupper()
    return [Found("ident", f"{said.lower()}{num_of(span).digits}")] if letters else None


_LETTERS = 3


def _numbered_behind(span: Span) -> list[Found] | None:
    """三楼; English says the number last, and what follows one there is a plural.

    What counts things too (一批) names one only with 第.
    """
    counts = "measure" in span.line.roles[span.at("h")]
    return _numbered(span) if span.said("h") >= "一" and not counts else None


def _ordinal(span: Span) -> list[Found] | None:
    if span.has("o"):
        return [
            Found(
                "ordinal", f"#{span.get('o', 'ordinal')}", begin=span.at("o"), end=span.at("o") + 1
            )
        ]
    if span.said("s").lower() == "no" and not span.all("dot") and span.said("s") != "No":
        return None
    num = num_of(span)
    return None if num.bound or num.high is not None else [Found("ordinal", f"#{_digits(num)}")]


def _version(span: Span) -> list[Found] | None:
    num = num_of(span)
    said = num.digits or _digits(num)
    if span.said("v").lower() == "v" and not span.line.joined(span.at("n")):
        return None
    return [Found("version", version_form(said))]


def _version_shown(span: Span) -> list[Found] | None:
    """Version 6.2.2, which its shape tells too."""
    return _ready(span) if span.get("a", "address")[0] == "version" else None


def version_form(said: str) -> str:
    """Return a version without zeros at its end: 2.0 is 2."""
    parts = said.split(".")
    while len(parts) > 1 and parts[-1].strip("0") == "":
        parts.pop()
    return "v" + ".".join(parts)


def _code(span: Span) -> list[Found]:
    return [Found("ident", str(span.get("d", "digits")))]


def _ages(span: Span) -> list[Found]:
    num = num_of(span)
    return [Found("duration", amount=num, factor=12.0, unit=" mo", begin=span.begin, end=span.end)]


def _plain(span: Span) -> list[Found] | None:
    num = num_of(span)
    if span.has("neg"):
        num = num._replace(value=-num.value)
    at = span.at("n")
    roles = span.line.roles[at]
    if (
        "lone" in roles
        and not span.has("neg")
        and not span.all("measure")
        and not _ranged(span, at)
    ):
        return None
    if "slashed" in roles:
        shared = (
            "portion" in roles
            and span.line.roles[at + 1 : at + 2]
            and span.line.roles[at + 1].keys() & {"of", "measure"}
        )
        return [portion(num)] if shared else [Found("slashed", num.digits)]
    if "portion" in roles:
        before = span.line.roles[at - 1] if at else {}
        bare = (
            "half" in roles
            and len(span.said("n").strip()) in (1, 4)
            and not before.keys() & {"bound_before", "approx"}
        )
        return None if bare else [portion(num)]
    name = at - 1 if at and "bound_before" in span.line.roles[at - 1] else at
    if num.decimals and num.digits and span.line.named(name):  # Python 3.10
        return [Found("version", version_form(num.digits))]
    return [scalar("number", num, "")]


def _one_thing(span: Span) -> list[Found] | None:
    """One tablet; a numeral of one sign needs a measure instead."""
    if span.said("n")[0] >= "一":
        return None
    return [scalar("number", num_of(span), "")._replace(begin=span.begin, end=span.begin + 1)]


def _much(span: Span) -> list[Found] | None:
    """年薪三十万: so much in a time, of what is not said."""
    return (
        None
        if len(span.said("between")) > BETWEEN
        else [rate(span, scalar("number", num_of(span), ""))]
    )


def _much_for_one(span: Span) -> list[Found] | None:
    """两万一个月: more than anybody counts in one."""
    return (
        None
        if num_of(span).value <= _OFTEN_AT_MOST
        else [rate(span, scalar("number", num_of(span), ""))]
    )


_OFTEN_AT_MOST = 99


def _often_told(span: Span) -> list[Found] | None:
    """3 per week is how often, 85,000 a year how much."""
    num, unit = num_of(span), span.get("per", "time_unit")
    if unit.kind == "workdays":
        return None
    counted = "int" in span.line.roles[span.at("n")] and 0 < num.value <= _OFTEN_AT_MOST
    before = [span.line.of(span.begin - k) for k in (1, 2, 3)]
    if not counted or ("range" in before[0] and "currency" in before[2]):  # $20-30 an hour
        return [scalar("number rate", num, f"/{per(unit)}")]
    family = "mo" if unit.kind == "months" else "s"
    told = f"every {number(unit.factor / num.value)} {family}"
    return [Found("frequency", told)]


def _ranged(span: Span, at: int) -> bool:
    """Whether a number begins a range: the 三 in 三至五公斤."""
    ahead = span.line.roles[at + 1 : at + 3]
    return len(ahead) == 2 and "range" in ahead[0] and "number" in ahead[1]


def _ready(span: Span) -> list[Found]:
    kind, form = span.get("a", "address")
    return [Found(kind, form)]


_BARE = "!measure !unit !time_unit !times !currency !month_mark !day_mark !oclock !range !percent"
MUCH: tuple[Rule, ...] = (
    (
        f"{OFTEN} n:number {_BARE}",
        _much,
    ),
    (
        f"{LONE} between:other n:number {_BARE}",
        _much,
    ),
    (f"n:number {LONE} !times", _much_for_one),
)


def _street(span: Span) -> list[Found]:
    """5th Avenue, Forty-second Street."""
    nth = span.get("o", "ordinal") if span.has("o") else _digits(num_of(span))
    return [Found("ident", f"{span.get('k', 'street')}#{nth}")]


STREETS: tuple[Rule, ...] = (("of? (o:ordinal | n:int ordinal_suffix) k:street", _street),)
COUNTS: tuple[Rule, ...] = (
    ("a:address v:version", _version_shown),
    ("a:address", _ready),
    ("f:factor", _factor),
    ("t:tax_basis", lambda span: [Found("tax basis", span.get("t", "tax_basis"))]),
    ("n:number range? fold", _factor),
    ("v:version (dot/colon)? n:number", _version),
    ("v:version (dot/colon)? a:address", _version_shown),
    ("n:literal v:version", _version),
    ("of? nth:ordinal h:numbered", _numbered),
    ("of? n:int ordinal_suffix h:numbered", _numbered),
    (
        "h:numbered range? (number_sign dot?)? (n:literal | code:digits) !percent !currency !time_unit",
        _called,
    ),
    (
        "h:numbered (number_sign dot?)? n:spelt !measure !time_unit !currency !numbered",
        _called,
    ),
    ("h:numbered r:roman", _numbered),
    ("nth r:roman h:numbered", _numbered),
    ("numbered o:other n:literal !measure !unit !time_unit !currency !percent", _lettered),
    ("nth n:number h:numbered", _numbered),
    ("at n:number h:numbered !measure", _numbered),
    ("n:number h:numbered !measure", _numbered_behind),
    ("nth_last n:number measure?", lambda span: [Found("ordinal", f"#-{_digits(num_of(span))}")]),
    ("r:roman", lambda span: [Found("ordinal", f"#{span.get('r', 'roman')}")]),
    (
        "o:ordinal_last measure?",
        lambda span: [Found("ordinal", f"#{span.get('o', 'ordinal_last')}")],
    ),
    ("nth n:number measure?", _ordinal),
    ("n:int o:ordinal_suffix", lambda span: [Found("ordinal", f"#{_digits(num_of(span))}")]),
    ("of o:ordinal", _ordinal),
    ("ranked o:ordinal", _ordinal),
    ("o:ordinal other", _ordinal),
    ("o:ordinal", lambda span: _ordinal(span) if span.said("o") >= "一" else None),
    ("s:number_sign dot? (n:int | o:code)", _ordinal),
    ("aged n:int", _ages),
    ("n:int colon/ratio d:int", _ratio),
    (
        "n:int range d:int !unit !time_unit !currency !percent !measure !month !oclock !meridiem",
        _score,
    ),
    ("d:digits", _code),
    ("n:number every per:time_unit", _often_told),
    (
        "each per:measure n:number measure",
        lambda span: rate(span, scalar("number", num_of(span), "")),
    ),
    ("neg:negative? n:number measure", _plain),
    ("n:lone other", _one_thing),
    ("neg:negative? n:number", _plain),
)
