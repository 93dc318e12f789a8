"""Sought: the terms of each text, kept for the next night, which looks for those of new texts alone.

They hang on the text by itself. How near two are by the rarity of their terms hangs on all others,
and is found anew each time.
"""

from typing import Any

import polars as pl

from memops.judge.candidates.termsets import bits_of, tagged, untagged
from memops.language.codes import codes
from memops.statements.remembered import Remembered
from memops.statements.taken import flat, lists

Array = Any
_NAME = "sought"
_SOUGHT = pl.Schema({"hash": pl.Binary(), "terms": pl.List(pl.UInt64())})
"""Of each text its hash and the codes of its terms."""


class Sought:
    """A search among the statements of a table; `hashes` of their texts tell which were there before.

    Where `kept` is None, or there are so many that codes are cut shorter, nothing is kept.
    """

    def __init__(self, kept: Remembered | None, table: pl.DataFrame, hashes: pl.Series) -> None:
        self.kept = kept if bits_of(table.height) == bits_of(1) else None
        self.hashes, self.made = hashes, [_SOUGHT.to_frame()["terms"]]
        self.at, self.known = (
            pl.repeat(None, table.height, dtype=pl.UInt32, eager=True),
            self.made[0],
        )
        if self.kept is not None:
            last = self.kept.tables.get(_NAME)
            known = self.kept.recalled(_NAME, _SOUGHT) if last is None else last
            place = known.select("hash").with_row_index("at")
            self.known = known["terms"]
            self.at = pl.DataFrame({"hash": hashes}).join(
                place, on="hash", how="left", maintain_order="left"
            )["at"]

    def terms(self, part: pl.DataFrame) -> tuple[Array, Array]:
        """Return the terms (rows, items) of some whole scopes (statement, scope, text)."""
        at = self.at.gather(part["statement"])
        new = at.is_null()
        held = self.known.gather(at.drop_nulls())
        if new.any():
            texts = part["text"].filter(new)
            made = lists(*untagged(codes(texts, unigrams=True), texts.len()), texts.len())
            order = pl.concat([(~new).arg_true(), new.arg_true()]).arg_sort()
            held = pl.concat([held, made.rename(held.name)])[order]
        if self.kept is not None:
            self.made.append(held)
        return tagged(flat(held), part["scope"])

    def keep(self) -> None:
        """Remember the terms of the whole table."""
        if self.kept is not None:
            found = pl.DataFrame({"hash": self.hashes, "terms": pl.concat(self.made)}, _SOUGHT)
            self.kept.tables[_NAME] = found.unique("hash", keep="first", maintain_order=True)
