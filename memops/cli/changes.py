"""Changes as a terminal shows them: before and after, in the place where the record stands."""

from typing import Any

import click

from memops.cli import typed
from memops.cli.output import cut
from memops.safety.display import shown

_ROOM = 74
"""Columns of a text; with what stands before it, a line fits a terminal of 80."""
_TONES = {"high": "red", "medium": "yellow"}


def riskiest_text(said: dict[str, Any]) -> str:
    """Return the riskiest changes of a plan, and the command that shows all."""
    first = said["riskiest"]
    if not first:
        return ""
    whole = said["ops"]
    title = f"the riskiest {len(first)} of {whole}" if len(first) < whole else "every change"
    lines = ["", "", click.style(f"{title}, in their place:", bold=True)]
    for change in first:
        lines += ["", *in_place(change)]
    return "\n".join([*lines, "", f"all of them: {typed()} review {said['plan']}"])


def in_place(change: dict[str, Any]) -> list[str]:
    """Return the lines of one change: where, the lines around, before and after, and why."""
    risk = change["risk"] or "no"
    tone = _TONES.get(risk)
    about = [change["op"], click.style(f"{risk} risk", fg=tone), f"by {change['rule']}"]
    about += [] if change["unattended"] else ["waits for a person"]
    head = f"#{change['seq']} {', '.join(about)}"
    lines = [head, f"   {cut(_where(change), _ROOM)}"]
    lines += [f"     {cut(change['above'], _ROOM)}"] if change.get("above") else []
    lines += _sides(change)
    lines += [f"     {cut(change['below'], _ROOM)}"] if change.get("below") else []
    return [*lines, f"   why: {shown(change['reason'])}"]


def _where(change: dict[str, Any]) -> str:
    place = change.get("locator") or {}
    name = f"{place['path']}:{place['line']}" if {"path", "line"} <= place.keys() else ""
    name = name or str(place.get("key") or place.get("id") or place.get("path") or change["id"])
    headings = [heading.lstrip("# ") for heading in change.get("under", [])]
    return " > ".join([name, *(heading for heading in headings if heading != name)])


def _sides(change: dict[str, Any]) -> list[str]:
    """The text before and after, or the text and the fields that change beside it."""
    becomes = {b["field"]: b for b in change["becomes"]}
    text, hidden, instead = (becomes.get("text"), becomes.get("superseded_by"), change["instead"])
    if text:
        before = as_it_was(text["before"], text["after"])
        return [*_line("-", before, "red"), *_line("+", text["after"], "green")]
    if hidden:
        after = f"{instead['text']}  ({instead['id']})" if instead else hidden["after"]
        return [*_line("-", change["text"], "red"), *_line("+", after, "green")]
    if "record" in becomes:
        return _line("-", change["text"], "red")
    fields = [f"{name}: {_said(b['before'])} -> {_said(b['after'])}" for name, b in becomes.items()]
    return [*_line(">", change["text"], None), *(f"       {cut(f, _ROOM)}" for f in fields)]


def as_it_was(before: Any, after: Any) -> Any:
    """Return a text as it was; one of which only the secret goes is told apart, and not shown."""
    return before.replace("[redacted:", "[secret:") if before and before == after else before


def _line(mark: str, text: Any, tone: str | None) -> list[str]:
    if text is None:
        return []
    return [click.style(f"   {mark} {cut(str(text), _ROOM)}", fg=tone)]


def _said(value: Any) -> str:
    return "-" if value is None else str(value)
