"""Rested: records of which no rule made anything in an earlier night, so that those are not asked again.

What rules that judge each record by itself, at whatever time, make of one hangs on that record, the
policy and this code. Kept is a digest of each record of which they made nothing, in the folder of
what a store's nights remember.
"""

import hashlib

import polars as pl

from memops.context import Context
from memops.schema import RECORDS, only
from memops.statements.remembered import recalled, written

_STEP = 10_000  # records that are written out at a time
_KEPT = pl.Schema({"digest": pl.Binary()})


class Rested:
    """The records that a plan begins with, as far as an earlier one left them at rest."""

    def __init__(self, records: pl.DataFrame, ctx: Context) -> None:
        self.folder = None if ctx.remembered is None else ctx.remembered.folder
        self.fresh, self.name = ctx.fresh, f"clean-records-{_recipe(ctx)}"
        if self.folder is not None:
            self.known = recalled(self.folder, self.name, _KEPT)["digest"]
            self.begun = records.select("id", digest=_digests(records))

    def changed(self) -> pl.Series | None:
        """Return the ids of the records that are not known to be at rest; None for all."""
        if self.folder is None or self.known.is_empty():
            return None
        return self.begun.filter(~pl.col("digest").is_in(self.known.implode()))["id"].sort()

    def keep(self, records: pl.DataFrame, touched: pl.Series, restless: pl.Series) -> None:
        """Keep which records a plan leaves at rest: all but the `restless`; it changed those `touched`."""
        if self.folder is None:
            return
        again = only(records, touched)
        made = again.select("id", digest=_digests(again))
        every = pl.concat([self.begun.join(made, on="id", how="anti"), made])
        every = every.join(records, on="id", how="semi")
        left = every.filter(~pl.col("id").is_in([*restless, *self.fresh]))["digest"].unique().sort()
        if left.equals(self.known):
            return
        kept = written(self.folder, self.name, left.to_frame())
        for other in {*self.folder.glob("clean-records-*.parquet")} - {kept}:
            other.unlink(missing_ok=True)


def _digests(records: pl.DataFrame) -> pl.Series:
    """A digest of each record, which nobody can make another record have; some at a time."""
    whole = pl.struct(*RECORDS).struct.json_encode().cast(pl.Binary)
    said = (some.select(whole).to_series().to_list() for some in records.iter_slices(_STEP))
    return pl.Series("digest", [_digest(one) for part in said for one in part], pl.Binary)


def _recipe(ctx: Context) -> str:
    """What a rule knows beside the record."""
    told = (ctx.policy.digest(), ctx.store, ctx.unsigned, [*RECORDS])
    return _digest(repr(told).encode()).hex()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
