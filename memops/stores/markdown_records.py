"""Markdown records: entries as records and back, and what a file gives for a record.

The id is `path:digest:occurrence`, the origin `path#line`. `extra` keeps what stands around the
text (prefix, suffix, headings, comments above), never the text itself, so that an edit of the
text rewrites only its bytes and a masked text leaves no copy.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from memops.schema import TOMBSTONE, empty, from_rows
from memops.stores.markdown_fields import numbered
from memops.stores.markdown_lines import Entry, Grammar, Place, encoded, entries

ID = re.compile(r"^(?P<path>.+\.md):(?P<digest>[0-9a-f]{12}):(?P<nth>\d+)$", re.S)
_SURROGATE = re.compile("[\udc80-\udcff]")
_UNKNOWN = re.compile("[\udc80-\udcff\ufffd]")
_MANAGED = "<!-- openclaw:dreaming:light:start -->"

Native = dict[str, Any]
Planned = Callable[[dict[str, Any]], tuple[str, str, str] | None]
"""Gives file, prefix and suffix of a record that is to be inserted."""


def native(record: dict[str, Any]) -> Native:
    """Return what `extra` says."""
    said = json.loads(record.get("extra") or "{}")
    return said if isinstance(said, dict) else {}


def path_of(record: dict[str, Any]) -> str | None:
    """Return the file of a record that a Markdown store gave, or None."""
    found = ID.match(record["id"])
    return found["path"] if found else None


def line_of(record: dict[str, Any]) -> int:
    """Return the line of a record's origin, 0 when it has none."""
    _, _, line = (record.get("origin") or "").rpartition("#")
    return int(line) if line.isdigit() else 0


def identified(found: Iterable[Entry]) -> list[tuple[str, Entry]]:
    """Return the entries of one file with their ids."""
    seen: Counter[str] = Counter()
    out = []
    for entry in found:
        out.append((f"{entry.place.path}:{entry.digest}:{seen[entry.digest]}", entry))
        seen[entry.digest] += 1
    return out


def table(found: Sequence[tuple[str, Entry]]) -> pl.DataFrame:
    """Return the entries of one or more files as records."""
    copies = Counter((entry.place.path, entry.digest) for _, entry in found)
    rows = [row(key, entry, copies[entry.place.path, entry.digest]) for key, entry in found]
    return from_rows(rows, "the store") if rows else empty()


def row(key: str, entry: Entry, copies: int = 1) -> dict[str, Any]:
    """Return one entry as a record's columns."""
    given = {name: value for name, value in entry.fields.items() if not name.startswith("_")}
    if entry.fields.get("_by_line") and "created_at" in given:
        given["created_at"] = numbered(given["created_at"], entry.line)
    unknown = [encoded(char).hex() for char in _UNKNOWN.findall(entry.text)]
    around = {
        "prefix": entry.prefix,
        "suffix": entry.suffix,
        "under": list(entry.place.under),
        "above": list(entry.place.above),
        "managed": entry.place.managed,
        "readonly": bool(entry.fields.get("_readonly")),
        "lines": entry.height if entry.height > 1 else 0,
        "copies": copies if copies > 1 else 0,
        "bytes": unknown if _SURROGATE.search(entry.text) else [],
    }
    kept = {name: value for name, value in around.items() if value} | {"prefix": entry.prefix}
    extra = entry.fields.get("_native", {}) | kept
    return {
        **{name: _visible(value) for name, value in given.items()},
        "id": _visible(key),
        "scope": "default",
        "text": _visible(entry.text),
        "origin": _visible(f"{entry.place.path}#{entry.line}"),
        "extra": json.dumps(extra, sort_keys=True),
    }


def rebuilt(record: dict[str, Any], grammar: Grammar, planned: Planned) -> Entry | None:
    """Return the entry that a file has, or would have, for a record; None for an empty text."""
    said = native(record)
    path, prefix, suffix = path_of(record), said.get("prefix"), said.get("suffix", "")
    if prefix is None:
        asked = planned(record)
        if asked is None:
            return None
        path, prefix, suffix = path or asked[0], asked[1], asked[2]
    place = Place(
        str(path),
        tuple(said.get("under", ())),
        tuple(said.get("above", ())),
        bool(said.get("managed")),
    )
    text = _hidden(record.get("text") or "", said.get("bytes", []))
    return standing(grammar, place, (prefix, text, suffix), line_of(record) or 1)


