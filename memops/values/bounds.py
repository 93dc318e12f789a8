"""Bounds: "about", at most and at least, which stand around values of any kind."""

import re

from memops.values.forms import day_after
from memops.values.grammar import Found
from memops.values.lexing import Line


def around(begin: int, end: int, line: Line) -> tuple[int, int, str]:
    """Return where a value begins and ends with "about" or a bound around it, and what these say."""
    about, bound = "", ""
    first, last, held = _at_arms_length(begin, end, line)
    if begin > 1 and "approx" in line.roles[begin - 2] and "other" in line.roles[begin - 1]:
        about = "~" if len(line.surface(begin - 1)) <= _HAND else ""
    while begin > 0:
        roles = line.roles[begin - 1]
        own = roles.get("bound_before")
        if own and bound in ("", own) and _bounds(line, begin):
            bound = own
        elif "nearly" in roles and not about and not bound:
            about, bound = "~", roles["nearly"][1]
        elif "approx" in roles and not about and not _glued(line, begin):
            about = "~"
        else:
            break
        begin -= 1
    end, about, bound = _behind(end, line, about, bound)
    if held == "~":
        about, held = held, ""
    elif held and not bound:
        begin, end = min(begin, first), max(end, last)
    return begin, end, about + (bound or held)


def _behind(end: int, line: Line, about: str, bound: str) -> tuple[int, str, str]:
    """Where a value ends with what stands behind it, and what it says by then."""
    while end < len(line.roles):
        roles = line.roles[end]
        if "bound_after" in roles and bound in ("", roles["bound_after"]) and _adjoins(line, end):
            bound = roles["bound_after"]
        elif "measure" in roles and line.of(end + 1).keys() & {"bound_after", "approx_after"}:
            pass  # 五个人以上
        elif "approx_after" in roles and _approximates(line, end):
            about = "~"
        elif bound in _OPEN and "strict" in line.of(end + 1) and line.surface(end) in _BRACKETS:
            end, bound = end + 1, _OPEN[bound]  # 以下（不含）
        else:
            break
        end += 1
    return end, about, bound


def dated(found: Found, begin: int, end: int, line: Line) -> tuple[Found, int, int, str]:
    """Return a day or time with what stands around it: by, before or after it; before 1 May is by 30 April."""
    before, after = line.of(begin - 1), line.of(end)
    if found.kind != "time" and not _DAY.fullmatch(found.form):
        return found, begin, end, ""
    if begin and "dated_before" in before:
        begin, bound = begin - 1, str(before["dated_before"])
    elif "dated_after" in after:
        end, bound = end + 1, str(after["dated_after"])
    else:
        return found, begin, end, ""
    day = day_after(found.kind, found.form, _STRICT[bound]) if bound in _STRICT else None
    if day is not None:
        found, bound = found._replace(form=day), f"{bound}="
    return found, begin, end, bound


_OPEN = {"<=": "<", ">=": ">"}
_BRACKETS = ("(", "（", ",", "，")
_STRICT = {"<": -1, ">": 1}
_DAY = re.compile(r"(?:\d{4}|XXXX)-\d\d-\d\d")
_HAND = 2  # letters between "about" and its number: 大概要一个小时
_ARM = 6  # letters between a bound and its number: 最多可以来二十人, three retries at most


def _at_arms_length(begin: int, end: int, line: Line) -> tuple[int, int, str]:
    """A bound with one word between it and its number, and where a value begins and ends with it."""
    at, size = begin - 1, 0
    while at > 0 and size <= _ARM and not line.roles[at].keys() & _STOPS:
        size += line.ends[at] - line.starts[at]
        at -= 1
        if "bound_before" in line.roles[at] and size <= _ARM:
            plain = all("other" in roles for roles in line.roles[at + 1 : begin])
            return at if plain else begin, end, str(line.roles[at]["bound_before"])
    then = line.of(end + 1)
    word = len(line.surface(end + 1)) > 1
    if word and then.keys() & {"bound_after", "approx_after"} and "other" in line.of(end):
        said = line.surface(end)
        if " " not in said and len(said) <= (_ARM if said > "\x7f" else 2 * _ARM):
            return begin, end + 2, str(then.get("bound_after", "~"))
    return begin, end, ""


def _glued(line: Line, at: int) -> bool:
    """Whether letters stand right before a number, as in the name of a thing: CA1407."""
    return line.joined(at) and line.surface(at - 1).isascii() and line.surface(at - 1).isalnum()


def _approximates(line: Line, at: int) -> bool:
    """Whether a sign by itself stands behind a number: 十来天, not 上周来过."""
    return len(line.surface(at)) > 1 or not line.wide(at) or "number" in line.of(at - 1)


def _adjoins(line: Line, at: int) -> bool:
    """Whether a sign stands right behind its number: 50+, not 12 adults + 3 children."""
    return line.joined(at) or len(line.surface(at)) > 1


_STOPS = frozenset(
    "comma newline dot colon list number unit time_unit currency bound_before".split()  # noqa: SIM905
)


_STROKE = ("over",)
"""What is read where a stroke stands between two numbers."""


def _bounds(line: Line, begin: int) -> bool:
    """A minimum stands before its number, not a minute or a name; 128 over 82 is none."""
    if begin < 2 or "number" not in line.roles[begin - 2]:
        return True
    return "time_unit" not in line.roles[begin - 1] and line.surface(begin - 1) not in _STROKE
