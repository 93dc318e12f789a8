"""Formats: records as strict JSON lines and as checked Parquet, in both directions."""

import io
import json
import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from memops.errors import Corrupt
from memops.schema import INSTANT, RECORDS, instant

MAX_BYTES = 4 << 30
"""Most bytes that a Parquet file may unfold to."""
EASY_BYTES = 256 << 20
"""Bytes that any Parquet file may unfold to; beyond them at most RATIO times its own."""
RATIO = 50

_ROW = 64  # bytes that a row of nothing takes in memory, about
_TYPES: dict[Any, tuple[type, ...]] = {
    pl.String(): (str,), pl.Float64(): (int, float), pl.Boolean(): (bool,), pl.Int64(): (int,),
    INSTANT: (str,), pl.List(pl.String()): (list,),
}  # fmt: skip
_ALLOWED = {name: _TYPES[dtype] for name, dtype in RECORDS.items()}


def json_line(record: Mapping[str, Any]) -> str:
    """Return one record as a JSON line: columns in schema order, instants in ISO 8601, no nulls."""
    row = {
        name: record[name].isoformat(timespec="microseconds") if dtype == INSTANT else record[name]
        for name, dtype in RECORDS.items()
        if record.get(name) is not None
    }
    return json.dumps(row, ensure_ascii=False, allow_nan=False)


def packed(records: pl.DataFrame) -> bytes:
    """Return records, in their order, as the bytes of a Parquet file with page checksums."""
    import pyarrow.parquet as parquet

    out = io.BytesIO()
    table = records.select(RECORDS.names()).to_arrow()
    parquet.write_table(table, out, compression="zstd", write_page_checksum=True)
    return out.getvalue()


def unpacked(data: bytes, where: str) -> pl.DataFrame:
    """Return the table of a Parquet file's bytes, in the file's order and our columns' types.

    Sizes are checked before anything is unfolded. Raises Corrupt for a damaged file, an unknown
    column, and a column of another type.
    """
    import pyarrow

    try:
        table = _read_parquet(data, where)
        frame = pl.DataFrame(pl.from_arrow(table))
    except (
        pyarrow.ArrowException, OSError, OverflowError, UnicodeDecodeError,
        pl.exceptions.PolarsError,
    ) as error:  # fmt: skip
        said = str(error).partition("\n")[0]
        raise Corrupt(f"{where} is no sound Parquet file: {said}") from error
    except pl.exceptions.PanicException as error:
        raise Corrupt(f"{where} is no sound Parquet file") from error
    frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
    for name, dtype in frame.schema.items():
        if not _fits(dtype, RECORDS[name]):
            raise Corrupt(f"{where}: column {name!r} is {dtype}, not {RECORDS[name]}")
    return frame


