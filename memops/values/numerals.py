"""Numerals: what words and digits of a number come to, in any language whose words add and multiply."""

from collections.abc import Sequence

from memops.values.lexicon import Lexicon, Num, Word, numeral
from memops.values.lexing import Line
from memops.values.portions import Found, below_zero, fraction, of_one, ordinal, slashed, tail

Part = tuple[str, float]
"""A digit ("d"), a literal in digits ("l"), or a scale by which what stands before it counts ("s")."""
_TEN, _DOZEN = 10, 12


def total(parts: Sequence[Part], big: float, trailing: bool) -> float:
    """Return what the parts of a number come to.

    Scales from `big` on close a group (thousand; 万). With `trailing` a last digit right after a
    scale counts in the next lower one.
    """
    done = group = 0.0
    pending: float | None = None
    last, zero = 1.0, False
    for kind, amount in parts:
        if kind != "s":
            zero = kind == "d" and amount == 0
            pending = amount if pending is None else pending + amount
            continue
        if amount == _DOZEN:
            done, group = ((done + group + (pending or 0)) or 1) * amount, 0.0
        elif amount < big:
            group += (pending or 1) * amount
        elif 0 < done < amount and trailing:
            done, group = (done + group + (pending or 0)) * amount, 0.0
        else:
            done, group = done + (group + (pending or 0) or (0 if done else 1)) * amount, 0.0
        pending, last, zero = None, amount, False
    short = (
        trailing and last >= 100 and not zero and (pending or 0) < 10 and parts[-2:][0][0] == "s"
    )
    return done + group + (pending or 0) * (last / 10 if short else 1)


def assembled(line: Line, lex: Lexicon) -> Line:
    """Return the tokens with each number as one."""
    letters = "".join(line.letters)
    if "-" in line.text:
        places = (m.start() for m in lex.strokes().finditer(letters))
        line = line.without([at for at in places if _is_stroke(line, at)])
        letters = "".join(line.letters)
    begins = lex.begins()
    match = begins.search(letters)
    if match is None:
        return line
    out = Line(line.text)
    at = 0
    while match is not None:
        begin = match.start()
        word, end = _read(line, begin, lex) or (None, begin + 1)
        if word is not None:
            out.extend(line, at, begin)
            out.add(line.starts[begin], line.ends[end - 1], word)
            at = end
        match = begins.search(letters, end)
    out.extend(line, at, len(letters))
    return out if at else line


def _is_stroke(line: Line, at: int) -> bool:
    return line.surface(at) == "-" and line.joined(at) and line.joined(at + 1)


def _read(line: Line, at: int, lex: Lexicon) -> Found | None:
    """What begins with a token: a number, a day with a zero before it, a unit."""
    roles = line.roles[at]
    if "digits" in roles and (line.any(at + 1, *_DATING) or line.any(at - 1, *_DATED)):  # 03 Nov
        day = str(roles["digits"])
        return (numeral(Num(float(day), day), lex, True), at + 1) if len(day) == 2 else None
    found = _number(line, at, lex)
    if found is not None and "portion" in found[0].roles:
        found = _of_scale(line, *found, lex)
    if found is None and _is_unit(line, at):
        return lex.word({"unit": roles["unit"]}), at + 1
    return found


_DATED = ("month", "month_mark", "oclock")
_DATING = ("month", "month_mark", "minute_mark")
"""What two digits of which the first is a zero stand behind or before: 05月03日, May 03, 9点05分."""


def _of_scale(line: Line, word: Word, end: int, lex: Lexicon) -> Found:
    """A quarter of a million, three quarters of a billion, a half dozen."""
    at = end + 2 if line.any(end, "of") and line.any(end + 1, "article") else end
    scale = line.of(at).get("scale")
    if scale is None or line.any(at, "number"):
        return word, end
    return numeral(Num(word.roles["portion"].value * float(scale)), lex), at + 1


def _is_unit(line: Line, at: int) -> bool:
    """Whether a word that is a number elsewhere is a unit here: 二两."""
    return (
        line.any(at, "unit")
        and line.any(at, "number")
        and line.joined(at)
        and line.any(at - 1, "number")
    )


def _number(line: Line, at: int, lex: Lexicon) -> Found | None:
    roles = line.roles[at]
    if "range" in roles:
        digits = below_zero(line, at)
        found = _number(line, at + 1, lex) if digits else None
        num = found[0].roles.get("number") if found else None
        return (numeral(num._replace(value=-num.value), lex), found[1]) if found and num else None
    if "article" in roles:
        return _with_article(line, at, lex)
    if "fraction" in roles and "number" not in roles:
        return fraction(line, at, lex)
    if line.any(at - 1, "vague") and line.joined(at) and line.wide(at):
        parts, end = _parts(line, at, True)
        if len(parts) < 2 or all(kind == "s" for kind, _ in parts):
            return lex.other, end  # 几十 is no number, but 人数十二 holds one
    if "few" in roles:
        return numeral(Num(float(roles["few"])), lex), at + 1
    if not roles.keys() & {"number", "scale"} or _is_unit(line, at) or _weekday_tail(line, at):
        return None
    return slashed(line, at, lex) or _gathered(line, at, lex)


