"""Selecting: the records that an id or a key names, and the changes that a number or a rule names."""

import re
from collections.abc import Iterable, Sequence

import polars as pl

from memops.commands.reviewing import Review
from memops.errors import MemopsError, did_you_mean
from memops.policy.safety import Secrets
from memops.safety.looked import redacted

_NUMBERS = re.compile(r"([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?")
_MOST = 1_000_000  # changes that one range may name


def meant(records: pl.DataFrame, names: Sequence[str], store: str, then: str = "") -> list[str]:
    """Return the ids of records, each named by its id or key or by how no other's begins.

    Raises MemopsError for a name that is nobody's, or several records'; `then` ends its sentence.
    """
    return [_one(records, name, store, then) for name in names]


def masked_texts(records: pl.DataFrame, policy: Secrets) -> dict[str, str]:
    """Return what each record says, by its id; secrets masked."""
    return dict(zip(records["id"], redacted(records["text"], policy), strict=True))


def of_rule(review: Review, rule: str) -> list[int]:
    """Return the sequence numbers of a rule's changes; raises MemopsError when it has none."""
    rows = review.rows
    found = rows.filter(pl.col("rule") == rule)["seq"].to_list()
    if not found:
        known = ", ".join(rows["rule"].unique().sort().drop_nulls())
        raise MemopsError(f"plan {review.plan.id} has no change by {rule!r}", f"its rules: {known}")
    return found


def named(review: Review, words: Iterable[str]) -> list[int]:
    """Return the changes that words name: numbers, a rule of which some are undecided, `all` of those."""
    found: list[int] = []
    for word in words:
        if word == "all":
            found += review.undecided
        elif word == "kept":
            found += review.kept
        elif word[:1].isdecimal():
            found += numbers(word)
        else:
            found += sorted({*of_rule(review, word)} & {*review.undecided})
    return list(dict.fromkeys(found))


def numbers(text: str | None) -> list[int]:
    """Return the numbers of changes, such as 3,7-9, that a text gives; none for None."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in (text or "").split(","))):
        if not (ends := _NUMBERS.fullmatch(part)):
            raise MemopsError(f"{part!r} is not the number of a change", "write 3, or 3,7-9")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not 0 <= last - first <= _MOST:
            raise MemopsError(f"{part!r} names no changes", "write 3, or 3,7-9")
        found += range(first, last + 1)
    return found


def _one(records: pl.DataFrame, name: str, store: str, then: str) -> str:
    ids, keys = records["id"], records["key"]
    whole = [ids.filter(ids == name), ids.filter((keys == name).fill_null(False))]
    begun = [ids.str.starts_with(name), keys.str.starts_with(name).fill_null(False)]
    found = next((f for f in whole if len(f)), ids.filter(begun[0] | begun[1]) if name else ids)
    if len(found := found.unique().sort()) == 1:
        return str(found[0])
    if len(found) > 1:
        some = ", ".join(map(repr, found[:4])) + (" ..." if len(found) > 4 else "")
        said = f"{store}: {name!r} names {len(found)} records{then}"
        raise MemopsError(said, f"say which: {some}")
    listed = f"list them with `memops records inspect {store}`"
    hint = did_you_mean(name, [*ids, *keys.drop_nulls()], listed)
    raise MemopsError(f"{store}: no record {name!r}{then}", hint)
