"""Importing: records from another program's export, by a mapping that `memops.toml` gives.

    [import.NAME]
    path = "export.json"                  # a JSON list, an object with one, or JSON lines
    at = "data.memories"                  # where the list is; left out: the only list there
    fields = { text = "content", created_at = "meta.created", tags = "labels" }
    defaults = { kind = "fact", scope = "default" }

A MEMORY_SNAPSHOT.md of clawseed's and the file of an MCP memory server (a graph of entities and
relations: https://github.com/modelcontextprotocol/servers/tree/main/src/memory) need no mapping. What
no column takes is kept in `extra` under `imported`. An entry without an id gets one from what it says,
so that importing twice adds nothing.
"""

import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.commands.editing import Asked, carried_out
from memops.errors import Corrupt, MemopsError, StoreNotFound
from memops.plan import put
from memops.safety.display import shown
from memops.schema import INSTANT, KINDS, RECORDS, from_rows, instant
from memops.settings import Import, Settings
from memops.stores import open_store
from memops.stores.clawseed import view as clawseed_view
from memops.stores.disk import read_whole

_SPACE = uuid.UUID("7b0a4b5e-6a5d-5d0f-9a67-2f7d3c1f9e10")
_MOST = 253_402_300_799
_HALF = re.compile("[\ud800-\udfff]")  # of a character, as exports that were cut have it
_SHARES = ("importance", "confidence")
_OWN = ("extra", "origin")  # what memops says of an entry itself
_NUMBERS: dict[Any, type] = {pl.Float64(): float, pl.Int64(): int}


def import_records(
    name: str, to: str, settings: Settings, now: datetime | None = None, plan_only: bool = False
) -> dict[str, Any]:
    """Add the entries of an export to a store: a snapshot, a plan, applied and undoable."""
    if name not in settings.imports:
        known = ", ".join(sorted(settings.imports)) or "none"
        raise MemopsError(f"no [import.{name}] in memops.toml", f"known: {known}")
    rows, passed = mapped(name, settings.imports[name])
    _ready(settings.store(to).address)
    counts = {"read": len(rows) + len(passed), "already": 0, "passed_over": passed}

    def make(records: pl.DataFrame, at: datetime) -> pl.DataFrame:
        new = rows.join(records.select("id"), on="id", how="anti")
        counts["already"] = rows.height - new.height
        return put(new, "person.imported", {"name": name}, evidence=[], risk="low")

    return carried_out("import", Asked(to, settings, now, plan_only), make) | counts


def mapped(name: str, given: Import) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Return an export's entries as records, and those that are none, with the reason."""
    rows: dict[str, dict[str, Any]] = {}
    passed: list[dict[str, Any]] = []
    for number, entry in _numbered(given):
        try:
            row = _row(entry, given)
            ids = [row["id"]] if "id" in row else _made_ids(name, row, entry)
            new = next((id_ for id_ in ids if id_ not in rows), None)
            if new is None:
                raise ValueError("an entry before it has the same id")
            rows[new] = row | {"id": new, "origin": f"{given.path.name}#{number}"}
        except ValueError as error:
            passed.append({"entry": number, "why": str(error)})
    return from_rows(list(rows.values()), str(given.path)), passed


def _numbered(given: Import) -> list[tuple[int, Any]]:
    found = list(enumerate(entries(given.path, given.at), 1))
    if given.fields or not is_graph([entry for _, entry in found]):
        return found
    return [(n, said) for n, entry in found for said in statements(entry)]


def entries(path: Path, at: str = "") -> Iterator[Any]:
    """Yield the entries of an export; raises Corrupt for what is no JSON."""
    data, _ = read_whole(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path}: not UTF-8: {error}") from error
    if clawseed_view.is_view(text):
        yield from clawseed_view.entries(text)
        return
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from (entry for _, entry in files.json_lines(path))
        return
    found = _at(whole, at) if at else _only_list(whole)
    if not isinstance(found, list):
        raise Corrupt(f"{path}: no list of entries", 'say where it is: at = "data.memories"')
    yield from found


def _only_list(whole: Any) -> Any:
    """The list itself, the one list in an object, or a file of a single entry, as a graph is."""
    if not isinstance(whole, Mapping):
        return whole
    if is_graph([whole]):
        return [whole]
    lists = [value for value in whole.values() if isinstance(value, list)]
    entries = [v for v in lists if v and all(isinstance(item, Mapping) for item in v)]
    return entries[0] if len(entries) == 1 else [whole] if not entries else None


def _row(entry: Any, given: Import) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise ValueError("not an object")
    fields = given.fields or {column: column for column in RECORDS if column not in _OWN}
    row = dict(given.defaults)
    for column, place in fields.items():
        value = _at(entry, place)
        if value is not None:
            row[column] = _value(column, value)
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"no text at {fields.get('text', 'text')!r}")
    row.setdefault("kind", "fact")
    rest = _without(entry, [place.split(".") for place in fields.values()])
    return row | ({"extra": json.dumps({"imported": rest}, sort_keys=True)} if rest else {})


