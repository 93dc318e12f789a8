"""Sought: what the last search for near texts made of each, so that the next does it of new ones alone.

The tokens and terms of a text hang on it alone, and so does with which texts it shares most tokens.
How near two are by the rarity of their terms hangs on all others, and is found anew each time.
"""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from xxhash import xxh3_64_intdigest

from memops.judge.candidates.near import alike, alike_by_hashes, alike_to, bits_of, sets
from memops.judge.candidates.termsets import tagged, untagged
from memops.language.codes import WITHIN, Codes, codes
from memops.policy import Candidates
from memops.statements.remembered import Remembered
from memops.statements.taken import flat, lists

Array = Any
_SETS = pl.Schema(dict.fromkeys(("tokens", "terms"), pl.List(pl.UInt64())))
_STATEMENT = pl.Schema({"scope": pl.UInt64(), "hash": pl.Binary()})
_SOUGHT = pl.Schema({**_STATEMENT, **_SETS, "exact": pl.Boolean(), "near": pl.List(pl.UInt64())})
"""Of each statement hashes of its scope and text, the codes of its tokens and terms, whether all that
is near was found, and the numbers of later ones that are."""
_FEW = 0.1  # share of new statements up to which only they are looked for
_NEAR = pl.Schema({"a": pl.UInt32(), "b": pl.UInt32()})


class Found(NamedTuple):
    """Of some statements the sets of terms (rows, items), and pairs of near texts (a, b)."""

    terms: tuple[Array, Array]
    near: tuple[Array, Array]


class Sought:
    """A search among the statements of a table; `hashes` of their texts tell which were there before.

    Where `kept` is None, all of them are new, and nothing is kept; in a scope so large that its near
    texts are found by hashes, those are found anew.
    """

    def __init__(
        self, kept: Remembered | None, table: pl.DataFrame, hashes: pl.Series, limits: Candidates
    ) -> None:
        self.kept, self.limits = kept if bits_of(table.height) == bits_of(1) else None, limits
        few = pl.len().over("scope") <= limits.exact
        self.exact = table.select(few.alias("exact")).to_series()
        self.at = pl.repeat(None, table.height, dtype=pl.UInt32, eager=True)
        self.old = pl.repeat(False, table.height, dtype=pl.Boolean, eager=True)
        self.known = _SOUGHT.to_frame()
        self.near, self.made, self.pairs = _NEAR.to_frame(), [_SETS.to_frame()], [_NEAR.to_frame()]
        self.name = f"sought-{limits.jaccard}"
        if self.kept is not None:
            self.said = table.select(scope=codes_of(table["scope"]), hash=hashes)
            self._recall(self.kept)

    def _recall(self, kept: Remembered) -> None:
        """Take what is known of these statements; near are those whose like stands once in a scope."""
        last = kept.tables.get(self.name)
        known = self.known = kept.recalled(self.name, _SOUGHT) if last is None else last
        once = known.select(*_STATEMENT, "exact", was=pl.int_range(pl.len(), dtype=pl.UInt32))
        alone = pl.struct(*_STATEMENT).is_unique()
        first = once.with_columns(alone=alone).unique([*_STATEMENT], keep="first")
        found = self.said.with_columns(one=alone).join(
            first, on=[*_STATEMENT], how="left", maintain_order="left"
        )
        self.at = found["was"]
        sure = pl.all_horizontal(pl.col("one", "alone", "exact").fill_null(False))
        self.old = found.select(sure).to_series() & self.exact
        number = pl.repeat(None, known.height, dtype=pl.UInt32, eager=True)
        here = self.old.arg_true().cast(pl.UInt32)
        number = number.scatter(self.at.gather(here), here)
        near = zip(_NEAR, flat(known["near"]), strict=True)
        self.near = pl.DataFrame({side: number.gather(at) for side, at in near}).drop_nulls()

    def among(self, part: pl.DataFrame) -> Found:
        """Return what is found of some whole scopes (statement, scope, text), by their places."""
        number, scopes = part["statement"], part["scope"]
        at, old = self.at.gather(number), self.old.gather(number)
        new = at.is_null()
        held = self.known[at.drop_nulls()].select(*_SETS)
        if new.any():
            texts = part["text"].filter(new)
            made = sets_of(codes(texts, unigrams=True), scopes.filter(new))
            order = pl.concat([(~new).arg_true(), new.arg_true()]).arg_sort()
            held = pl.concat([held, made])[order]
        exact = self.exact.gather(number).to_numpy()
        some, near = exact & ~old.to_numpy(), self.near.filter(pl.col("a").is_in(number.implode()))
        few = some.sum() <= _FEW * exact.sum()
        known = [number.search_sorted(near[side]).to_numpy().astype(np.int64) for side in _NEAR]
        a, b = near_pairs(flat(held["tokens"]), exact, self.limits, some if few else None)
        if few:
            a, b = (np.concatenate(side) for side in zip(known, (a, b), strict=True))
        if self.kept is not None:
            self.made.append(held)
            self.pairs.append(pl.DataFrame([number.gather(a), number.gather(b)], _NEAR))
        return Found(tagged(flat(held["terms"]), scopes), (a, b))

    def keep(self) -> None:
        """Remember what was found of the whole table."""
        if self.kept is not None:
            rows, number = (pl.concat(self.pairs).sort("a")[side].to_numpy() for side in _NEAR)
            near = lists(rows, number.astype(np.uint64), self.said.height).rename("near")
            held = [self.said, pl.concat(self.made), self.exact.to_frame(), near.to_frame()]
            self.kept.tables[self.name] = pl.concat(held, how="horizontal")


def sets_of(found: Codes, scopes: pl.Series) -> pl.DataFrame:
    """Return the tokens and terms of texts, those of scopes apart only of tokens."""
    n, use = len(scopes), found.kind != WITHIN
    rows = found.rows[use]
    tokens = sets(rows, found.codes[use] ^ codes_of(scopes).to_numpy()[rows], n)
    return pl.DataFrame([lists(*tokens, n), lists(*untagged(found, n), n)], _SETS)


def near_pairs(
    tokens: tuple[Array, Array], exact: Array, limits: Candidates, some: Array | None = None
) -> tuple[Array, Array]:
    """Return the pairs of texts of one scope whose tokens have at least the policy's Jaccard.

    Of texts that are not `exact` (bool), as their scope is larger than `candidates.exact`, a pair in
    some thousands is missed. Tokens of scopes are apart, so that pairs across scopes, of which
    nothing comes, cost nothing. With `some` (bool) only the exact pairs of which one text is of those.
    """
    rows, items = tokens
    n, of = len(exact), exact[rows]
    few, many = (rows[of], items[of]), (rows[~of], items[~of])
    told = (*few, n, limits.jaccard)
    made = [(alike(*told) if some is None else alike_to(some, *told))[:2]]
    if len(many[0]):
        made.append(alike_by_hashes(*many, n, limits.jaccard)[:2])
    a, b = (np.concatenate(side) for side in zip(*made, strict=True))
    return a, b


def codes_of(scopes: pl.Series) -> pl.Series:
    """Return a code for each scope, the same whichever are beside it."""
    names = scopes.unique()
    if names.is_empty():
        return pl.Series(dtype=pl.UInt64)
    known = [xxh3_64_intdigest(name.encode("utf-8", "surrogatepass")) for name in names]
    return scopes.replace_strict(names, known, return_dtype=pl.UInt64)
