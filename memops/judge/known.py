"""Known: pairs that were judged in an earlier round or night, so that only what is new is judged.

What a pair is depends on its two texts alone, unless it is not `steady`: what says the same is
also told by how rare words are, which changes with any text. Of statements that are all as they
were, as those that a night begins with mostly are, the pairs are not even looked for.
"""

import hashlib
from typing import Any

import polars as pl

from memops.context import Context
from memops.judge.candidates.sought import Sought
from memops.judge.candidates.worth import WORTH
from memops.ordered import Seen
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
_KEPT = pl.Schema({**WORTH, **VERDICTS})
_SAID = pl.Schema({"hash": pl.Binary()})


class Known:
    """Pairs of a table of statements, as far as an earlier round or night judged them.

    Statements are numbered by their places in the table, so a hash of each says what the pairs are of.
    """

    def __init__(self, kept: Remembered, table: pl.DataFrame, policy: Policy) -> None:
        self.kept, self.table, self.limits = kept, table, policy.candidates
        self.name = _digest(table, policy)
        self.said = pl.Series("hash", hashes(table["text"].to_list()), dtype=pl.Binary)
        kept.passed.append(self.said)

    def whole(self) -> tuple[pl.DataFrame, pl.DataFrame] | None:
        """Return the pairs and what they are, if these very statements were judged before."""
        held = self.kept.pairs.get(self.name)
        found = self.kept.recalled(f"pairs-{self.name}", _KEPT) if held is None else held[0]
        if found.is_empty():
            return None
        self._note(found)
        return found.select(WORTH.names()), found.select(VERDICTS.names())

    def sought(self) -> Sought:
        """Return a search among the statements, which takes what the one before found of them."""
        return Sought(self.kept, self.table, self.said, self.limits)

    def verdicts(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return what is known of each pair, null of one that must be judged."""
        kept = self.kept
        if kept.pairs:
            last = [*kept.pairs.values()][-1][0]
        else:
            last, said = self._last()
            kept.seen.note(_keys(kept.seen, said, last))
        at = pl.Series(kept.seen.places(_keys(kept.seen, self.said, pairs))).replace(-1, None)
        told = last.select(pl.col(VERDICTS.names()).gather(at))
        return told.select(pl.when("steady").then(pl.all()))

    def note(self, pairs: pl.DataFrame, verdicts: pl.DataFrame) -> None:
        """Keep what the pairs are."""
        self._note(pl.concat([pairs, verdicts], how="horizontal"))

    def _note(self, pairs: pl.DataFrame) -> None:
        """Keep it as the last; those between the first and the last are of no more use."""
        self.kept.seen.note(_keys(self.kept.seen, self.said, pairs))
        held = self.kept.pairs
        held.pop(self.name, None)
        held[self.name] = pairs, self.said.to_frame()
        for name in [*held][1:-1]:
            del held[name]

    def _last(self) -> tuple[pl.DataFrame, pl.Series]:
        """The pairs that an earlier plan kept last, of whatever statements, and the hashes of those."""
        for name in self.kept.kept_last():
            said = self.kept.recalled(f"said-{name}", _SAID)["hash"]
            if said.len():
                return self.kept.recalled(f"pairs-{name}", _KEPT), said
        return _KEPT.to_frame(), _SAID.to_frame()["hash"]


def _keys(seen: Seen, said: pl.Series, pairs: pl.DataFrame) -> Array:
    return seen.keys(said.to_list(), pairs["a"].to_numpy(), pairs["b"].to_numpy())


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
