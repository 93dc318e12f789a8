"""Ends of lines: a carriage return ends one, too, so nothing hides behind it."""

import pytest

from memops.documents.lines import line_end, lines_of

KEY = "gh" + "p_" + "Wm4tQz81" * 4 + "aB2x"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_key_is_masked_whatever_ends_the_lines_of_its_file(memops, tmp_path, end):
    path = tmp_path / "ws" / "memory" / "2026-05-03.md"
    path.parent.mkdir(parents=True)
    (tmp_path / "ws" / "MEMORY.md").write_text("# Memory\n\n- Liv keeps bees\n")
    was = ["# 2026-05-03", "", f"- Liv deploys with {KEY}", "- Liv oils the pump in March", ""]
    path.write_bytes(end.join(was).encode())
    plan = memops("plan", f"openclaw:{tmp_path / 'ws'}", "--rule", "redact_secrets")
    run = memops("apply", plan["plan"], "--approve")
    left = path.read_bytes().decode().split(end)
    assert (memops.code, run["applied"]) == (0, 1)
    assert [a for a, b in zip(was, left, strict=True) if a != b] == [was[2]] and KEY not in left[2]
    memops("rollback", run["run"])
    assert path.read_bytes().decode() == end.join(was)


def test_lines_joined_are_the_data_and_line_feeds_stand_for_the_file():
    data = b"a\rb\r\nc\n\rd"
    assert lines_of(data) == [b"a\r", b"b\r\n", b"c\n", b"\r", b"d"]
    assert [line_end(lines_of(text)) for text in (data, b"a\rb", b"a")] == [b"\r\n", b"\r", b"\n"]
