"""Known: pairs that were judged in an earlier round or night, so that only what is new is judged.

What a pair is depends on its two texts alone. Of a thousand pairs hardly one says the same, or
opposes; of the others only that nothing comes of them is kept. Of statements that are all as they
were, as those that a night begins with mostly are, the pairs are not even looked for.
"""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.candidates.sought import Sought
from memops.judge.candidates.worth import WORTH
from memops.ordered import within
from memops.policy import Policy
from memops.statements.remembered import Remembered, hashes
from memops.statements.taken import flat, lists

Array = Any
VERDICTS = pl.Schema(
    {
        "same": pl.Boolean(),
        "opposes": pl.String(),
        "firm_a": pl.Boolean(),
        "firm_b": pl.Boolean(),
        "veto_same": pl.String(),
        "veto_conflict": pl.String(),
        "likely_same": pl.Boolean(),
        "likely_part": pl.Boolean(),
        "likely_conflict": pl.Boolean(),
    }
)
_KEPT = pl.Schema({**WORTH, **VERDICTS})
PAIR = pl.Schema({"a": pl.UInt32(), "b": pl.UInt32()})
_QUIET = pl.Schema({"hash": pl.Binary(), "with": pl.List(pl.UInt64())})
"""Of each statement the hash of its text, and the numbers of those with which nothing comes of it."""


class Known:
    """Pairs of a table of statements, as far as an earlier round or night judged them.

    Statements are numbered by their places in the table, so a hash of each says what the pairs are of.
    """

    def __init__(
        self, kept: Remembered, table: pl.DataFrame, said: pl.Series, policy: Policy
    ) -> None:
        self.kept, self.table, self.limits = kept, table, policy.candidates
        self.name = f"pairs-{_digest(table, policy)}"
        self.said, self.silent = said, list[pl.DataFrame]()
        kept.passed.append(said)

    @cached_property
    def numbers(self) -> Array:
        """Return the numbers of the statements' texts."""
        return self.kept.numbers(self.said)

    def whole(self) -> tuple[pl.DataFrame, pl.DataFrame] | None:
        """Return the pairs of which something comes, if these very statements were judged before."""
        found = self.kept.pairs.get(self.name)
        found = self.kept.found_again(self.name, _KEPT) if found is None else found
        if found is None:
            return None
        self._note(found)
        return found.select(WORTH.names()), found.select(VERDICTS.names())

    def sought(self) -> Sought:
        """Return a search among the statements, which takes what the one before found of them."""
        return Sought(self.kept, self.table, self.said, self.limits)

    def spared(self, a: Array, b: Array) -> Array:
        """Return of which pairs (a, b) it is known that nothing comes; they stay known."""
        if self.kept.quiet is None:
            was = self.kept.recalled("quiet", _QUIET)
            self.kept.quiet = np.sort(_keys(self.kept.numbers(was["hash"]), *flat(was["with"])))
        quiet = within(_keys(self.numbers, a, b), self.kept.quiet)
        self.silent.append(pl.DataFrame([a[quiet], b[quiet]], PAIR))
        return quiet

    def note(self, silent: pl.DataFrame, told: pl.DataFrame) -> None:
        """Keep of which further pairs (a, b) nothing comes, and the others with what they are."""
        rows = pl.concat([*self.silent, silent.select(*PAIR)]).sort("a")
        a, b = rows["a"].to_numpy(), rows["b"].cast(pl.UInt64).to_numpy()
        self.kept.quiet = np.sort(_keys(self.numbers, a, b))
        held = lists(a, b, self.said.len())
        self.kept.tables["quiet"] = pl.DataFrame([self.said, held], _QUIET)
        self._note(told)

    def _note(self, told: pl.DataFrame) -> None:
        """Keep them as the last; those between the first and the last are of no more use."""
        held = self.kept.pairs
        held.pop(self.name, None)
        held[self.name] = told
        for name in [*held][1:-1]:
            del held[name]


def _keys(numbers: Array, a: Array, b: Array) -> Array:
    """A key for each pair of texts at the places a and b, by the numbers of the texts."""
    return numbers[a] << 32 | numbers[b]


def known(table: pl.DataFrame, ctx: Context) -> Known | None:
    """Return what is known of statements; None where nothing is kept, or models help to judge."""
    if ctx.remembered is None or ctx.models.encode or ctx.models.judge:
        return None
    held, at = ctx.of_texts(hashes, table["text"], _hashed)
    return Known(ctx.remembered, table, held["hash"].gather(at), ctx.policy)


def _hashed(texts: pl.Series) -> pl.DataFrame:
    return texts.to_frame().with_columns(hash=pl.Series(hashes(texts.to_list()), dtype=pl.Binary))


def _digest(table: pl.DataFrame, policy: Policy) -> str:
    """A digest of all that the pairs depend on, beside the code."""
    found = hashlib.blake2b(repr((policy.candidates, policy.conflicts)).encode(), digest_size=16)
    for column in table.cast(pl.String).get_columns():
        found.update(column.str.len_bytes().fill_null(2**32 - 1).to_numpy().data)
        told = column.str.join("").to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()[2]
        found.update(told or b"")
    return found.hexdigest()
