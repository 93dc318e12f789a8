"""XingheBot's grammar, files and writes: what its agent does is ported, what is in them memops reads.

Where a vector tells its input in words alone there is nothing to run; those behaviours of the agent
are tested beside the port, in `test_xinghebot_agent`.
"""

import base64
import json
import re
import tempfile
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import polars as pl

from memops.stores import open_store
from memops.stores.markdown.entries import entries
from memops.stores.xinghebot import XingheBot
from tests.compat import Unsupported
from tests.compat import xinghebot_agent as agent
from tests.compat.profiles import line_score


def daily_line_key(case):
    """The agent's key for duplicates, and that memops reads a note where there is one."""
    line = case["input"]
    key = agent.daily_key(line)
    notes = [e for e in entries(line.encode(), "daily/2026-02-24.md", XingheBot.grammar)]
    noted = [e for e in notes if "kind" in e.fields.get("_native", {})]
    return case["expected"] == {"ok": bool(key), "key": key} and bool(noted) == bool(key)


def redacted(case):
    given, wanted = case["input"].encode(), case["expected"]
    made = agent.masked(given)
    text = made.decode("utf-8", "replace")
    got = {"text_b64": base64.b64encode(made).decode(), "changed": made != given}
    got |= {"valid_utf8": text.encode() == made, "text": wanted.get("text", text)}
    return wanted.items() <= got.items() and ("text" not in wanted or wanted["text"] == text)


def append_daily(case):
    """The line that is appended is what memops reads of it, written again somewhere on earth."""
    wanted = case["expected"]
    if case["input"] != case["name"] or "line" not in wanted:
        raise Unsupported  # the input is told in words; what was said only the line tells
    with tempfile.TemporaryDirectory() as folder:
        (row,) = remembered(folder, {wanted["path"]: wanted["line"].encode() + b"\n"}).to_dicts()
    native = json.loads(row["extra"])
    given = (native["kind"], row["text"], row["tags"], native.get("source", ""))
    zones = (timezone(timedelta(hours=hours)) for hours in range(-12, 15))
    written = [agent.daily_line(*given, row["created_at"].astimezone(zone)) for zone in zones]
    return wanted["appended"] and (wanted["path"], wanted["line"].encode()) in written


def remembered(folder, files):
    """What memops reads of a memory root with these files."""
    for path, data in files.items():
        place = Path(folder) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return open_store(f"xinghebot:{folder}").read()


def get(case):
    """A line by its place, as memops names it."""
    given = case["input"]
    try:
        path = agent.resolved(given["path"])
    except ValueError as refused:
        return str(refused) == case["expected"]
    if given["lines"] != 1:
        raise Unsupported
    above = b"\n" * (given["from"] - 1)
    with tempfile.TemporaryDirectory() as folder:
        remembered(folder, {path: above + case["expected"].encode() + b"\n"})
        store = open_store(f"xinghebot:{folder}")
        return store.locator(store.read().row(0, named=True)) == {
            "path": path,
            "line": given["from"],
        }


def daily_summary(case):
    """The block as it is appended; memops reads it as summaries, its head as none."""
    wanted, _, rest = case["expected"].partition(" ...")
    if case["input"] is not None:
        raise KeyError("input")
    day = date.fromisoformat(re.search(r"auto_daily_summary: (\S+) -->", wanted)[1])
    block = agent.summary_block(
        day, datetime(2026, 2, 24, tzinfo=UTC), ["run-1"], "### Highlights\n\n- 完成发布"
    )
    with tempfile.TemporaryDirectory() as folder:
        found = remembered(folder, {f"daily/{day}.md": block.encode() + b"\n"})
    read = found.select("kind", "text").rows() == [("summary", "完成发布")]
    return read and not rest and wanted in block


def search(case):
    """What is searched stands in no field; that nothing is asked for nothing does."""
    if case["input"]["query"].strip():
        raise Unsupported
    return case["expected"] == "query is required"  # memops asks for nothing of no question


def told_in_words(case):
    raise Unsupported


def scored(case):
    text = pl.DataFrame({"text": [case["input"]["line"]]})
    return text.select(line_score(case["input"]["query"])).item() == case["expected"]


def resolve_path(case):
    try:
        rel, error = agent.resolved(case["input"]), None
    except ValueError as refused:
        rel, error = "", str(refused)
    return {"ok": error is None, "rel": rel, "error": error} == case["expected"]


def update_stamp(case):
    given = case["input"]
    at = datetime.fromisoformat(given["now"])
    return agent.stamped(given["text"], given["run_id"], at) == case["expected"]


def hard_truncate(case):
    return agent.cut(case["input"]["text"], case["input"]["max"]) == case["expected"]


def capture_session(case):
    """The marker of the run that the expected name tells."""
    if case["input"] is not None:
        raise KeyError("input")
    (name,) = case["expected"]["names"]
    run = re.fullmatch(r"\.session_capture_flush\.(.+)\.json", name)[1]
    made, said = agent.flush_marker(run, 1, datetime(2026, 2, 24, tzinfo=UTC))
    return made == name and sorted(json.loads(said)) == case["expected"]["keys"]


def layout(case):
    return case["input"] is None and list(agent.LAYOUT) == case["expected"]


GROUPS = {
    "redact_default": redacted,
    "append_daily": append_daily,
    "get": get,
    "search": search,
    "daily_summary": daily_summary,
    "upstream_tests_restated": told_in_words,
    "daily_line_key": daily_line_key,
    "line_score": scored,
    "project_key_from_remote": lambda case: agent.project_key(case["input"]) == case["expected"],
    "sanitize_key": lambda case: agent.sanitized(case["input"]) == case["expected"],
    "layout": layout,
    "resolve_path": resolve_path,
    "normalize_md_output": lambda case: agent.headed(case["input"]) == case["expected"],
    "hard_truncate_md": hard_truncate,
    "update_stamp": update_stamp,
    "capture_session": capture_session,
}

REASONS = {
    "prompt_injection": "by nothing: memops has its own signs of injection, in Chinese, too",
    "classify_line": "by parity of extraction, which memops does in its own way",
    "": "by nothing: XingheBot's own tools, which memops never calls",
}
