"""Addresses: what names one thing by its shape: mail, URL, path, IP, telephone, version, identifier.

They are taken out before lexing. A private character stands for each in the text that is lexed.
"""

import ipaddress
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from memops.values.lexicon import Lexicon, Word
from memops.values.rules_counts import version_form
from memops.values.value import number

_FIRST, _MOST = 0xE000, 0x1000
_REST = r"[^\s，。；、）)\]】》」\"'<>]"
_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])", re.A
)
_SITES = (
    "com|org|net|io|dev|cn|app|ai|co|edu|gov|de|uk|us|me|info|xyz|eu|fr|jp|hk|tw|example|local|internal|test"
    "|site|tv|cc"
)
_URL = re.compile(
    rf"(?:[a-z][a-z0-9+]{{1,12}}://{_REST}+"
    rf"|(?<![\w@.-])(?:[a-z0-9][\w-]{{0,62}}\.){{1,6}}(?:{_SITES})(?![\w-])(?::\d{{2,5}})?(?:/{_REST}*)?)",
    re.A,
)
_PATH = re.compile(
    r"(?<![\w:/.~$-])(?:~|\$home|\.{1,2}|[a-z]:)?[/\\](?:[\w.@+-]{1,120}[/\\]{0,2}){1,40}", re.A
)
_FILE = re.compile(
    r"(?<![\w.@/-])[\w-]{1,64}(?:\.[\w-]{1,32}){0,3}\.[a-z][a-z0-9]{0,4}(?![\w.-]|/)", re.A
)
_GROUPS = re.compile(
    r"(?<![\w.-])(?:\d{2,8}(?:-\d{2,8}){1,4}|\d{1,8}(?:-\d{1,8}){3,5})(?![\w-]|\.\d)", re.A
)
_UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])", re.A)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:])", re.A)
_IP6 = re.compile(r"(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", re.A)
_IP4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?!\.?\d)", re.A)
_CARD = re.compile(r"(?<![\w-])(?:\d{4}|[a-z]{1,3} ?\d{4})(?:[ -]\d{4}){2,4}(?![\w-])", re.A)
_IBAN = re.compile(r"(?<!\w)[a-z]{2}\d\d(?: ?[a-z]{4})?(?: ?\d{4}){2,6}(?: ?\d{1,3})?(?!\w)", re.A)
_DOI = re.compile(
    rf"(?:https?://(?:dx\.)?doi\.org/|(?<![\w/.])doi:? ?)(10\.\d{{4,9}}/{_REST}+)", re.A
)
_COLOUR = re.compile(
    r"(?<!\w)(?:rgb\((\d{1,3}), ?(\d{1,3}), ?(\d{1,3})\)|#[0-9a-f]{6}(?!\w))", re.A
)
_TURN = re.compile(
    r"(?<![\w.])(?P<d>\d{1,3}(?:\.\d+)?)(?:°\s?(?:(?P<m>\d{1,2}(?:\.\d+)?)[′']\s?(?:(?P<s>\d{1,2}(?:\.\d+)?)[″\"]\s?)?)?|\s)"
    r"(?P<side>[nsew])(?!\w)",
    re.A,
)
_DAYS = r"\* \* (?P<day>[*0-7])(?![\w*/-]|,\d)"
_CRON = re.compile(
    rf"(?<![\d*/]\s)(?<![\w*/])[0-5]?\d (?:[01]?\d|2[0-3])(?= {_DAYS})|(?<=\d ){_DAYS.replace('day', 'too')}",
    re.A,
)
_PHONE = re.compile(
    r"(?<![\w.+/-])(?:(?:\+|00)\s?\d{1,3}[\s.-]?(?:\(0?\d{1,4}\)|\d)[\d\s().-]{4,18}\d"
    r"|\(\d{2,4}\)\s?\d{3,4}[\s.-]?\d{3,4}|0\d{1,3}[\s-]\d{3,4}[\s-]?\d{3,4}|\d{3}[\s.-]\d{3,4}[\s.-]\d{4}"
    r"|1[3-9]\d[\s-]?\d{4}[\s-]?\d{4}|\d{3}-\d{4}|1[3-9]\d{9}|0\d{9,11})(?:\s?(?:ext\.?|x|转)\s?(?P<ext>\d{1,5}))?(?![\w-]|\.\d)",
    re.A,
)
_WEEK = re.compile(r"(?<![\w-])(\d{4})-w(0[1-9]|[1-4]\d|5[0-3])(?![\w-])", re.A)
_DATE = re.compile(
    r"(?<![\w.-])(?:(?P<y>(?:18|19|20)\d\d)(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})"
    r"(?:t(?=\d\d:))?|(?P<a>\d{1,2})(?P<s2>[-/.])(?P<b>\d{1,2})(?P=s2)(?P<y2>(?:19|20)\d\d)"
    r"|(?P<ym>(?:19|20)\d\d)[-/](?P<mm>0[1-9]|1[0-2])|(?P<mm2>0?[1-9]|1[0-2])/(?P<ym2>(?:19|20)\d\d)|(?P<ymd>20[0-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))(?![\d-]|\.\d|/\d)",
    re.A,
)
_SPAN = re.compile(
    r"(?<!\w)p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?(?!\w)",
    re.A,
)
_CLOCK = re.compile(
    r"(?<![\d.])(?<!\d:)(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?P<s>:[0-5]\d(?:\.\d+)?)?(?P<z>z(?!\w)|\+\d\d:?\d\d|(?(s)-\d\d:?\d\d|(?!)))?(?![\d:])",
    re.A,
)
_VERSION = re.compile(
    r"(?<![\w.])(?P<caret>\^)?(?:v(?P<v>\d+(?:\.\d+)*)|(?P<n>\d+(?:\.\d+){2,4}|\d+(?:\.\d+)+(?=-(?:alpha|beta|rc|dev))))(?P<pre>-(?:alpha|beta|rc|dev)[.\d]*)?(?![\w]|\.\d)",
    re.A,
)
_MARKED = re.compile(r"(?<!\w)[a-z]+#[\w.-]+", re.A)
_SPECIAL = re.compile(r"doi[.:]|\bdoi |rgb\(|#")
_DOCK = re.compile(r"\d\D?\d")