def _made_ids(name: str, row: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """Ids for an entry without one: by its key, text and time, and by all that it holds."""
    made = row.get("created_at")
    said = [name, row["text"], made and made.isoformat()]
    said += [row[column] for column in ("scope", "key") if row.get("key") and column in row]
    whole = [name, json.dumps(entry, sort_keys=True)]
    return [str(uuid.uuid5(_SPACE, json.dumps(parts))) for parts in (said, whole)]


def _without(entry: Mapping[str, Any], places: Sequence[list[str]]) -> dict[str, Any]:
    """What is left of an entry once these places are taken out of it."""
    out: dict[str, Any] = {}
    for key, value in entry.items():
        deeper = [place[1:] for place in places if place[0] == key]
        if [] in deeper:
            continue
        if deeper and isinstance(value, Mapping):
            value = _without(value, deeper)
            if not value:
                continue
        out[key] = value
    return out


def _value(column: str, value: Any) -> Any:
    """A value as the column's type; raises ValueError, naming the column."""
    dtype = RECORDS[column]
    if dtype == INSTANT:
        return _instant(column, value)
    if dtype == pl.List(pl.String()):
        items = value if isinstance(value, list) else [value]
        return [item if isinstance(item, str) else json.dumps(item) for item in items]
    if dtype in _NUMBERS:
        number = _NUMBERS[dtype](value) if not isinstance(value, bool) else None
        if number is None or not math.isfinite(number):
            raise ValueError(f"{column} is no number")
        if column in _SHARES and not 0 <= number <= 1:
            raise ValueError(f"{column} {number:g} is not between 0 and 1")
        return number
    if dtype == pl.Boolean():
        if not isinstance(value, bool):
            raise ValueError(f"{column} is neither true nor false")
        return value
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if _HALF.search(said):
        raise ValueError(f"{column} holds half of a character")
    if column == "kind" and said.lower() not in KINDS:
        raise ValueError(f"kind {shown(said)!r} is none of {', '.join(KINDS)}")
    return said.lower() if column == "kind" else said


def _instant(column: str, value: Any) -> datetime:
    """An instant with its zone, or seconds or milliseconds since 1970."""
    if isinstance(value, str) and (at := instant(value)) is not None:
        return at
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        seconds = value / 1000 if abs(value) >= 1e11 else value
        if 0 <= seconds <= _MOST:
            return datetime.fromtimestamp(seconds, UTC)
    raise ValueError(f"{column} is no instant with a zone")


def _at(entry: Any, place: str) -> Any:
    for part in place.split("."):
        entry = entry.get(part) if isinstance(entry, Mapping) else None
    return entry


def _ready(address: str) -> None:
    """Make an empty file for a new `jsonl:` store; any other has to be there."""
    store = open_store(address)
    path = getattr(store, "path", None)
    if store.kind == "jsonl" and isinstance(path, Path) and not path.exists():
        if not path.parent.is_dir():
            raise StoreNotFound(f"{path.parent} does not exist", "make the folder first")
        path.touch(0o600)


_ENDS = ("from", "to", "relationType")
_ENTITY = ("type", "name", "entityType", "observations")


def is_graph(entries: Sequence[Any]) -> bool:
    """Tell whether an export's entries are those of such a file, in lines or in one object."""
    return any(_is_entity(entity) for entry in entries for entity in _graph_nodes(entry))


def statements(entry: Any) -> Iterator[Any]:
    """Yield what an entry says as values of our columns: one for an observation or relation, which names its entity."""
    for node in _graph_nodes(entry):
        if _is_entity(node):
            yield from _observed(node)
        elif isinstance(node, Mapping) and all(isinstance(node.get(n), str) for n in _ENDS):
            text = f"{node['from']} {node['relationType'].replace('_', ' ')} {node['to']}"
            about = {"subject": node["from"], "tags": ["relation"], "kind": "relationship"}
            yield about | {"text": text}
        else:
            yield node


def _graph_nodes(entry: Any) -> Iterator[Any]:
    whole = isinstance(entry, Mapping) and isinstance(entry.get("entities"), list)
    if not whole:
        yield entry
        return
    yield from entry["entities"]
    yield from entry.get("relations") or ()


def _is_entity(node: Any) -> bool:
    if not isinstance(node, Mapping) or not isinstance(node.get("observations"), list):
        return False
    return all(isinstance(node.get(name), str) for name in ("name", "entityType"))


def _observed(entity: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    name, sort = entity["name"], entity["entityType"]
    rest = {key: value for key, value in entity.items() if key not in _ENTITY}
    told = {"subject": name, "tags": [sort]} | ({"entity": rest} if rest else {})
    for said in entity["observations"]:
        if isinstance(said, str) and said.strip():
            text = said if name.casefold() in said.casefold() else f"{name}: {said}"
            yield told | {"text": text, "kind": "fact"}
    if not entity["observations"]:
        yield told | {"text": f"{name}: {sort}", "kind": "entity"}
