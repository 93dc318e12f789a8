"""XingheBot's grammar, files and writes, as the store reads them.

Its agent's writes are made by `xinghebot_writes`; what is in them afterwards memops reads. Where a
vector gives a case by its name alone, the name says what was put in.
"""

import base64
import json
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl

from memops.search.profiles import line_score, profile_run
from memops.stores import open_store
from memops.stores import xinghebot_formats as formats
from memops.stores import xinghebot_writes as writes
from memops.stores.markdown_lines import entries
from memops.stores.xinghebot import XingheBot
from tests.compat import Unsupported

NOW = datetime(2026, 2, 24, 10, 12, 33, tzinfo=UTC)
KEY = "sk-" + "1234567890abcdef"
PREFERENCE = ("pref", f"User prefers concise output. key={KEY}", ["prefs"], "test", NOW)
APPENDED = {
    "redacts and formats": PREFERENCE,
    "multi-line text": ("note", "two\nlines", [], "", NOW),
    "file date follows": ("note", "late evening", [], "", "2026-02-25T07:30:00+08:00"),
    "4000-rune cap": ("note", "x" * 5000, [], "", NOW),
}


def key_of(line):
    """Its key for duplicates: kind, folded text, sorted tags; '' for a line that has none."""
    found = list(entries(line, "daily/2026-02-24.md", XingheBot.grammar))
    native = found[0].fields.get("_native", {}) if found else {}
    if "kind" not in native:
        return ""
    text = " ".join(found[0].text.lower().split())
    tags = ",".join(f"#{tag}" for tag in sorted(found[0].fields.get("tags", [])))
    return "|".join(part for part in (native["kind"].lower(), text, tags) if part)


def daily_line_key(case):
    key = key_of(case["input"].encode())
    return case["expected"] == {"ok": bool(key), "key": key}


def redacted(case):
    given = case["input"].encode()
    made, wanted = writes.masked(given), case["expected"]
    return base64.b64encode(made).decode() == wanted["text_b64"] and wanted["changed"] == (
        made != given
    )


def append_daily(case):
    """The line that is appended, and that memops reads of it what was said."""
    kind, text, tags, source, at = next(
        given for name, given in APPENDED.items() if case["name"].startswith(name)
    )
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    path, data = writes.daily_line(kind, text, tags, source, at)
    line = data.decode()
    got = {"path": path, "line": line, "appended": True}
    got |= {"line_runes": len(line), "line_tail": line[-5:]}
    got |= {"kind": kind}
    with tempfile.TemporaryDirectory() as folder:
        (row,) = remembered(folder, {path: data + b"\n"}).to_dicts()
    read = writes.masked(text.encode()).decode().startswith(row["text"].rstrip("…"))
    when = row["created_at"] == at and row["tags"] == tags
    return read and when and case["expected"].items() <= got.items()


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
        path = formats.resolved(given["path"])
    except ValueError as refused:
        return str(refused) == case["expected"]
    with tempfile.TemporaryDirectory() as folder:
        written, data = writes.daily_line(*PREFERENCE)
        remembered(folder, {written: data + b"\n"})
        store = open_store(f"xinghebot:{folder}")
        place = store.locator(store.read().row(0, named=True))
        line = (Path(folder) / place["path"]).read_bytes().split(b"\n")[place["line"] - 1]
    where = {"path": path, "line": given["from"]}
    return place == where and line.decode() == case["expected"]


def daily_summary(case):
    """The block as it is appended; memops reads it as summaries, its head as none."""
    block = writes.summary_block(date(2026, 2, 24), NOW, ["run-1"], "### Highlights\n\n- 完成发布")
    with tempfile.TemporaryDirectory() as folder:
        found = remembered(folder, {"daily/2026-02-24.md": block.encode() + b"\n"})
    read = found.select("kind", "text").rows() == [("summary", "完成发布")]
    return read and case["expected"].removesuffix(" ...") in block


