"""Neighbours: for each statement the nearest by the rarer of its terms, in near linear time.

A term that very many hold finds nobody by itself, as its pairs would grow with the square of the
store; two such terms together do. Each statement looks only by the rarest of its terms.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from memops.judge.candidates.near import held_in
from memops.language.codes import numbered
from memops.ordered import distinct
from memops.policy import Candidates
from memops.progress import spread

Array = Any
_BLOCK = 512  # rows that are multiplied at a time, so that what comes of them stays in the cache
_RAREST, _COMMONEST = 16, 4
_SCORES = 1_000_000
_STEP, _STEPS = 12, 256  # bits of a score that a step leaves out, and steps


@dataclass(frozen=True)
class Terms:
    """Term sets as sparse rows of how many sets hold each term.

    What a term weighs (IDF), and BM25's rarity, are by that number, as many terms have the same:
    so both are read from short tables. Per set how many terms it has, the length of its vector,
    and what it scores against itself.
    """

    held: Any
    weight: Array
    rarity: Array
    size: Array
    norm: Array
    worth: Array


def weighed(rows: Array, items: Array, n: int, whole: int) -> Terms:
    """Return the term sets of n statements of a store's `whole`, with the weights of terms.

    Terms are of one scope (`memops.judge.candidates.termsets`), so whole scopes know how many hold each.
    """
    held, _ = held_in(rows, items, n)
    column = held.indices
    held.data = np.bincount(column).astype(np.int32)[column]
    by = np.arange(int(held.data.max(initial=0)) + 1)
    rarity = np.log(1 + (whole - by + 0.5) / (by + 0.5))
    weight = np.log1p(whole / (1.0 + by))
    norm = np.sqrt(np.maximum(added(held, weight**2), 1e-12))
    worth = np.maximum(added(held, rarity), 1e-9)
    return Terms(held, weight, rarity, np.diff(held.indptr), norm, worth)


def added(held: Any, values: Array) -> Array:
    """Return for each row the sum of what its terms are worth, by how many hold each."""
    from scipy.sparse import csr_matrix

    ones, shape = np.ones(held.nnz), (held.shape[0], len(values))
    return np.asarray(csr_matrix((ones, held.data, held.indptr), shape=shape) @ values)


def neighbours(terms: Terms, limits: Candidates, whole: int) -> tuple[Array, Array]:
    """Return (a, b), a < b: pairs of which one has the other near, by cosine.

    Cosine is over terms that at most a share `common` of the statements, or 64, and at most
    `postings` of them hold, the rarest of each statement, and over pairs of commoner terms.
    """
    from scipy.sparse import csr_matrix

    n, width = terms.held.shape
    most = int(min(max(64.0, limits.common * whole), limits.postings))
    rows = np.repeat(np.arange(n), terms.size)
    columns, held = terms.held.indices, terms.held.data
    rare = (held > 1) & (held <= most)
    row, column, by = _rarest(rows[rare], columns[rare], held[rare], _RAREST, n)
    weight = terms.weight[by] / terms.norm[row]
    if most >= limits.postings:
        often = held > most
        row2, one, two, both = _together(rows[often], columns[often], held[often], terms.weight, n)
        number = _shared(numbered(one) ^ (numbered(two) << np.uint64(1)), most)
        few = number >= 0
        both /= terms.norm[row2]
        row, weight = np.concatenate([row, row2[few]]), np.concatenate([weight, both[few]])
        column = np.concatenate([column, number[few] + width])
    column, width = _compact(column)
    matrix = csr_matrix((weight.astype(np.float32), (row, column)), shape=(n, width))
    other = matrix.T.tocsr()

    def best(i: int) -> Array:
        return _best(matrix[i : i + _BLOCK] @ other, i, limits.nearest, limits.cosine, n)

    keys = spread("finding neighbours", best, range(0, n, _BLOCK))
    key = distinct(np.concatenate([*keys, np.empty(0, np.int64)]))
    return key // n, key % n


def _compact(columns: Array) -> tuple[Array, int]:
    """Leave out numbers that nothing has."""
    held = np.bincount(columns, minlength=1) > 0
    return (np.cumsum(held, dtype=np.int32) - 1)[columns], int(held.sum()) or 1


def _rarest(
    rows: Array, columns: Array, held: Array, most: int, n: int
) -> tuple[Array, Array, Array]:
    """The rows and columns of the entries that are among the rarest of their row, and how rare."""
    place = np.uint64(max(1, int(columns.max(initial=0)).bit_length()))
    high = np.uint64(max(1, int(held.max(initial=0)).bit_length()))
    key = ((rows.astype(np.uint64) << high | held.astype(np.uint64)) << place) | columns.astype(
        np.uint64
    )
    key.sort()
    row = (key >> (place + high)).astype(np.int64)
    begin = np.searchsorted(row, np.arange(n))
    keep = np.arange(len(row)) - begin[row] < most
    row, key = row[keep], key[keep]
    column = (key & ((np.uint64(1) << place) - np.uint64(1))).astype(np.int64)
    return row, column, ((key >> place) & ((np.uint64(1) << high) - np.uint64(1))).astype(np.int64)


def _together(
    rows: Array, columns: Array, held: Array, weight: Array, n: int
) -> tuple[Array, Array, Array, Array]:
    """Each two of the rarest of a row's common terms: row, both columns, and what they weigh."""
    row, column, by = _rarest(rows, columns, held, _COMMONEST, n)
    pairs = []
    for step in range(1, _COMMONEST):
        at = np.flatnonzero(row[:-step] == row[step:])
        one, two = column[at], column[at + step]
        both = np.hypot(weight[by[at]], weight[by[at + step]])
        pairs.append((row[at], np.minimum(one, two), np.maximum(one, two), both))
    row, one, two, both = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return row, one, two, both


