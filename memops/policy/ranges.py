"""Ranges: what a setting may be; pydantic checks it where a file is read, and only there."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args, get_type_hints
from urllib.parse import urlsplit

from memops.errors import MemopsError, did_you_mean
from memops.measures import measure
from memops.schema import KINDS, RECORDS, STORES, TIERS

NAME = re.compile(r"\w(?:[\w .-]*[\w.-])?")
"""What a store may be called."""
_LONGEST = 100
_RULES = Path(__file__).parents[1] / "rules"


class Section:
    """A table of settings: no name but its own, and entries that it lacks keep their defaults."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Have pydantic add the entries of tables that are given in part."""
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(cls._filled, handler(source))

    @classmethod
    def _filled(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        whole = dict(given)
        for item in fields(cls):  # type: ignore[arg-type]
            made = item.default_factory() if item.default_factory is not MISSING else None
            if isinstance(made, dict) and isinstance(given.get(item.name), Mapping):
                whole[item.name] = {**made, **given[item.name]}
        return whole

    @classmethod
    def plain(cls, given: Any) -> Self | None:
        """Return the section of a table of nothing but numbers and switches in their ranges; None of another.

        To load pydantic, which checks any, takes a twentieth of a small night.
        """
        if not isinstance(given, Mapping):
            return None
        hints = get_type_hints(cls, include_extras=True)
        kinds = {name: get_args(hints[name]) for name in given if name in hints}
        fit = kinds.keys() == given.keys() and all(
            len(kind) == 2 and isinstance(kind[1], Exactly) and kind[1].holds(given[name], kind[0])
            for name, kind in kinds.items()
        )
        return cls(**{name: kind[0](given[name]) for name, kind in kinds.items()}) if fit else None


@dataclass(frozen=True)
class Exactly:
    """A value of the type itself (no text for a number), and within bounds."""

    ge: float | None = None
    le: float | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the type's own schema, narrowed."""
        bounds = {name: v for name, v in (("ge", self.ge), ("le", self.le)) if v is not None}
        return {**handler(source), "strict": True, **bounds}

    def holds(self, value: Any, kind: type) -> bool:
        """Return whether a value is of a type, as which a whole number is a float too, and within bounds."""
        own = type(value) is kind or (kind is float and type(value) is int)
        return (
            own and (self.ge is None or value >= self.ge) and (self.le is None or value <= self.le)
        )


@dataclass(frozen=True)
class Checked:
    """A value that a function of it and of the settings before it has nothing against."""

    against: Callable[[str, Mapping[str, Any]], str]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the type's own schema with the function after it."""
        from pydantic_core.core_schema import with_info_after_validator_function

        return with_info_after_validator_function(self._held, handler(source))

    def _held(self, value: str, info: Any) -> str:
        if said := self.against(value, info.data or {}):
            raise ValueError(said)
        return value


def _regex(text: str, _: Mapping[str, Any]) -> str:
    import polars as pl

    try:
        pl.Series([""]).str.contains(text)
    except pl.exceptions.PolarsError as error:
        why = str(error).split("\n\n")[0].rpartition("error: ")[2]
        return f"no regular expression (Rust's): {why}"
    return ""


def _cron(text: str, _: Mapping[str, Any]) -> str:
    from datetime import UTC, datetime

    from cronsim import CronSim, CronSimError

    try:
        next(CronSim(text, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        return "no time of cron, such as 30 3 * * * (minute, hour, day, month, weekday)"
    return ""


def _zone(text: str, _: Mapping[str, Any]) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "" if text == "UTC" else "no time zone, such as UTC or Europe/Berlin"
    return ""


def _web(text: str, _: Mapping[str, Any]) -> str:
    parts = urlsplit(text)
    good = not text or (parts.scheme in ("http", "https") and parts.hostname)
    return "" if good else "no address, such as https://example.org/hook"


def _mail(text: str, _: Mapping[str, Any]) -> str:
    parts = urlsplit(text)
    good = parts.scheme in ("mailto", "mailtos") and parts.hostname and "to=" in parts.query
    return "" if good or not text else "no mailto(s)://USER:PASSWORD@HOST?to=ADDRESS"


def _name(text: str, _: Mapping[str, Any]) -> str:
    """A name stands in names of files: in one piece, not hidden, and as long as they may be."""
    good = NAME.fullmatch(text) and len(text.encode()) <= _LONGEST
    return "" if good else f"no name: letters, digits, blanks, . _ - and at most {_LONGEST} bytes"


def _group(text: str, _: Mapping[str, Any]) -> str:
    by_category = re.fullmatch("(?:[^/]+/)?category:.+", text)
    return "" if by_category else unless_known(text.rpartition("/")[2], KINDS, "kind of record")


def _secret(text: str, before: Mapping[str, Any]) -> str:
    from memops.language.lexicon import lexicon

    known = {str(shape["kind"]) for shape in lexicon("secrets")["pattern"]}
    known |= {"told", *before.get("patterns", {})}
    return unless_known(text, sorted(known), "kind of secret")


def _rule(text: str, before: Mapping[str, Any]) -> str:
    """A rule is a module; what is said of one may be said of a kind of store alone, or of all rules."""
    kind, _slash, rule = text.rpartition("/")
    known = sorted(p.stem for p in _RULES.glob("[a-z]*.py"))
    return (unless_known(kind, [*STORES], "kind of store") if kind else "") or (
        "" if rule == "*" else unless_known(rule, known, "rule")
    )


def _measure(text: str, _: Mapping[str, Any]) -> str:
    try:
        measure(text)
    except MemopsError as error:
        return f"no measure: {error.message}"
    return ""


def _among(what: str, *known: str) -> Checked:
    return Checked(lambda text, _: unless_known(text, known, what))


def _written(pattern: str, otherwise: str) -> Checked:
    return Checked(lambda text, _: "" if re.fullmatch(pattern, text) else otherwise)


def unless_known(name: str, known: Sequence[str], what: str) -> str:
    """Return what is said of a name that is none of those known; nothing of one that is."""
    if name in known:
        return ""
    near = did_you_mean(name, known)
    return f"no {what}" + (f"; {near}" if near else f": {', '.join(known)}")


Switch = Annotated[bool, Exactly()]
Share = Annotated[float, Exactly(0, 1)]
Factor = Annotated[float, Exactly(0, 1000)]
Count = Annotated[int, Exactly(0, 1_000_000_000)]
AtLeastOne = Annotated[int, Exactly(1, 1_000_000_000)]
Days = Annotated[float, Exactly(0, 36_525)]
Chars = Annotated[float, Exactly(0, 1_000_000)]
Window = Annotated[float, Exactly(0.01, 36_525)]
"""Days after which something goes; nought would be at once."""
Hours = Annotated[float, Exactly(0, 876_600)]
Minutes = Annotated[float, Exactly(0, 525_960)]
Seconds = Annotated[float, Exactly(0, 86_400)]
Regex = Annotated[str, Checked(_regex)]
Name = Annotated[str, Checked(_name)]
Located = Annotated[str, _written(r"[^\0]*", "no path: none holds a null character")]
"""A path, or what holds one."""
Cron = Annotated[str, Checked(_cron)]
Zone = Annotated[str, Checked(_zone)]
Web = Annotated[str, Checked(_web)]
Mail = Annotated[str, Checked(_mail)]
Kind = Annotated[str, _among("kind of record", *KINDS)]
Group = Annotated[str, Checked(_group)]
"""A kind or `category:NAME`, or either in one scope: `work/fact`."""
Secret = Annotated[str, Checked(_secret)]
Ruled = Annotated[str, Checked(_rule)]
"""A rule, `KIND/RULE`, `KIND/*` or `*`."""
Places = Annotated[str, _written("[1-9][0-9]?", "no number of places, such as 1")]
Arms = dict[Annotated[str, _among("arm", "words", "grams", "dense")], Factor]
Measured = Annotated[str, Checked(_measure)]
Column = Annotated[str, _among("column", *(RECORDS.keys() - {"extra", "origin"}))]
"""Of a record, but for what memops itself says of an entry."""
Tier = Annotated[str, _among("tier", *TIERS)]
Workspace = Annotated[str, _among("kind of store with a budget", "openclaw", "xinghebot")]
