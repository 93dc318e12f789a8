"""What a rule may know beside the records: the clock, the policy, and what was computed already."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import polars as pl

from memops.heap import in_one
from memops.policy import Policy
from memops.statements.remembered import Remembered
from memops.verdicts import Decider

T = TypeVar("T")


@dataclass(frozen=True)
class Models:
    """Models that the policy names, None for none: vectors of texts, verdicts of pairs, and their `recipes`."""

    encode: Callable[[Sequence[str]], Any] | None = None
    judge: Decider | None = None
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """Handed to every rule; rules are pure functions of (records, context).

    `store` is the kind of store. `fresh` holds ids that are left alone: of files just written, and
    notes that wait for a model. `told` is what a model said of notes, `whole` the full text of those
    that the store cut off. `restored` holds hidden records that their agent wrote since, `purged`
    purged ones that others stand behind; `changed` what changed since the rule was last asked in this
    plan, None the first time. `cache` keeps what several rules would compute again. `unsigned` tells of
    a store in which what names no source is its owner's. `remembered` is what earlier nights read; what
    comes of a rule is the same without.
    """

    now: datetime
    policy: Policy = field(default_factory=Policy)
    store: str = ""
    fresh: frozenset[str] = frozenset()
    told: pl.DataFrame | None = None
    whole: pl.DataFrame | None = None
    restored: frozenset[str] = frozenset()
    purged: frozenset[str] = frozenset()
    changed: pl.Series | None = field(default=None, compare=False, repr=False)
    unsigned: bool = False
    models: Models = field(default_factory=Models, compare=False, repr=False)
    remembered: Remembered | None = field(default=None, compare=False, repr=False)
    cache: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    def at_rest(self) -> pl.Expr:
        """Return what is true of records that are not left alone for now."""
        return ~pl.col("id").is_in(list(self.fresh))

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return what is cached under the key, making it the first time."""
        if key not in self.cache:
            self.cache[key] = make()
        value: T = self.cache[key]
        return value

    def of_texts(
        self, key: object, texts: pl.Series, make: Callable[[pl.Series], pl.DataFrame]
    ) -> tuple[pl.DataFrame, pl.Series]:
        """Return what `make` returns (text and more), each text made once, and the row of each text."""
        texts, held = texts.rename("text"), [self.cache[key]] if key in self.cache else []
        at = pl.repeat(None, texts.len(), dtype=pl.Int64, eager=True)
        if held:
            at = _places(texts, held[0]["text"])
        if not held or at.has_nulls():
            held.append(make(texts.filter(at.is_null()).unique(maintain_order=True)))
            self.cache.pop(key, None)  # before both are held as one
            held = [in_one(held)]
            self.cache[key] = held[0]
            at = _places(texts, held[0]["text"])
        return held[0], at

    def formed(self, key: object, texts: pl.Series, form: pl.Expr) -> pl.Series:
        """Return a form of each text, an expression over the column `text`; each text has it made once."""
        known, at = self.of_texts(key, texts, lambda new: new.to_frame().with_columns(form=form))
        return known["form"].gather(at)


def _places(texts: pl.Series, known: pl.Series) -> pl.Series:
    """Where each text stands among distinct ones; null where it does not."""
    place = pl.DataFrame({"text": known, "at": pl.int_range(known.len(), eager=True)})
    return texts.to_frame().join(place, on="text", how="left", maintain_order="left")["at"]
