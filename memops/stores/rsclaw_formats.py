"""rsclaw's ways with what it is given: scopes, kinds, and what is the same text to it."""

from typing import Any

TOOL_KINDS = {"remember": 0.8, "preference": 0.75, "procedure": 0.65, "fact": 0.65}
"""Kinds that the agent's own tool writes, with their importance; any other becomes a fact."""

EXTRACTED = {
    "preference": ("Working", 0.72), "procedure": ("Working", 0.72), "fact": ("Working", 0.65),
    "project_state": ("Working", 0.65), "relationship": ("Working", 0.65), "lesson": ("Core", 0.85),
}  # fmt: skip
"""Kinds that its extraction writes, with tier and importance; it writes no others."""


def scope_of(scope: str, agent: str) -> str:
    """Return a scope as rsclaw files it: an older bare agent's name gets its prefix."""
    name = scope.strip() or agent
    return name if ":" in name else f"agent:{name}"


def tool_document(kind: str | None) -> dict[str, Any]:
    """Return kind, importance, tier and pin of what the agent's tool writes."""
    own = kind if kind in TOOL_KINDS else "fact"
    return {"kind": own, "importance": TOOL_KINDS[own], "tier": "Working", "pinned": False}


def extracted_document(kind: str) -> dict[str, Any] | None:
    """Return tier, importance and pin of what extraction writes, None for what it leaves out."""
    if kind not in EXTRACTED:
        return None
    tier, importance = EXTRACTED[kind]
    return {"tier": tier, "importance": importance, "pinned": False}


def refreshed(document: dict[str, Any], importance: float) -> dict[str, Any]:
    """Return a document once it was said again: one use more, and never less important."""
    most = max(document["importance"], importance)
    return document | {"access_count": document.get("access_count", 0) + 1, "importance": most}


def stored_again(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the first document becomes when the second says the same, None if it does not.

    The same is: one scope, one kind, one text but for white space and case.
    """
    if any(first[name] != second[name] for name in ("scope", "kind")):
        return None
    if identity(first["text"]) != identity(second["text"]):
        return None
    tags = list(dict.fromkeys([*first.get("tags", []), *second.get("tags", [])]))
    pinned = first.get("pinned", False) or second.get("pinned", False)
    return refreshed(first, second["importance"]) | {"tags": tags, "pinned": pinned}


def age_label(days: int) -> str:
    """Return how old rsclaw calls a memory in its prompt."""
    spans = [
        (1, "today"), (2, "yesterday"), (7, f"{days} days ago"), (14, "~1 week ago"),
        (30, f"{days // 7} weeks ago"), (60, "~1 month ago"), (365, f"{days // 30} months ago"),
        (730, "~1 year ago"),
    ]  # fmt: skip
    label = next((said for below, said in spans if days < below), f"~{days // 365} years ago")
    doubt = "" if days < 30 else "may be" if days < 365 else "likely"
    return f"{label} — {doubt} outdated, verify before using" if doubt else label


def identity(text: str) -> str:
    """Return what two texts share that rsclaw takes for one; the last full stop counts."""
    return " ".join(text.split()).lower()
