"""Known: pairs that were judged in an earlier round or night, so that only what is new is judged.

What a pair is depends on its two texts alone, unless it is not `steady`: what says the same is
also told by how rare words are, which changes with any text. Of statements that are all as they
were, as those that a night begins with mostly are, the pairs are not even looked for.
"""

import hashlib
from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.candidates.worth import WORTH
from memops.ordered import distinct
from memops.policy import Policy
from memops.statements.remembered import Remembered, hashes

Array = Any
VERDICTS = pl.Schema(
    {
        "same": pl.Boolean(),
        "opposes": pl.String(),
        "firm_a": pl.Boolean(),
        "firm_b": pl.Boolean(),
        "veto_same": pl.String(),
        "veto_conflict": pl.String(),
        "steady": pl.Boolean(),
    }
)
_TEXTS = pl.Schema({"text_a": pl.Binary(), "text_b": pl.Binary()})
_KEPT = pl.Schema({**WORTH, **VERDICTS, **_TEXTS})


class Known:
    """Pairs of a table of statements, as far as an earlier round or night judged them."""

    def __init__(self, kept: Remembered, table: pl.DataFrame, policy: Policy) -> None:
        self.kept, self.table = kept, table
        self.name = f"pairs-{_digest(table, policy)}"

    def whole(self) -> tuple[pl.DataFrame, pl.DataFrame] | None:
        """Return the pairs and what they are, if these very statements were judged before."""
        kept = self.kept
        found = (
            kept.pairs[self.name] if self.name in kept.pairs else kept.recalled(self.name, _KEPT)
        )
        if found.is_empty():
            return None
        kept.passed += [found[side].unique() for side in _TEXTS]
        self._note(found, self._keys(found))
        return found.select(WORTH.names()), found.select(VERDICTS.names())

    def verdicts(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return what is known of each pair, null of one that must be judged."""
        kept = self.kept
        if kept.pairs:
            at = pl.Series(kept.seen.places(self._keys(pairs))).replace(-1, None)
            last = [*kept.pairs.values()][-1].select(VERDICTS.names())
            told = last.select(pl.all().gather(at))
            return told.select(pl.when("steady").then(pl.all()))
        last = kept.recalled("pairs-*", _KEPT)
        sure = last.filter("steady").unique(_TEXTS.names(), keep="any")
        found = self._said(pairs).join(
            sure.select(*_TEXTS, *VERDICTS), on=_TEXTS.names(), how="left", maintain_order="left"
        )
        return found.select(VERDICTS.names())

    def note(self, pairs: pl.DataFrame, verdicts: pl.DataFrame) -> None:
        """Keep what the pairs are."""
        told = pl.concat([pairs, verdicts, self._said(pairs)], how="horizontal")
        self._note(told, self._keys(pairs))

    def _note(self, pairs: pl.DataFrame, keys: Array) -> None:
        """Keep it as the last; those between the first and the last are of no more use."""
        self.kept.seen.note(keys)
        held = self.kept.pairs
        held.pop(self.name, None)
        held[self.name] = pairs
        for name in [*held][1:-1]:
            del held[name]

    def _keys(self, pairs: pl.DataFrame) -> Array:
        return self.kept.seen.keys(self.table["text"].to_list(), *self._places(pairs))

    def _places(self, pairs: pl.DataFrame) -> list[Array]:
        said = self.table["statement"]
        return [said.search_sorted(pairs[side]).to_numpy() for side in ("a", "b")]

    def _said(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The hashes of the two texts of each pair."""
        places = self._places(pairs)
        used = distinct(np.concatenate(places))
        told = pl.Series(hashes(self.table["text"].gather(used).to_list()), dtype=pl.Binary)
        sides = zip(_TEXTS, places, strict=True)
        return pl.DataFrame(
            {name: told.gather(np.searchsorted(used, side)) for name, side in sides}, _TEXTS
        )


def known(table: pl.DataFrame, ctx: Context) -> Known | None:
    """Return what is known of statements; None where nothing is kept, or models help to judge."""
    if ctx.remembered is None or ctx.models.encode or ctx.models.judge:
        return None
    return Known(ctx.remembered, table, ctx.policy)


def _digest(table: pl.DataFrame, policy: Policy) -> str:
    """A digest of all that the pairs depend on, beside the code."""
    found = hashlib.blake2b(repr((policy.candidates, policy.conflicts)).encode(), digest_size=16)
    for column in table.cast(pl.String).get_columns():
        found.update(column.str.len_bytes().fill_null(2**32 - 1).to_numpy().tobytes())
        found.update((column.str.join("").item() or "").encode())
    return found.hexdigest()
