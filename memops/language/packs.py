"""Language packs: what one language brings, a folder each, read behind one protocol.

A pack is data: `values.toml` gives the words around numbers and times the roles that the readers
ask for. Names of months, weekdays, units and currencies come from CLDR (Unicode's Common Locale
Data Repository, by `babel`). The pack `und`, CLDR's code for no language, holds what all share.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memops.errors import MemopsError
from memops.language.keeping import beside, toml

_HOME = Path(__file__).parent
NEUTRAL = "und"
_LETTERS = 3  # a shorter symbol of CLDR's (m, c, y) is read only where a pack says so


@dataclass(frozen=True)
class Pack:
    """A language: its script, and of each word or phrase the roles, each with what it carries."""

    code: str
    script: str
    words: Mapping[str, Mapping[str, Any]]
    idle: frozenset[str] = frozenset()
    """Words that hold a word of `words` and mean something else."""
    capital: frozenset[str] = frozenset()
    """Words that are values only with a capital letter."""
    beside: frozenset[str] = frozenset()
    """Words that are values only beside another."""
    regions: tuple[str, ...] = ()
    """Where its telephone numbers are at home (ISO 3166)."""
    trailing: bool = False
    """Whether a last digit after a unit counts in the next lower one."""
    everywhere: bool = False
    """Whether its words are looked for in every text, as those of another language stand in notes."""
    comma: bool = False
    """Whether a comma stands before decimals, and a point between thousands."""
    letters: frozenset[str] = frozenset()
    """Letters and marks by which a text is told to be of the language."""


@cache
def codes() -> tuple[str, ...]:
    """Return the languages that have a pack, in the order of their codes."""
    return tuple(
        sorted(p.parent.name for p in _HOME.glob("*/values.toml") if p.parent.name != NEUTRAL)
    )


@cache
def scripted(script: str) -> str:
    """Return the language that notes in a script are read in when nothing tells another."""
    found = (code for code in codes() if table(code).get("everywhere"))
    return next(code for code in found if table(code)["script"] == script)


@cache
def spaced(code: str) -> bool:
    """Return whether a language puts spaces between its words."""
    return str(table(code)["script"]) != "han"


@cache
def table(code: str, name: str = "values") -> dict[str, Any]:
    """Return what a file of a language says; raises MemopsError, which names the file."""
    path = _HOME / code / f"{name}.toml"
    try:
        return toml(path)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = "it is TOML in UTF-8; a key with other signs than a to z, 0 to 9, - and _ stands in quotes"
        raise MemopsError(f"{path}: {error}", hint) from error


@cache
def cues(name: str, which: str = "words") -> tuple[str, ...]:
    """Return a list of cues (`cues.toml`) in all languages that have a pack."""
    told = (table(code, "cues") for code in codes() if brings(code, "cues"))
    return tuple(word for cues_ in told for word in cues_[name][which])


@cache
def rows(name: str) -> tuple[str, ...]:
    """Return a list of `signs.toml` in all languages that have a pack."""
    return tuple(row for code in codes() for row in table(code, "signs").get(name, ()))


@cache
def function_words(name: str) -> frozenset[str]:
    """Return such a list of words."""
    return frozenset(rows(name))


@cache
def frames(name: str, gap: str, word: str = "") -> tuple[re.Pattern[str], ...]:
    """Return such a list as patterns: `<name>` is a gap of that name, an ellipsis the word."""
    parts = (re.split(r"(?<!P)<(\w+)>", row.replace("…", word)) for row in rows(name))
    named = ([f"(?P<{one}>{gap})" if n % 2 else one for n, one in enumerate(of)] for of in parts)
    return tuple(re.compile("".join(of)) for of in named)


@cache
def brings(code: str, name: str) -> bool:
    """Return whether a language has a file of that name; only `values` and `signs` are asked of all."""
    return (_HOME / code / f"{name}.toml").exists()


def whole(code: str) -> dict[str, dict[str, Any]]:
    """Return all files of a language by their names."""
    return {p.stem: table(code, p.stem) for p in sorted((_HOME / code).glob("*.toml"))}


@cache
def brought(name: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a lexicon that packs bring, by language."""
    return {code: table(code, name) for code in codes() if brings(code, name)}


