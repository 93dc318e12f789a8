"""Terms: what sparse retrieval counts, as 64-bit codes that are the same on every machine."""

from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.language.lexicon import lexicon
from memops.language.stemming import stemmed
from memops.language.text import folded, tokens

_PRIME = np.uint64(0x100000001B3)
_GRAM = 4
_HAN_GRAMS = (1, 2, 3)
_CHUNK = 20_000_000  # characters hashed at a time, so that a million records need no gigabytes


def words(texts: pl.Series) -> pl.DataFrame:
    """Return (row u32, code u64, id u32) of each word: stop words out, English stemmed (Porter).

    Han runs give single characters and overlapping pairs. `id` numbers this table's codes.
    """
    from xxhash import xxh3_64_intdigest

    table = tokens(texts, unigrams=True).select("row", "token")
    known = table["token"].unique().sort()
    kept = known.filter(~known.is_in(list(_stops())))
    stems = _stemmed(kept).to_frame("stem").with_columns(id=pl.col("stem").rank("dense") - 1)
    codes = pl.Series(
        "code", [xxh3_64_intdigest(s.encode()) for s in stems["stem"].to_list()], dtype=pl.UInt64
    )
    coded = pl.DataFrame([kept.alias("token"), codes, stems["id"].cast(pl.UInt32)])
    return table.join(coded, on="token", how="inner").select("row", "code", "id")


def grams(texts: pl.Series) -> pl.DataFrame:
    """Return (row u32, code u64) of each run of four characters, and of one to three Han ones.

    Whatever is neither letter nor digit counts as one space, so a run may span two words.
    """
    spaced = folded(pl.col("text").fill_null("")).str.replace_all(r"[^\p{L}\p{N}\p{M}]+", " ")
    clean = (
        texts.rename("text").to_frame()
        .select(pl.lit(" ") + spaced.str.strip_chars() + pl.lit(" "))
        .to_series()
    )  # fmt: skip
    ends = clean.str.len_chars().cum_sum().to_numpy().astype(np.int64)
    cuts = np.searchsorted(ends, np.arange(_CHUNK, ends[-1] if len(ends) else 0, _CHUNK))
    bounds = np.unique(np.concatenate([[0], cuts, [len(clean)]]))
    parts = [_hashed(clean[a:b], a) for a, b in pairwise(bounds.tolist())]
    empty = pl.DataFrame(schema={"row": pl.UInt32, "code": pl.UInt64})
    return pl.concat([empty, *parts])


def _hashed(texts: pl.Series, first: int) -> pl.DataFrame:
    """Windows over the concatenated texts; one that crosses from row to row is left out."""
    points = np.frombuffer("".join(texts.to_list()).encode("utf-32-le"), dtype=np.uint32)
    rows = np.repeat(np.arange(len(texts), dtype=np.uint32), texts.str.len_chars().to_numpy())
    han = _is_han(points)
    out_rows: list[npt.NDArray[np.uint32]] = []
    out_codes: list[npt.NDArray[np.uint64]] = []
    for n in (*_HAN_GRAMS, _GRAM):
        if len(points) < n:
            continue
        size = len(points) - n + 1
        within = rows[:size] == rows[n - 1 :]
        kind = han if n != _GRAM else ~han
        for i in range(n):
            within &= kind[i : i + size]
        at = np.flatnonzero(within)
        code = np.full(len(at), n, dtype=np.uint64)
        for i in range(n):
            code = (code ^ points[at + i].astype(np.uint64)) * _PRIME
            code ^= code >> np.uint64(29)
        out_rows.append(rows[at] + np.uint32(first))
        out_codes.append(code)
    empty = [np.empty(0, np.uint32)], [np.empty(0, np.uint64)]
    return pl.DataFrame(
        {"row": np.concatenate(out_rows or empty[0]), "code": np.concatenate(out_codes or empty[1])}
    )


def _is_han(points: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """The blocks of unified ideographs, compatibility ones and 〇."""
    ideographs = (
        ((points >= 0x4E00) & (points <= 0x9FFF)) | ((points >= 0x3400) & (points <= 0x4DBF))
        | ((points >= 0x20000) & (points <= 0x3FFFF)) | ((points >= 0xF900) & (points <= 0xFAFF))
        | (points == 0x3007)
    )  # fmt: skip
    return np.asarray(ideographs, dtype=bool)


def _stemmed(known: pl.Series) -> pl.Series:
    english = known.str.contains(r"^[a-z]{3,}$")
    stems = pl.Series(
        known.name, [_stem(word) for word in known.filter(english).to_list()], dtype=pl.String
    )
    return known.to_frame("token").with_columns(
        token=pl.concat([stems, known.filter(~english)])
        .gather(_places(english))
    )["token"]  # fmt: skip


@lru_cache(50_000)
def _stem(word: str) -> str:
    return stemmed(word, "porter")


def _places(first: pl.Series) -> pl.Series:
    """Where each row went when the rows marked came first, in order."""
    n = int(first.sum())
    return pl.select(
        pl.when(first).then(first.cast(pl.Int64).cum_sum() - 1)
        .otherwise(n + (~first).cast(pl.Int64).cum_sum() - 1)
    ).to_series()  # fmt: skip


@cache
def _stops() -> tuple[str, ...]:
    listed = lexicon("retrieval")
    return (*listed["stop_words"], *listed["stop_characters"])
