"""The overlay: what a store cannot hold, kept as a plan in the state folder and joined at read.

Edits carry columns that the store has no place for; puts carry records whose bytes left it, and are passed
over while the agent has stored the record again. The file carries its own SHA-256.
"""

from pathlib import Path

import polars as pl

from memops import files
from memops.errors import Corrupt
from memops.plan import EDITS, PUTS, nothing, outcome, put, squash
from memops.schema import CHANGES, PLACE, RECORDS

_HIDDEN = "overlay.hidden"
_FIELDS = [name for name in RECORDS if name not in ("id", "origin", "extra", *PLACE)]
_BLANK = "0" * 64
_SUM = b"memops.sha256\x18\x40"  # the name of the digest in the file's footer, and its length


def read(path: Path) -> pl.DataFrame:
    """Return the overlay; nothing when there is none yet."""
    if not path.exists():
        return nothing()
    data = path.read_bytes()
    if _stamped(data) != data:
        raise Corrupt(f"{path}: the overlay is not as it was written", "restore a snapshot")
    where = f"{path}: the overlay cannot be read"
    return files.unpacked(data, where, "restore a snapshot", CHANGES)


def write(path: Path, overlay: pl.DataFrame) -> None:
    """Write the overlay, sorted by id."""
    files.write(path, packed(overlay))


def packed(overlay: pl.DataFrame) -> bytes:
    """Return the bytes of its file."""
    return _stamped(files.packed(overlay.sort("id"), metadata={"memops.sha256": _BLANK}))


def joined(records: pl.DataFrame, overlay: pl.DataFrame) -> pl.DataFrame:
    """Return a store's records with what the overlay knows of them.

    A record that the store has live again is live: what the overlay said of it while it was hidden is void.
    """
    if overlay.is_empty():
        return records
    linked = pl.col("superseded_by").is_not_null()
    again = records.filter(~linked)["id"].implode()
    void = (pl.col("code") == _HIDDEN).fill_null(False) & ~linked & pl.col("id").is_in(again)
    overlay = overlay.filter(~(EDITS & void))
    archived = overlay.filter(PUTS).join(records.select("id"), on="id", how="anti")
    return outcome(records, pl.concat([overlay.filter(EDITS), archived]))


def archived_ids(overlay: pl.DataFrame) -> pl.Series:
    """Return ids of the records whose bytes left the store, unless somebody brought them back."""
    return overlay.filter(PUTS)["id"]


def merged(
    overlay: pl.DataFrame, expected: pl.DataFrame, projected: pl.DataFrame, moved: dict[str, str]
) -> pl.DataFrame:
    """Return the overlay once records are written: as they should read, and as the store gives them (`projected`).

    `moved` maps old ids to new; both tables have the new ones.
    """
    known = overlay.with_columns(id=pl.col("id").replace(moved))
    rest = known.join(expected.select("id"), on="id", how="anti")
    gone = expected.join(projected.select("id"), on="id", how="anti")
    return pl.concat([rest, put(gone, "overlay.left"), _edits(expected, projected)]).sort("id")


def without(overlay: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    """Return the overlay without what it says of these records."""
    return overlay.join(ids.rename("id").to_frame(), on="id", how="anti")


def _stamped(data: bytes) -> bytes:
    """Return a file with the digest of itself, the digest's own place left blank, in its footer."""
    at = data.rfind(_SUM) + len(_SUM)
    blank = data[:at] + _BLANK.encode() + data[at + 64 :]
    return blank[:at] + files.digest(blank).encode() + blank[at + 64 :]


def _edits(expected: pl.DataFrame, projected: pl.DataFrame) -> pl.DataFrame:
    """One edit a record with the columns in which the store falls short; empty ones are cleared."""
    both = expected.join(projected, on="id", how="inner", suffix=":store")
    differs = {n: pl.col(n).ne_missing(pl.col(f"{n}:store")) for n in _FIELDS}
    set_ = [pl.when(d).then(pl.col(n)).alias(n) for n, d in differs.items()]
    clears = pl.concat_list(
        pl.when(d & pl.col(n).is_null()).then(pl.lit(n)).otherwise(None) for n, d in differs.items()
    ).list.drop_nulls()
    code = pl.when(pl.col("superseded_by").is_null()).then(pl.lit("overlay.short"))
    rows = both.filter(pl.any_horizontal(*differs.values()))
    rows = rows.select("id", *set_, clears=clears, code=code.otherwise(pl.lit(_HIDDEN)))
    if rows.is_empty():
        return nothing()
    blank = {n: pl.lit(None, t).alias(n) for n, t in CHANGES.items() if n not in rows.columns}
    some = pl.when(pl.col("clears").list.len() > 0).then("clears").cast(CHANGES["clears"])
    whole = rows.with_columns(*blank.values(), clears=some).with_columns(action=pl.lit("edit"))
    return squash(whole.select(CHANGES.names()).cast(CHANGES))
