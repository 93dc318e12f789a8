"""Similarity: which statements are worth comparing, found without comparing all with all.

A statement is a text that stands in a scope, however many records repeat it. Worth comparing are
statements of which most tokens agree (`near`, exact), those that are neighbours by the rarer of
their terms (`neighbours`), and those that an encoder places near each other if the policy names
one (`neighbours_dense`); the work grows with the number of statements, not with its square. Each
pair carries the three signals: Jaccard on terms, cosine of TF-IDF vectors of terms, or of the
encoder's vectors where that is higher, and BM25 normalised by what a statement scores against
itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.heap import given_back
from memops.judge.candidates.neighbours import Terms, added, neighbours, weighed
from memops.judge.candidates.neighbours_dense import dense_neighbours
from memops.judge.candidates.sought import Found, Sought
from memops.judge.places import about, file, own_subject, placed, stating, telling
from memops.language.text import folded
from memops.ordered import distinct, once, within
from memops.policy import Candidates
from memops.schema import LIVE, PLACE

SIGNALS = ("jaccard", "cosine", "bm25")
PAIRS = pl.Schema(
    {"a": pl.UInt32(), "b": pl.UInt32()}
    | dict.fromkeys(SIGNALS, pl.Float64())
    | {"vectors": pl.Float64()}
)
"""Pairs of statements, a < b, with their signals, and the cosine of their vectors if an encoder
placed them near."""
PART = 5000
"""Statements that are compared at a time, unless one scope has more."""
_STEP = 200_000
_MANY = 100_000  # statements whose work leaves so much memory behind that it is given back


Spare = Callable[[Any, Any], Any]
"""Which of some pairs (a, b) need not be looked at, as it is known that nothing comes of them."""


@dataclass(frozen=True)
class Statements:
    """`table`: statement (its number), scope, text, about (its subject), owned, states, block, placed.

    `members`: id, statement. `owned` is false of a label and its value, which say nothing without
    their subject; `states` of what rules do not judge, and only a model is asked about (each file's
    by itself); `block` is that in which all of its records stand, `placed` whether one of them
    stands in a document.
    """

    table: pl.DataFrame
    members: pl.DataFrame


def statements(records: pl.DataFrame, ctx: Context) -> Statements:
    """Return the distinct statements of the live records; equal texts of one subject are one."""
    last: tuple[pl.DataFrame, int, Statements] | None = ctx.cache.get(statements)
    if last is None or last[0] is not records:
        digest = _digest(records)
        said = last[2] if last and last[1] == digest else statements_of(records, ctx)
        last = ctx.cache[statements] = records, digest, said
    return last[2]


def candidates(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the pairs of statements worth comparing, as PAIRS.

    Pairs of at least `candidates.jaccard`, and for each statement the nearest
    `candidates.nearest` by cosine that reach `candidates.cosine`; of these, pairs that share
    `candidates.shared` of the shorter one's terms, all but `candidates.apart`. Nothing crosses
    scopes.
    """
    table = statements(records, ctx).table
    found = candidates_in_parts(table, ctx, unkept(table, ctx))
    return pl.concat([nothing(), *(pairs for _, pairs in found)])


def unkept(table: pl.DataFrame, ctx: Context) -> Sought:
    """Return a search among statements of which nothing is known, or kept."""
    return Sought(None, table, pl.Series(), ctx.policy.candidates)


