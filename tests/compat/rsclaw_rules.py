"""rsclaw's own rules: scopes, kinds, sameness, tiers, ages, and how it reads what a model answers.

Ported from memory.rs, prompt_builder.rs, crystallizer.rs and heartbeat/mod.rs at 8262a7a, and from
the later crates rsclaw-agent (tools_memory.rs, memory_extractor.rs) and rsclaw-memory (lib.rs).
"""

import json
import math
import re

import polars as pl

from memops.hygiene.decay import age_days, relevance

TOOL = {
    "entity": 0.95,
    "remember": 0.8,
    "preference": 0.75,
    "procedure": 0.65,
    "summary": 0.55,
    "note": 0.3,
}
"""tools_memory.rs default_memory_importance; a fact, and what any other kind becomes, has 0.65."""
TOOL_TIERS = {"entity": "Core", "note": "Peripheral"}
EXTRACTED = {
    "entity": ("Core", 0.9, True), "preference": ("Working", 0.72, False), "procedure": ("Working", 0.72, False),
    "fact": ("Working", 0.65, False), "project_state": ("Working", 0.65, False),
    "relationship": ("Working", 0.65, False), "lesson": ("Core", 0.85, False),
}  # fmt: skip
"""memory_extractor.rs kind_policy; it has none for any other kind."""


def scope_of(scope, agent):
    """tools_memory.rs normalize_memory_scope: only nothing and the agent's own bare name change."""
    said = scope.strip()
    return f"agent:{agent}" if said in ("", agent) else said


def tool_document(kind):
    """tools_memory.rs normalize_memory_kind and its defaults."""
    said = (kind if kind is not None else "fact").strip()
    own = said if said in TOOL else "fact"
    return {
        "kind": own, "importance": TOOL.get(own, 0.65), "tier": TOOL_TIERS.get(own, "Working"), "pinned": own == "entity",
    }  # fmt: skip


def extracted_document(kind):
    """memory_extractor.rs kind_policy; None for what extraction leaves out."""
    return (
        dict(zip(("tier", "importance", "pinned"), EXTRACTED[kind], strict=True))
        if kind in EXTRACTED
        else None
    )


def identity(text):
    """lib.rs: what two texts share that are one; all white space goes, punctuation stays."""
    return "".join(text.split()).lower()


def refreshed(document, importance):
    """lib.rs refresh_as_duplicate: one use more, and never less important."""
    uses = document.get("access_count", 0) + 1
    return {**document, "access_count": uses, "importance": max(document["importance"], importance)}


def stored_again(first, second):
    """lib.rs: what the first document becomes by a second of its scope, kind and identity, else None."""
    if any(first[name] != second[name] for name in ("scope", "kind")):
        return None
    if identity(first["text"]) != identity(second["text"]):
        return None
    tags = list(dict.fromkeys([*first.get("tags", []), *second.get("tags", [])]))
    pinned = first.get("pinned", False) or second.get("pinned", False)
    return {**refreshed(first, second["importance"]), "tags": tags, "pinned": pinned}


def tier(now, decay):
    """memory.rs:157 as an expression: its score is floored, so working and core never sink by it."""
    uses, weight, own = pl.col("access_count"), _weight(), pl.col("tier")
    score = relevance(now, decay, floored=True)
    old = (age_days(now, "created") > 60).fill_null(False)
    rises = (uses >= 15) | (weight >= 0.9) | ((uses >= 5) & (weight >= 0.8))
    return (
        pl.when(pl.col("pinned") | rises).then(pl.lit("core"))
        .when((score < 0.15) | (old & (uses < 3))).then(pl.lit("peripheral"))
        .when((own == "peripheral") & (uses >= 3) & (score >= 0.4)).then(pl.lit("working"))
        .otherwise(own)
    )  # fmt: skip


def adjusted(delta):
    """memory.rs:1375 as an expression: importance after feedback."""
    return (_weight() + delta).clip(0.01, 1.0)


def _weight():
    return pl.col("importance").clip(0.0, 1.0)


def age_label(days):
    """prompt_builder.rs memory_age_label."""
    spans = [
        (1, "today"), (2, "yesterday"), (7, f"{days} days ago"), (14, "~1 week ago"), (30, f"{days // 7} weeks ago"),
        (60, "~1 month ago"), (365, f"{days // 30} months ago"), (730, "~1 year ago"), (math.inf, f"~{days // 365} years ago"),
    ]  # fmt: skip
    label = next(said for below, said in spans if days < below)
    doubt = "" if days < 30 else "may be" if days < 365 else "likely"
    return f"{label} — {doubt} outdated, verify before using" if doubt else label


def extracted(answer):
    """memory_extractor.rs parse_items, with the later cut of thoughts and of prose around an array."""
    text = re.sub(r"<think>.*?</think>", "", answer, flags=re.S).strip()
    text = re.sub(r"\A```(?:json)?|```\Z", "", text).strip()
    begin, end = text.find("["), text.rfind("]")
    for whole in (text, text[begin : end + 1] if 0 <= begin < end else ""):
        if found := list(_items(_json(whole))):
            return found
    return [item for line in text.splitlines() for item in _items(_json(line.strip().rstrip(",")))]


def _items(value):
    if isinstance(value, list):
        for part in value:
            yield from _items(part)
    elif isinstance(value, dict):
        kind, text = (
            value.get(name) if isinstance(value.get(name), str) else "" for name in ("kind", "text")
        )
        if kind.strip() and text.strip():
            yield {"kind": kind, "text": text, "confidence": _share(value.get("confidence"))}


def _json(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def _share(value):
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else 0.0


def heartbeat_type(text):
    """heartbeat/mod.rs parse_heartbeat_md: what its head asks for; raises ValueError for what is none."""
    head = re.match(r"---\r?\n(.*?)\n---", text, re.S)
    pairs = (
        [line.partition(":") for line in map(str.strip, head[1].splitlines()) if line[:1] != "#"]
        if head
        else []
    )
    said = {name.strip(): value.strip() for name, colon, value in pairs if colon}
    if "every" not in said:
        raise ValueError("no head, or none with `every`")
    asked = next((said[name] for name in reversed(list(said)) if name in ("type", "kind")), "")
    return "Meditate" if asked in ("meditate", "meditation") else "Message"


def slug(name):
    """crystallizer.rs slugify: letters and digits of any script, one hyphen between them."""
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-") or "unnamed-skill"
