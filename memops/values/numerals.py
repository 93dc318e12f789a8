"""Numerals: what words and digits of a number come to, in any language whose words add and multiply."""

from collections.abc import Sequence

from memops.values.lexing import Lexicon, Line, Num, Roles, Word, numeral

Part = tuple[str, float]
"""A digit ("d"), a literal in digits ("l"), or a scale by which what stands before it counts ("s")."""
_DIGITS_READ = 3  # so many single digits one by one are a string of digits


def total(parts: Sequence[Part], big: float, trailing: bool) -> float:
    """Return what the parts of a number come to.

    Scales from `big` on close a group (thousand; 万). With `trailing` a last digit right after a
    scale counts in the next lower one.
    """
    done = group = 0.0
    pending: float | None = None
    last = 1.0
    zero = False
    for kind, amount in parts:
        if kind != "s":
            zero = kind == "d" and amount == 0
            pending = amount if pending is None else pending + amount
        elif amount < big:
            pending = pending or None
            group += (1 if pending is None else pending) * amount
            pending, last, zero = None, amount, False
        else:
            group += pending or 0
            if 0 < done < amount and trailing:
                done = (done + group) * amount
            else:
                done += (group or (0 if done else 1)) * amount
            group, pending, last, zero = 0.0, None, amount, False
    if pending is not None:
        short = trailing and last >= 100 and not zero and pending < 10 and parts[-2:][0][0] == "s"
        group += pending * (last / 10 if short else 1)
    return done + group


def assembled(line: Line, lex: Lexicon) -> Line:
    """Return the tokens with each number as one."""
    out = Line(line.text)
    at, size = 0, len(line.starts)
    while at < size:
        roles = line.roles[at]
        found = None
        if not _OPENING.isdisjoint(roles):
            found = _number(line, at, lex)
        if found is None:
            word = Word(line.letters[at], roles)
            if "unit" in roles and "number" in roles and line.joined(at) and "number" in line.roles[at - 1]:
                word = lex.word({"unit": roles["unit"]})  # 二两
            out.add(line.starts[at], line.ends[at], word)
            at += 1
        else:
            word, end = found
            out.add(line.starts[at], line.ends[end - 1], word)
            at = end
    return out


_OPENING = frozenset({"number", "scale", "fraction", "article", "few", "range"})
Found = tuple[Word, int] | None


def _number(line: Line, at: int, lex: Lexicon) -> Found:
    roles = line.roles[at]
    if "range" in roles:
        return _below_zero(line, at, lex)
    if "article" in roles:
        return _with_article(line, at, lex)
    if "fraction" in roles and "number" not in roles:
        return _fraction(line, at, lex)
    if "few" in roles:
        return numeral(Num(float(roles["few"])), lex), at + 1
    if "number" not in roles and "scale" not in roles:
        return None
    if _weekday_tail(line, at):
        return None
    if "unit" in roles and line.joined(at) and "number" in line.roles[at - 1]:
        return None  # 二两
    fraction = _slashed(line, at, lex) if "literal" in roles else None
    if fraction is not None:
        return fraction
    han = line.surface(at)[0] >= "一"
    if "literal" in roles and at + 1 < len(line.roles) and "scale" in line.roles[at + 1]:
        han = line.surface(at + 1)[0] >= "一"
    gathered, end = _parts(line, at, han)
    return _finished(line, at, end, gathered, lex, han)


_SLASHED = 100


def _below_zero(line: Line, at: int, lex: Lexicon) -> Found:
    """A stroke right before digits is a minus where nothing that counts stands before it."""
    if line.surface(at) not in "-−" or at + 1 >= len(line.roles) or not line.joined(at + 1):
        return None
    if "literal" not in line.roles[at + 1]:
        return None
    last = line.roles[at - 1] if at else {}
    if last.keys() & _COUNTED if not line.joined(at) else not _OPENS.issuperset(last):
        return None
    before = line.text[line.starts[at] - 1 : line.starts[at]]
    if before.isalnum() and before.isascii():
        return None
    found = _number(line, at + 1, lex)
    if found is None or "number" not in found[0].roles:
        return None
    num = found[0].roles["number"]
    return numeral(num._replace(value=-num.value), lex), found[1]


_COUNTED = frozenset({"number", "unit", "time_unit", "currency", "month", "clock_token", "date_token"})
_OPENS = frozenset({"other", "newline", "comma", "colon", "of", "bound_before", "approx", "currency", "at", "article", "dated", "range"})