def _shared(codes: Array, most: int) -> Array:
    """A number for each code that at least two and at most so many have, -1 for the others."""
    order = np.argsort(codes, kind="stable")
    sorted_ = codes[order]
    first = np.r_[True, sorted_[1:] != sorted_[:-1]] if len(codes) else np.empty(0, bool)
    number = np.cumsum(first) - 1
    count = np.bincount(number, minlength=1)[number]
    out = np.empty(len(codes), np.int64)
    out[order] = np.where((count > 1) & (count <= most), number, -1)
    return out


def _best(product: Any, start: int, nearest: int, least: float, n: int) -> Array:
    """Keys a * n + b of the pairs of a block: of each row the nearest that are near enough.

    Nearest are the highest scores (to six places), of equal ones the first. Row, score and column
    share 64 bits, which sort many times faster than by three keys; what is a step of scores farther
    than the last of its row is left out before.
    """
    at = np.flatnonzero(product.data >= least)
    count = np.diff(np.searchsorted(at, product.indptr))
    row = np.repeat(np.arange(len(count), dtype=np.int32), count)
    far = (_SCORES - np.rint(product.data[at] * np.float32(_SCORES))).clip(0).astype(np.int32)
    step = far >> _STEP
    held = np.bincount(row * _STEPS + step, minlength=len(count) * _STEPS)
    last = (held.reshape(-1, _STEPS).cumsum(axis=1) <= nearest).sum(axis=1, dtype=np.int32)
    close = np.flatnonzero(step <= np.repeat(last, count))
    row, column, far = row[close], product.indices[at[close]], far[close]
    other = column != row + start
    row, column, far = (part[other].astype(np.uint64) for part in (row, column, far))
    place = np.uint64(n.bit_length())
    key = ((row * np.uint64(_SCORES + 1) + far) << place) | column
    key.sort()
    row = (key >> place).astype(np.int64) // (_SCORES + 1)
    begin = np.searchsorted(row, np.arange(len(count)))
    keep = np.arange(len(row)) - begin[row] < nearest
    row = row[keep] + start
    column = (key[keep] & ((np.uint64(1) << place) - np.uint64(1))).astype(np.int64)
    return np.minimum(row, column) * n + np.maximum(row, column)
