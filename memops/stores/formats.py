"""Formats: records as strict JSON lines and as checked Parquet, in both directions."""

import io
import json
import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from memops.errors import Corrupt
from memops.files import UNREADABLE
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
_BLOCK = 1 << 24  # bytes that are read at a time, and the longest line beside them
_PLAIN = r"^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{3}|\.\d{6})?(?:Z|\+00:00)$"
_NAMES = tuple(RECORDS)
_INSTANTS = frozenset(name for name, kind in RECORDS.items() if kind == INSTANT)
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_ALLOWED = {name: _TYPES[dtype] for name, dtype in RECORDS.items()}


def json_line(record: Mapping[str, Any]) -> str:
    """Return one record as a JSON line: columns in schema order, instants in ISO 8601, no nulls."""
    row = {
        name: value.isoformat(timespec="microseconds") if name in _INSTANTS else value
        for name in _NAMES
        if (value := record.get(name)) is not None
    }
    return _JSON(row)


def packed(records: pl.DataFrame) -> bytes:
    """Return records, in their order, as the bytes of a Parquet file with page checksums."""
    import pyarrow.parquet as parquet

    out, table = io.BytesIO(), records.select(RECORDS.names()).to_arrow()
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
    except (pyarrow.ArrowException, OverflowError, UnicodeDecodeError, *UNREADABLE) as error:
        first = str(error).partition("\n")[0]
        said = "" if isinstance(error, pl.exceptions.PanicException) else f": {first}"
        raise Corrupt(f"{where} is no sound Parquet file{said}") from error
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
    lines = lines_of(data)
    if not lines:
        return RECORDS.to_frame()
    table = _at_once(data, lines)
    if table is not None:
        return table
    rows: list[dict[str, Any]] = []
    for nth, part in enumerate(lines, 1):
        try:
            rows.append(_LINE.decode(part.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            _one_by_one(rows, where)  # an earlier line may hold what does not fit
            said = error if part.strip() else "it is empty"
            raise Corrupt(f"{where}: line {nth}: {said}", "write one JSON object a line") from error
    checked = _one_by_one(rows, where)
    names = {name for row in checked for name in row}
    columns = {name: [row.get(name) for row in checked] for name in names}
    known = (name for name in RECORDS if name in columns)
    return pl.DataFrame({name: pl.Series(name, columns[name], RECORDS[name]) for name in known})


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a file, without their ends."""
    parts = data.split(b"\n")
    return parts if parts[-1] else parts[:-1]


def _at_once(data: bytes, lines: list[bytes]) -> pl.DataFrame | None:
    """What the lines say, read by Arrow; None if anything but plain objects of our columns is there.

    Arrow refuses other columns, types and repeated names; objects that share a line or run over
    several, numbers that are none, and names or texts that are missing are left to the strict reader.
    """
    import pyarrow
    import pyarrow.json as reader

    if not all(line[:1] == b"{" and line[-1:] == b"}" for line in lines):
        return None
    types = {n: pl.String() if kind == INSTANT else kind for n, kind in RECORDS.items()}
    schema = pyarrow.schema([(n, _in_arrow(kind)) for n, kind in types.items()])
    options = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    block = reader.ReadOptions(block_size=max(map(len, lines)) + _BLOCK)
    try:
        table = reader.read_json(io.BytesIO(data), read_options=block, parse_options=options)
        table.validate(full=True)  # whether a text is UTF-8
    except (pyarrow.ArrowException, OverflowError):
        return None
    frame = pl.DataFrame(pl.from_arrow(table)).cast(pl.Schema(types))
    real = pl.col(pl.Float64).is_finite().fill_null(True).all()
    whole = ~pl.col("tags").list.eval(pl.element().is_null()).list.any().fill_null(False)
    ids = pl.col("id").is_not_null() & ~pl.col("id").is_duplicated()
    sound = frame.select(real, whole.all(), ids.all()).row(0)
    return _timed(frame) if frame.height == len(lines) and all(sound) else None


def _in_arrow(kind: pl.DataType | type[pl.DataType]) -> Any:
    """The type of which a column is read."""
    import pyarrow

    text = pyarrow.string()
    types = {pl.Float64: pyarrow.float64(), pl.Int64: pyarrow.int64(), pl.Boolean: pyarrow.bool_()}
    return (types | {pl.String: text, pl.List: pyarrow.list_(text)})[kind.base_type()]


def _timed(frame: pl.DataFrame) -> pl.DataFrame | None:
    """The table with its texts of instants as instants; None if one of them is none."""
    out = {}
    for name in (name for name, kind in RECORDS.items() if kind == INSTANT):
        said = frame[name]
        plain = said.str.contains(_PLAIN)
        bare = said.str.strip_suffix("Z").str.strip_suffix("+00:00").to_frame().filter(plain)[name]
        at = bare.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
        odd = said.filter(~plain)
        column = pl.select(pl.repeat(None, len(said), dtype=INSTANT)).to_series()
        column = column.scatter(plain.arg_true(), at.dt.replace_time_zone("UTC"))
        read = pl.Series([instant(text) for text in odd], dtype=INSTANT)
        column = column.scatter((~plain).arg_true(), read)
        if column.null_count() > said.null_count():
            return None
        out[name] = column.alias(name)
    return frame.with_columns(**out)


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
    if isinstance(value, str | list):
        return value
    held = math.isfinite(value) if type(value) is float else -(2**63) <= value < 2**63
    if not held:
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
    how: dict[str, Any] = {"page_checksum_verification": True, "read_dictionary": texts}
    file = parquet.ParquetFile(io.BytesIO(data), **how)
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
