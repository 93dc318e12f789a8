"""OpenClaw's files: what each line grammar says, which locks are held, which generation it is."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime

import polars as pl
import pytest

from memops.context import Context
from memops.errors import Locked
from memops.plan import edit, squash
from memops.rules.merge_exact import merge_exact
from memops.schema import TOMBSTONE
from memops.stores import Work
from memops.stores.lockfile import LockFile, hold
from memops.stores.markdown.carry import Pace
from memops.stores.openclaw import OpenClaw, generation, home
from memops.stores.openclaw.provenance import rows

from . import openclaw_state


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENCLAW_STATE_DIR", raising=False)
    (tmp_path / ".openclaw" / "workspace").mkdir(parents=True)
    return tmp_path / ".openclaw" / "workspace"


def records(workspace, path, text):
    """The records of one file, in its order, in the columns that differ from the usual."""
    (workspace / path).parent.mkdir(parents=True, exist_ok=True)
    (workspace / path).write_bytes(text.encode())
    rows = OpenClaw(str(workspace)).read().to_dicts()
    return sorted(rows, key=lambda r: int(r["origin"].partition("#")[2]))


def said(rows, *columns):
    return [tuple(row[c] for c in columns) for row in rows]


def day(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize("path", [
    "memory/.dreams/light.md", "memory/.dreams/session-corpus/2026-05-01.md", "memory/dreaming/rem/2026-05-01.md",
])  # fmt: skip
def test_what_the_machine_keeps_for_itself_is_read_and_never_written(workspace, path):
    rows = records(workspace, path, "- Ines keeps bees\n- [ ] 买茶\n")
    assert said(rows, "text", "kind", "role", "source") == [
        ("Ines keeps bees", "summary", "machine", "compaction"), ("买茶", "summary", "machine", "compaction"),
    ]  # fmt: skip
    store = OpenClaw(str(workspace))
    store.pace, before = Pace(grace=0.0), store.read()
    plan = pl.concat([
        edit(before.head(1), "update", "x", text=pl.lit("Ines")), edit(before.tail(1), "tombstone", "x", superseded_by=TOMBSTONE),
    ])  # fmt: skip
    for batch in store.batches(squash(plan)):
        store.write(
            Work(batch, before, day(2026, 6, 1), lambda live, counts: {}, lambda undo: None)
        )
    assert (workspace / path).read_text() == "- Ines keeps bees\n- [ ] 买茶\n"


def test_no_line_that_somebody_wrote_is_merged_into_one_of_the_machines(workspace):
    said = "- The spare key hangs behind the blue door of the boat house by the mill\n"
    records(workspace, "memory/.dreams/2026-05-01.md", said)
    records(workspace, "memory/2026-05-19.md", said + said)
    found = OpenClaw(str(workspace)).read()
    plan = merge_exact(found, Context(now=day(2026, 6, 1)))
    keepers = found.filter(pl.col("id").is_in(plan["superseded_by"].drop_nulls().implode()))
    assert keepers.height == 1 and "machine" not in keepers["role"]


def test_bullets_paragraphs_and_times_of_a_daily_note(workspace):
    rows = records(
        workspace,
        "memory/2026-11-12.md",
        "# 2026-11-12\n\n- 09:03 Wrote the note.\n* 21:15 - 晚上换班。\n\n## 10:30 PM - Decision\n"
        "Use REST.\n- **11:05 PM** Ship it. #api #42\n1. First\n> Quoted\n- [ ] Call Bob\n",
    )
    assert said(rows, "text", "kind", "created_at") == [
        ("Wrote the note.", "note", day(2026, 11, 12, 9, 3)),
        ("晚上换班。", "note", day(2026, 11, 12, 21, 15)),
        ("Use REST.", "fact", day(2026, 11, 12, 22, 30)),
        ("Ship it. #api #42", "fact", day(2026, 11, 12, 23, 5)),
        ("1. First", "fact", day(2026, 11, 12, 22, 30)),
        ("> Quoted", "fact", day(2026, 11, 12, 22, 30)),
        ("Call Bob", "project_state", day(2026, 11, 12, 22, 30)),
    ]
    assert {row["tier"] for row in rows} == {"working"}


def test_lines_without_a_time_keep_their_order(workspace):
    rows = records(workspace, "memory/2026-11-12.md", "- first\n- second\n")
    assert said(rows, "text", "created_at") == [
        ("first", day(2026, 11, 12, 0, 0, 0, 1)),
        ("second", day(2026, 11, 12, 0, 0, 0, 2)),
    ]


def test_retained_lines_give_kind_confidence_and_entities(workspace):
    rows = records(
        workspace,
        "memory/2026-11-12.md",
        "## Retain\n- W @acme @web-app: The port is 8080.\n- O(c=0.95) @Lin: 喜欢茶。\n- B Met Bob.\n- S Week went well.\n"
        "## Other\n- O what a day\n",
    )
    assert said(rows, "text", "kind", "confidence", "tags") == [
        ("The port is 8080.", "fact", None, ["@acme", "@web-app"]),
        ("喜欢茶。", "preference", 0.95, ["@Lin"]),
        ("Met Bob.", "note", None, []),
        ("Week went well.", "summary", None, []),
        ("O what a day", "note", None, []),
    ]


def test_curated_lines_are_core_and_keep_their_tails_out_of_the_text(workspace):
    rows = records(
        workspace,
        "MEMORY.md",
        "# Memory\n\n## User Preferences\n- Likes tea\n\n## Important Decisions\n- 2026-08-17: Database is PostgreSQL 14\n\n"
        "## Promoted From Short-Term Memory (2026-10-14)\n\n"
        "<!-- openclaw-memory-lineage:K -->\n<!-- openclaw-memory-promotion:K -->\n"
        "- Staging moved. [score=0.812 signals=4 source=memory/2026-10-12.md:7-7] <!-- trigger: a, b --> <!-- importance: 9 -->\n",
    )
    assert said(rows, "text", "kind", "tier", "importance", "created_at") == [
        ("Likes tea", "preference", "core", 0.85, None),
        ("Database is PostgreSQL 14", "fact", "core", 0.85, day(2026, 8, 17)),
        ("Staging moved.", "fact", "core", 0.9, day(2026, 10, 12)),
    ]
    assert json.loads(rows[2]["extra"])["triggers"] == ["a", "b"]


def test_directives_take_day_and_status_from_the_comment_above(workspace):
    rows = records(
        workspace,
        "USER.md",
        "# USER.md\n\n<!-- observed: 2026-08-27 | status: superseded -->\nReply in English.\n\n"
        "<!-- observed: 2026-10-01 | status: active -->\nReply in Chinese.\n",
    )
    assert said(rows, "text", "kind", "created_at", "superseded_by") == [
        ("Reply in English.", "preference", day(2026, 8, 27), TOMBSTONE),
        ("Reply in Chinese.", "preference", day(2026, 10, 1), None),
    ]


def test_a_captured_session_is_turns_with_their_speaker(workspace):
    rows = records(
        workspace,
        "memory/2026-11-12-1412.md",
        "# Session: 2026-11-12 14:12:11 Asia/Shanghai\n\n- **Session Key**: agent:main:main\n- **Source**: telegram\n\n"
        "## Conversation Summary\n\nuser: 新分支：release/3.0。\nand a second line\nassistant: 好的。\n",
    )
    assert said(rows, "text", "kind", "source", "tier") == [
        ("新分支：release/3.0。\nand a second line", "session", "user", "peripheral"),
        ("好的。", "session", "assistant", "peripheral"),
    ]
    assert rows[0]["created_at"] == day(2026, 11, 12, 14, 12, 11)


def test_a_key_block_belongs_to_the_line_above_it(workspace):
    begin, end = (
        "-----BEGIN OPENSSH PRIVATE " + "KEY-----",
        "-----END OPENSSH PRIVATE " + "KEY-----",
    )
    rows = records(
        workspace,
        "memory/2026-11-05.md",
        f"- SSH key:\n{begin}\n{'A' * 64}\n{'B' * 20}\n{end}\nBye.\n",
    )
    assert said(rows, "text") == [(f"SSH key:\n{begin}\n{'A' * 64}\n{'B' * 20}\n{end}",), ("Bye.",)]


def test_managed_blocks_and_phase_reports_are_summaries_that_stay_in_the_file(workspace):
    rows = records(
        workspace,
        "memory/2026-11-05.md",
        "- mine\n<!-- openclaw:dreaming:light:start -->\n- dreamt\n<!-- openclaw:dreaming:light:end -->\n- mine too\n",
    )
    assert said(rows, "text", "kind", "source") == [
        ("mine", "note", None), ("dreamt", "summary", "compaction"), ("mine too", "note", None),
    ]  # fmt: skip
    before = (workspace / "memory/2026-11-05.md").read_bytes()
    answers = removed(workspace, "dreamt")
    assert [a.state for a in answers] == ["applied"]
    assert (workspace / "memory/2026-11-05.md").read_bytes() == before


def test_headings_and_rules_are_no_records_and_a_table_is_one(workspace):
    rows = records(
        workspace,
        "memory/topic.md",
        "---\ntitle: x\n---\n# T\n<!-- a\ncomment -->\n***\n| name | port |\n|---|---|\n| web | 80 |\n\n```sh\n# run\nls\n```\n",
    )
    assert said(rows, "text", "form") == [
        ("---\ntitle: x\n---", "code"),
        ("<!-- a\ncomment -->", "generated"),
        ("| name | port |\n|---|---|\n| web | 80 |", "table"),
        ("```sh\n# run\nls\n```", "code"),
    ]


def test_files_outside_the_memory_are_not_read(workspace):
    for name in (
        "AGENTS.md",
        "memory.md",
        "DREAMS.md",
        "memory/.openclaw-repair/x.md",
        "docs/2026-01-01.md",
        "memory/notes.txt",
    ):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("- no\n")
    for name in ("memory/.hidden/x.md", "memory/a/b/c.md", "users/u1/USER.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("- yes\n")
    store = OpenClaw(str(workspace))
    paths = sorted(store.locator(r)["path"] for r in store.read().to_dicts())
    assert paths == ["memory/.hidden/x.md", "memory/a/b/c.md", "users/u1/USER.md"]


def removed(workspace, text):
    store = OpenClaw(str(workspace))
    store.pace = Pace(grace=0.0)
    before = store.read()
    plan = squash(
        edit(before.filter(pl.col("text") == text), "tombstone", "x", superseded_by=TOMBSTONE)
    )
    return store.write(
        Work(plan, before, day(2026, 11, 21), lambda live, counts: {}, lambda undo: None)
    )


def test_a_promoted_line_leaves_with_its_marks(workspace):
    records(workspace, "MEMORY.md", "# M\n\n<!-- openclaw-memory-promotion:K -->\n- Old\n- New\n")
    assert [a.state for a in removed(workspace, "Old")] == ["applied"]
    assert (workspace / "MEMORY.md").read_text() == "# M\n\n- New\n"


def make_database(path, version):
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE schema_meta (schema_version INTEGER)")
        db.execute("INSERT INTO schema_meta VALUES (?)", (version,))
        db.commit()


@pytest.mark.parametrize("version, name", [(1, "B"), (23, "C")])
def test_the_agent_database_tells_the_generation(workspace, version, name):
    make_database(workspace.parent / "agents/main/agent/openclaw-agent.sqlite", version)
    assert generation(workspace) == name


def test_an_index_of_the_first_generation_tells_it_too(workspace):
    assert generation(workspace) == "unknown"
    (workspace.parent / "memory").mkdir()
    (workspace.parent / "memory" / "main.sqlite").write_bytes(b"")
    assert generation(workspace) == "A"


def test_files_whose_trust_an_edit_would_cost_are_named(workspace):
    openclaw_state.keep(workspace, {"MEMORY.md": ("agent", None)})
    elsewhere = workspace.parent / "other"
    elsewhere.mkdir()
    openclaw_state.keep(elsewhere, {"USER.md": ("agent", None)})
    found = rows(home(workspace), workspace)
    assert [(row.path, row.origin) for row in found] == [("MEMORY.md", "agent")]


def lock_of(workspace):
    digest = hashlib.sha256(str(workspace.resolve()).encode()).hexdigest()
    return workspace.parent / "locks" / f"memory-promotion-{digest}.lock"


def test_a_promotion_that_runs_is_waited_for_and_then_left_alone(workspace, monkeypatch):
    make_database(workspace.parent / "agents/main/agent/openclaw-agent.sqlite", 23)
    records(workspace, "MEMORY.md", "- Old\n")
    lock = lock_of(workspace)
    lock.parent.mkdir()
    lock.write_text(json.dumps({"pid": os.getpid(), "createdAt": "x"}))
    monkeypatch.setattr("memops.stores.lockfile.PATIENCE", 0.1)
    answers = removed(workspace, "Old")
    assert [a.state for a in answers] == ["stale"] and str(lock) in answers[0].why
    assert (workspace / "MEMORY.md").read_text() == "- Old\n"
    lock.unlink()
    assert [a.state for a in removed(workspace, "Old")] == ["applied"]
    assert not lock.exists()


def dead_pid():
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_the_lock_of_a_dead_process_is_taken_and_a_living_one_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("memops.stores.lockfile.PATIENCE", 0.05)
    lock = LockFile(tmp_path / "x.lock", lambda: f"pid={os.getpid()}", stale=300, pid=r"pid=(\d+)")
    lock.path.write_text(f"pid={dead_pid()} time=x\n")
    with hold([lock]):
        assert lock.path.read_text() == f"pid={os.getpid()}"
        with pytest.raises(Locked, match=r"x\.lock is held: pid="), hold([lock]):
            pass
    assert not lock.path.exists()
    lock.path.write_text(f"pid={os.getpid()}")
    os.utime(lock.path, (1, 1))
    with hold([lock]):
        pass
