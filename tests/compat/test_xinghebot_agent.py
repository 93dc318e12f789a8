"""What XingheBot writes, as its own tests say it, and what memops reads of that."""

from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest

from memops.stores import open_store
from tests.compat import xinghebot_agent as agent
from tests.compat.profiles import profile_run
from tests.compat.xinghebot import remembered

NOW = datetime(2026, 2, 24, 10, 12, 33, tzinfo=UTC)
KEY = "sk-" + "1234567890abcdef"
PREFERENCE = ("pref", f"User prefers concise output. key={KEY}", ["prefs"], "test")


def test_a_note_is_masked_formatted_and_read_again(tmp_path):
    path, data = agent.daily_line(*PREFERENCE, NOW)
    assert path == "daily/2026-02-24.md"
    assert data.decode() == (
        "- 2026-02-24T10:12:33Z [pref] User prefers concise output. key=sk-1***cdef #prefs (source=test)"
    )
    (row,) = remembered(tmp_path, {path: data + b"\n"}).to_dicts()
    assert (row["kind"], row["tags"], row["created_at"]) == ("preference", ["prefs"], NOW)


def test_a_notes_file_is_of_the_agents_day_and_its_instant_in_utc():
    at = datetime(2026, 2, 25, 7, 30, tzinfo=timezone(timedelta(hours=8)))
    assert agent.daily_line("", " late evening ", [], "", at) == (
        "daily/2026-02-25.md", b"- 2026-02-24T23:30:00Z [note] late evening",
    )  # fmt: skip


def test_a_notes_text_may_have_lines_and_is_cut_at_four_thousand_characters():
    assert agent.daily_line("note", "two\nlines", [], "", NOW)[1].endswith(b"two\nlines")
    line = agent.daily_line("note", "文" * 5000, [], "", NOW)[1].decode()
    assert len(line) == 4001 and line.endswith("文…")


def test_a_note_said_again_with_another_source_is_the_same_note():
    later = agent.daily_line(*PREFERENCE[:3], "other", NOW + timedelta(minutes=2))[1].decode()
    assert (
        agent.daily_key(agent.daily_line(*PREFERENCE, NOW)[1].decode())
        == agent.daily_key(later)
        != ""
    )
    assert agent.daily_key("- [Note] A  b #y #x (source=z)") == "note|a b|#x,#y"
    assert [agent.daily_key(line) for line in ("- [note] #a", "- [] a", "* [note] a", "- [note] (source=x)")] == ["", "", "", "note|(source=x)"]  # fmt: skip


def test_a_search_finds_the_note_and_no_key(tmp_path):
    path, data = agent.daily_line(*PREFERENCE, NOW)
    found = remembered(tmp_path, {path: data + b"\n", "MEMORY.md": b"# MEMORY\n\n- tea\n"})
    asked = pl.DataFrame({"query_id": ["q"], "text": ['"prefers" concise']})
    run = profile_run("xinghebot-scan", found, asked, 5)
    assert found.filter(id=run["doc_id"][0])["origin"].item() == f"{path}#1"
    assert run["score"][0] == 1.0 and KEY.encode() not in data


def test_a_captured_session_is_read_as_a_summary_and_its_turns(tmp_path):
    turns = [("2026-02-24T10:12:33Z", "user", f"my key is {KEY}"), ("", "assistant", "好的"),
             ("", "tool", "t" * 800)]  # fmt: skip
    path, data = agent.captured(
        "run-20260224-101010-acde01", NOW, turns, "Goal: ship\n\n- [ ] test"
    )
    assert path == "sessions/2026-02-24-run-20260224-101010-acde01.md"
    assert b"## Compaction Summary" in data and b"## Messages (last 3)" in data
    found = remembered(tmp_path, {path: data}).select("kind", "text").rows()
    assert {kind for kind, _ in found} == {"summary", "session"}
    assert {"Goal: ship", "my key is sk-1***cdef", "好的", "t" * 700 + "…"} <= {
        text for _, text in found
    }


@pytest.mark.parametrize("name", ["daily/link.md", "daily"])
def test_what_a_link_leads_to_outside_the_root_is_no_memory(tmp_path, name):
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (outside / "2026-02-24.md").write_text("- 2026-02-24T10:12:33Z [pref] prefers concise\n")
    link = root / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / "2026-02-24.md" if name.endswith(".md") else outside)
    assert open_store(f"xinghebot:{root}").read().is_empty()


def test_a_models_answer_becomes_a_stamped_file_within_its_size():
    text = agent.rewritten("```markdown\n## Notes\n" + "- 记住这件事\n" * 300 + "```", "run-1", NOW)
    stamp = "# MEMORY\n<!-- memory_md_update: at=2026-02-24T10:12:33Z source=run-1 -->"
    assert text.startswith(stamp) and len(text) <= agent.RUNES and "```" not in text
    assert agent.rewritten(text, "run-2", NOW).count(agent.MARK) == 1


def test_keys_are_masked_by_bytes_and_key_blocks_only_when_no_pattern_has_cut_their_head():
    assert agent.masked("sk-测试中文内容".encode()) == b"sk-\xe6***" + "内容".encode()[-4:]
    block = b"-----BEGIN X KEY-----\nabc\n-----END X KEY-----\nafter"
    assert b"abc" in agent.masked(
        block
    )  # `-----BEGIN` is a pattern of its own, so no block is seen
