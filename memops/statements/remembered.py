"""Remembered: what one night made of texts and of pairs of them, so that the next makes what is new.

    <folder>/texts-<recipe>-<digest>.parquet        hash (of the text), and what it was taken apart into; several
    <folder>/pairs-<of>-<recipe>-<digest>.parquet   pairs of a store's statements of which something comes
    <folder>/quiet-<recipe>-<digest>.parquet        those of which nothing comes (`memops.judge.known`)
    <folder>/sought-<of>-<recipe>-<digest>.parquet  each statement's tokens and terms (`memops.judge.candidates.sought`)
    <folder>/places-<of>-<recipe>-<digest>.parquet  hash (of a text), and places in it (`Remembered.places`)
    <folder>/clean-<of>-<recipe>-<digest>.parquet   hashes of texts without a secret (`memops.safety.looked`)

Nothing but hashes is kept of the texts and their words. The recipe names all that the tables
depend on beside the texts: this code, the lexicons and the languages. The digest is of the file,
so that a damaged one is passed over. The folder holds what the last plan asked for (of texts some
more, as long as they are few), and may be deleted at any time: what is not there is made again, and
comes out the same.
"""

import contextlib
import hashlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memops import files
from memops.heap import in_one
from memops.language.lexicon import resource
from memops.statements.taken import TAKEN, taken_apart

_ROOM = Path(__file__).parent.parent
_HASH = pl.Schema({"hash": pl.Binary()})
KEPT = pl.Schema({**_HASH, **{name: kind for name, kind in TAKEN.items() if name != "text"}})
_PLACES = pl.Schema({**_HASH, "found": pl.List(pl.UInt32())})
_TEXTS = "texts"
_FEW, _FILES = 0.1, 8  # share of texts up to which the new are written beside the others, and files


