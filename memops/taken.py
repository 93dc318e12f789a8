"""Taken apart: texts as lists of codes, family by family, and their marks, one row a text."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from xxhash import xxh3_64_intdigest

from memops.cues import MARKS
from memops.reading import FAMILIES, JUDGED, read_many


def _schema(families: Sequence[str]) -> pl.Schema:
    """The columns of texts taken apart: text, families, kinds of values, marks."""
    lists = dict.fromkeys((*families, "value_kinds"), pl.List(pl.UInt64))
    return pl.Schema({"text": pl.String(), **lists, **dict.fromkeys(MARKS, pl.Float64())})


TAKEN = _schema(JUDGED)
"""What a store's statements are taken apart into: as much as the judgement looks at."""
WHOLE = _schema(FAMILIES)
PARTED = ("content", "atoms")
"""Families whose items weigh the more, the rarer they are."""


def taken_apart(texts: Sequence[str], schema: pl.Schema = TAKEN) -> pl.DataFrame:
    """Read each text: one row with its families as lists of codes, its marks, and value kinds.

    The schema is TAKEN, or WHOLE for what the scorer looks at too.
    A code is a hash of the item, the same on every machine, and lists are in the order of codes:
    so readings made here and there can be put together, and sums come out alike to the last bit.
    """
    parts = [
        _taken(texts[start : start + _BATCH], schema) for start in range(0, len(texts), _BATCH)
    ]
    return pl.concat([schema.to_frame(), *parts], rechunk=True)


class _Codes(dict[str, int]):
    """The code of each item."""

    def __missing__(self, item: str) -> int:
        code = xxh3_64_intdigest(item.encode("utf-8", "surrogatepass"))
        self[item] = code
        return code


_BATCH = 20_000


def _taken(texts: Sequence[str], schema: pl.Schema) -> pl.DataFrame:
    whole = schema is WHOLE
    families = FAMILIES if whole else JUDGED
    code = _Codes().__getitem__
    flat: dict[str, list[int]] = {name: [] for name in (*families, "value_kinds")}
    ends: dict[str, list[int]] = {name: [0] for name in flat}
    marks: list[list[float]] = []
    for reading in read_many(texts, whole):
        for family in families:
            items = reading.sets[family]
            if items:
                flat[family] += sorted(map(code, items))
            ends[family].append(len(flat[family]))
        valued = sorted((code(item), item) for item in reading.sets["values"])
        flat["value_kinds"] += [code(i.split("=")[0]) if "=" in i else 0 for _, i in valued]
        ends["value_kinds"].append(len(flat["value_kinds"]))
        marks.append([reading.marks[name] for name in MARKS])
    columns: dict[str, Any] = {"text": pl.Series(texts, dtype=pl.String)}
    columns |= {name: _lists(flat[name], ends[name]) for name in flat}
    table = np.array(marks, np.float64).reshape(len(texts), len(MARKS))
    columns |= {name: table[:, n] for n, name in enumerate(MARKS)}
    return pl.DataFrame({name: columns[name] for name in schema}, schema=schema)


def _lists(items: list[int], ends: list[int]) -> pl.Series:
    """A column of lists from their items and where each begins and ends."""
    import pyarrow as pa

    offsets, values = np.array(ends, np.int64), np.array(items, np.uint64)
    made = pl.from_arrow(pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values)))
    assert isinstance(made, pl.Series)
    return made


def counted(taken: pl.DataFrame) -> pl.DataFrame:
    """Return how many texts hold each item that weighs (code, held)."""
    items = pl.concat(
        taken[family].explode(empty_as_null=True).drop_nulls()
        for family in PARTED
        if family in taken.columns
    )
    return items.rename("code").value_counts(name="held").sort("code")