def _slashed(line: Line, at: int, lex: Lexicon) -> Found:
    """1/2, and 2 1/2: a fraction, or two numbers with a stroke between them."""
    ahead = line.roles[at + 1 : at + 3]
    if len(ahead) < 2 or "slash" not in ahead[0] or "int" not in ahead[1] or "literal" not in ahead[1]:
        return None
    if not line.joined(at + 1) or not line.joined(at + 2) or "int" not in line.roles[at]:
        return None
    above, below = line.roles[at]["number"].value, ahead[1]["number"].value
    if not 0 < above < _SLASHED or not 0 < below <= _SLASHED:
        return None
    more = ("slashed", "portion") if above < below else ("slashed",)
    return numeral(Num(above / below, f"{above:g}/{below:g}", 9), lex, False, *more), at + 3


def _weekday_tail(line: Line, at: int) -> bool:
    """Whether a digit names another weekday: the 三 and 五 in 周一三五, 每周三五."""
    first, end = at, at
    while first > 0 and "weekday_tail" in line.roles[first] and line.joined(first):
        first -= 1
    while end < len(line.roles) and "weekday_tail" in line.roles[end] and (end == at or line.joined(end)):
        end += 1
    head = line.roles[first]
    weekly = head.get("adverb") == "1 w"
    if first == at or not ("weekday" in head or weekly):
        return False
    then = line.roles[end] if end < len(line.roles) else {}
    return not (weekly and then.keys() & {"times", "measure", "unit", "time_unit", "scale", "once_word"})


def _with_article(line: Line, at: int, lex: Lexicon) -> Found:
    """A dozen, a couple, half a million; a quarter or a third of."""
    if at + 1 >= len(line.roles):
        return None
    then = line.roles[at + 1]
    if "few" in then:
        return numeral(Num(float(then["few"])), lex), at + 2
    if "scale" in then and "number" not in then:
        parts, end = _parts(line, at + 1, False)
        return _finished(line, at, end, parts, lex, False)
    return _of_one(line, at + 1, lex)


def _of_one(line: Line, at: int, lex: Lexicon) -> Found:
    """Read what stands after "a" or "one" in a quarter of, one third of; a share."""
    if at >= len(line.roles):
        return None
    roles = line.roles[at]
    part = roles.get("fraction") or (1 / roles["ordinal"] if roles.get("ordinal", 0) > 2 else None)
    tail = line.roles[at + 1] if at + 1 < len(line.roles) else {}
    if part is None or not ("fraction" in roles or tail.keys() & {"of", "off"}):
        return None
    if tail.keys() & {"past", "before"} and "of" not in tail:
        return None
    found = numeral(Num(part, decimals=9), lex, False, "portion")
    return lex.word({**found.roles, "fraction": part}), at + 1


def _fraction(line: Line, at: int, lex: Lexicon) -> Found:
    """Half a million, half an hour, 半斤."""
    value, end = float(line.roles[at]["fraction"]), at + 1
    if at > 0 and "ordinal" in line.roles[at - 1]:
        return None  # the third quarter
    if at > 1 and line.joined(at) and "measure" in line.roles[at - 1] and "number" in line.roles[at - 2]:
        return None  # 一个半小时
    if end < len(line.roles) and "article" in line.roles[end]:
        end += 1
    then = line.roles[end] if end < len(line.roles) else {}
    if "scale" in then and "number" not in then:
        return numeral(Num(value * float(then["scale"])), lex), end + 1
    if "few" in then:
        return numeral(Num(value * float(then["few"])), lex), end + 1
    if then.keys() & {"unit", "time_unit", "percent"}:
        return numeral(Num(value, decimals=1), lex), end
    half = numeral(Num(value, decimals=1), lex, False, "portion", "half")
    return lex.word({**half.roles, "fraction": value}), at + 1


def _parts(line: Line, at: int, han: bool) -> tuple[list[Part], int]:
    """The parts of a number from a token on, and where it ends."""
    parts: list[Part] = []
    end = at
    while end < len(line.roles):
        step = end
        if parts and not line.joined(end):
            if han:
                break
        if parts and not han:
            step = _over_joint(line, end, parts)
        roles = line.roles[step] if step < len(line.roles) else {}
        part = _part(line, step, roles, parts, han)
        if part is None:
            break
        parts.append(part)
        end = step + 1
    return parts, max(end, at + 1)


def _over_joint(line: Line, at: int, parts: Sequence[Part]) -> int:
    """Step over the stroke in twenty-five and the "and" in two hundred and five."""
    roles = line.roles[at]
    stroke = line.surface(at) == "-" and line.joined(at) and parts[-1][0] == "d"
    if stroke and at + 1 < len(line.roles) and line.joined(at + 1) and "spelt" not in line.roles[at + 1]:
        return at + 1
    return at + 1 if "and" in roles and parts[-1][0] == "s" else at


