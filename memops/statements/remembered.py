"""Remembered: texts taken apart once across nights, so that a night reads what is new.

    <folder>/<recipe>-<digest>.parquet   hash (of the text), and what it was taken apart into

Nothing but hashes is kept of the texts and their words. The recipe names all that a reading
depends on: the code that reads, the lexicons and the languages. The digest is of the file, so that
a damaged one is passed over. The folder holds the texts of the last plan, and may be deleted at
any time: what is not there is read again, and comes out the same.
"""

import contextlib
import hashlib
import io
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import polars as pl

from memops import files
from memops.language.lexicon import resource
from memops.statements.taken import TAKEN, taken_apart

_ROOM = Path(__file__).parent.parent
_READERS = ("statements", "values", "language", "ordered.py")
_HASH = pl.Schema({"hash": pl.Binary()})
_KEPT = pl.Schema({**_HASH, **{name: kind for name, kind in TAKEN.items() if name != "text"}})
Take = Callable[[Sequence[str]], pl.DataFrame]


class Remembered:
    """What was taken apart before, and what is asked of it now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = _read(folder)
        self.asked: list[pl.DataFrame] = []
        self.read = 0

    def taken_apart(self, texts: Sequence[str], take: Take = taken_apart) -> pl.DataFrame:
        """Return texts taken apart, in their order: those known as they are, the others by `take`."""
        rows = pl.DataFrame(
            {"text": texts, "hash": [_hash(text) for text in texts]},
            {"text": pl.String(), **_HASH},
        )
        place = self.known.select("hash").with_row_index("at")
        at = rows.join(place, on="hash", how="left", maintain_order="left")["at"]
        new = rows.filter(at.is_null())
        made = take(new["text"].to_list()) if new.height else TAKEN.to_frame()
        self.read += new.height
        fresh = made.with_columns(new["hash"]).select(_KEPT.names())
        found = self.known[at.drop_nulls()]
        self.asked += [found, fresh]
        if not new.height:
            return found.with_columns(text=rows["text"]).select(TAKEN.names())
        every = pl.concat([found, fresh], rechunk=True)
        first = at.is_not_null()
        order = pl.select(
            pl.when(first)
            .then(first.cum_sum() - 1)
            .otherwise((~first).cum_sum() - 1 + found.height)
        ).to_series()
        return every[order].with_columns(text=rows["text"]).select(TAKEN.names())

    def keep(self) -> None:
        """Write what was asked for, if any of it is new, in the place of what was there."""
        if not self.read:
            return
        held = pl.concat(self.asked).unique("hash", keep="first").sort("hash")
        out = io.BytesIO()
        held.write_parquet(out)
        data = out.getvalue()
        path = files.folder(self.folder) / f"{_recipe()}-{_digest(data)}.parquet"
        files.write(path, data)
        for other in set(self.folder.glob("*.parquet")) - {path}:
            other.unlink(missing_ok=True)


def _read(folder: Path) -> pl.DataFrame:
    """What this code has read before; nothing if there is none, or it is damaged."""
    for path in sorted(folder.glob(f"{_recipe()}-*.parquet")):
        with contextlib.suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            data = path.read_bytes()
            if path.stem.rpartition("-")[2] == _digest(data):
                return pl.read_parquet(io.BytesIO(data)).select(_KEPT.names()).cast(_KEPT)
    return _KEPT.to_frame()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@cache
def _recipe() -> str:
    """A digest of all files that a reading depends on."""
    found = hashlib.sha256(repr((_KEPT, sys.version, pl.__version__)).encode())
    rooms = [*(_ROOM / name for name in _READERS), resource("data/lexicons")]
    for room in rooms:
        for path in sorted(room.rglob("*")) if room.is_dir() else [room]:
            if path.suffix in (".py", ".toml"):
                found.update(f"{path.relative_to(room)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]
