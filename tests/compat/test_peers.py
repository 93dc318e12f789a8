"""Formats of the agents beside their records: keys, chunks, heads, scopes."""

import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compat import openclaw_index as openclaw
from tests.compat import rsclaw_rules as rsclaw
from tests.compat import xinghebot_agent as xinghebot


@pytest.mark.parametrize(
    "remote, key",
    [
        ("git@code.example:Team/App.git", "code.example_Team_App"),
        ("ssh://git@code.example:2222/team/app.git", "code.example_2222_team_app"),
        ("https://code.example/team/app/", "code.example_team_app"),
        ("https://code.example/团队/应用.git", "code.example"),
        ("https://code.example/a__b/-c.git", "code.example_a__b_-c"),
        ("file:///srv/app.git", ""),
        ("/srv/app", ""),
    ],
)
def test_a_project_is_named_after_its_remote(remote, key):
    assert xinghebot.project_key(remote) == key


def test_a_project_without_a_remote_is_named_after_its_folder():
    digest = hashlib.sha1(b"/srv/my app").hexdigest()[:8]
    assert xinghebot.folder_key("/srv/my app") == f"my_app_{digest}"


@pytest.mark.parametrize(
    "path", ["", " ", "/a.md", "~/a.md", "../a.md", "a/../../b.md", ".", "a.txt"]
)
def test_paths_that_lead_out_are_refused(path):
    with pytest.raises(ValueError):
        xinghebot.resolved(path)


def test_memory_md_keeps_one_stamp_whole_lines_and_its_head():
    at = datetime(2026, 5, 1, 8, tzinfo=UTC)
    once = xinghebot.stamped("# MEMORY\n\n- tea", "run-1", at)
    assert (
        once == "# MEMORY\n<!-- memory_md_update: at=2026-05-01T08:00:00Z source=run-1 -->\n\n- tea"
    )
    assert xinghebot.stamped(once, "run-1", at) == once
    assert xinghebot.headed(once) == once and xinghebot.headed("- a") == "# MEMORY\n\n- a"
    assert xinghebot.cut("# MEMORY\n- 茶叶\n- 咖啡", 14) == "# MEMORY\n- 茶叶"
    assert xinghebot.cut("# MEMORY", 8) == "# MEMORY"


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(st.sampled_from("ab 记忆录\n-#"), max_size=300),
    tokens=st.integers(1, 40),
    overlap=st.integers(0, 10),
    per_entry=st.booleans(),
)
def test_chunks_cover_every_line_in_order(text, tokens, overlap, per_entry):
    found = openclaw.chunks(text, tokens, overlap, per_entry)
    assert [c.start for c in found] == sorted(c.start for c in found)
    covered = {n for c in found for n in range(c.start, c.end + 1)}
    assert covered == set(range(1, text.count("\n") + 2))
    if not overlap:
        assert "".join("".join(c.text for c in found).split()) == "".join(text.split())


def test_entries_of_curated_files_are_chunks_of_their_own():
    text = "# Notes\n\n## People\n- Ines\n  at the press\n- 1. not a new one\n2) Rosa\n* Ida\n  - deep\n#\n#tag\n"
    found = openclaw.chunks(text, per_entry=True)
    assert [(c.start, c.end) for c in found] == [(1, 2), (3, 3), (4, 5), (6, 9), (10, 12)]
    assert [c.entry for c in found] == [None, None, (4, 5), (6, 9), None]


def test_wide_characters_weigh_a_token_each():
    assert [c.text for c in openclaw.chunks("记" * 8 + "\n" + "a" * 31, 8, 0)] == [
        "记" * 8,
        "a" * 31,
    ]
    latin, wide = (len(openclaw.chunks("\n".join([c * 30] * 20), 100, 0)) for c in "a记")
    assert (latin, wide) == (2, 7)


def test_promotion_counts_by_line_and_by_query():
    assert (
        openclaw.entry_key("memory", "memory/2026-05-01.md", 3, 4)
        == "memory:memory/2026-05-01.md:3:4"
    )
    assert openclaw.query_hash(" Tea ") == openclaw.query_hash("tea")
    paths = [
        "memory/2026-05-01.md",
        "memory/2026-05-01-slug.md",
        "memory/dreaming/rem/2026-05-01.md",
        "MEMORY.md",
    ]
    assert [openclaw.is_short_term(p) for p in paths] == [True, True, False, False]


def test_scopes_and_kinds_are_those_that_rsclaw_writes():
    assert [rsclaw.scope_of(s, "main") for s in ("", " main ", "shop", "agent:x", "agent:x:cron")] == [
        "agent:main", "agent:main", "shop", "agent:x", "agent:x:cron",
    ]  # fmt: skip
    assert rsclaw.tool_document("diary") == rsclaw.tool_document("fact")
    assert rsclaw.extracted_document("lesson") == {
        "tier": "Core",
        "importance": 0.85,
        "pinned": False,
    }
    assert rsclaw.extracted_document("note") is None
    entity = {"tier": "Core", "importance": 0.9, "pinned": True}
    assert rsclaw.extracted_document("entity") == entity
    assert rsclaw.tool_document("entity") == entity | {"kind": "entity", "importance": 0.95}
    assert rsclaw.tool_document("note")["tier"] == "Peripheral"
    assert (
        rsclaw.identity(" Tea  at FOUR ")
        == rsclaw.identity("tea atfour")
        != rsclaw.identity("tea at four.")
    )