class Remembered:
    """What was made before, and what is asked of it now.

    `read` counts the texts that were taken apart now, `passed` are hashes of texts that may be asked
    for again, whether or not they were; `pairs` are those of statements of which something comes, and
    `quiet` keys of those of which nothing does. `tables` are kept as they are, in the place of those of
    their names.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.passed: list[pl.Series] = []
        self.read = 0
        self.pairs: dict[str, pl.DataFrame] = {}
        self.quiet: Any = None
        self.found: dict[str, dict[bytes, list[int]]] = {}
        self.more: set[str] = set()
        self.tables: dict[str, pl.DataFrame] = {}
        self._numbers: dict[bytes, int] = {}

    @cached_property
    def known(self) -> pl.DataFrame:
        """The texts that earlier nights took apart."""
        return pl.concat([KEPT.to_frame(), *_every(self.folder, _TEXTS, KEPT)])

    def places(
        self, of: str, texts: Sequence[str], find: Callable[[int], list[int]]
    ) -> list[list[int]]:
        """Return places in texts, as an earlier night found them, or as `find` does in the nth."""
        keys, name = hashes(texts), f"places-{of}"
        nth = dict(zip(keys, range(len(keys)), strict=True))
        asked = self.found.setdefault(name, {})
        known = dict(self.recalled(name, _PLACES).iter_rows()) | asked
        asked |= {key: known[key] if key in known else find(n) for key, n in nth.items()}
        self.more |= {name} if asked.keys() - known.keys() else set()
        return [asked[key] for key in keys]

    def taken_apart(self, texts: pl.Series) -> pl.DataFrame:
        """Return texts taken apart, with their hashes, in their order: those known as they are, the others anew."""
        keys = pl.Series(hashes(texts.to_list()), dtype=pl.Binary)
        rows = texts.rename("text").to_frame().with_columns(hash=keys)
        place = self.known.select("hash").with_row_index("at")
        at = rows.join(place, on="hash", how="left", maintain_order="left")["at"]
        new = rows.filter(at.is_null())
        made = taken_apart(new["text"].to_list()) if new.height else TAKEN.to_frame()
        self.read += new.height
        fresh, known = made.with_columns(new["hash"]).select(KEPT.names()), at.drop_nulls()
        if not (new.height and known.len()):
            return (self.known[known] if known.len() else fresh).with_columns(rows["text"])
        order = pl.concat([at.is_not_null().arg_true(), at.is_null().arg_true()]).arg_sort()
        return in_one([self.known[known], fresh])[order].with_columns(rows["text"])

    def recalled(self, name: str, schema: pl.Schema) -> pl.DataFrame:
        """Return a table that this code kept; an empty one if there is none, or it is damaged."""
        return recalled(self.folder, name, schema)

    def found_again(self, name: str, schema: pl.Schema) -> pl.DataFrame | None:
        """Return such a table, or None."""
        return _read(self.folder, name, schema)

    def numbers(self, said: pl.Series) -> Any:
        """Return a number for each hash of a text, the same whenever it is asked."""
        known = self._numbers
        return np.fromiter((known.setdefault(one, len(known)) for one in said.to_list()), np.int64)

    def keep(self, read: pl.DataFrame) -> None:
        """Write what was asked for, if any of it is new, in the place of what was there, and let go of it.

        `read` are all texts that were asked for.
        Of the pairs stay the first and the last asked for: the next night begins with the one or,
        if this plan is carried out, with the other.
        """
        new = {name: table for name, table in self.pairs.items() if not self._files(name)}
        for name in self.more:
            rows = sorted(self.found[name].items())
            new[name] = pl.DataFrame(rows, _PLACES, orient="row")
        new |= self.tables
        found = () if self.tables else ("sought-*", "quiet")
        wanted = {
            path
            for name in {*found, *self.pairs, *self.found} - {*new}
            for path in self._files(name)[:1]
        }
        texts, beside = self._texts(read)
        wanted |= {*self._files(_TEXTS)} if beside else set()
        new |= {_TEXTS: texts[texts["hash"].arg_sort()]} if texts.height else {}
        for name, table in new.items():
            wanted.add(written(self.folder, name, table))
        held = {
            path for path in self.folder.glob("*.parquet") if not path.name.startswith("clean-")
        }
        for other in held - wanted if new else ():
            other.unlink(missing_ok=True)
        self._let_go()

    def _texts(self, read: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
        """Return the texts that are to be written, and whether beside those that are there.

        Those are written anew with them where many are new or asked for no more, or in many files.
        """
        if not self.read:
            return KEPT.to_frame(), True
        there, read = self.known["hash"], read.select(KEPT.names())
        stays = there.is_in(pl.concat([read["hash"], *self.passed]).implode())
        few = self.read + (~stays).sum() <= _FEW * there.len()
        if few and len(self._files(_TEXTS)) < _FILES:
            return read.filter(~read["hash"].is_in(there.implode())), True
        asked = there.is_in(read["hash"].implode())
        return pl.concat([self.known.filter(stays & ~asked), read]), False

    def _let_go(self) -> None:
        """Hold nothing of what is kept."""
        for held in (self.passed, self.pairs, self.found, self.more, self.tables, self._numbers):
            held.clear()
        self.quiet, self.read = None, 0
        vars(self).pop("known", None)

    def _files(self, name: str) -> list[Path]:
        return _files(self.folder, name)


def recalled(folder: Path, name: str, schema: pl.Schema) -> pl.DataFrame:
    """Return a table that this code kept in a folder; an empty one if there is none, or it is damaged."""
    found = _read(folder, name, schema)
    return schema.to_frame() if found is None else found


def _read(folder: Path, name: str, schema: pl.Schema) -> pl.DataFrame | None:
    return next(_every(folder, name, schema), None)


def _every(folder: Path, name: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    """The tables of a name that are whole."""
    for path in _files(folder, name):
        with contextlib.suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            data = path.read_bytes()
            if path.stem.rpartition("-")[2] == _digest(data):
                yield pl.read_parquet(io.BytesIO(data)).select(schema.names()).cast(schema)


def written(folder: Path, name: str, table: pl.DataFrame) -> Path:
    """Keep a table in a folder; returns its file."""
    out = io.BytesIO()
    table.write_parquet(out, compression="lz4")
    data = out.getvalue()
    path = files.folder(folder) / f"{name}-{_recipe()}-{_digest(data)}.parquet"
    files.keep(path, data)
    return path


def _files(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}-{_recipe()}-*.parquet"))


def hashes(texts: Sequence[str]) -> list[bytes]:
    """Return a hash of each text, which nobody can make another text have."""
    encoded = (text.encode("utf-8", "surrogatepass") for text in texts)
    return [hashlib.blake2b(data, digest_size=16).digest() for data in encoded]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@cache
def _recipe() -> str:
    """A digest of all files that what is kept may depend on."""
    found = hashlib.sha256(repr((KEPT, sys.version, pl.__version__)).encode())
    for room in (_ROOM, resource("data/lexicons")):
        for path in sorted(p for p in room.rglob("*") if p.suffix in (".py", ".toml")):
            found.update(f"{path.relative_to(room)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]
