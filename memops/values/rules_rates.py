"""Rates: so much of anything in a time or of a unit."""

from memops.values.forms import per
from memops.values.grammar import Found, Span
from memops.values.lexicon import Num, Roles


def num_of(span: Span, name: str = "n") -> Num:
    """Return the number of the token called so."""
    return num_of_roles(span.line.roles[span.at(name)])


def num_of_roles(roles: Roles) -> Num:
    """Return the number that a token says."""
    found = roles["number"]
    return found if isinstance(found, Num) else Num(float(found))


BETWEEN = 12  # letters between "monthly" and the amount


def rate(span: Span, found: Found) -> Found:
    """So much every week, an hour, a kilo; a length in a time is a speed."""
    told = span.get("per_day", "adverb") or span.get("per_day", "per_period")
    unit = span.get("per", "time_unit") or span.get("per", "unit")
    count = span.line.of(span.at("per") - 1) if span.has("per") else {}
    if "number" in count and span.at("per") - 1 != span.at("n"):  # 二十块两斤, $1.20 per 100 g
        found = found._replace(factor=found.factor / (num_of_roles(count).value or 1.0))
    if unit is None and span.has("per"):
        each = "/ea" if found.kind == "number" else "/1"  # 24/1 is two numbers with a stroke
        return found._replace(kind=f"{found.kind} rate", unit=found.unit + each)
    if unit is not None:
        said = per(unit)
        if unit.kind not in ("months", "duration", "workdays"):
            found = found._replace(factor=found.factor / unit.factor)
    elif told is not None or span.has("hour"):
        size, _, family = str(told or "1 h").partition(" ")
        said = family if size == "1" else f"{size} {family}"
    else:
        return found
    months = said.removesuffix(" mo")
    if found.kind in ("money", "number") and months != said:  # what a year comes to, by the month
        found, said = found._replace(factor=found.factor / float(months)), "mo"
    if found.kind == "length" and said in _SPEEDS:
        return found._replace(kind="speed", factor=found.factor * _SPEEDS[said], unit=" km/h")
    return found._replace(kind=f"{found.kind} rate", unit=f"{found.unit}/{said}")


_SPEEDS = {"h": 1e-3, "1 s": 3.6, "s": 3.6, "60 s": 0.06}


EVERY = "(every/slash number? per:time_unit/unit | per_day:adverb)"


EACH = "(of between:other)? (every/slash per:time_unit/unit | per_day:adverb)"


LONE = "lone measure? per:time_unit"


ONE = "lone per:time_unit/unit/measure"


OFTEN = "per_day:adverb/per_period between:other? of?"