def _part(line: Line, at: int, roles: Roles, parts: Sequence[Part], han: bool) -> Part | None:
    if "literal" in roles:
        if parts and not (han and parts[-1][0] == "s"):
            return None
        return "l", roles["number"].value
    wide = at < len(line.roles) and line.surface(at)[0] >= "一"
    if parts and parts[0][0] != "l" and wide != han:
        return None
    if "scale" in roles and not (parts and parts[-1] == ("d", 0.0) and not han):
        return ("s", float(roles["scale"])) if parts or roles["scale"] != 12 or not wide else None
    if "scale_letter" in roles and parts and parts[-1][0] == "l" and line.joined(at):
        return _letter(line, at, roles)
    if "number" not in roles or not isinstance(roles["number"], int):
        return None
    if "unit" in roles and parts and "scale" not in (line.roles[at + 1] if at + 1 < len(line.roles) else {}):
        return None  # 二两
    value = float(roles["number"])
    if parts and parts[-1][0] == "l":
        return None
    return ("d", value) if han or wide or _fits(parts, value) else None


def _letter(line: Line, at: int, roles: Roles) -> Part | None:
    """K, M or B right behind digits; a small m is a metre, but behind an amount of money."""
    said, start = line.surface(at), line.starts[at]
    before = line.text[max(0, start - 24) : start].rstrip("0123456789., ")
    money = before[-1:] in "$€£¥₹" and before[-1:] != ""
    if said == "k" or money or said.isupper() or said in ("bn", "mn", "mln", "Mn", "Bn"):
        return "s", float(roles["scale_letter"])
    return None


def _fits(parts: Sequence[Part], value: float) -> bool:
    """Whether an English digit may follow: twenty five, not five twenty; or digits one by one."""
    if not parts or parts[-1][0] == "s":
        return True
    last = parts[-1][1]
    tens = last >= 20 and last % 10 == 0 and 0 < value < 10
    year = len(parts) == 1 and last in (18, 19, 20) and value >= 10
    lone = value < 10 and all(k == "d" and v < 10 for k, v in parts)
    later = len(parts) == 2 and parts[0][1] in (18, 19, 20) and last >= 20 and 0 < value < 10
    return parts[-1][0] == "d" and (tens or year or lone or later)


def _finished(line: Line, at: int, end: int, parts: list[Part], lex: Lexicon, han: bool) -> Found:
    """The number that parts make, with the decimals and halves that follow it."""
    if not parts:
        return None
    num = _of_parts(line, at, parts, han)
    if num is None:
        return None
    lone = len(parts) == 1 and parts[0][0] == "d" and end - at == 1
    num, end, more = _tail(line, end, num, lex, han)
    if more == "share":
        return numeral(num, lex, False, "portion"), end
    marks = ["lone"] if lone and (han or num.value == 1) and end - at == 1 else []
    literal = len(parts) == 1 and parts[0][0] == "l" and not more
    if literal:
        marks += [role for role in ("year",) if role in line.roles[at]]
    pair = _strokes(line, at, num, lex) if han else []
    if "weekday_tail" in line.roles[at] and lone:
        return lex.word({**numeral(num, lex, False, *marks).roles, "weekday_tail": line.roles[at]["weekday_tail"]}), end
    return numeral(num, lex, literal, *marks, *pair), end


def _strokes(line: Line, at: int, num: Num, lex: Lexicon) -> list[str]:
    return ["pair"] if num.high is not None else []


def _of_parts(line: Line, at: int, parts: list[Part], han: bool) -> Num | None:
    scaled = any(kind == "s" for kind, _ in parts)
    literal = parts[0][0] == "l"
    if not scaled and not literal and len(parts) > 1:
        return _unscaled(parts, han)
    trailing = han or (literal and line.surface(at + 1)[0] >= "一" if len(parts) > 1 else False)
    big = 1e4 if trailing else 1e3
    decimals = 0
    if literal:
        shown = line.roles[at].get("number")
        if len(parts) == 1 and isinstance(shown, Num):
            return shown
        decimals = max(0, shown.decimals) if isinstance(shown, Num) else 0
    close = _adjacent(parts) if han else None
    if close is not None:
        low, high = (total([p for k, p in enumerate(parts) if k != close + n], big, trailing) for n in (1, 0))
        return Num(low, high=high)
    value = total(parts, big, trailing)
    return Num(value, decimals=decimals and -1)


def _adjacent(parts: Sequence[Part]) -> int | None:
    """Where two digits follow each other of which the second is one more: 三四百, 十五六."""
    for k in range(len(parts) - 1):
        (one, a), (two, b) = parts[k], parts[k + 1]
        if one == two == "d" and b == a + 1 and a > 0:
            return k
    return None


