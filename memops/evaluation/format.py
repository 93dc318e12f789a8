"""The format of a suite's files: which settings and fields there are, and what each may hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Required

from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict  # which pydantic asks for, and brings

from memops.errors import Corrupt, MemopsError
from memops.files import json_lines
from memops.measures import measure
from memops.policy import ranges
from memops.policy.checking import checked, loaded, tables
from memops.schema import KINDS, instant

DEFAULT_MEASURES = ("R@5", "R@10", "Success@1", "RR@10", "nDCG@10", "stale@5", "leak@5")
SLICED = ("category", "lang", "kind", "age")
"""What a floor may be set for a value of, as in `category:temporal`."""
_DEFAULTS = {"measures": DEFAULT_MEASURES, "retriever": "hybrid", "k": 10, "encoder": "lsa"}
_MEND = "mend that line"
_HIGHEST = 1000  # grade, so that 2^grade is a number


def _retriever(name: str, _: Mapping[str, Any]) -> str:
    from memops.search.retrieve import RETRIEVERS

    return ranges.unless_known(name, [*RETRIEVERS], "retriever")


def _slice(name: str, _: Mapping[str, Any]) -> str:
    kind, _colon, value = name.partition(":")
    if kind == "kind":
        return ranges.unless_known(value, KINDS, "kind of record")
    known = name == "all" or kind in SLICED
    return "" if known else f"no slice: all, or {':..., '.join(SLICED)}:..."


def graded(relevant: Any) -> Any:
    """Return the grade of each record that is named; in a list each has 1."""
    named = isinstance(relevant, list) and all(isinstance(one, str) for one in relevant)
    return dict.fromkeys(relevant, 1) if named else relevant or {}


_FILLED = ranges.Checked(lambda text, _: "" if text.strip() else "an empty text")
_MOMENT = ranges.Checked(lambda text, _: "" if instant(text) else "no instant with a time zone")
Text = Annotated[str, _FILLED]
Pattern = Annotated[ranges.Regex, _FILLED]
Judged = Annotated[dict[Text, Annotated[int, ranges.Exactly(0, _HIGHEST)]], BeforeValidator(graded)]


class Query(TypedDict, total=False):
    """A golden query as a line of `queries.jsonl` has it."""

    query_id: Required[Text]
    text: Required[Text]
    scope: str | None
    category: str | None
    lang: str | None
    as_of: Annotated[str, _MOMENT] | None
    note: str | None
    answerable: ranges.Switch
    relevant: Judged
    nuggets: list[Pattern] | None
    avoid: list[Pattern] | None


class Proposal(Query, total=False):
    """A golden query that waits for a person, with what its evidence says and what they decided."""

    says: list[str]
    keep: ranges.Switch | None


FIELDS = Query.__annotations__.keys()
QUERY, PROPOSAL = (tables(**kind.__annotations__) for kind in (Query, Proposal))
"""What a line may hold."""
_SETTINGS = tables(
    measures=Annotated[list[ranges.Measured], Field(min_length=1)],
    retriever=Annotated[str, ranges.Checked(_retriever)],
    k=ranges.AtLeastOne,
    encoder=Text,
    floors=dict[Annotated[str, ranges.Checked(_slice)], ranges.Share],
    note=str,
)


def head_of(path: Path) -> dict[str, Any]:
    """Return the settings of a `suite.toml`; raises MemopsError, naming the setting and its line."""
    table, text = loaded(path)
    head: dict[str, Any] = _DEFAULTS | checked(_SETTINGS, table, str(path), (), text, _MEND)
    for name in head["measures"]:
        if "@" in name and (deep := measure(name).cutoff) > head["k"]:
            said = f"{path}: {name} looks beyond the first {head['k']}"
            raise MemopsError(said, f"set k = {deep}")
    return head


def rows_of(path: Path) -> list[Any]:
    """Return the objects of a JSON lines file; raises Corrupt, naming the line."""
    return [row for _, row in json_lines(path)]


def check_row(row: Any, where: str, kind: Any = QUERY) -> None:
    """Raise Corrupt for what is no golden query, naming the line."""
    if not isinstance(row, dict):
        raise Corrupt(f"{where}: not a JSON object")
    try:
        checked(kind, row, where, hint=_MEND)
    except MemopsError as error:
        raise Corrupt(error.message, error.hint) from error
