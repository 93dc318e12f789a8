"""Near: all pairs of sets of codes that share enough, found without comparing all with all.

`alike` is exact: by the prefix filter (Bayardo et al. 2007, Xiao et al. 2008), two sets of a
Jaccard similarity of at least t share one of the rarest items of each, and most of them if they
are of a size. `alike_by_hashes` looks only at pairs that agree in a band of MinHashes (Broder
1997) and checks each: what it returns is exact too, but a pair in some thousands is missed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from memops.ordered import distinct, once
from memops.progress import spread

Array = Any
_BUCKETS = 20  # bits of a bucket of items, at most
_BLOCK = 2048
_FEW = 256  # sets that are looked for at a time, by items that many may hold
_HASHED = 2048  # sets whose items are hashed at a time, so that they stay in the cache
_PAIRS = 200_000
_MANY = 4_000_000
BANDS, ROWS = 20, 4


def sets(rows: Array, codes: Array, n: int) -> tuple[Array, Array]:
    """Return (rows, items) of the n sets that entries make up, sorted by row, each item once.

    Row and item share 64 bits, so a million sets leave 44 of a code's bits to tell items apart.
    """
    bits = np.uint64(bits_of(n))
    key = rows.astype(np.uint64)
    key <<= bits
    key |= codes >> (np.uint64(64) - bits)
    key.sort()
    key = once(key)
    row = (key >> bits).view(np.int64)
    key &= np.uint64((1 << int(bits)) - 1)
    return row, key


def held_in(rows: Array, items: Array, n: int) -> tuple[Any, Array]:
    """Return the n sets (`sets`) as sparse rows of ones, and the item of each column.

    What stands above an item's bits tells items apart too, and must be the same throughout a row.
    """
    from scipy.sparse import csc_matrix

    low = np.uint64(64 - bits_of(n))
    apart = np.zeros(n, np.uint64)
    apart[rows] = items >> np.uint64(bits_of(n))
    key = (items << low) | rows.astype(np.uint64)
    key.sort()
    row = (key & ((np.uint64(1) << low) - np.uint64(1))).astype(np.int32)
    key >>= low
    group = apart[row]
    first = np.flatnonzero(
        np.r_[True, (key[1:] != key[:-1]) | (group[1:] != group[:-1])][: len(key)]
    )
    known = key[first]
    del key, group
    begin = np.append(first if len(first) else [0], len(row))
    ones = np.ones(len(row), np.float32)
    return csc_matrix((ones, row, begin), shape=(n, len(begin) - 1)).tocsr(), known


def bits_of(n: int) -> int:
    """Return how many bits of a code are left beside a row's number."""
    return 64 - max(20, int(n).bit_length())


def alike(rows: Array, items: Array, n: int, least: float) -> tuple[Array, Array, Array]:
    """Return (a, b, Jaccard) of every pair of the n sets (`sets`) of at least that similarity."""
    size = np.bincount(rows, minlength=n)
    bucket, begin = _rarest_first(rows, items, size)
    prefix = _prefix(size, least)
    nth = np.arange(len(rows)) - begin[rows]
    use = nth < prefix[rows]
    last = np.zeros(n, np.int64)
    last[size > 0] = bucket[1][(begin + prefix - 1)[size > 0]]
    order = np.argsort(size, kind="stable")
    ends = np.argsort(np.argsort(last, kind="stable")).astype(np.int32)[order]
    need = (least / (1 + least) * size).astype(np.float32)[order]
    rest = (size - prefix).astype(np.float32)[order]
    by_size, place = size[order], np.argsort(order)
    far = np.searchsorted(by_size, by_size / least + 1e-9, side="right")
    sharing = _sharing(place[rows[use]], bucket[0][use], far)

    def near(start: int) -> tuple[Array, Array]:
        a, b, both = sharing(start)
        most = both + np.where(ends[a] <= ends[b], rest[a], rest[b])
        keep = most + 1e-3 >= need[a] + need[b]
        a, b = a[keep], b[keep]
        keep = by_size[a] >= least * by_size[b] - 1e-9
        return order[a[keep]], order[b[keep]]

    none = order[:0]
    pairs = [(none, none), *spread("finding near texts", near, range(0, n, _BLOCK))]
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    a, b = np.minimum(a, b), np.maximum(a, b)
    return _reaching(rows, items, size, a, b, least)