def _unscaled(parts: list[Part], han: bool) -> Num:
    values = [int(v) for _, v in parts]
    said = "".join(map(str, values))
    if han and len(values) == 2 and values[1] == values[0] + 1 and values[0]:
        return Num(float(values[0]), said, high=float(values[1]))
    if all(v < 10 for v in values):
        return Num(float(said), said)
    if values[0] in (18, 19, 20) and values[1] >= 10:
        year = values[0] * 100 + sum(values[1:])
        return Num(float(year), str(year))
    return Num(float(sum(values)))


def _tail(line: Line, end: int, num: Num, lex: Lexicon, han: bool) -> tuple[Num, int, str]:
    """Read what follows: point five, and a half, ½, thirds, 多."""
    roles = line.roles[end] if end < len(line.roles) else {}
    then = line.roles[end + 1] if end + 1 < len(line.roles) else {}
    if "point" in roles and "number" in then and not isinstance(then["number"], Num):
        digits, last = _digits(line, end + 1)
        han = han or line.surface(end)[0] >= "一"
        if not han or _measured(line, last) or _decimal(line, end, digits, last):
            size = len(digits)
            return Num(num.value + float(f"0.{digits}"), decimals=size), last, "point"
    if "multi" in roles and line.joined(end):
        return num._replace(bound=">", digits=""), end + 1, "multi"
    if "fraction" in roles and line.joined(end) and not han and "measure" not in roles and line.surface(end)[0] > "\x7f":
        return Num(num.value + float(roles["fraction"]), decimals=1), end + 1, "half"
    if "literal" in roles and not han and not num.decimals and end > 0 and not line.joined(end):
        part = _slashed(line, end, lex)
        if part is not None and "portion" in part[0].roles:
            return Num(num.value + part[0].roles["portion"].value, decimals=3), part[1], "half"
    if "and" in roles and not han:
        return _and_half(line, end, num)
    if line.surface(end) == "-" if end < len(line.roles) else False:
        roles, step = then, end + 2
    else:
        step = end + 1
    if "denominator" in roles and 0 < num.value < roles["denominator"] and not han:
        return Num(num.value / roles["denominator"], decimals=9), step, "share"
    if num.value == 1 and not han and step <= len(line.roles) and "spelt" not in roles:
        one = _of_one(line, step - 1, lex)
        if one is not None and "time_unit" not in roles:
            return one[0].roles["portion"], one[1], "share"
    return num, end, ""


def _and_half(line: Line, end: int, num: Num) -> tuple[Num, int, str]:
    """Two and a half, two and three quarters."""
    at = end + 1
    roles = line.roles[at] if at < len(line.roles) else {}
    count = 1.0
    if "article" in roles or isinstance(roles.get("number"), int):
        count = float(roles["number"]) if isinstance(roles.get("number"), int) else 1.0
        at += 1
        if at < len(line.roles) and line.surface(at) == "-":
            at += 1
    part = line.roles[at] if at < len(line.roles) else {}
    if "fraction" in part and count == 1:
        grown = Num(num.value + float(part["fraction"]), decimals=2)
    elif "denominator" in part and count < part["denominator"]:
        grown = Num(num.value + count / part["denominator"], decimals=3)
    else:
        return num, end, ""
    end = at + 1
    if end < len(line.roles) and "scale" in line.roles[end]:
        return Num(grown.value * float(line.roles[end]["scale"])), end + 1, "half"
    return grown, end, "half"


def _digits(line: Line, at: int) -> tuple[str, int]:
    """The digits from a token on, spelled one by one, and where they end."""
    out, end = "", at
    while end < len(line.roles):
        value = line.roles[end].get("number")
        if not isinstance(value, int) or value > 9 or (end > at and line.surface(end)[0] >= "一" and not line.joined(end)):
            break
        out += str(value)
        end += 1
    return out, end


def _decimal(line: Line, point: int, digits: str, last: int) -> bool:
    """Whether one digit follows the point, or a share is told: no minutes of an hour."""
    before = line.roles[point - 2] if point > 1 else {}
    if before.keys() & {"per_hundred", "per_thousand", "negative"}:
        return True
    then = line.roles[last] if last < len(line.roles) else {}
    if then.get("scale", 0) >= 1e4:
        return True
    timed = before.keys() & {"meridiem", "relative_part", "relative", "at"}
    return len(digits) == 1 and digits != "0" and not timed and not then.keys() & {"minute_mark", "quarter_mark", "scale"}


_MEASURES = frozenset(
    {"unit", "time_unit", "percent", "currency", "fold", "measure", "tenths", "fold_price", "version"}
)


def _measured(line: Line, at: int) -> bool:
    """Whether a unit follows, so that the point before is a decimal one and not the hour's."""
    if at >= len(line.roles) or not line.joined(at):
        return False
    roles = line.roles[at]
    return not _MEASURES.isdisjoint(roles) and not roles.keys() & {"minute_mark", "quarter_mark"}
