"""Replacing a file beside real writers: nothing that they acknowledged is lost."""

import hashlib
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from memops.stores.markdown import carry
from memops.stores.markdown.carry import Pace, replace
from memops.stores.markdown.carry_leavings import create, recover

AGENT = Path(__file__).with_name("agent.py")
EAGER = Pace(recent=-1.0)  # never waits for the file to hold still: the carrying has to do it


@contextmanager
def opened(folder):
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def agent(tmp_path, mode, lines, *paths):
    log = tmp_path / "acks.log"
    process = subprocess.Popen([sys.executable, AGENT, mode, str(lines), log, *paths])
    while not (log.exists() and log.read_bytes()):
        time.sleep(0.01)
    try:
        yield process, lambda: log.read_text().split("\n")[1:-1]
    finally:
        process.wait(300)


def upper_or_lower(data):
    first, end, rest = data.partition(b"\n")
    return first.swapcase() + end + rest


def race(tmp_path, mode, lines, pace):
    """Change the first line of a note again and again while an agent writes to it."""
    note = tmp_path / "note.md"
    note.write_text("- keep this line\n" * 50)
    verdicts = []
    with opened(tmp_path) as folder, agent(tmp_path, mode, lines, note) as (process, acks):
        while process.poll() is None:
            verdicts.append(replace(folder, "note.md", upper_or_lower, pace=pace))
    there = note.read_text().split("\n")
    missing = [token for token in acks() if f"- {token}" not in there]
    return missing, verdicts, sorted(p.name for p in tmp_path.iterdir())


def test_no_appended_line_is_lost_and_the_changes_are_made(tmp_path):
    missing, verdicts, names = race(tmp_path, "reopen", 1000, EAGER)
    assert missing == []
    assert verdicts.count("") > 3
    assert names == ["acks.log", "note.md"]


def test_a_file_that_a_writer_keeps_open_is_left_alone(tmp_path):
    missing, verdicts, _ = race(tmp_path, "keep", 400, EAGER)
    assert missing == []
    beside = [v for v in verdicts if v]
    assert beside and all(v.startswith(("skip.open", "skip.held")) for v in beside)


def test_a_writer_of_whole_files_loses_no_line(tmp_path):
    missing, _, _ = race(tmp_path, "concat", 700, EAGER)
    assert missing == []


def test_a_file_that_is_being_written_is_left_for_later(tmp_path):
    missing, verdicts, _ = race(tmp_path, "concat", 400, Pace())
    assert missing == []
    assert "skip.being_written" in verdicts


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["reopen", "keep", "concat"])
def test_ten_thousand_lines_survive(tmp_path, mode):
    for pace in (EAGER, Pace()):
        folder = tmp_path / str(pace.recent)
        folder.mkdir()
        assert race(folder, mode, 10_000, pace)[0] == []


class Latecomer:
    """Opens the file just before the rename and writes just after it."""

    def __init__(self, path, late):
        self.path, self.late = path, late

    def start(self):
        code = (
            "import sys,time; f=open(sys.argv[1], sys.argv[2]); print('open', flush=True);"
            "sys.stdin.readline(); f.write(sys.argv[3]); f.flush(); f.close()"
        )
        mode, text = self.late
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, self.path, mode, text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "open\n"

    def finish(self):
        self.process.communicate("\n", timeout=20)


def late_race(tmp_path, monkeypatch, late):
    """Replace a note whose old file gets its last words after the rename."""
    note = tmp_path / "note.md"
    note.write_bytes(b"- old\n- rest\n")
    writer = Latecomer(str(note), late)
    rename, renamed = os.replace, []

    def replacing(*args, **kwargs):
        if not renamed:
            renamed.append(True)
            writer.start()
            rename(*args, **kwargs)
            writer.finish()
        else:
            rename(*args, **kwargs)

    monkeypatch.setattr(carry.os, "replace", replacing)
    with opened(tmp_path) as folder:
        done = replace(folder, "note.md", lambda d: d.replace(b"- old\n", b""), pace=EAGER)
    assert renamed
    return done, note.read_bytes()


