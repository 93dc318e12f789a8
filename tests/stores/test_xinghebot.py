"""XingheBot's files: the daily grammar, summaries, captures, its locks and its ranking."""

import os
from datetime import UTC, datetime

import polars as pl
import pytest

from memops.plan import edit, put, squash
from memops.schema import TOMBSTONE, from_rows
from memops.stores import Work
from memops.stores.markdown.carry import Pace
from memops.stores.xinghebot import XingheBot


def day(*parts):
    return datetime(*parts, tzinfo=UTC)


def store(tmp_path, **files):
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/").replace("_", "-")
        path = path.with_name(path.name + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        os.utime(path, ns=(10**18, 10**18))
    made = XingheBot(str(tmp_path))
    made.pace = Pace(grace=0.0)
    return made


def said(made, *columns):
    rows = sorted(made.read().to_dicts(), key=lambda r: int(r["origin"].partition("#")[2]))
    return [tuple(row[c] for c in columns) for row in rows]


def carried_out(made, plan, seen=lambda: None):
    before, answers = made.read(), []

    def keep(undo):
        seen()

    for batch in made.batches(squash(plan)):
        answers += made.write(Work(batch, before, day(2026, 11, 21), lambda live, counts: {}, keep))
    return answers


def test_daily_notes_give_instant_kind_tags_and_source(tmp_path):
    made = store(
        tmp_path,
        daily__2026_11_02="- 2026-11-02T01:00:05Z [pref] 喜欢茶 #prefs #ui (source=run-1)\n"
        "- 2026-11-02T02:00:00+08:00 [decision] Use REST\n- [todo] Call Bob #todo\n"
        "- 2026-11-02T03:00:00Z [note] two\nlines (source=run-2)\nloose\n- bare\n- 2026-11-02T04:00:00Z [chore] sweep\n",
    )
    assert said(made, "text", "kind", "created_at", "tags") == [
        ("喜欢茶", "preference", day(2026, 11, 2, 1, 0, 5), ["prefs", "ui"]),
        ("Use REST", "fact", day(2026, 11, 1, 18), []),
        ("Call Bob", "project_state", day(2026, 11, 2, 0, 0, 0, 3), ["todo"]),
        ("two\nlines", "note", day(2026, 11, 2, 3), []),
        ("loose", "note", day(2026, 11, 2, 0, 0, 0, 6), []),
        ("bare", "note", day(2026, 11, 2, 0, 0, 0, 7), []),
        ("sweep", "note", day(2026, 11, 2, 4), []),
    ]


def test_an_automatic_summary_is_of_kind_summary_and_its_head_is_structure(tmp_path):
    made = store(
        tmp_path,
        daily__2026_11_02="- 2026-11-02T01:00:00Z [fact] A\n\n## Daily Summary (auto)\n"
        "<!-- auto_daily_summary: 2026-11-02 -->\n- date: 2026-11-02\n- generated_at: x\n- source_runs: r\n\n"
        "### Highlights\n- A\n### TODO\n- B\n",
    )
    assert said(made, "text", "kind", "source", "tier") == [
        ("A", "fact", None, "working"),
        ("A", "summary", "compaction", "peripheral"),
        ("B", "summary", "compaction", "peripheral"),
    ]


def test_a_note_of_nothing_but_tags_and_source_is_no_record(tmp_path):
    made = store(
        tmp_path,
        daily__2026_11_02="- 2026-11-02T01:00:00Z [note] #only #tags\n- [todo] #标签\n- [note] #a (source=run-1)\n"
        "- [note] (source=run-2)\n- [note] #3\n- [note] #a is a tag\n- [note] 看 #a #b\n",
    )
    assert said(made, "text", "tags") == [("#3", []), ("#a is a tag", []), ("看", ["a", "b"])]


@pytest.mark.parametrize("sections", [
    {"Preferences": "user preferences; add source=run_id when possible",
     "TODO": "open TODOs across sessions; include source=run_id",
     "Work Log": "brief work record summaries; include source=run_id",
     "Notes": "key facts/decisions/constraints; include source=run_id; avoid secrets"},
    {"Preferences": "write user preferences here", "Project Facts": "write stable project facts here; avoid secrets",
     "Decisions": "write key decisions + rationale here", "TODO": "long-term TODOs across sessions"},
])  # fmt: skip
def test_a_fresh_memory_file_holds_no_memories_and_keeps_its_template(tmp_path, sections):
    head = "# MEMORY\n\n> This file is auto-loaded into the PRIMARY agent prompt and may be auto-updated.\n"
    head += "> Keep it compact (<= 1000 chars). Avoid secrets.\n"
    text = head + "".join(f"\n## {title}\n- ({line})\n" for title, line in sections.items())
    made = store(tmp_path, MEMORY=text)
    assert made.read().is_empty()
    (tmp_path / "MEMORY.md").write_text(text + "- tea\n- (write user preferences here)!\n")
    assert {row[0] for row in said(made, "text")} == {"tea", "(write user preferences here)!"}
    gone = made.read().filter(text="tea")
    carried_out(made, edit(gone, "tombstone", "x", superseded_by=TOMBSTONE))
    assert (tmp_path / "MEMORY.md").read_text() == text + "- (write user preferences here)!\n"


def test_curated_memory_is_core_and_dated_by_its_run(tmp_path):
    made = store(
        tmp_path,
        MEMORY="# MEMORY\n<!-- memory_md_update: at=x source=y -->\n\n## Preferences\n"
        "- tea (source=run-20261001-080910-1f3c2d)\n\n## TODO\n- book flights (source=unknown)\n\n## Work Log\n"
        '- 2026-11-19 16:40 upgrade done title="up" (source=r)\n\n## Notes\n- host is gw-07\n',
    )
    assert said(made, "text", "kind", "tier", "created_at") == [
        ("tea", "preference", "core", day(2026, 10, 1, 8, 9, 10)),
        ("book flights", "project_state", "working", None),
        ("upgrade done", "project_state", "working", day(2026, 11, 19, 16, 40)),
        ("host is gw-07", "fact", "core", None),
    ]


def test_captured_turns_are_only_read(tmp_path):
    text = (
        "# Session Capture\n\n- run_id: r\n- captured_at: x\n\n## Compaction Summary\n\nWe did A.\n\n"
        "## Messages (last 2)\n\n- 2026-11-02T01:00:00Z user: hi\nthere\n- ? assistant: ok\n"
    )
    made = store(tmp_path, sessions__2026_11_02_r=text)
    assert said(made, "text", "kind", "source") == [
        ("We did A.", "summary", "compaction"),
        ("hi\nthere", "session", "user"),
        ("ok", "session", "assistant"),
    ]
    rows = made.read()
    gone = carried_out(made, edit(rows, "tombstone", "x", superseded_by=TOMBSTONE))
    masked = carried_out(made, edit(rows, "update", "x", text="[redacted]"))
    assert [a.state for a in gone + masked] == ["applied"] * 3 + ["refused"] * 3
    assert (tmp_path / "sessions/2026-11-02-r.md").read_text() == text


def test_an_insertion_is_a_line_of_the_daily_grammar_in_the_file_of_its_day(tmp_path):
    made = store(
        tmp_path,
        daily__2026_11_02="- 2026-11-02T01:00:00Z [note] A (source=r)\n\n## Daily Summary (auto)\n- A\n",
    )
    new = from_rows([
        {"id": "u1", "kind": "preference", "text": "tea", "created_at": day(2026, 11, 2, 9), "tags": ["ui"]},
        {"id": "u2", "kind": "fact", "text": "port 80", "created_at": day(2026, 11, 3, 9)},
        {"id": "u3", "kind": "fact", "text": "undated"},
    ])  # fmt: skip
    answers = carried_out(made, put(new, "found"))
    assert {a.id: a.state for a in answers} == {"u1": "applied", "u2": "applied", "u3": "refused"}
    assert (tmp_path / "daily/2026-11-02.md").read_text() == (
        "- 2026-11-02T01:00:00Z [note] A (source=r)\n"
        "- 2026-11-02T09:00:00Z [pref] tea #ui (source=memops)\n\n## Daily Summary (auto)\n- A\n"
    )
    assert (
        tmp_path / "daily/2026-11-03.md"
    ).read_text() == "- 2026-11-03T09:00:00Z [fact] port 80 (source=memops)\n"
    made_ids = {a.new_id for a in answers if a.new_id}
    assert set(made.read().filter(pl.col("text").is_in(["tea", "port 80"]))["id"]) == made_ids


def test_its_locks_are_held_only_while_the_file_is_replaced(tmp_path):
    made = store(
        tmp_path, daily__2026_11_02="- 2026-11-02T01:00:00Z [note] A\n", MEMORY="# MEMORY\n- B\n"
    )
    held = []

    def look():
        held.append(sorted(p.name for p in (tmp_path / "index").iterdir()))

    answers = carried_out(made, edit(made.read(), "tombstone", "x", superseded_by=TOMBSTONE), look)
    assert [a.state for a in answers] == ["applied", "applied"]
    assert held == [[".memory_md.lock"], [".daily.lock", ".daily_summary.lock"]]
    assert list((tmp_path / "index").iterdir()) == []


def test_edits_leave_its_ranking_as_it_was(tmp_path):
    made = store(
        tmp_path,
        daily__2026_11_02="- 2026-11-02T01:00:00Z [note] A\n- 2026-11-02T02:00:00Z [note] B\n",
    )
    carried_out(made, edit(made.read().head(1), "tombstone", "x", superseded_by=TOMBSTONE))
    assert (tmp_path / "daily/2026-11-02.md").stat().st_mtime_ns == 10**18