def _gathered(line: Line, at: int, lex: Lexicon) -> Found | None:
    han = line.wide(at) or (
        line.any(at, "literal") and line.any(at + 1, "scale") and line.wide(at + 1)
    )
    parts, end = _parts(line, at, han)
    if not parts:
        return None
    num = _of_parts(line, at, parts, han)
    if (
        parts[0][0] != "l" and num.digits[:1] == "0" and len(num.digits) > _FEW_DIGITS
    ):  # 零八五二七一
        return lex.word({"digits": num.digits}), end
    scale = _shared_scale(line, end, parts)
    if scale != 1.0:
        num = Num(num.value * scale)
    nth = ordinal(line, end, num, lex)
    if nth is not None:
        return nth
    alone = len(parts) == 1 and end - at == 1
    lone = alone and parts[0][0] == "d" and num.value < 10 and (han or num.value == 1)
    num, end, more = tail(line, end, num, lex, han)
    lone = lone and not more
    if more == "share":
        return numeral(num, lex, False, "portion"), end
    if alone and not more and line.any(end, "either"):
        num, end, more = _or_one_more(line, end, num)
    marks = [
        mark for mark, told in (("lone", lone), ("pair", han and num.high is not None)) if told
    ]
    word = numeral(num, lex, alone and parts[0][0] == "l" and not more, *marks)
    if lone and "weekday_tail" in line.roles[at]:
        word = lex.word({**word.roles, "weekday_tail": line.roles[at]["weekday_tail"]})
    return word, end


_FEW_DIGITS = 3  # a code has more


def _or_one_more(line: Line, end: int, num: Num) -> tuple[Num, int, str]:
    """Two or three hours: from two to three."""
    then = line.of(end + 1).get("number")
    other = then.value if isinstance(then, Num) else then
    if other != num.value + 1 or num.value > _FEW or num.decimals:
        return num, end, ""
    if line.any(end + 2, "number", "scale", "range", "point"):
        return num, end, ""
    return num._replace(high=float(other), digits=""), end + 2, "pair"


_FEW = 20


def _shared_scale(line: Line, end: int, parts: Sequence[Part]) -> float:
    """The scale that the upper end of a range says for both: 8 to 10 thousand, 8到10万."""
    if len(parts) != 1 or not line.any(end, "range"):
        return 1.0
    han = line.wide(end + 1) or line.wide(end + 2)
    upper, _ = _parts(line, end + 1, han)
    if len(upper) != 2 or upper[1][0] != "s" or upper[1][1] < _THOUSAND:
        return 1.0
    return upper[1][1] if parts[0][1] < upper[0][1] else 1.0


_THOUSAND = 1000


def _weekday_tail(line: Line, at: int) -> bool:
    """Whether a digit names another weekday: the 三 and 五 in 周一三五, 每周三五."""
    first, end = at, at
    while line.any(first, "weekday_tail") and line.joined(first):
        first -= 1
    while line.any(end, "weekday_tail") and (end == at or line.joined(end)):
        end += 1
    weekly = line.of(first).get("adverb") == "1 w"
    if first == at or not (weekly or line.any(first, "weekday")):
        return False
    return not (
        weekly and line.any(end, "times", "measure", "unit", "time_unit", "scale", "once_word")
    )


def _with_article(line: Line, at: int, lex: Lexicon) -> Found | None:
    """A dozen, a couple, half a million; a quarter or a third of."""
    then = line.of(at + 1)
    if "few" in then:
        return numeral(Num(float(then["few"])), lex), at + 2
    if "scale" in then and "number" not in then:
        return _gathered(line, at + 1, lex)
    return of_one(line, at + 1, lex)


def _parts(line: Line, at: int, han: bool) -> tuple[list[Part], int]:
    """The parts of a number from a token on, and where it ends."""
    parts: list[Part] = []
    end = at
    while end < len(line.roles):
        step = end
        if parts and han and not line.joined(end) and parts[-1][0] != "l":
            break
        if parts and not han:
            step = _over_joint(line, end, *parts[-1])
        part = _part(line, step, parts, han)
        if part is None:
            break
        parts.append(part)
        end = step + 1
    return parts, max(end, at + 1)


