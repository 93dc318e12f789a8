"""Changes as a terminal shows them: before and after, in the place where the record stands."""

from collections.abc import Sequence
from typing import Any

import click

from memops.cli import typed
from memops.cli.output import cut
from memops.documents.leads import width
from memops.reports import words
from memops.safety.display import shown

ROOM = 74
"""Columns of a text; with what stands before it, a line fits a terminal of 80."""
_TONES = {"high": "red", "medium": "yellow"}


def riskiest_text(said: dict[str, Any]) -> list[str]:
    """Return the riskiest changes of a plan, and the command that shows all."""
    if not (first := said["riskiest"]):
        return []
    whole = said["ops"]
    some = f"{len(first)} of {whole} changes, what waits and what is riskiest first"
    title = some if len(first) < whole else "every change"
    lines = ["", click.style(f"{title}, in their place:", bold=True)]
    for change in first:
        lines += ["", *in_place(change)]
    return [*lines, "", f"all of them: {typed()} review {said['plan']}"]


def in_place(change: dict[str, Any], room: int = ROOM) -> list[str]:
    """Return the lines of one change: where, the lines around, before and after (`room` columns each), and why."""
    risk = change["risk"] or "no"
    tone = _TONES.get(risk)
    about = [change["op"], click.style(f"{risk} risk", fg=tone), f"by {change['rule']}"]
    about += [] if change["unattended"] else ["waits for a person"]
    head = f"#{change['seq']} {', '.join(about)}"
    lines = [head, f"   {cut(_where(change), ROOM)}"]
    lines += [f"     {cut(change['above'], ROOM)}"] if change.get("above") else []
    lines += _sides(change, room)
    lines += [f"     {cut(change['below'], ROOM)}"] if change.get("below") else []
    return [*lines, f"   why: {shown(change['reason'])}"]


def _where(change: dict[str, Any]) -> str:
    place = change.get("locator") or {}
    name = f"{place['path']}:{place['line']}" if {"path", "line"} <= place.keys() else ""
    name = name or str(place.get("key") or place.get("id") or place.get("path") or change["id"])
    headings = [heading.lstrip("# ") for heading in change.get("under", [])]
    return " > ".join([name, *(heading for heading in headings if heading != name)])


def _sides(change: dict[str, Any], room: int) -> list[str]:
    """The text before and after, or the text and the fields that change beside it."""
    becomes = {b["field"]: b for b in change["becomes"]}
    text, hidden, instead = (becomes.get("text"), becomes.get("superseded_by"), change["instead"])
    if text:
        was = words.as_it_was(text["before"], text["after"])
        before, after = where_they_differ(was, text["after"], room)
        return [*_line("-", before, "red", room), *_line("+", after, "green", room)]
    if hidden:
        after = f"{instead['text']}  ({instead['id']})" if instead else hidden["after"]
        return [*_line("-", change["text"], "red", room), *_line("+", after, "green", room)]
    if "record" in becomes:
        return _line("-", change["text"], "red", room)
    fields = [field_text(b) for b in change["becomes"]]
    return [*_line(">", change["text"], None, room), *(f"       {cut(f, room)}" for f in fields)]


def where_they_differ(before: str | None, after: str, room: int) -> tuple[str | None, str]:
    """Return both texts, of long ones what differs in them, with a quarter of the room around it."""
    if before is None or max(width(before), width(after)) <= room:
        return before, after
    around, sides = room // 4, words.differences(before, after)
    return _windows(sides[0], around), _windows(sides[1], around)


def _windows(parts: Sequence[tuple[bool, str]], around: int) -> str:
    said = ""
    for nth, (differs, text) in enumerate(parts):
        head, tail = around * (nth > 0), around * (nth + 1 < len(parts))
        long = not differs and len(text) > head + tail + 1
        said += f"{text[:head]}…{text[len(text) - tail :]}" if long else text
    return said


def beside(change: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields that change beside what `in_place` shows before and after."""
    sides = ("text", "superseded_by")
    shown_whole = not any(b["field"] in (*sides, "record") for b in change["becomes"])
    return [] if shown_whole else [b for b in change["becomes"] if b["field"] not in sides]


def field_text(field: dict[str, Any]) -> str:
    """Return a field that changes, before and after."""
    return f"{field['field']}: {_said(field['before'])} -> {_said(field['after'])}"


def _line(mark: str, text: Any, tone: str | None, room: int) -> list[str]:
    if text is None:
        return []
    return [click.style(f"   {mark} {cut(str(text), room)}", fg=tone)]


def _said(value: Any) -> str:
    return "-" if value is None else str(value)
