"""Markdown records: entries as records and back, and what a file gives for a record.

The id is `path:digest:occurrence`, the origin `path#line`. `extra` keeps what stands around the
text (prefix, suffix, headings and labels over it, comments above) and the line that it repeats, never
the text itself, so that an edit of the text rewrites only its bytes and a masked text leaves no copy.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from memops.documents.lines import encoded
from memops.documents.repeats import REPEATED
from memops.documents.units import Place
from memops.schema import PLACE, TOMBSTONE, empty, from_rows
from memops.stores.markdown.entries import WORDS, Entry, Grammar, digest_of, entries
from memops.stores.markdown.fields import numbered

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
        "leads": list(entry.place.leads),
        "unit": entry.kind if entry.kind not in WORDS else "",
        "managed": entry.place.managed,
        "readonly": bool(entry.fields.get("_readonly")),
        "lines": entry.height if entry.height > 1 else 0,
        "copies": copies if copies > 1 else 0,
        **entry.fields.get("_repeats", {}),
        "bytes": unknown if _SURROGATE.search(entry.text) else [],
    }
    kept = {name: value for name, value in around.items() if value} | {"prefix": entry.prefix}
    extra = entry.fields.get("_native", {}) | kept
    return {
        **{name: visible(value) for name, value in given.items()},
        "id": visible(key),
        "scope": "default",
        "text": visible(entry.text),
        "origin": visible(f"{entry.place.path}#{entry.line}"),
        "extra": json.dumps(extra, sort_keys=True),
    }


def rebuilt(record: dict[str, Any], grammar: Grammar, planned: Planned) -> Entry | None:
    """Return the entry that a file has, or would have, for a record; None where it can have none."""
    said = native(record)
    path, prefix, suffix = path_of(record), said.get("prefix"), said.get("suffix", "")
    if prefix is None:
        asked = planned(record)
        if asked is None:
            return None
        path, prefix, suffix = path or asked[0], asked[1], asked[2]
    under, above, leads = (tuple(said.get(name, ())) for name in ("under", "above", "leads"))
    place = Place(str(path), under, above, leads, bool(said.get("managed")))
    text = _hidden(record.get("text") or "", said.get("bytes", []))
    kind = said.get("unit", "")
    known = _known(record, grammar, place, prefix + text + suffix, kind)
    return known or standing(grammar, place, (prefix, text, suffix), line_of(record) or 1, kind)


def _known(
    record: dict[str, Any], grammar: Grammar, place: Place, whole: str, kind: str
) -> Entry | None:
    """The entry of a record whose bytes are those of its id."""
    found = ID.match(record["id"])
    if not found or digest_of(encoded(whole)) != found["digest"]:
        return None
    prefix, text, suffix, fields = grammar.split(whole, place, kind)
    said = native(record)
    fields |= {name: record[name] for name in PLACE} | {"_readonly": bool(said.get("readonly"))}
    fields["_repeats"] = {name: said[name] for name in REPEATED if name in said}
    at, height = line_of(record) or 1, said.get("lines", 1)
    return Entry(place, at, height, prefix, text, suffix, fields, kind)


def standing(
    grammar: Grammar, place: Place, parts: tuple[str, str, str], line: int, kind: str = ""
) -> Entry | None:
    """Return the one entry that these bytes are read as in that place.

    A note that would be read as several entries, or as structure, is put on one line, then behind
    a bullet; what has a form of its own (`kind`) stands as it is or not at all.
    """
    prefix, text, suffix = parts
    if kind or not text.strip():
        found = _only(grammar, place, prefix + text + suffix, kind) if text.strip() else None
        return found and replace(found, line=line)
    end = "" if suffix.startswith((" ", "\t", "\n", "\r")) or not suffix else " "
    flat = " ".join(text.split())
    for body in (text, flat):
        for lead in (prefix, prefix or "- ", "- "):
            if entry := _only(grammar, place, lead + body + suffix):
                return replace(entry, line=line)
    return _only(grammar, place, f"- {flat}{end}{suffix}")


def projected(records: pl.DataFrame, grammar: Grammar, planned: Planned) -> pl.DataFrame:
    """Return what reading the files would give for these records once they are written.

    Lines and blocks are those that the records had, since what else the files hold decides on
    them; an id changes with its text, and with the number of its earlier twins where all of them
    are among the records.
    """
    files: dict[str, list[tuple[dict[str, Any], Entry | None]]] = defaultdict(list)
    for record in records.to_dicts():
        entry = rebuilt(record, grammar, planned) if not leaves(record) else None
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


def _only(grammar: Grammar, place: Place, whole: str, kind: str = "") -> Entry | None:
    start = (_MANAGED,) if place.managed else ()
    # The blank line first: a mark that only counts at the start of a file must not count here.
    first = () if kind == "matter" else ("",)
    synthetic = "\n".join((*first, *place.under, *start, *place.above, whole))
    found = list(entries(encoded(synthetic), place.path, grammar))
    if len(found) != 1 or found[0].raw != encoded(whole):
        return None
    there = replace(found[0].place, leads=place.leads)
    return replace(found[0], place=place) if there == place else None


def _file_rows(members: list[tuple[dict[str, Any], Entry | None]]) -> list[dict[str, Any]]:
    old = [(r, e) for r, e in members if e and "prefix" in native(r)]
    new = [(r, e) for r, e in members if e and "prefix" not in native(r)]
    kept = []
    for record, entry in sorted(old, key=lambda m: (line_of(m[0]), m[0]["id"])):
        where = {name: record[name] for name in ("subject", "role", "block")}  # it stays there
        kept.append((record, replace(entry, fields=entry.fields | where)))
    have = {entry.digest for _, entry in kept}
    for record, entry in sorted(new, key=lambda m: _order(m[0])):
        if entry.digest not in have:
            kept.append((record, entry))
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


def visible(value: Any) -> Any:
    """Return a text, or texts, as records have it: with a sign for each byte that is no text."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return [visible(item) for item in value] if isinstance(value, list) else value


def _hidden(text: str, unknown: list[str]) -> str:
    """Put back, in order, the bytes that a record's text can only show as unknown."""
    parts = text.split("\ufffd")
    back = [bytes.fromhex(h).decode("utf-8", "surrogateescape") for h in unknown]
    back += ["\ufffd"] * len(parts)
    return "".join(p + b for p, b in zip(parts, [*back[: len(parts) - 1], ""], strict=True))
