"""Laws of Markdown stores: every byte is somebody's, and what leaves comes back."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memops.documents.lines import decoded, encoded, lines_of
from memops.schema import TOMBSTONE
from memops.stores.markdown.changes import FileState
from memops.stores.markdown.edit import Wish, edited
from memops.stores.markdown.entries import entries
from memops.stores.markdown.records import identified, projected, table
from memops.stores.markdown.undo import reverted
from memops.stores.openclaw import OpenClaw
from memops.stores.xinghebot import XingheBot
from tests.counts import few

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
markdown = st.lists(
    st.sampled_from(
        ["- a b\n", "- a b\r\n", "plain\n", "\n", "# H\n", "## Retain\n", "- W @X: y\n", "  deeper\n", "  - sub\n",
         "<!-- observed: 2026-01-02 | status: superseded -->\n", "<!-- c\n", "-->\n", "```\n", "---\n", "| a | b |\n",
         "|---|---|\n", "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n", "user: hi\n", "# Session: 2026-01-02 10:00:00\n",
         "- 2026-11-02T01:00:00Z [note] x #t (source=s)\n", "- [ ] todo\n", "1. one\n", "> said\n", "- \u2028\n", "- 喜欢 #茶\n", "\ufeff- bom\n"]
    )
    | st.text(max_size=12).map(lambda t: t.replace("\x00", "") + "\n"),
    max_size=14,
)  # fmt: skip
data = markdown.map(lambda parts: encoded("".join(parts))) | st.binary(max_size=60) | st.tuples(
    markdown, st.binary(max_size=6)).map(lambda p: encoded("".join(p[0])) + p[1])  # fmt: skip
paths = st.sampled_from(["MEMORY.md", "USER.md", "memory/2026-11-02.md", "memory/t.md", "daily/2026-11-02.md", "sessions/s.md"])  # fmt: skip
kinds = st.sampled_from([OpenClaw, XingheBot])


@few(40)
@given(data, paths, kinds)
def test_entries_are_exact_ranges_of_bytes_and_nothing_changes_nothing(raw, path, kind):
    state = FileState.read(path, raw, kind.grammar)
    assert b"".join(lines_of(raw)) == raw
    assert encoded(decoded(raw)) == raw
    ends = 0
    for _, entry in state.found:
        unit = state.document.units[entry.unit]
        assert unit.start >= ends and unit.line == entry.line - 1
        ends = entry.line + entry.height - 1
        assert b"".join(state.document.lines[entry.line - 1 : ends]).startswith(entry.raw)
    assert edited(state, [], {}, kind.grammar, kind("x").planned).data == raw


@few(40)
@given(data, paths, kinds)
def test_reading_again_from_the_records_alone_gives_the_same_records(raw, path, kind):
    records = table(identified(entries(raw, path, kind.grammar)))
    assert projected(records, kind.grammar, kind("x").planned).to_dicts() == records.to_dicts()


@few(50)
@given(data, paths, kinds, st.data())
def test_what_leaves_comes_back_to_the_byte(raw, path, kind, draw):
    state = FileState.read(path, raw, kind.grammar)
    gone = (
        draw.draw(st.sets(st.sampled_from([k for k, _ in state.found]))) if state.found else set()
    )
    new = draw.draw(st.booleans())
    rows = {row["id"]: row for row in table(state.found).to_dicts()}
    wishes = [
        Wish(key, rows[key], rows[key] | {"superseded_by": TOMBSTONE}) for key in sorted(gone)
    ]
    if new:
        wishes += [
            Wish(
                "u",
                None,
                {"id": "u", "text": "new words", "kind": "fact", "created_at": NOW, "tags": []},
            )
        ]
    made = edited(state, wishes, {}, kind.grammar, kind("x").planned)
    assert reverted(made.data, list(reversed(made.undo))).data == raw
    tail = b"- came later\n"
    later = made.data + (b"" if made.data.endswith(b"\n") or not made.data else b"\n") + tail
    back = reverted(later, made.undo).data or b""
    assert tail in back
    assert sorted(_words(back)) == sorted(_words(raw + b"\n" + tail))


def _words(raw):
    said = (line.strip(b"\r\n\xef\xbb\xbf") for line in lines_of(raw))
    return [line for line in said if line]


sections = st.lists(
    st.tuples(st.sampled_from("ABC"), st.lists(st.sampled_from(["Beds are free.", "The lift is out.", "He may come."]), min_size=1, max_size=3)),
    min_size=2, max_size=8,
)  # fmt: skip


@few(50)
@given(sections, st.data())
def test_what_stood_twice_comes_back_where_it_was_though_the_file_has_grown(parts, draw):
    text = "# Ward\n\nSince May.\n" + "".join(
        f"\n## {name}\n\n" + "\n\n".join(said) + "\n" for name, said in parts
    )
    state = FileState.read("memory/t.md", text.encode(), OpenClaw.grammar)
    rows = {row["id"]: row for row in table(state.found).to_dicts()}
    parted = sorted(key for key in rows if rows[key]["text"] != "Since May.")
    gone = draw.draw(st.sets(st.sampled_from(parted), min_size=1))
    wishes = [
        Wish(key, rows[key], rows[key] | {"superseded_by": TOMBSTONE}) for key in sorted(gone)
    ]
    made = edited(state, wishes, {}, OpenClaw.grammar, OpenClaw("x").planned)
    grown = draw.draw(st.sampled_from([b"", b"\n- Ida came.\n", b"\n## D\n\nIda came.\n"]))
    said = [*(rows[key]["text"] for key in gone), *(name for name, _ in parts)]
    apart = len({*said}) == len(said)  # else a part of them may be any of them
    first = draw.draw(st.sets(st.sampled_from(range(len(made.undo))))) if apart else set()
    later = (made.data or b"") + grown
    was = _headed(later)["- Ida came."] if b"- Ida" in grown else None
    for some in (first, set(range(len(made.undo))) - first):
        later = reverted(later, [made.undo[n] for n in sorted(some)]).data or b""
    if was is None:
        assert later == text.encode() + grown
    else:  # what was written meanwhile stays under the heading that it was written under
        assert _headed(later)["- Ida came."] == was
        assert _words(later.replace(b"- Ida came.\n", b"")) == _words(text.encode())


def _headed(raw):
    lines, over = raw.decode().split("\n"), ""
    return {line: (over := line if line.startswith("#") else over) for line in lines}


def test_of_more_equal_lines_than_were_planned_none_is_taken():
    text = "# Ida\n\n## Tea\n\nAllergic to nuts.\n\n## Milk\n\nAllergic to nuts.\n"
    planned = table(FileState.read("memory/t.md", text.encode(), OpenClaw.grammar).found).to_dicts()
    wish = Wish(planned[1]["id"], planned[1], planned[1] | {"superseded_by": TOMBSTONE})
    grown = text.replace("# Ida\n", "# Ida\n\n## Bread\n\nAllergic to nuts.\n").encode()
    state = FileState.read("memory/t.md", grown, OpenClaw.grammar)
    made = edited(state, [wish], {}, OpenClaw.grammar, OpenClaw("x").planned)
    assert (made.data, [(w.state, w.why) for w in made.answers]) == (
        grown,
        [("stale", "skip.line_twice")],
    )