def masked(low: str, lex: Lexicon, plain: str) -> tuple[str, dict[str, Word]]:
    """Return a text in lower case with a private character for each address, and what these are."""
    known: dict[str, Word] = {}
    wanted = [*_wanted(low)]
    if lex.street is not None and _HOUSE.search(low):
        wanted.append((lex.street, _street))
    spans = [
        (m, word)
        for pattern, read in wanted
        for m in pattern.finditer(low)
        if (word := read(m, lex, plain[m.start() : m.end()]))
    ]
    if not spans:
        return low, known
    out, at = [], 0
    taken = bytearray(len(low))
    kept = []
    for match, word in spans:
        start, end = match.span()
        end -= (
            len(match[0]) - len(match[0].rstrip(" .,;:!?/"))
            if "://" in match[0] or "." in match[0][-1:]
            else 0
        )
        if end > start and not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append((start, end, word))
    for start, end, word in sorted(kept, key=lambda one: one[0])[:_MOST]:
        sign = chr(_FIRST + len(known))
        known[sign] = word
        out.append(low[at:start] + sign * (end - start))
        at = end
    out.append(low[at:])
    return "".join(out), known


def _wanted(low: str) -> Iterator[tuple[re.Pattern[str], Any]]:
    """The patterns that may fit, by characters that each needs."""
    if "@" in low:
        yield _MAIL, lambda m, lex, said: _word(lex, "email", m[0])
    named = "." in low and _NAMED.search(low)
    if _SPECIAL.search(low):
        yield _DOI, lambda m, lex, said: _word(lex, "ident", m[1].rstrip(".,;:!?"))
        yield _MARKED, _marked
        yield _COLOUR, _colour
    if named or "://" in low:
        yield _URL, _url
    if "/" in low or "\\" in low:
        yield _PATH, _path
    if named:
        yield _FILE, _file
    if "::" in low:
        yield _IP6, _ip
    if "p" in low and _LASTS.search(low):
        yield _SPAN, _span
    if not _DOCK.search(low):
        if "v" in low:
            yield _VERSION, _version
        return
    yield from ((pattern, read) for needs, pattern, read in _numeric() if needs(low))


