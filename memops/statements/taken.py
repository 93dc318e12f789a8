"""Taken apart: texts as lists of codes, family by family, and their marks, one row a text."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import polars as pl

from memops.heap import in_one
from memops.progress import at_once, tracked
from memops.statements.cues import MARKS
from memops.statements.reading import FAMILIES, Read, code_of_item, read_in_one

TAKEN = pl.Schema(
    {"text": pl.String()}
    | dict.fromkeys((*FAMILIES, "value_kinds"), pl.List(pl.UInt64))
    | dict.fromkeys(MARKS, pl.Float64())
)
"""What statements are taken apart into: text, families, kinds of values, marks."""


def taken_apart(texts: Sequence[str]) -> pl.DataFrame:
    """Read each text: one row with its families as lists of codes, its marks, and value kinds.

    A code is a hash of the item, the same on every machine, and lists are in the order of codes:
    so readings made here and there can be put together, and sums come out alike to the last bit.
    Very many texts are shared out among processes.
    """
    share = (len(texts) - _START) // at_once()
    others = at_once() - 1 if share >= _SHARE else 0
    with ThreadPoolExecutor(others or 1) as threads:
        begun = [threads.submit(_elsewhere, texts[n * share :][:share]) for n in range(others)]
        made = [_here(texts[others * share :])]
        made[:0] = [begun.pop(0).result() for _ in range(others)]
        return in_one(made)


_BATCH = 40_000
_START = 5_000  # texts that are read while another process starts
_SHARE = 15_000  # texts for which one is worth its start, a second of CPU


def _here(texts: Sequence[str]) -> pl.DataFrame:
    parts = [
        _taken(texts[start : start + _BATCH])
        for start in tracked("reading texts", range(0, len(texts), _BATCH))
    ]
    return pl.concat([TAKEN.to_frame(), *parts])


def _elsewhere(texts: Sequence[str]) -> pl.DataFrame:
    """Texts read by another process; here, if it fails.

    It is a new one, as a copy of this one might wait for ever for a lock of polars' threads.
    """
    asked = pl.DataFrame({"text": texts}, {"text": pl.String()}).write_ipc(None).getvalue()
    read = "import sys; asked = sys.stdin.buffer.read(); import memops.statements.taken as taken"
    argv = [sys.executable, "-P", "-c", f"{read}; taken.served(asked)"]
    env = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "POLARS_MAX_THREADS": "1"}
    with suppress(OSError, pl.exceptions.PolarsError):
        answer = subprocess.run(
            argv, input=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | env, check=False,
        )  # fmt: skip
        return pl.read_ipc(answer.stdout)
    return _here(texts)


def served(asked: bytes) -> None:
    """Read the texts of a table, as Arrow, and write what was made of them to standard output."""
    _here(pl.read_ipc(asked)["text"].to_list()).write_ipc(sys.stdout.buffer)


@contextmanager
def _unswept() -> Iterator[None]:
    """Let nobody look for cycles: reading makes millions of tuples and no cycle among them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _taken(texts: Sequence[str]) -> pl.DataFrame:
    with _unswept():
        found, n = read_in_one(texts), len(texts)
    columns: dict[str, Any] = {"text": pl.Series(texts, dtype=pl.String)}
    columns |= {name: lists(*found.families[name], n) for name in FAMILIES}
    columns["value_kinds"] = _value_kinds(found, n)
    columns |= {name: found.marks[name] for name in MARKS}
    return pl.DataFrame({name: columns[name] for name in TAKEN}, schema=TAKEN)


def _value_kinds(found: Read, n: int) -> pl.Series:
    """For each value of `near`, in the order of codes, the code of its kind; 0 for none."""
    rows, values = found.families["near"]
    named = (found.items[code] for code in values.tolist())
    kinds = [code_of_item(item.split("=")[0]) if "=" in item else 0 for item in named]
    return lists(rows, np.array(kinds, np.uint64), n)


def lists(rows: Any, codes: Any, n: int) -> pl.Series:
    """Return a column of lists from texts' numbers, in their order, and codes."""
    import pyarrow as pa

    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    made = pa.LargeListArray.from_arrays(pa.array(ends), pa.array(codes))
    return pl.DataFrame(pa.table({"held": made})).to_series().alias("")


def flat(held: pl.Series) -> tuple[Any, Any]:
    """Return (rows, codes) of such a column."""
    ends, codes = spread_out(held)
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends)), codes


def spread_out(held: pl.Series) -> tuple[Any, Any]:
    """Return (ends, codes) of such a column: those of the nth text stand between two ends."""
    array = held.to_arrow()
    ends = array.offsets.to_numpy()
    return ends - ends[0], array.values.slice(ends[0], ends[-1] - ends[0]).to_numpy()