def parsed(data: bytes, where: str) -> pl.DataFrame:
    """Return the lines as a table, in their order, with values of our columns' types.

    Lines end at LF only, as U+2028 is text. Raises Corrupt, naming line and column, for what is no
    JSON object, a repeated name or id, an unknown column, and a value that does not fit.
    """
    rows: list[dict[str, Any]] = []
    for nth, part in enumerate(lines_of(data), 1):
        try:
            rows.append(_LINE.decode(part.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            _one_by_one(rows, where)  # an earlier line may hold what does not fit
            raise Corrupt(
                f"{where}: line {nth}: {error}", "write one JSON object a line"
            ) from error
    if not rows:
        return RECORDS.to_frame()
    columns = _at_once(rows)
    if columns is None:
        checked = _one_by_one(rows, where)
        names = {name for row in checked for name in row}
        columns = {name: [row.get(name) for row in checked] for name in names}
    return pl.DataFrame(
        {name: pl.Series(name, columns[name], RECORDS[name]) for name in RECORDS if name in columns}
    )


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a file, without their ends."""
    parts = data.split(b"\n")
    return parts if parts[-1] else parts[:-1]


def _at_once(rows: list[dict[str, Any]]) -> dict[str, list[Any]] | None:
    """The values of all rows, a column at a time; None if one does not fit."""
    if any(type(row) is not dict for row in rows):
        return None
    read = {}
    for name in {name for row in rows for name in row}:
        column = [row.get(name) for row in rows]
        new = _column(name, column) if name in _ALLOWED else None
        if new is None:
            return None
        read[name] = new
    ids = {*read.get("id", ())}
    return None if None in ids or len(ids) != len(rows) else read


def _column(name: str, column: list[Any]) -> list[Any] | None:
    """The values of a column as records hold them: the same list, or a new one; None if one does not fit."""
    dtype, held = RECORDS[name], [value for value in column if value is not None]
    if not {*map(type, held)} <= {*_ALLOWED[name]}:
        return None
    if dtype == pl.List(pl.String()):
        texts = [text for value in held for text in value]
        return column if {*map(type, texts)} <= {str} and _encodable("".join(texts)) else None
    if dtype == pl.String() or dtype == INSTANT:
        if not _encodable("".join(held)):
            return None
        if dtype == pl.String():
            return column
        at = [None if value is None else instant(value) for value in column]
        return at if sum(one is not None for one in at) == len(held) else None
    if not all(map(_bounded_number, held)):
        return None
    real = dtype == pl.Float64() and int in {*map(type, held)}
    return [None if value is None else float(value) for value in column] if real else column


def _bounded_number(value: float) -> bool:
    """True of a finite number, or of an integer that a table can hold."""
    return math.isfinite(value) if type(value) is float else -(2**63) <= value < 2**63


def _one_by_one(rows: list[dict[str, Any]], where: str) -> list[dict[str, Any]]:
    """The rows checked, so that the first value that does not fit is named."""
    seen = set()
    for nth, row in enumerate(rows, 1):
        at = f"{where}: line {nth}"
        if not isinstance(row, dict):
            raise Corrupt(f"{at} is no JSON object", "write one JSON object a line")
        checked = _row(row, at)
        if checked["id"] in seen:
            raise Corrupt(f"{at}: id {checked['id']!r} stands twice")
        seen.add(checked["id"])
    return rows


def _row(row: dict[str, Any], at: str) -> dict[str, Any]:
    for name, value in row.items():
        if name not in _ALLOWED:
            raise Corrupt(f"{at}: unknown column {name!r}", "put native columns into `extra`")
        if value is not None:
            row[name] = _value(name, value, f"{at}, column {name!r}")
    if row.get("id") is None:
        raise Corrupt(f"{at} has no id")
    return row


def _value(name: str, value: Any, at: str) -> Any:
    if type(value) not in _ALLOWED[name]:
        raise Corrupt(f"{at}: cannot be read as {RECORDS[name]}")
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    for text in texts:
        if not isinstance(text, str) or not _encodable(text):
            raise Corrupt(f"{at}: is not valid text")
    if RECORDS[name] == INSTANT:
        if (at_time := instant(value)) is None:
            raise Corrupt(f"{at}: is no instant", "write ISO 8601 with an offset from UTC")
        return at_time
    if not isinstance(value, str | list) and not _bounded_number(value):
        raise Corrupt(f"{at}: is {'no finite number' if isinstance(value, float) else 'too large'}")
    return float(value) if RECORDS[name] == pl.Float64() else value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return made


def no_constant(name: str) -> Any:
    """Refuse NaN and the infinities, which Python's reader would take."""
    raise ValueError(f"{name} is no JSON number")


_LINE = json.JSONDecoder(object_pairs_hook=_once, parse_constant=no_constant)


def _read_parquet(data: bytes, where: str) -> Any:
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    texts = [name for name, dtype in RECORDS.items() if dtype == pl.String()]
    about = parquet.read_metadata(io.BytesIO(data))
    names = about.schema.to_arrow_schema().names
    for name in names:
        if name not in RECORDS:
            raise Corrupt(f"{where}: unknown column {name!r}", "put native columns into `extra`")
    size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    _bounded(max(size, about.num_rows * _ROW), where, len(data))
    texts = [name for name in texts if name in names]
    file = parquet.ParquetFile(
        io.BytesIO(data), page_checksum_verification=True, read_dictionary=texts
    )
    if "tags" in names:
        for batch in file.iter_batches(256, columns=["tags"]):
            size += batch.nbytes
            _bounded(size, where, len(data))
    table = file.read()
    for name in texts:
        for chunk in table[name].chunks:
            if hasattr(chunk, "dictionary"):
                lengths = compute.binary_length(chunk.dictionary).cast("int64")
                size += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    _bounded(size, where, len(data))
    table.validate(full=True)  # neither library looks at whether a text is UTF-8 otherwise
    return table


def _bounded(size: int, where: str, held: int) -> None:
    """Refuse what unfolds to more than text that people wrote does."""
    if size > min(MAX_BYTES, max(EASY_BYTES, RATIO * held)):
        raise Corrupt(f"{where} unfolds to too much", "split it into several files")


def _fits(found: pl.DataType, wanted: pl.DataType) -> bool:
    if isinstance(found, pl.Datetime) and isinstance(wanted, pl.Datetime):
        return found.time_zone is not None
    if found == pl.Null() or found == wanted:
        return True
    if wanted == pl.Float64():
        return found.is_numeric()
    return wanted == pl.Int64() and found.is_integer() and found != pl.UInt64()