def alike_to(
    some: Array, rows: Array, items: Array, n: int, least: float
) -> tuple[Array, Array, Array]:
    """Return those of the pairs of `alike` of which one is of some of the sets (bool, of few).

    Whatever is near one of these holds one of its rarest items: all sets are looked through for
    those alone.
    """
    from scipy.sparse import csr_matrix

    if not some.any():
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    size, mine = np.bincount(rows, minlength=n), some[rows]
    bits = min(_BUCKETS, 4 + len(items).bit_length())
    bucket = (items >> np.uint64(bits_of(n) - bits)).astype(np.int64)
    row, of = rows[mine], bucket[mine]
    order = np.lexsort((np.bincount(bucket)[of], row))
    row, of = row[order], of[order]
    first = np.searchsorted(row, row)
    rarest = np.arange(len(row)) - first < _prefix(size, least)[row]
    row, of = row[rarest], of[rarest]
    looked = np.zeros(1 << bits, bool)
    looked[of] = True
    held = np.flatnonzero(looked[bucket])
    shape = n, 1 << bits
    other = csr_matrix(
        (np.ones(len(held), np.int16), (bucket[held], rows[held])), shape=shape[::-1]
    )
    matrix = csr_matrix((np.ones(len(row), np.int16), (row, of)), shape=shape)
    listed = np.flatnonzero(some)
    key = [np.empty(0, np.int64)]
    for start in range(0, len(listed), _FEW):
        found = (matrix[listed[start : start + _FEW]] @ other).tocoo()
        a, b = listed[start : start + _FEW][found.row], found.col.astype(np.int64)
        near = np.minimum(size[a], size[b]) >= least * np.maximum(size[a], size[b]) - 1e-9
        a, b = a[near & (a != b)], b[near & (a != b)]
        key.append(np.minimum(a, b) * n + np.maximum(a, b))
    whole = distinct(np.concatenate(key))
    return _reaching(rows, items, size, whole // n, whole % n, least)


def _prefix(size: Array, least: float) -> Array:
    """How many of a set's items, whichever they are, hold one of any other set that is near."""
    return size - np.ceil(least * size - 1e-9).astype(np.int64) + 1


def alike_by_hashes(rows: Array, items: Array, n: int, least: float) -> tuple[Array, Array, Array]:
    """Return (a, b, Jaccard) as `alike` does, for very many sets: a pair in some thousands is missed."""
    size = np.bincount(rows, minlength=n)
    key = distinct(_hashed_alike(items, size))
    a, b = (key >> np.uint64(32)).astype(np.int64), (key & np.uint64(0xFFFFFFFF)).astype(np.int64)
    del key
    return _reaching(rows, items, size, a, b, least)


def _hashed_alike(items: Array, size: Array) -> Array:
    """Keys of the pairs of sets that agree in a band of MinHashes, some more than once."""
    begin = np.concatenate([[0], np.cumsum(size)])
    held = np.flatnonzero(size)
    signature = np.empty((BANDS * ROWS, len(held)), np.uint32)
    rng = np.random.default_rng(11)
    odd = rng.integers(1, 1 << 32, len(signature), np.uint32) | np.uint32(1)
    salt = rng.integers(0, 1 << 32, len(signature), np.uint32)
    small = ((items * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)).astype(np.uint32)
    for start in range(0, len(held), _HASHED):
        some = held[start : start + _HASHED]
        part = small[begin[some[0]] : begin[some[-1] + 1]]
        heads = begin[some] - begin[some[0]]
        for i in range(len(signature)):
            mixed = (part ^ salt[i]) * odd[i]
            mixed ^= mixed >> np.uint32(15)
            signature[i, start : start + len(some)] = np.minimum.reduceat(mixed, heads)
    bands = range(0, len(signature), ROWS)
    return np.concatenate([_banded(signature[i : i + ROWS], held) for i in bands])


def _rarest_first(rows: Array, items: Array, size: Array) -> tuple[tuple[Array, Array], Array]:
    """Return, row by row and the rarest first, each item's bucket and its place in that order."""
    bits, of = bits_of(len(size)), min(_BUCKETS, 4 + len(items).bit_length())
    bucket = (items >> np.uint64(bits - of)).astype(np.int64)
    held = np.minimum(np.bincount(bucket, minlength=1 << of), 1023).astype(np.uint64)
    order = (held[bucket] << np.uint64(bits - 10)) | (items >> np.uint64(10))
    key = (rows.astype(np.uint64) << np.uint64(bits)) | order
    key.sort()
    place = (key & np.uint64((1 << bits) - 1)).astype(np.int64)
    begin = np.cumsum(size) - size
    return ((place >> (bits - 10 - of)) & ((1 << of) - 1), place), begin


def _sharing(
    rows: Array, columns: Array, far: Array
) -> Callable[[int], tuple[Array, Array, Array]]:
    """Return what gives (a, b, how many columns both hold) for pairs a < b that hold one in common.

    It takes the first of a block of rows. All pairs of which b stands before `far` of a, which only
    rises, are among them.
    """
    from scipy.sparse import csr_matrix

    n = len(far)
    held = np.bincount(columns, minlength=1)
    twice = held[columns] > 1
    rows, columns = rows[twice], columns[twice]
    number = np.cumsum(held > 1) - 1
    columns = number[columns].astype(np.int32)
    width = int(number[-1]) + 1 if len(columns) else 1
    matrix = csr_matrix((np.ones(len(rows), np.int16), (rows, columns)), shape=(n, width))
    other = matrix.T.tocsr()

    def block(start: int) -> tuple[Array, Array, Array]:
        end = min(start + _BLOCK, n)
        product = (matrix[start:end] @ other[:, start : far[end - 1]]).tocoo()
        above = product.col > product.row
        return product.row[above] + start, product.col[above] + start, product.data[above]

    return block


def _banded(part: Array, held: Array) -> Array:
    """Keys of pairs of rows whose hashes agree in one band; of a crowd each with the next few."""
    key = part[0].astype(np.uint64)
    for more in part[1:]:
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + more
    order = _twice(key)
    order = order[np.argsort(key[order], kind="stable")]
    same = key[order]
    pairs = []
    for step in range(1, 17):
        equal = np.flatnonzero(same[:-step] == same[step:])
        if not len(equal):
            break
        one, two = held[order[equal]], held[order[equal + step]]
        pairs.append((np.minimum(one, two) << 32 | np.maximum(one, two)).astype(np.uint64))
    return np.concatenate([*pairs, np.empty(0, np.uint64)])


def _twice(codes: Array) -> Array:
    """The places of codes that may stand twice: most of each, beside its place, sorts at once."""
    bits = np.uint64(len(codes).bit_length())
    key = (codes >> bits << bits) | np.arange(len(codes), dtype=np.uint64)
    key.sort()
    at = np.flatnonzero((key[1:] ^ key[:-1]) >> bits == 0)
    place = (key & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    twice = np.zeros(len(codes), bool)
    twice[place[at]] = twice[place[at + 1]] = True
    return np.flatnonzero(twice)


def _reaching(
    rows: Array, items: Array, size: Array, a: Array, b: Array, least: float
) -> tuple[Array, Array, Array]:
    """Keep the pairs that reach the similarity, computed from their sets."""
    begin = np.cumsum(size) - size
    may = _may_reach(items, size, a, b, least)
    a, b = a[may], b[may]
    both, bits = np.zeros(len(a), np.int64), np.uint64(bits_of(len(size)))
    step = max(1, _MANY // max(1, 2 * int(size.max(initial=1))))
    for start in range(0, len(a), step):
        one, two = a[start : start + step], b[start : start + step]
        at = np.concatenate([_span(begin[one], size[one]), _span(begin[two], size[two])])
        pair = np.concatenate([np.repeat(np.arange(len(x)), size[x]) for x in (one, two)])
        key = (pair.astype(np.uint64) << bits) | items[at]
        key.sort()
        twice = key[1:][key[1:] == key[:-1]] >> bits
        both[start : start + len(one)] = np.bincount(twice.astype(np.int64), minlength=len(one))
    share = both / np.maximum(size[a] + size[b] - both, 1)
    keep = share >= least - 1e-9
    order = np.lexsort((b[keep], a[keep]))
    return a[keep][order], b[keep][order], share[keep][order]


def _may_reach(items: Array, size: Array, a: Array, b: Array, least: float) -> Array:
    """Which pairs may reach the similarity; most that do not are told apart (Sandes et al. 2020).

    Each item sets one of 64 bits; a bit that one set has and the other lacks is of an item that
    only one of them has.
    """
    bit, held = np.uint64(1) << (items & np.uint64(63)), np.flatnonzero(size)
    bits = np.zeros(len(size), np.uint64)
    if len(held):
        bits[held] = np.bitwise_or.reduceat(bit, (np.cumsum(size) - size)[held])
    out = np.empty(len(a), bool)
    for start in range(0, len(a), _PAIRS):
        one, two = a[start : start + _PAIRS], b[start : start + _PAIRS]
        most = (1 - least) / (1 + least) * (size[one] + size[two]) + 1e-6
        out[start : start + _PAIRS] = np.bitwise_count(bits[one] ^ bits[two]) <= most
    return out


def _span(begin: Array, size: Array) -> Array:
    """The places begin, begin + 1, ... of each row, one after the other."""
    shift = np.repeat(begin - (np.cumsum(size) - size), size)
    return shift + np.arange(len(shift))
