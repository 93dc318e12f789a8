"""Purge terms: the ids and texts that are to be forgotten for good, and whether a file still holds them.

A long text is looked for wherever it stands, as files may spell it; a short one where it is all that is
said.
"""

import html
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from memops import files
from memops.errors import Corrupt
from memops.language.text import wordlist
from memops.safety.looked import redacted
from memops.safety.masks import MASK

_LONG = 12  # characters from which a text is looked for wherever it stands
_MOST = 160  # characters of it that are looked for: an SQLite page may end after them
_BEGINNING = 40  # those that a page for people shows of it at least


@dataclass(frozen=True)
class PurgeTerms:
    """Ids of records, those that they had before among them, and all that they ever said."""

    ids: frozenset[str]
    texts: frozenset[str]

    @classmethod
    def of(cls, ids: Iterable[str], texts: Iterable[str | None]) -> "PurgeTerms":
        """Return what is sought of records that said these texts, also with secrets masked."""
        said = sorted({text for text in texts if text and text.strip()})
        masked = redacted(pl.Series(said, dtype=pl.String)).to_list()
        return cls(frozenset(ids), frozenset(said + masked))

    def apart_from(self, records: pl.DataFrame) -> "PurgeTerms":
        """Return what none of these records says, too: what a file may hold because of them."""
        said = records.filter(~pl.col("id").is_in(list(self.ids)))["text"].drop_nulls()
        both = pl.concat([said, redacted(said)]).unique()
        both = both.filter(self._in(both))
        return replace(self, texts=frozenset({t for t in self.texts if not _stands_in(t, both)}))

    def words_only(self) -> "PurgeTerms":
        """Return the texts without the ids, which in another store name others."""
        return replace(self, ids=frozenset())

    def saying(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return the records that say the same and are not to go."""
        others = records.filter(~pl.col("id").is_in(list(self.ids)))
        return others.filter(self._in(others["text"].fill_null("")))

    def named(self, table: pl.DataFrame, *columns: str) -> pl.Series:
        """Return which rows name one of the records in one of these columns."""
        hit = pl.repeat(False, table.height, eager=True)
        ids = pl.Series(sorted(self.ids), dtype=pl.String).implode()
        for column in (table[name] for name in columns):
            if column.dtype == _LIST:
                hit |= (column.list.set_intersection(ids).list.len() > 0).fill_null(False)
            else:
                hit |= column.is_in(ids).fill_null(False)
        return hit

    def held(self, table: pl.DataFrame) -> pl.Series:
        """Return which rows hold one of their texts, in whatever column."""
        hit = pl.repeat(False, table.height, eager=True)
        for name, kind in table.schema.items():
            if kind in (_LIST, pl.String()):
                said = table[name]
                said = said.list.join("\n", ignore_nulls=True) if kind == _LIST else said
                hit |= self._in(said.fill_null(""))
        return hit

    def in_bytes(self, data: bytes) -> bool:
        """Tell whether bytes hold one of their texts, in any spelling."""
        return _holds(data, self._spelled)

    def begins_in(self, data: bytes) -> bool:
        """Tell whether bytes hold the beginning of one of their texts, or one of their ids."""
        return _holds(data, self._beginnings)

    def in_file(self, path: Path) -> bool:
        """Tell whether a file holds one of their texts; a Parquet file is read as a table."""
        data = path.read_bytes()
        if self.in_bytes(data):
            return True
        if path.suffix != ".parquet":
            return False
        with suppress(Corrupt):
            return bool(self.held(files.unpacked(data, str(path))).any())
        return False

    def files(self, folder: Path) -> list[Path]:
        """Return the files of a folder, or the file that it is, that hold one of their texts."""
        below = [folder] if folder.is_file() else folder.rglob("*")
        there = sorted(p for p in below if p.is_file() and not p.is_symlink())
        return [path for path in there if self.in_file(path)]

    @cached_property
    def _long(self) -> list[str]:
        return sorted({t.strip()[:_MOST] for t in self.texts if _is_long(t)})

    @cached_property
    def _short(self) -> list[str]:
        return sorted({t.strip() for t in self.texts if not _is_long(t)})

    @cached_property
    def _spelled(self) -> list[str]:
        alone = [form for t in self._short for form in (json.dumps(t), f">{t}<")]
        alone += [json.dumps(t, ensure_ascii=False) for t in self._short]
        return _as_bytes({*alone, *_forms(self._long)})

    @cached_property
    def _beginnings(self) -> list[str]:
        whole = {*self._long, *(t[:_BEGINNING].strip() for t in self._long)}
        return sorted({*self._spelled, *_as_bytes(_forms({*whole, *self.ids}))})

    def _in(self, texts: pl.Series) -> pl.Series:
        """Which texts hold a long one or are a short one; in JSON they may be escaped."""
        alone = texts.str.strip_chars().is_in(pl.Series(self._short, dtype=pl.String).implode())
        return alone | texts.str.contains_any(wordlist(sorted(_forms(self._long))))


_LIST = pl.List(pl.String())


def _is_long(text: str) -> bool:
    """Whether enough is left of a text without what is masked in it."""
    return len(re.sub(MASK, "", text).strip()) >= _LONG


def _stands_in(text: str, said: pl.Series) -> bool:
    if _is_long(text):
        return bool(said.str.contains(text.strip()[:_MOST], literal=True).any())
    return bool((said.str.strip_chars() == text.strip()).any())


def _forms(texts: Iterable[str]) -> set[str]:
    """The ways in which a file may write texts: plain, in JSON, in HTML by either library."""
    plain = {*texts}
    plain |= {json.dumps(t, ensure_ascii=ascii)[1:-1] for t in plain for ascii in (True, False)}
    plain |= {json.dumps(way)[1:-1] for way in plain}  # a line of JSON within a line of JSON
    escaped = {html.escape(way) for way in plain}
    other = {way.replace("&#x27;", "&#39;").replace("&quot;", "&#34;") for way in escaped}
    return plain | escaped | other


def _as_bytes(texts: Iterable[str]) -> list[str]:
    """Each text's bytes, one character a byte, for a search that knows characters only."""
    return sorted({text.encode("utf-8", "surrogatepass").decode("latin-1") for text in texts})


def _holds(data: bytes, spelled: list[str]) -> bool:
    return bool(pl.Series([data.decode("latin-1")]).str.contains_any(wordlist(spelled)).any())
