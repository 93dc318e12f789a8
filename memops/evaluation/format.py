"""The format of a suite's files: which settings and fields there are, and what each may hold."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Required, TypedDict

import polars as pl

from memops.errors import Corrupt, MemopsError
from memops.files import json_lines
from memops.measures import measure
from memops.schema import KINDS, instant

DEFAULT_MEASURES = ("R@5", "R@10", "Success@1", "RR@10", "nDCG@10", "stale@5", "leak@5")
SETTINGS = ("measures", "retriever", "k", "encoder", "floors", "note")
TEXTS = ("scope", "category", "lang", "as_of", "note")


class Query(TypedDict, total=False):
    """A golden query as a line of `queries.jsonl` has it."""

    query_id: Required[str]
    text: Required[str]
    scope: str | None
    category: str
    lang: str
    as_of: str
    note: str
    answerable: bool
    relevant: dict[str, int] | list[str]
    nuggets: list[str]
    avoid: list[str]


class Proposal(Query, total=False):
    """A golden query that waits for a person, with what its evidence says and what they decided."""

    says: list[str]
    keep: bool | None


FIELDS = Query.__annotations__.keys()
SLICED = ("category", "lang", "kind", "age")
"""What a floor may be set for a value of, as in `category:temporal`."""
_DEFAULTS = {"measures": DEFAULT_MEASURES, "retriever": "hybrid", "k": 10, "encoder": "lsa"}
_HIGHEST = 1000  # grade, so that 2^grade is a number


def head_of(path: Path) -> dict[str, Any]:
    """Return the settings of a `suite.toml`; raises Corrupt or MemopsError, naming the setting."""
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path}: not valid TOML: {error}") from error
    if odd := sorted(set(held) - set(SETTINGS)):
        raise MemopsError(f"{path}: unknown setting {odd[0]!r}", f"known: {', '.join(SETTINGS)}")
    head: dict[str, Any] = {**_DEFAULTS, **held}
    for name, right, says in (
        ("k", _whole(head["k"]) and head["k"] > 0, "a whole number from 1"),
        ("retriever", _text(head["retriever"]), "the name of a retriever"),
        ("encoder", _text(head["encoder"]), "the name or folder of an encoder"),
        ("measures", _texts(head["measures"]), 'a list of measures, as ["R@10"]'),
        ("floors", isinstance(head.get("floors", {}), dict), "a table of slices"),
    ):
        if not right:
            raise MemopsError(f"{path}: {name} must be {says}, not {head[name]!r}")
    _check_measures(head["measures"], head["k"], path)
    _check_retriever(head["retriever"], path)
    for name, floor in head.get("floors", {}).items():
        _check_floor(name, floor, path)
    return head


def rows_of(path: Path) -> list[Any]:
    """Return the objects of a JSON lines file; raises Corrupt, naming the line."""
    return [row for _, row in json_lines(path)]


def check_row(row: Any, where: str) -> None:
    """Raise Corrupt for what is no golden query, naming the line."""
    if not isinstance(row, dict):
        raise Corrupt(f"{where}: not a JSON object")
    for name in ("query_id", "text"):
        if not _text(row.get(name)):
            raise Corrupt(f"{where}: {name} must be a text that is not empty")
    if odd := sorted(set(row) - FIELDS):
        raise Corrupt(f"{where}: unknown field {odd[0]!r}", f"known: {', '.join(sorted(FIELDS))}")
    for name, right, says in (
        *((n, isinstance(row.get(n, ""), str | None), "a text") for n in TEXTS),
        ("answerable", isinstance(row.get("answerable", True), bool), "true or false"),
        *((n, isinstance(row.get(n), list | None), "a list") for n in ("nuggets", "avoid")),
        ("relevant", isinstance(row.get("relevant"), dict | list | None), "a list or an object"),
    ):
        if not right:
            raise Corrupt(f"{where}: {name} must be {says}, not {row[name]!r}")
    if row.get("as_of") is not None and instant(row["as_of"]) is None:
        raise Corrupt(f"{where}: as_of must be an instant with a time zone")
    _check_graded(row.get("relevant") or {}, where)
    _check_patterns([*(row.get("nuggets") or ()), *(row.get("avoid") or ())], where)


def graded(relevant: Any) -> dict[str, int]:
    """Return the grade of each record that is named; in a list each has 1."""
    return dict.fromkeys(relevant, 1) if isinstance(relevant, list) else dict(relevant or {})


def _check_measures(names: Sequence[str], k: int, path: Path) -> None:
    for name in names:
        try:
            deep = measure(name).cutoff
        except MemopsError as error:
            raise MemopsError(f"{path}: {error.message}", error.hint) from error
        if "@" in name and deep > k:
            raise MemopsError(f"{path}: {name} looks beyond the first {k}", f"set k = {deep}")


def _check_retriever(name: str, path: Path) -> None:
    from memops.search.profiles import PROFILES
    from memops.search.retrieve import RETRIEVERS

    if name not in RETRIEVERS and name not in PROFILES:
        known = ", ".join((*RETRIEVERS, *PROFILES))
        raise MemopsError(f"{path}: unknown retriever {name!r}", f"known: {known}")


def _check_floor(name: str, floor: Any, path: Path) -> None:
    kind, _, value = name.partition(":")
    if name != "all" and (kind not in SLICED or (kind == "kind" and value not in KINDS)):
        known = ", ".join(("all", *(f"{s}:..." for s in SLICED)))
        raise MemopsError(f"{path}: floor of an unknown slice {name!r}", f"known: {known}")
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor <= 1:
        raise MemopsError(f"{path}: the floor of {name} must be from 0 to 1, not {floor!r}")


def _check_graded(relevant: Any, where: str) -> None:
    if not all(map(_text, relevant)):
        raise Corrupt(f"{where}: relevant must name records by their ids, which are texts")
    if not all(_whole(grade) and 0 <= grade <= _HIGHEST for grade in graded(relevant).values()):
        raise Corrupt(f"{where}: grades must be whole numbers from 0 to {_HIGHEST}")


def _check_patterns(patterns: Sequence[Any], where: str) -> None:
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern:
            raise Corrupt(f"{where}: {pattern!r} is no pattern")
        try:
            pl.select(pl.lit("").str.contains(pattern))
        except pl.exceptions.PolarsError as error:
            raise Corrupt(f"{where}: {pattern!r} is no regular expression: {error}") from error


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_text, value))
