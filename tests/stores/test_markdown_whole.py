"""Markdown stores as a whole: restored to what a copy is, and entries forgotten for good."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.errors import Locked, MemopsError
from memops.stores import open_store
from memops.stores.markdown.entries import entries
from memops.stores.markdown.forget import without
from memops.stores.markdown.records import identified
from memops.stores.openclaw import OpenClaw
from memops.stores.xinghebot import XingheBot
from tests.counts import few

from .restoring import put_back
from .test_markdown import FILES, store


@pytest.mark.parametrize("kind", [OpenClaw, XingheBot])
def test_restoring_takes_away_what_came_since_and_nothing_else(tmp_path, kind):
    made = store(tmp_path, kind, FILES[kind])
    root = made.path
    (tmp_path / "raw").mkdir()
    made.copy(tmp_path / "raw")
    wanted = "memory/2026-07-01.md" if kind is OpenClaw else "daily/2026-07-01.md"
    foreign = "notes.txt" if kind is XingheBot else "AGENTS.md"
    linked = root / Path(wanted).parent / "linked.md"
    (root / wanted).write_bytes(b"- added since\n")
    (root / foreign).write_bytes(b"no memory\n")
    linked.symlink_to(root / foreign)
    kept = {
        p: (p.stat().st_ino, p.stat().st_mtime_ns)
        for p in root.rglob("*.md")
        if p.name not in ("2026-07-01.md", "linked.md", foreign)
    }
    put_back(made, tmp_path / "raw")
    assert not (root / wanted).exists()
    assert (root / foreign).read_bytes() == b"no memory\n" and linked.is_symlink()
    assert {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in kept} == kept


def test_restoring_waits_for_no_writer_and_changes_nothing_before_it(tmp_path):
    made = store(tmp_path, OpenClaw, FILES[OpenClaw])
    root = made.path
    (tmp_path / "raw").mkdir()
    made.copy(tmp_path / "raw")
    (root / "memory" / "2026-07-01.md").write_bytes(b"- added since\n")
    held = root / "MEMORY.md"
    held.write_bytes(b"- other\n")
    code = f"import sys; f = open({str(held)!r}, 'ab'); print('open', flush=True); sys.stdin.read()"
    agent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert agent.stdout.readline() == b"open\n"
        with pytest.raises(Locked, match=f"process {agent.pid} has it open"):
            put_back(made, tmp_path / "raw")
    finally:
        agent.communicate()
    assert held.read_bytes() == b"- other\n"
    assert (root / "memory" / "2026-07-01.md").exists()
    put_back(made, tmp_path / "raw")
    assert not (root / "memory" / "2026-07-01.md").exists()


def test_what_is_forgotten_is_cut_out_and_its_neighbours_keep_their_bytes():
    grammar = open_store("openclaw:x").grammar
    data = b"\xef\xbb\xbf# Notes\r\n- one\r\n  - beneath one\r\n- two <!-- openclaw-memory-promotion:k -->\r\n- three"
    found = dict(identified(entries(data, "memory/a.md", grammar)))
    ids = {entry.text: key for key, entry in found.items()}

    def cut(*texts):
        return without(data, "memory/a.md", {ids[t] for t in texts}, grammar)

    assert cut() == data
    assert cut("three") == data.removesuffix(b"- three")
    assert cut("one\r\n  - beneath one") == data.replace(b"- one\r\n  - beneath one\r\n", b"")
    assert b"promotion" not in cut("two") and b"two" not in cut("two")


@few(50)
@given(data=st.data())
def test_forgetting_leaves_every_other_entry_as_it_was(data):
    lines = st.sampled_from(
        [
            "# h",
            "- a",
            "  - b",
            "text",
            "",
            "1. c",
            "```",
            "a | b",
            "|--|--|",
            "<!-- c -->",
            "- [x] d",
            "- 9:00 e",
            "    deep",
            "~~~",
            "\ufeff",
            "caf\u00e9 \u2028 x",
        ]
    )
    body = "\n".join(data.draw(st.lists(lines, max_size=12))).encode()
    for kind, path in (("openclaw", "memory/2026-01-01.md"), ("xinghebot", "daily/2026-01-01.md")):
        grammar = open_store(f"{kind}:x").grammar
        found = identified(entries(body, path, grammar))
        ids = {key for key, _ in found if data.draw(st.booleans())}
        try:
            made = without(body, path, ids, grammar)
        except MemopsError:
            continue
        kept = sorted(entry.raw for key, entry in found if key not in ids)
        assert sorted(entry.raw for entry in entries(made, path, grammar)) == kept


@pytest.mark.parametrize("kind", [OpenClaw, XingheBot])
def test_purged_entries_leave_no_byte_even_in_what_a_crash_left_beside_the_file(tmp_path, kind):
    made = store(tmp_path, kind, FILES[kind])
    records = made.read()
    place = made.path / records["id"][0].split(":")[0]
    data = place.read_bytes()
    digest = hashlib.sha256(data).hexdigest()[:16]
    (place.parent / f".memops-{len(data)}-{digest}-{place.name}.old").hardlink_to(place)
    (place.parent / f".memops-77-{place.name}.new").write_bytes(data)
    made.purge(records["id"].to_list())
    assert made.read().is_empty()
    assert not list(made.path.rglob(".memops-*"))
    left = b"".join(p.read_bytes() for p in made.path.rglob("*") if p.is_file())
    texts = [t.encode() for t in records["text"] if "\ufffd" not in t]
    assert [t for t in texts if len(t) > 5 and t in left] == []