def _over_joint(line: Line, at: int, last: str, value: float) -> int:
    """Step over the stroke in twenty-five and the "and" in two hundred and five, not in two and three."""
    tens = last == "d" and value >= 10 and value % 10 == 0
    if tens and line.any(at, "tens_and") and line.any(at + 1, "number"):
        return at + 1
    stroke = line.surface(at) == "-" and line.joined(at) and line.joined(at + 1) and last == "d"
    return at + 1 if stroke or (last == "s" and line.any(at, "and")) else at


def _part(line: Line, at: int, parts: Sequence[Part], han: bool) -> Part | None:
    roles, last = line.of(at), parts[-1][0] if parts else ""
    if "literal" in roles:
        return ("l", roles["number"].value) if not parts or (han and last == "s") else None
    if parts and parts[0][0] != "l" and line.wide(at) != han:
        return None
    if "scale" in roles:
        return (
            ("s", float(roles["scale"]))
            if parts or roles["scale"] != _DOZEN or not line.wide(at)
            else None
        )
    if "scale_letter" in roles and last == "l":
        return ("s", float(roles["scale_letter"])) if _scales(line, at) else None
    value = roles.get("number")
    if not isinstance(value, int) or last == "l":
        return None
    if parts and "unit" in roles and not line.any(at + 1, "scale"):
        return None  # 二两
    short = last == "s" and parts[-1][1] > _TEN
    short |= len(parts) == 1 and line.any(at - 2, "currency") and line.joined(at - 1)
    if short and value == 1 and han and _each_of(line, at + 1):
        return None  # 两万一个月, 十二块五一斤
    return ("d", float(value)) if han or line.wide(at) or _fits(parts, value) else None


def _each_of(line: Line, at: int) -> bool:
    """Whether what follows "one" is what something is counted by: a month, a jin, a head."""
    return line.joined(at) and line.any(at, "time_unit", "unit", "measure")


def _scales(line: Line, at: int) -> bool:
    """K or M right behind digits, or bn; a small m is a metre, but beside a currency."""
    said, start = line.surface(at), line.starts[at]
    if said.lower() in ("bn", "mn", "mln"):
        return True
    before = line.text[max(0, start - 24) : start].rstrip("0123456789., ")[-1:]
    money = (before and before in "$€£¥₹") or line.any(at + 1, "currency")
    return line.joined(at) and (said in ("k", "K", "M") or bool(money))


def _fits(parts: Sequence[Part], value: float) -> bool:
    """Whether a digit may follow in a language with spaces: twenty five, not five twenty; or one by one."""
    if not parts or parts[-1][0] == "s":
        return True
    first, last = parts[0][1], parts[-1][1]
    tens = last >= 20 and last % 10 == 0 and 0 < value < 10
    year = first in (18, 19, 20) and (
        (len(parts) == 1 and value >= 10) or (len(parts) == 2 and tens)
    )
    lone = value < 10 and all(kind == "d" and amount < 10 for kind, amount in parts)
    hundreds = last >= 100 and last % 100 == 0 and 0 < value < 100
    return parts[-1][0] == "d" and (tens or year or lone or hundreds)


def _of_parts(line: Line, at: int, parts: list[Part], han: bool) -> Num:
    literal = parts[0][0] == "l"
    if literal and len(parts) == 1:
        shown: Num = line.roles[at]["number"]
        return shown
    if not literal and len(parts) > 1 and all(kind != "s" for kind, _ in parts):
        return _unscaled([int(value) for _, value in parts], han)
    big = 1e4 if han else 1e3
    close = _adjacent(parts) if han else None
    if close is not None:
        low, high = (
            total([p for k, p in enumerate(parts) if k != close + n], big, han) for n in (1, 0)
        )
        return Num(low, high=high)
    return Num(total(parts, big, han))


_SOME = (3, 5)  # 三五, some


def _adjacent(parts: Sequence[Part]) -> int | None:
    """Where two digits follow each other of which the second is one more: 三四百, 十五六."""
    for k in range(len(parts) - 1):
        (one, a), (two, b) = parts[k], parts[k + 1]
        if one == two == "d" and a > 0 and (b == a + 1 or (a, b) == _SOME):
            return k
    return None


def _unscaled(values: list[int], han: bool) -> Num:
    """Digits without a scale: a year, digits one by one, 两三, twenty-five."""
    said = "".join(map(str, values))
    near = len(values) == 2 and (values[1] == values[0] + 1 or tuple(values) == _SOME)
    if han and near and values[0]:
        return Num(float(values[0]), said, high=float(values[1]))
    if all(v < 10 for v in values):
        return Num(float(said), said)
    if values[0] in (18, 19, 20) and values[1] >= 10:
        year = values[0] * 100 + sum(values[1:])
        return Num(float(year), str(year))
    return Num(float(sum(values)))
