"""What a column of another program's table says of a record, and what is written there for it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memops.schema import TOMBSTONE
from memops.stores.sqlite.values import text_of

_NEW = 1 << 48  # numbers below zero among which new rows get theirs
_STAMP = "%Y-%m-%d %H:%M:%S"


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Field:
    """The column that holds a field of a record, and how each is made of the other.

    Text comes as text, any other value as it is. Null and `none` are read as None, for which `none`
    is written. Where the program `counts` in the column, what a plan adds is added to what stands
    there by then, and a count is no sign that a row changed.
    """

    column: str
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same
    none: Any = None
    counts: bool = False

    def said(self, value: Any) -> Any:
        """Return what a native value says, None for nothing."""
        if isinstance(value, bytes):
            value = text_of(value)
        return None if value is None or value == self.none else self.read(value)

    def native(self, value: Any) -> Any:
        """Return the native value that says this."""
        return self.none if value is None else self.write(value)


def seconds(column: str) -> Field:
    """Return the field of a column with seconds since 1970."""
    return Field(column, lambda n: datetime.fromtimestamp(n, UTC), lambda at: int(at.timestamp()))


def timestamp(column: str) -> Field:
    """Return the field of a column with times as SQLite's CURRENT_TIMESTAMP writes them."""
    return Field(
        column,
        lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC),
        lambda at: at.astimezone(UTC).strftime(_STAMP),
    )


def counter(column: str) -> Field:
    """Return the field of a column that the program counts in."""
    return Field(column, none=0, counts=True)


def flag(column: str) -> Field:
    """Return the field of a column with 1 in a row that is hidden, and 0 in one that is not."""
    return Field(column, lambda _: TOMBSTONE, lambda _: 1, none=0)


def number(column: str) -> Field:
    """Return the field of a column that knows rows by number."""
    return Field(column, str, _number)


def _number(id_: str) -> int:
    """The number of a row that is there, or one that is made of the id of a new record."""
    if id_.removeprefix("-").isdecimal() and str(int(id_)) == id_:
        return int(id_)
    return -1 - int.from_bytes(hashlib.sha256(id_.encode()).digest()) % _NEW