def test_what_arrives_in_the_old_file_after_the_rename_is_carried_over(tmp_path, monkeypatch):
    done, after = late_race(tmp_path, monkeypatch, ("a", "- late\n"))
    assert (done, after) == ("", b"- rest\n- late\n")


def test_a_file_that_another_wrote_over_is_given_back(tmp_path, monkeypatch):
    done, after = late_race(tmp_path, monkeypatch, ("w", "- mine\n"))
    assert (bool(done), after) == (True, b"- mine\n")


def test_a_writer_that_never_lets_go_gets_its_file_back(tmp_path, monkeypatch):
    note = tmp_path / "note.md"
    note.write_bytes(b"- old\n- rest\n")
    writer, rename, calls = Latecomer(str(note), ("a", "- later\n")), os.replace, []

    def replacing(*args, **kwargs):
        if not calls:
            writer.start()
        calls.append(True)
        rename(*args, **kwargs)

    monkeypatch.setattr(carry.os, "replace", replacing)
    with opened(tmp_path) as folder:
        pace = Pace(recent=-1.0, limit=0.2)
        done = replace(folder, "note.md", lambda d: d.replace(b"- old\n", b""), pace=pace)
    writer.finish()
    assert (bool(done), note.read_bytes()) == (True, b"- old\n- rest\n- later\n")


def test_the_undo_is_kept_before_the_rename(tmp_path):
    (tmp_path / "note.md").write_bytes(b"a\n")
    seen = []
    with opened(tmp_path) as folder:
        replace(
            folder,
            "note.md",
            lambda d: b"b\n",
            keep=lambda: seen.append((tmp_path / "note.md").read_bytes()),
        )
    assert (seen, (tmp_path / "note.md").read_bytes()) == ([b"a\n"], b"b\n")


def test_mode_and_time_stay(tmp_path):
    note = tmp_path / "note.md"
    note.write_bytes(b"a\n")
    note.chmod(0o640)
    os.utime(note, ns=(5_000, 123_456_789))
    with opened(tmp_path) as folder:
        assert not replace(folder, "note.md", lambda d: b"b\n")
    assert (note.stat().st_mode & 0o777, note.stat().st_mtime_ns) == (0o640, 123_456_789)


def test_a_link_is_never_written_through(tmp_path):
    (tmp_path / "target.md").write_bytes(b"a\n")
    (tmp_path / "note.md").symlink_to("target.md")
    with opened(tmp_path) as folder, pytest.raises(OSError):
        replace(folder, "note.md", lambda d: b"b\n", pace=EAGER)
    assert (tmp_path / "target.md").read_bytes() == b"a\n"


def test_a_new_file_is_not_put_over_one_that_came_first(tmp_path):
    with opened(tmp_path) as folder:
        assert create(folder, "note.md", b"a\n")
        assert not create(folder, "note.md", b"b\n")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("note.md", b"a\n")]


def left_behind(tmp_path, old, then):
    """What a kill after the rename leaves: the new note, a link to the old file, a draft."""
    digest = hashlib.sha256(old).hexdigest()[:16]
    (tmp_path / "note.md").write_bytes(b"- rest\n")
    (tmp_path / f".memops-{len(old)}-{digest}-note.md.old").write_bytes(then)
    (tmp_path / ".memops-1-note.md.new").write_bytes(b"draft")
    with opened(tmp_path) as folder:
        recover(folder)
    return [(p.name, p.read_bytes()) for p in tmp_path.iterdir()]


@pytest.mark.parametrize(
    "then, note",
    [
        (b"- old\n- rest\n", b"- rest\n"),
        (b"- old\n- rest\n- late\n", b"- rest\n- late\n"),
        (b"- mine\n", b"- rest\n- mine\n"),
    ],
    ids=["nothing came", "a line came", "another wrote it over"],
)
def test_a_kill_in_between_loses_no_line(tmp_path, then, note):
    assert left_behind(tmp_path, b"- old\n- rest\n", then) == [("note.md", note)]
