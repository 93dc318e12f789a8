"""What a terminal of eighty columns shows: tables that fit, colour unless NO_COLOR, nothing broken
that is to be copied; and what goes into a pipe, one line a row."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.cli import run
from memops.cli.output import longest_word, narrowed, width, wrapped
from tests.terminal import COLUMNS, typed

NOW = "2026-06-01T12:00:00Z"
LONG = "The pier of the old harbour is closed to everyone but the crew of the ferry, who land there"
HAN = "旧港的码头除了渡船的船员以外对所有人关闭，他们每天傍晚在那里靠岸，过夜之后再开往对岸的村子去接早班的乘客"
SECRET = "Tz9" + "-qv7Lm2-xR4"


@pytest.fixture
def store(memops):
    texts = [f"{LONG} at {n}" for n in range(3)] + [f"{HAN}{n}" for n in range(3)] + [LONG]
    rows = [
        {"id": f"harbour-note-of-the-ferry-{n:04}", "kind": "fact", "text": text, "source": "user", "created_at": "2026-01-01T00:00:00Z"}
        for n, text in enumerate([*texts, texts[0], f"The password of the pier is {SECRET}"])
    ]  # fmt: skip
    return f"jsonl:{memops.write('m.jsonl', rows).name}"


@given(st.text(), st.integers(2, 40))
def test_wrapping_keeps_every_word_and_breaks_none(text, room):
    lines = wrapped(text, room)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) <= max(room, longest_word(line)) for line in lines)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), min_size=1), st.integers(0, 200))
def test_columns_are_made_narrower_down_to_their_longest_word_or_not_at_all(sizes, room):
    least = [low for _, low in sizes]
    widths = [low + more for more, low in sizes]
    got = narrowed(widths, least, room)
    if not got:
        assert sum(least) > room
        return
    assert sum(got) <= max(room, sum(least))
    assert all(low <= now <= was for low, now, was in zip(least, got, widths, strict=True))


def test_every_table_fits_a_terminal_and_goes_into_a_pipe_whole(memops, store, monkeypatch, capsys):
    made = memops("plan", store, "--rule", "merge_exact", "--now", NOW)
    commands = (
        ["runs"], ["status", store, "--now", NOW], ["records", "inspect", store, "--now", NOW],
        ["snapshot", "check"], ["config", "rules"],
        ["explain", made["plan"], "1"], ["store", "kinds"],
    )  # fmt: skip
    long = 0
    for argv in commands:
        for columns in (0, COLUMNS):
            monkeypatch.setattr("memops.cli.output.terminal_columns", lambda n=columns: n)
            run(["--state", str(memops.state), *argv])
            lines = capsys.readouterr().out.splitlines()
            if columns:
                wide = [line for line in lines if width(line) > COLUMNS]
                assert all(
                    longest_word(line) > COLUMNS // 2 or "memops --state" in line for line in wide
                ), wide
                assert any("harbour-note-of-the-ferry-0000" in line for line in lines) or argv[
                    1:2
                ] != ["inspect"]
            else:
                long += sum(width(line) > COLUMNS for line in lines)
    assert long > 10


def test_a_text_is_wrapped_only_after_its_secrets_are_masked(memops, monkeypatch, capsys):
    monkeypatch.setattr("memops.cli.output.terminal_columns", lambda: 34)
    rows = [{"id": "a", "text": f"Of the pier: the password is {SECRET} since May"}]
    said = f"jsonl:{memops.write('s.jsonl', rows).name}"
    for argv in (["records", "inspect", said], ["records", "show", said, "a"]):
        run(["--state", str(memops.state), *argv])
        out = capsys.readouterr().out
        assert "[redacted:" in out and SECRET not in out, argv


def test_a_terminal_shows_colour_unless_it_is_not_wanted_and_a_pipe_never(memops, store):
    argv = ["--state", memops.state, "-q", "plan", store, "--rule", "merge_exact", "--now", NOW]
    code, seen, _ = typed(argv, memops.folder)
    assert code == 0 and "\x1b[" in seen
    code, seen, _ = typed(argv, memops.folder, NO_COLOR="1")
    assert code == 0 and "\x1b" not in seen and "in their place" in seen
    _, _, piped = typed([*argv, "--json"], memops.folder, on=())
    assert "\x1b" not in piped and json.loads(piped)["schema_version"] == 1