def candidates_in_parts(
    table: pl.DataFrame, ctx: Context, sought: Sought, spare: Spare | None = None
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield some whole scopes after the other, with their pairs, so that memory stays bounded."""
    dense = dense_neighbours(table, ctx)
    for part in whole_scopes(table, PART):
        found = sought.among(part)
        if part.height >= _MANY:
            given_back()
        close = beside(dense, part)
        limits = ctx.policy.candidates
        pairs = near(part, found, table.height, limits, dense=close, spare=spare)
        pairs = pairs.sort("a", "b")
        del found
        if part.height >= _MANY:
            given_back()
        yield part, pairs
    sought.keep()


def whole_scopes(table: pl.DataFrame, size: int) -> list[pl.DataFrame]:
    """Return the statements of whole scopes, in their order, together until a part is full."""
    sizes = table.group_by("scope", maintain_order=True).len()
    before = pl.col("len").cum_sum() - pl.col("len")
    part = sizes.select("scope", part=before // size)
    placed = table.join(part, on="scope", how="left", maintain_order="left")
    return [p.drop("part") for p in placed.partition_by("part", maintain_order=True)]


def near(
    table: pl.DataFrame,
    found: Found,
    whole: int,
    limits: Candidates,
    dense: pl.DataFrame | None = None,
    spare: Spare | None = None,
) -> pl.DataFrame:
    """Return the pairs of some scopes' statements that are worth comparing, with their signals.

    `table` is of whole scopes, `found` of its texts; `whole` statements are in the store. `dense`
    are pairs that an encoder places near. None comes that may be spared (`Spare`).
    """
    n, scopes = table.height, table["scope"]
    if n < 2:
        return nothing()
    close = _placed(dense, table)
    pairs = [close[:2], found.near]
    terms = weighed(*found.terms, n, whole)
    pairs.append(neighbours(terms, limits, whole))
    a, b = _united(pairs, n)
    scope = scopes.rank("dense").to_numpy()
    a, b = a[scope[a] == scope[b]], b[scope[a] == scope[b]]
    place = table["statement"].to_numpy()
    if spare is not None:
        left = ~spare(place[a], place[b])
        a, b = a[left], b[left]
    steps = (slice(i, i + _STEP) for i in range(0, max(len(a), 1), _STEP))
    signals = (_closer(_signals(terms, a[some], b[some]), close, n) for some in steps)
    kept = pl.concat(_worth_comparing(part, limits) for part in signals)
    one, two = (pl.Series(place[kept[side].to_numpy()]) for side in ("a", "b"))
    return kept.with_columns(a=one, b=two).cast(PAIRS)


def used_in(pairs: pl.DataFrame) -> Any:
    """Return the statements that pairs are made of, in order."""
    return distinct(np.concatenate([pairs["a"].to_numpy(), pairs["b"].to_numpy()]))


def _worth_comparing(told: pl.DataFrame, limits: Candidates) -> pl.DataFrame:
    """The pairs that share enough of the shorter one's terms, and those that an encoder found."""
    least = pl.min_horizontal("size_a", "size_b")
    enough = (pl.col("both") >= limits.shared * least) & (pl.col("both") >= least - limits.apart)
    found = pl.col("vectors").is_not_null()
    return told.filter(enough | found).select("a", "b", *SIGNALS, "vectors")


def beside(dense: pl.DataFrame | None, part: pl.DataFrame) -> pl.DataFrame | None:
    """Return those of the pairs that are of a part's statements."""
    return dense if dense is None else dense.filter(pl.col("a").is_in(part["statement"].implode()))


def nothing() -> pl.DataFrame:
    """Return no pair."""
    return PAIRS.to_frame()


def _digest(records: pl.DataFrame) -> int:
    live = records.filter(LIVE)
    held = pl.struct("id", "scope", "text", *PLACE).hash(7)
    return int(live.select(held.sum()).item() or 0) ^ live.height


def spoken(texts: pl.Series, ctx: Context) -> pl.Series:
    """Return texts in the form in which statements are told apart: spaces, case, and the end aside."""
    text = folded(pl.col("text")).str.replace_all(r"\s\s+|[^\S ]", " ")
    return ctx.formed(spoken, texts, text.str.strip_chars().str.strip_chars_end(".。!！"))


def statements_of(records: pl.DataFrame, ctx: Context) -> Statements:
    """Return the statements of some records, which are not those of the store."""
    said = (stating() | telling()) if ctx.models.judge is not None else stating()
    live = records.filter(LIVE & said & (pl.col("text").str.strip_chars().str.len_chars() > 0))
    names = ("scope", "_form", "about", "owned", "_where")
    held = live.with_columns(
        _form=spoken(live["text"], ctx), about=about(), owned=own_subject(), states=stating(),
        placed=placed(),
    )  # fmt: skip
    held = held.with_columns(_where=pl.when("states").then(pl.lit("")).otherwise(file()))
    held = held.select("id", "text", *names, "states", "block", "placed").sort(*names, "id")
    members = held.with_columns(statement=pl.struct(*names).rle_id().cast(pl.UInt32))
    first = pl.col("statement").diff().fill_null(1) > 0
    one = pl.col("block").n_unique().over("statement") == 1
    any_placed = pl.col("placed").any().over("statement")
    table = members.with_columns(block=pl.when(one).then("block"), placed=any_placed).filter(first)
    table = table.select(
        "statement", "scope", "text", "about", "owned", "states", "block", "placed"
    )
    return Statements(table, members.select("id", "statement"))


def _joined(pairs: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    none = (np.empty(0, np.int64),) * 2
    a, b = (np.concatenate(side) for side in zip(none, *pairs, strict=True))
    return a, b


def _united(pairs: list[tuple[Any, Any]], n: int) -> tuple[Any, Any]:
    """All pairs in order, each once; takes them off the list, as they are many."""
    keys = [np.empty(0, np.int64)]
    while pairs:
        keys.append(_key(*pairs.pop(), n))
    key = np.concatenate(keys)
    keys.clear()
    key.sort()
    key = once(key)
    return key // n, key % n


def _key(a: Any, b: Any, n: int) -> Any:
    key = a * np.int64(n)
    key += b
    return key


def _placed(dense: pl.DataFrame | None, table: pl.DataFrame) -> Any:
    """Places and cosines of the dense pairs."""
    if dense is None:
        return (*_joined([]), np.empty(0))
    a, b = (table["statement"].search_sorted(dense[side]).to_numpy() for side in ("a", "b"))
    return a.astype(np.int64), b.astype(np.int64), dense["cosine"].to_numpy()


def _closer(pairs: pl.DataFrame, close: Any, n: int) -> pl.DataFrame:
    """Mark the dense pairs; their cosine is the higher of the terms' and the vectors'."""
    a, b, cosine = close
    if not len(a):
        return pairs.with_columns(vectors=pl.lit(None, pl.Float64))
    key = pairs["a"].to_numpy().astype(np.int64) * n + pairs["b"].to_numpy()
    at = np.searchsorted(key, a * n + b)
    here = within(a * n + b, key)
    by_vectors = np.full(len(key), np.nan)
    by_vectors[at[here]] = cosine[here]
    told = pairs.with_columns(vectors=pl.Series(by_vectors).fill_nan(None))
    return told.with_columns(cosine=pl.max_horizontal("cosine", "vectors"))


def _signals(terms: Terms, a: Any, b: Any) -> pl.DataFrame:
    """Jaccard, cosine and BM25 of pairs, all from the terms that they share.

    BM25 is of each for the other over BM25 for itself, the mean of both directions; a term counts
    once, so what a term is worth depends on its rarity and a factor of the statement's length.
    """
    other = terms.held[b]
    other.data[:] = 1
    shared = terms.held[a].multiply(other).tocsr()
    both = np.diff(shared.indptr).astype(np.float64)
    squared, rare = (added(shared, value) for value in (terms.weight**2, terms.rarity))
    size, norm, worth = terms.size, terms.norm, terms.worth
    return pl.DataFrame(
        {
            "a": a.astype(np.uint32),
            "b": b.astype(np.uint32),
            "jaccard": both / np.maximum(size[a] + size[b] - both, 1),
            "cosine": np.clip(squared / (norm[a] * norm[b]), 0, 1),
            "bm25": np.minimum((rare / worth[b] + rare / worth[a]) / 2, 1),
            "both": both,
            "size_a": size[a].astype(np.float64),
            "size_b": size[b].astype(np.float64),
        }
    )
