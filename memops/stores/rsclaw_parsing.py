"""rsclaw's reading of what it is given: a model's answer, a heartbeat's head, a skill's name.

Reproduced from memory_extractor.rs, heartbeat and crystallizer of the gateway, to tell what an
answer left in its store, and what it let go.
"""

import json
import re
from typing import Any

_THOUGHT = re.compile(r"<think>.*?</think>", re.S)
_FENCE = re.compile(r"```[a-z]*\s*\n(.*?)```", re.S)
_HEAD = re.compile(r"\A---\n(.*?)\n---", re.S)


def extracted(answer: str) -> list[dict[str, Any]]:
    """Return the items of an extraction: {kind, text, confidence}, nothing from what is no JSON.

    An array, alone, fenced or inside prose, or one object a line. A confidence that is no number
    from 0 to 1 counts as 0; an item without kind or text is dropped.
    """
    text = _THOUGHT.sub("", answer).strip()
    if fenced := _FENCE.search(text):
        text = fenced[1].strip()
    begin, end = text.find("["), text.rfind("]")
    found = _json(text[begin : end + 1]) if 0 <= begin < end else None
    if not isinstance(found, list):
        found = [_json(line) for line in text.split("\n")]
    items = [item for item in found if isinstance(item, dict)]
    return [
        {"kind": i["kind"], "text": i["text"], "confidence": _share(i.get("confidence"))}
        for i in items
        if _said(i.get("kind")) and _said(i.get("text"))
    ]


def heartbeat_type(text: str) -> str:
    """Return what a heartbeat file asks for: Meditate, or Agent, by the type in its head."""
    head = _HEAD.match(text)
    pairs = [line.partition(":") for line in head[1].split("\n")] if head else []
    asked = {name.strip(): value.strip().lower() for name, _, value in pairs}.get("type", "")
    return "Meditate" if asked in ("meditate", "meditation") else "Agent"


def slug(name: str) -> str:
    """Return the folder's name of a skill."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed-skill"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _said(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _share(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else 0.0
