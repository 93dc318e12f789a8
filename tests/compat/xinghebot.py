"""XingheBot's daily grammar, as the store reads it."""

import json
from datetime import datetime

import polars as pl

from memops.search.profiles import line_score
from memops.stores import xinghebot_formats as formats
from memops.stores.markdown_lines import entries
from memops.stores.xinghebot import XingheBot


def daily_line_key(case):
    """Its key for duplicates: kind, folded text, sorted tags."""
    found = list(entries(case["input"].encode(), "daily/2026-02-24.md", XingheBot.grammar))
    native = found[0].fields.get("_native", {}) if found else {}
    if "kind" not in native:
        return case["expected"] == {"ok": False, "key": ""}
    text = " ".join(found[0].text.lower().split())
    tags = ",".join(f"#{tag}" for tag in sorted(found[0].fields.get("tags", [])))
    key = "|".join(part for part in (native["kind"].lower(), text, tags) if part)
    return case["expected"] == {"ok": True, "key": key}


def scored(case):
    text = pl.DataFrame({"text": [case["input"]["line"]]})
    return text.select(line_score(case["input"]["query"])).item() == case["expected"]


def resolve_path(case):
    try:
        rel, error = formats.resolved(case["input"]), None
    except ValueError as refused:
        rel, error = "", str(refused)
    return {"ok": error is None, "rel": rel, "error": error} == case["expected"]


def update_stamp(case):
    given = case["input"]
    at = datetime.fromisoformat(given["now"])
    return formats.stamped(given["text"], given["run_id"], at) == case["expected"]


def hard_truncate(case):
    return formats.cut(case["input"]["text"], case["input"]["max"]) == case["expected"]


def capture_session(case):
    (name,) = case["expected"]["names"]
    run = name.removeprefix(".session_capture_flush.").removesuffix(".json")
    made, said = formats.flush_marker(run, 1, datetime.fromisoformat("2026-02-24T10:10:10Z"))
    return made == name and sorted(json.loads(said)) == case["expected"]["keys"]


GROUPS = {
    "daily_line_key": daily_line_key,
    "line_score": scored,
    "project_key_from_remote": lambda case: formats.project_key(case["input"]) == case["expected"],
    "sanitize_key": lambda case: formats.sanitized(case["input"]) == case["expected"],
    "layout": lambda case: list(formats.LAYOUT) == case["expected"],
    "resolve_path": resolve_path,
    "normalize_md_output": lambda case: formats.headed(case["input"]) == case["expected"],
    "hard_truncate_md": hard_truncate,
    "update_stamp": update_stamp,
    "capture_session": capture_session,
}

REASONS = {
    "redact_default": "issue 9: memops masks by its own shapes, more of them",
    "prompt_injection": "issue 9: memops has its own signs of injection",
    "classify_line": "issue 5: kinds of plain lines are extraction's",
    "search": "issue 6: recall is graded by memops's own retrieval",
    "": "issue 3: XingheBot's own tools (append, get, summary), which memops never calls",
}