def capture(case):
    path, data = writes.captured(
        "run-20260224-101010-acde01", NOW,
        [(NOW, "user", f"my key is {KEY}"), (None, "assistant", "好的")], "Goal: ship",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        found = remembered(folder, {path: data}).select("kind", "text").rows()
    read = [("summary", "Goal: ship"), ("session", "my key is sk-1***cdef"), ("session", "好的")]
    heads = b"## Compaction Summary" in data and b"## Messages (last 2)" in data
    return path.startswith("sessions/") and heads and sorted(found) == sorted(read)


def round_trip(case):
    path, data = writes.daily_line(*PREFERENCE)
    with tempfile.TemporaryDirectory() as folder:
        found = remembered(folder, {path: data + b"\n", "MEMORY.md": b"# MEMORY\n\n- tea\n"})
    asked = pl.DataFrame({"query_id": ["q"], "text": ["prefers concise"]})
    run = profile_run("xinghebot-scan", found, asked, None, 5)
    first = found.filter(id=run["doc_id"][0])["origin"].item()
    return first == f"{path}#1" and KEY.encode() not in data


def search(case):
    """XingheBot's scan of a root with the line that was appended and one in Chinese."""
    query, expected = case["input"]["query"], case["expected"]
    if not query.strip():
        return expected == "query is required"  # it asks nothing, and is never asked by memops
    path, first = writes.daily_line(*PREFERENCE)
    second = writes.daily_line("note", "老板 下周出差", [], "", NOW)[1]
    with tempfile.TemporaryDirectory() as folder:
        found = remembered(folder, {path: first + b"\n" + second + b"\n"})
    asked = pl.DataFrame({"query_id": ["q"], "text": [query]})
    run = profile_run("xinghebot-scan", found, asked, None, 10)
    hits = run.join(found, left_on="doc_id", right_on="id", maintain_order="left")
    places = [origin.split("#") for origin in hits["origin"]]
    rows = [
        {"path": place, "start_line": int(line), "score": score}
        for (place, line), score in zip(places, hits["score"], strict=True)
    ]
    return rows == expected


def duplicate(case):
    kind, text, tags, _, at = PREFERENCE
    later = writes.daily_line(kind, text, tags, "other", at.replace(minute=14))[1]
    return key_of(writes.daily_line(*PREFERENCE)[1]) == key_of(later) != ""


def linked_file(case):
    return _linked("daily/link.md")


def linked_folder(case):
    return _linked("daily")


def _linked(name):
    """What a link leads to outside the root is no memory."""
    with tempfile.TemporaryDirectory() as outside, tempfile.TemporaryDirectory() as folder:
        target = Path(outside) / "2026-02-24.md"
        target.write_text("- 2026-02-24T10:12:33Z [pref] prefers concise\n")
        link = Path(folder) / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target if name.endswith(".md") else outside)
        return remembered(folder, {}).is_empty()


def memory_update(case):
    answer = "```markdown\n## Notes\n" + "- 记住这件事\n" * 300 + "```"
    text = writes.rewritten(answer, "run-1", NOW)
    stamp = "# MEMORY\n<!-- memory_md_update: at=2026-02-24T10:12:33Z source=run-1 -->"
    return text.startswith(stamp) and len(text) <= formats.RUNES and "```" not in text


RESTATED = {
    "TestCaptureSessionFromHistoryWritesSessionsFile": capture,
    "TestAppendSearchGetRoundtrip": round_trip,
    "TestAppendDailySkipsDuplicate": duplicate,
    "TestSearchSkipsSymlinks": linked_file,
    "TestSearchSkipsSymlinkDirectories": linked_folder,
    "TestUpdateMemoryMDFromTurn_WritesFileAndStamp": memory_update,
}


def restated(case):
    if case["name"] not in RESTATED:
        raise Unsupported
    return RESTATED[case["name"]](case)


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
    "redact_default": redacted,
    "append_daily": append_daily,
    "get": get,
    "search": search,
    "daily_summary": daily_summary,
    "upstream_tests_restated": restated,
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
    "prompt_injection": "by nothing: memops has its own signs of injection, in Chinese, too",
    "classify_line": "by parity of extraction, which memops does in its own way",
    "": "by nothing: XingheBot's own tools, which memops never calls",
}