def scripts(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return words that stand between spaces, and those that stand in a run of signs."""
    listed = list(words)
    return [w for w in listed if w.isascii()], [w for w in listed if not w.isascii()]


def either(words: Iterable[str]) -> str:
    """Return a pattern for any of some words, the longest first; for none one that fits nothing."""
    return "|".join(sorted(map(re.escape, words), key=lambda w: (-len(w), w))) or "(?!)"


@cache
def pack(code: str) -> Pack:
    """Return a language's pack."""
    told = table(code)
    sources = [_HOME / code / "values.toml", Path(__file__), _cldr()]
    words, comma = beside("pack", sources, lambda: (_words(told), _decimal(told["cldr"]) == ","))
    return Pack(
        code,
        told["script"],
        words,
        frozenset([*told.get("idle", "").split(), *told.get("idle_phrases", ())]),
        frozenset(told.get("capital", ())),
        frozenset(told.get("beside", ())),
        tuple(told.get("regions", ())),
        told.get("trailing", False),
        told.get("everywhere", False),
        comma,
        frozenset(told.get("letters", "")),
    )


def _words(told: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The words of a language with their roles: CLDR's, then its own."""
    words: dict[str, dict[str, Any]] = {}
    for role, word, data in _of_cldr(told["cldr"]):
        words.setdefault(word.lower(), {}).setdefault(role, data)
    for role, word, data in (*_of_table(told["words"]), *_denied(told), *_ended(told)):
        words.setdefault(word.lower(), {})[role] = data
    return words


@cache
def _cldr() -> Path:
    """The file that another version of babel has another of, found without loading it."""
    found = find_spec("babel")
    return Path(str(found and found.origin))


def _decimal(locales: list[str]) -> str:
    from babel import Locale

    symbols = [Locale.parse(name).number_symbols for name in locales]
    return str(symbols[0]["latn"]["decimal"]) if symbols else "."


_Entry = tuple[str, str, Any]
_CURRENCIES = (
    "AUD", "CAD", "CHF", "CNY", "EUR", "GBP", "HKD", "INR", "JPY", "KRW", "RUB", "SGD", "TWD", "USD"
)  # fmt: skip
"""Those that are read by their codes and plurals, too."""


def _of_table(table: Mapping[str, Any]) -> Iterator[_Entry]:
    for role, listed in table.items():
        if isinstance(listed, list):
            yield from ((role, word, True) for word in listed)
            continue
        for said, data in listed.items():
            many = isinstance(data, list) and isinstance(data[0], str)
            yield from ((role, word, said) for word in data) if many else [(role, said, data)]


_OTHER_SIDE = {">": "<=", "<": ">="}


def _denied(told: Mapping[str, Any]) -> Iterator[_Entry]:
    """Bounds that are denied: no more than, 不得少于."""
    gap = " " if told["script"] != "han" else ""
    strict = told["words"].get("bound_before", {})
    yield from (
        ("bound_before", f"{denial}{gap}{word}", _OTHER_SIDE[bound])
        for denial in told.get("denying", ())
        for bound, words in strict.items()
        if bound in _OTHER_SIDE
        for word in words
        if not gap or word[0].isalpha()
    )


_CHANGES = ("up", "down", "gained", "lost", "off_before")


def _ended(told: Mapping[str, Any]) -> Iterator[_Entry]:
    """Verbs of change with what says that it is done: 上涨了."""
    aspect = told.get("aspect")
    listed = ((role, told["words"].get(role, ())) for role in _CHANGES if aspect)
    return ((role, word + aspect, True) for role, words in listed for word in words)


def _of_cldr(locales: list[str]) -> Iterator[_Entry]:
    from babel import Locale

    for name in locales:
        locale = Locale.parse(name)
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                yield from _named("month", locale.months[context][width])
                yield from _named("weekday", locale.days[context][width])
        yield from _units(locale)
        for code, said in locale.currencies.items():
            yield "currency", said, code
        for code in _CURRENCIES:
            yield "currency", code, code
            plural = locale._data["currency_names_plural"].get(code, {})
            yield from (("currency", said, code) for said in plural.values())


def _named(role: str, names: Mapping[int, str]) -> Iterator[_Entry]:
    for number, said in names.items():
        if not re.search(r"\d", said):
            yield role, said.rstrip("."), number


def _units(locale: Any) -> Iterator[_Entry]:
    for unit, widths in locale._data["unit_patterns"].items():
        for forms in (widths[width] for width in widths if hasattr(widths[width], "items")):
            for pattern in (said for form, said in forms.items() if form != "per"):
                said = pattern.replace("{0}", "").strip(" .\u00a0\u202f")
                if not said.isascii() or (len(said) >= _LETTERS and "{" not in said):
                    yield "unit", said, unit