def standing(
    grammar: Grammar, place: Place, parts: tuple[str, str, str], line: int
) -> Entry | None:
    """Return the one entry that these bytes are read as in that place.

    A text that would be read as several entries, or as structure, is put on one line, then behind
    a bullet. None where nothing is left to read.
    """
    prefix, text, suffix = parts
    end = "" if suffix.startswith((" ", "\t", "\n", "\r")) or not suffix else " "
    flat = " ".join(text.split())
    for body in (text, flat):
        for lead in (prefix, prefix or "- ", "- "):
            if entry := _only(grammar, place, lead + body + suffix):
                return replace(entry, line=line)
    return _only(grammar, place, f"- {flat}{end}{suffix}")


def projected(records: pl.DataFrame, grammar: Grammar, planned: Planned) -> pl.DataFrame:
    """Return what reading the files would give for these records once they are written.

    Lines move up by what leaves above them; an id changes with its text, and with the number of
    its earlier twins where all of them are among the records.
    """
    files: dict[str, list[tuple[dict[str, Any], Entry | None]]] = defaultdict(list)
    for record in records.to_dicts():
        entry = rebuilt(record, grammar, planned)
        path = path_of(record) or (entry.place.path if entry else None)
        if path is not None:
            files[path].append((record, entry))
    rows = [made for path in sorted(files) for made in _file_rows(files[path])]
    return from_rows(rows, "the projection") if rows else empty()


def leaves(record: dict[str, Any]) -> bool:
    """Tell whether a record's bytes are no longer in its file once it is written."""
    if record.get("superseded_by") is None:
        return False
    said = native(record)
    own = record["superseded_by"] == TOMBSTONE and marked_superseded(said.get("above", []))
    return not said.get("readonly") and not own


def marked_superseded(above: Sequence[str]) -> bool:
    """Tell whether the comment above a directive says that it is superseded."""
    return any(re.search(r"status:\s*superseded", comment) for comment in above)


def _only(grammar: Grammar, place: Place, whole: str) -> Entry | None:
    start = (_MANAGED,) if place.managed else ()
    # The blank line first: a mark that only counts at the start of a file must not count here.
    synthetic = "\n".join(("", *place.under, *start, *place.above, whole))
    found = list(entries(encoded(synthetic), place.path, grammar))
    exact = len(found) == 1 and found[0].raw == encoded(whole) and found[0].place == place
    return found[0] if exact else None


def _file_rows(members: list[tuple[dict[str, Any], Entry | None]]) -> list[dict[str, Any]]:
    old = [(r, e) for r, e in members if "prefix" in native(r)]
    new = [(r, e) for r, e in members if "prefix" not in native(r) and e and not leaves(r)]
    kept, moved, end = [], 0, 1
    for record, entry in sorted(old, key=lambda m: (line_of(m[0]), m[0]["id"])):
        height = native(record).get("lines", 1)
        if entry is None or leaves(record):
            moved -= height + len(native(record).get("above", []))
        else:
            kept.append((record, replace(entry, line=line_of(record) + moved)))
            moved += entry.height - height
        end = line_of(record) + height + moved
    have = {entry.digest for _, entry in kept}
    for record, entry in sorted(new, key=lambda m: _order(m[0])):
        if entry and entry.digest not in have:
            kept.append((record, replace(entry, line=end)))
            end += entry.height
            have.add(entry.digest)
    return _numbered_rows(kept, members)


def _order(record: dict[str, Any]) -> tuple[bool, Any, str]:
    made = record.get("created_at")
    return made is None, made if made is not None else 0, record["id"]


def _numbered_rows(
    kept: list[tuple[dict[str, Any], Entry]], members: list[tuple[dict[str, Any], Entry | None]]
) -> list[dict[str, Any]]:
    """Rows with ids; twins are counted anew only where every one of them is at hand."""
    known = Counter(found["digest"] for r, _ in members if (found := ID.match(r["id"])))
    left = Counter(entry.digest for _, entry in kept)
    seen: Counter[str] = Counter()
    rows = []
    for record, entry in kept:
        found = ID.match(record["id"])
        copies = native(record).get("copies", 1)
        same = found is not None and found["digest"] == entry.digest
        whole = not same or known[entry.digest] >= copies
        nth = seen[entry.digest] if whole or found is None else int(found["nth"])
        seen[entry.digest] += 1
        number = left[entry.digest] if whole else copies
        rows.append(row(f"{entry.place.path}:{entry.digest}:{nth}", entry, number))
    return rows


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return [_visible(item) for item in value] if isinstance(value, list) else value


def _hidden(text: str, unknown: list[str]) -> str:
    """Put back, in order, the bytes that a record's text can only show as unknown."""
    parts = text.split("\ufffd")
    back = [bytes.fromhex(h).decode("utf-8", "surrogateescape") for h in unknown]
    back += ["\ufffd"] * len(parts)
    return "".join(p + b for p, b in zip(parts, [*back[: len(parts) - 1], ""], strict=True))