@cache
def _numeric() -> tuple[tuple[Callable[[str], Any], re.Pattern[str], Any], ...]:
    """What holds several digits: what no text with it is without, its pattern, and what it is."""
    parted, minutes = re.compile(r"\d[-/.]\d|20[0-4]\d{5}", re.A), re.compile(r"\d:[0-5]\d", re.A)
    grouped, pointed = re.compile(r"\d\d-\d\d", re.A), re.compile(r"v\d|\.\d+[.-]", re.A)
    seven = re.compile(r"\d(?:[\s().-]{0,2}\d){6}")
    return (
        (lambda low: low.count("-") >= 4, _UUID, lambda m, lex, said: _word(lex, "ident", m[0])),
        (
            lambda low: low.count("-") + low.count(":") >= 5,
            _MAC,
            lambda m, lex, said: _word(lex, "ident", m[0].replace("-", ":")),
        ),
        (lambda low: low.count(":") >= 2, _IP6, _ip),
        (lambda low: low.count(".") >= 3, _IP4, _ip),
        (
            lambda low: "-w" in low,
            _WEEK,
            lambda m, lex, said: lex.word({"date_token": m[0].upper()}),
        ),
        (parted.search, _DATE, _date),
        (minutes.search, _CLOCK, _clock),
        (seven.search, _IBAN, _iban),
        (seven.search, _PHONE, _phone),
        (seven.search, _CARD, _card),
        (grouped.search, _GROUPS, _code),
        (lambda low: " * * " in low, _CRON, _cron),
        (lambda low: " " in low or "°" in low, _TURN, _bearing),
        (pointed.search, _VERSION, _version),
    )


_NAMED, _LASTS = re.compile(r"\.[a-z]"), re.compile(r"pt?\d", re.A)


_HOUSE = re.compile(r"\d [a-z]")


