"""Naming: the records that a person means by an id, a key, or the beginning of one that is unique."""

from collections.abc import Sequence

import polars as pl

from memops.errors import MemopsError, did_you_mean


def meant(records: pl.DataFrame, names: Sequence[str], store: str, then: str = "") -> list[str]:
    """Return the ids of records, each named by its id or key or by how no other's begins.

    Raises MemopsError for a name that is nobody's, or several records'; `then` ends its sentence.
    """
    return [_one(records, name, store, then) for name in names]


def _one(records: pl.DataFrame, name: str, store: str, then: str) -> str:
    ids, keys = records["id"], records["key"]
    whole = [ids.filter(ids == name), ids.filter((keys == name).fill_null(False))]
    begun = [ids.str.starts_with(name), keys.str.starts_with(name).fill_null(False)]
    found = next((f for f in whole if len(f)), ids.filter(begun[0] | begun[1]) if name else ids)
    if len(found := found.unique().sort()) == 1:
        return str(found[0])
    if len(found) > 1:
        some = ", ".join(map(repr, found[:4])) + (" ..." if len(found) > 4 else "")
        raise MemopsError(
            f"{store}: {name!r} names {len(found)} records{then}", f"say which: {some}"
        )
    listed = f"list them with `memops records inspect {store}`"
    hint = did_you_mean(name, [*ids, *keys.drop_nulls()], listed)
    raise MemopsError(f"{store}: no record {name!r}{then}", hint)