def _street(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """221 South Oak Street: a house by its number, in names with capital letters."""
    named = said.split()[1:]
    if not all(word[0].isupper() for word in named):
        return None
    inner = (word.lower().rstrip(".") for word in named[:-1])
    told = (
        lex.words[word].roles.get("compass", word) if word in lex.words else word for word in inner
    )
    head = "".join([*told, lex.words[m["kind"]].roles["street"]])
    return _word(lex, "ident", f"{head}#{m['n']}")


def _word(lex: Lexicon, kind: str, form: str) -> Word:
    return lex.word({"address": (kind, form)})


def _url(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    bare = said.rstrip("/.,;:!?")
    scheme, mark, rest = bare.partition("://")
    if mark and scheme.lower() not in ("http", "https"):
        return _word(lex, "url", bare)
    host, slash, path = (rest if mark else bare).partition("/")
    if not slash and _IP4.fullmatch(host):
        return _word(lex, "ip", host)
    host = re.sub(r"^www\.|:(?:80|443)$", "", host.lower())
    return _word(lex, "url", host + slash + path)


def _path(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    bare = said.rstrip("/\\.,;:")
    if len(bare) <= _SHORT:
        return None
    tidy = posixpath.normpath(bare.replace("\\", "/"))
    tidy = tidy[0].lower() + tidy[1:] if tidy[1:2] == ":" else tidy
    return _word(lex, "path", "~" + tidy[5:] if tidy.startswith("$HOME/") else tidy)


_SHORT = 3  # "/s" is a denominator, not a path


def _file(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """notes.txt; not the end of a sentence that lacks its space, nor e.g."""
    parts = said.split(".")
    if parts[-1] != parts[-1].lower() or all(len(part) == 1 or part.isdigit() for part in parts):
        return None
    return _word(lex, "path", said)


def _code(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """2024-0091: a number of groups that is no range."""
    groups = said.split("-")
    if len(said) - len(groups) + 1 == _ARTICLE:  # an ISBN
        return _word(lex, "ident", "".join(groups))
    return _word(lex, "ident", said) if len(groups) > 2 or groups[-1][0] == "0" else None


_ARTICLE = 13  # digits that number articles of trade and books, whether in groups or not


def _card(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """4111 1111 1111 1111, SF 1402 7788 3051, but not in 2019 2020 2021."""
    bare = re.sub(r"[ -]", "", said)
    return (
        _word(lex, "ident", bare.lower()) if bare == bare.upper() or " " not in said[:4] else None
    )


def _iban(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """DE02 1203 0000 0000 2020 51, by its check digits."""
    bare = said.replace(" ", "")
    turned = "".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])
    return _word(lex, "ident", bare.lower()) if int(turned) % 97 == 1 else None


def _cron(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """0 2 * * *: on which days, and behind it when."""
    if said[0] == "*":
        *_, minute, hour = m.string[: m.start()].split()[-2:]
        ready = minute.isdigit() and hour.isdigit()
        return lex.word({"clock_token": (int(hour), int(minute), "")}) if ready else None
    day = m["day"]
    return lex.word({"adverb": "1 d"} if day == "*" else {"weekday_plural": (int(day) - 1) % 7})


def _colour(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """#ff8000, rgb(255, 128, 0)."""
    if not m[1]:
        return _word(lex, "ident", m[0][1:])
    parts = [int(part) for part in m.groups()]
    return _word(lex, "ident", bytes(parts).hex()) if max(parts) < 256 else None


def _bearing(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """48°51'30" N, 48.8583 N: a latitude or longitude, in seconds of arc where it is told no finer."""
    if said[-1].islower() or ("°" not in said and "." not in said):
        return None
    degrees, minutes, seconds = (float(m[name] or 0) for name in "dms")
    arc = 3600 * degrees + 60 * minutes + seconds
    fine = len(m["d"].partition(".")[2]) > _ARC
    return _word(lex, "bearing", f"{number(round(arc, 3) if fine else round(arc))}″ {said[-1]}")


_ARC = 4  # decimals of a degree that tell a second of arc from the next


def _marked(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    return _word(lex, "ident", m[0]) if any(c.isdigit() for c in m[0]) else None


def _date(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    from memops.values.forms import date_found

    if m["ymd"]:
        y, mo, d = m["ymd"][:4], m["ymd"][4:6], m["ymd"][6:]
    elif m["ym"] or m["ym2"]:
        y, mo, d = m["ym"] or m["ym2"], m["mm"] or m["mm2"], ""
    elif m["y"]:
        y, mo, d = m["y"], m["m"], m["d"]
    else:
        one, two, y = int(m["a"]), int(m["b"]), m["y2"]
        if one <= 12 and two <= 12 and one != two and m["s2"] != ".":
            return lex.word({"address": ("date written both ways", m[0].replace("-", "/"))})
        mo, d = (str(two), str(one)) if one > 12 or m["s2"] == "." else (str(one), str(two))
    found = date_found(int(y), int(mo), int(d) if d else None)
    return lex.word({"date_token": found.form}) if found else None


def _span(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """PT15M, P3DT2H: a duration as ISO 8601 writes it."""
    years, months, weeks, days, hours, minutes, seconds = (float(part or 0) for part in m.groups())
    length = 12 * years + months
    rest = 86400 * (7 * weeks + days) + 3600 * hours + 60 * minutes + seconds
    form = " ".join([f"{number(n)} {unit}" for n, unit in ((length, "mo"), (rest, "s")) if n])
    return _word(lex, "duration", form) if form and said[0] == "P" else None


def _clock(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    from memops.values.forms import time_form

    hour, minute, zone = int(m["h"]), int(m["m"]), m["z"]
    seconds = (m["s"] or "")[:3].replace(":00", "")
    if zone:
        sign = -1 if zone[0] == "-" else 1
        shift = 0 if zone == "z" else sign * (int(zone[1:3]) * 60 + int(zone[-2:]))
        return lex.word({"address": ("time", time_form(hour, minute, shift, seconds))})
    return lex.word({"clock_token": (hour, minute, seconds)})


def _ip(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    head, slash, tail = m[0].partition("/")
    if not any(sign.isalnum() for sign in head):
        return None
    try:
        return _word(lex, "ip", str(ipaddress.ip_address(head)) + slash + tail)
    except ValueError:
        return None


def _version(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    form = version_form(m["v"] or m["n"]) + (m["pre"] or "")
    return _word(lex, "version", (m["caret"] or "") + form)


def _phone(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    form = phone_form(m[0].partition("ext")[0].partition("x")[0].partition("转")[0], lex.regions)
    if form is None:
        return None
    return _word(lex, "phone", form + (f" ext {m['ext']}" if m["ext"] else ""))


def _dialled(parsed: Any, bare: str, region: str) -> bool:
    """Whether people at home write it so: where numbers begin with a 0, those of lines do."""
    import phonenumbers

    told = phonenumbers.PhoneMetadata.metadata_for_region(region)
    if told is None or told.national_prefix != "0" or bare.startswith("0"):
        return True
    kinds = phonenumbers.PhoneNumberType
    short = (kinds.MOBILE, kinds.TOLL_FREE, kinds.SHARED_COST, kinds.PREMIUM_RATE)
    return phonenumbers.number_type(parsed) in short


@lru_cache(maxsize=10_000)
def phone_form(said: str, regions: Sequence[str]) -> str | None:
    """Return a telephone number with its country's code, or None for what is none."""
    import phonenumbers

    bare = re.sub(r"\D", "", said)
    if said.startswith("00"):
        said = "+" + said[2:].lstrip()
    if said.startswith("+"):
        try:
            return phonenumbers.format_number(
                phonenumbers.parse(said, None), phonenumbers.PhoneNumberFormat.E164
            )
        except phonenumbers.NumberParseException:
            return None
    for region in regions:
        try:
            parsed = phonenumbers.parse(said, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed) and _dialled(parsed, bare, region):
            return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164))
    return (
        f"tel {bare}"
        if re.search(r"\D", said.strip()) and re.fullmatch(r"[\d\s().-]+", said.strip())
        else None
    )
