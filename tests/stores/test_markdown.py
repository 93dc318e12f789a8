"""What both Markdown stores promise: exact bytes, exact undo, nothing outside the root."""

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from memops import apply as applying
from memops import snapshot
from memops.context import Context
from memops.errors import Corrupt, Incomplete, StoreNotFound
from memops.plan import diff, edit, nothing, outcome, put, squash
from memops.rules.unwrap_turns import unwrap_turns
from memops.schema import QUARANTINE, TOMBSTONE, from_rows
from memops.state import planfile, runs
from memops.stores import Work
from memops.stores.markdown.carry import Pace
from memops.stores.markdown.entries import digest_of as digest
from memops.stores.openclaw import OpenClaw
from memops.stores.xinghebot import XingheBot

from .restoring import put_back
from .test_contract import POLICY, joined

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOTE = b"# 2026-11-02\n\n- 09:00 Tea is served at four.\n- 09:30 Coffee is free.\n\nPlain words.\n"


def store(tmp_path, kind=OpenClaw, files=None):
    root = tmp_path / "root"
    for name, data in (files or {"memory/2026-11-02.md": NOTE}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        os.utime(root / name, ns=(10**18, 10**18))
    made = kind(str(root))
    made.pace = Pace(grace=0.0)
    return made


def tree(root):
    return {
        str(p.relative_to(root)): (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_mode)
        for p in root.rglob("*")
        if p.is_file()
    }


def carried_out(made, plan, check=lambda live, counts: {}):
    before, undo, answers = made.read(), [], []
    for batch in made.batches(squash(plan)):
        answers += made.write(Work(batch, before, NOW, check, undo.extend))
    return answers, undo


def placeless(records):
    """Records without what the lines around them decide: where they stand, and the order of a day."""
    return records.drop("origin", "block").with_columns(pl.col("created_at").dt.truncate("1s"))


def by_text(made, *texts):
    return made.read().filter(pl.col("text").is_in(texts))


LONG = "memory/2026-11-03-" + 241 * "x" + ".md"


def test_a_file_whose_name_is_as_long_as_names_may_be_is_edited_as_any_other(tmp_path):
    made = store(tmp_path, files={LONG: b"- The kiln is hot.\n- The shelf is red.\n"})
    assert len(Path(LONG).name) == 255
    (raw := tmp_path / "raw").mkdir()
    old = tree(made.path)
    made.copy(raw)
    answers, undo = carried_out(
        made, edit(made.read(), "update", "new", text=pl.col("text") + " Now.")
    )
    assert {a.state for a in answers} == {"applied"}
    assert (made.path / LONG).read_bytes().count(b" Now.\n") == 2
    assert {a.state for a in made.revert(undo[::-1])} == {"applied"}
    assert tree(made.path) == old
    (made.path / LONG).write_bytes(b"- other\n")
    put_back(made, raw)
    assert tree(made.path) == old
    made.purge(made.read()["id"].head(1).to_list())
    assert (made.path / LONG).read_bytes() == b"- The shelf is red.\n"


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENAMETOOLONG, errno.EBUSY])
def test_a_file_that_cannot_be_replaced_keeps_no_other_from_it(tmp_path, monkeypatch, code):
    """Of file systems without hard links, of long names in little room, of files mounted over."""
    names = [f"memory/2026-11-0{n}.md" for n in (1, 2, 3)]
    made = store(tmp_path, files={name: NOTE for name in names})
    link = os.link

    def failing(source, *args, **kwargs):
        if source == "2026-11-02.md":
            raise OSError(code, os.strerror(code))
        link(source, *args, **kwargs)

    monkeypatch.setattr(os, "link", failing)
    answers, _ = carried_out(made, edit(made.read(), "tombstone", "gone", superseded_by=TOMBSTONE))
    said = {(a.id.split(":")[0], a.state, a.why) for a in answers}
    why = f"{made.path / names[1]}: {os.strerror(code)}"
    assert said == {(names[0], "applied", ""), (names[1], "stale", why), (names[2], "applied", "")}
    assert (made.path / names[1]).read_bytes() == NOTE
    assert sorted(p.name for p in (made.path / "memory").iterdir()) == [Path(n).name for n in names]


def mixed_plan(records):
    """Half of the records leave, a quarter is rewritten, two are new, one only changes its tier."""
    n = records.height
    return pl.concat(
        [
            edit(records.head(n // 2), "tombstone", "gone", superseded_by=TOMBSTONE),
            edit(records.slice(n // 2, n // 4), "update", "new", text=pl.col("text") + " indeed"),
            edit(records.tail(1), "demote", "tier", tier="peripheral"),
            put(from_rows(NEW), "found"),
        ]
    )


NEW = [
    {"id": "u1", "kind": "fact", "text": "The gateway speaks TLS 1.3", "created_at": NOW},
    {"id": "u2", "kind": "preference", "text": "two\nlines # one memory", "created_at": NOW, "tags": ["ui"]},
]  # fmt: skip
FILES = {
    OpenClaw: {
        "MEMORY.md": b"\xef\xbb\xbf# Memory\r\n\r\n## Preferences\r\n- Likes tea\r\n- \xe5\x96\x9c\r\n\r\n"
        b"<!-- openclaw-memory-promotion:memory:memory/2026-11-02.md:3:3 -->\r\n"
        b"- Staging moved [score=0.812 signals=4 source=memory/2026-11-02.md:3-3] <!-- importance: 8 -->",
        "memory/2026-11-02.md": NOTE + b"- Tea\xe2\x80\xa8 room \xff\xfe is open #tea\n- twin\n- twin\n",
        "memory/people/alice.md": b"- Alice\n  - designs\n  goes on\n\n```sh\n# no heading\n```\n",
    },
    XingheBot: {
        "MEMORY.md": b"# MEMORY\n<!-- memory_md_update: at=x source=y -->\n\n## Preferences\n"
        b"- tea (source=run-20261001-080000-1f3c2d)\n",
        "daily/2026-11-02.md": b"- 2026-11-02T01:00:00Z [pref] tea #a #b (source=r)\n"
        b"- 2026-11-02T02:00:00Z [note] two\nlines #x\n- bare \xe7\xb5 bullet\n- bare \xe7\xb5 bullet\n"
        b"\n## Daily Summary (auto)\n<!-- auto_daily_summary: 2026-11-02 -->\n- date: 2026-11-02\n"
        b"\n### Highlights\n- tea\n",
        "sessions/2026-11-02-run-1.md": b"# Session Capture\n\n- run_id: run-1\n\n"
        b"## Messages (last 2)\n\n- ? user: hi\n- ? assistant: ok\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", [OpenClaw, XingheBot])
def test_the_live_store_after_writing_is_the_projected_outcome_and_undo_is_exact(tmp_path, kind):
    made = store(tmp_path, kind, FILES[kind])
    records, was = made.read(), tree(made.path)
    assert made.project(records).equals(records)
    plan = mixed_plan(records.filter(pl.col("kind") != "session"))
    wanted = made.project(outcome(records, plan))
    answers, undo = carried_out(made, plan)
    assert {a.state for a in answers} == {"applied"}
    assert placeless(made.read()).equals(placeless(wanted))
    back = made.revert(list(reversed(undo)))
    assert {a.state for a in back} == {"applied"}
    assert tree(made.path) == was
    assert {a.state for a in made.revert(undo)} == {"already"}
    assert tree(made.path) == was


@pytest.mark.parametrize("kind", [OpenClaw, XingheBot])
def test_a_copy_loads_as_the_store_reads_and_restores_it_exactly(tmp_path, kind):
    made = store(tmp_path, kind, FILES[kind])
    was, raw = tree(made.path), tmp_path / "raw"
    raw.mkdir()
    notes = made.copy(raw)
    assert tree(made.path) == was
    assert (notes["consistency"], notes["files"]) == ("per-file", 3)
    assert made.load(raw).equals(made.read())
    for path in made.path.rglob("*.md"):
        path.write_bytes(b"- ruined\n")
    (made.path / "MEMORY.md").unlink()
    put_back(made, raw)
    assert tree(made.path) == was


def test_a_copy_that_changed_is_not_believed(tmp_path):
    made = store(tmp_path)
    raw = tmp_path / "raw"
    raw.mkdir()
    made.copy(raw)
    (raw / "files/memory/2026-11-02.md").write_bytes(b"- other\n")
    with pytest.raises(Corrupt, match=r"2026-11-02\.md has changed since"):
        made.load(raw)


def test_a_change_takes_only_the_bytes_of_its_line(tmp_path):
    made = store(tmp_path)
    rows = by_text(made, "Coffee is free.")
    answers, _ = carried_out(made, edit(rows, "update", "new", text="Coffee costs 2 €."))
    after = (made.path / "memory/2026-11-02.md").read_bytes()
    assert after == NOTE.replace(b"Coffee is free.", "Coffee costs 2 €.".encode())
    assert answers[0].new_id in made.read()["id"]


def test_lines_that_the_agent_added_stay_when_a_run_is_taken_back(tmp_path):
    made = store(tmp_path)
    path = made.path / "memory/2026-11-02.md"
    _, undo = carried_out(
        made, edit(made.read().head(2), "quarantine", "x", superseded_by=QUARANTINE)
    )
    with path.open("ab") as out:
        out.write(b"- 10:00 A late guest.\n")
    path.write_bytes(path.read_bytes().replace(b"\n\n", b"\n\n- 08:00 An early guest.\n", 1))
    made.revert(undo)
    lines = NOTE.split(b"\n")
    assert path.read_bytes().split(b"\n") == [
        *lines[:2], b"- 08:00 An early guest.", *lines[2:6], b"- 10:00 A late guest.", b"",
    ]  # fmt: skip


def test_a_run_over_many_lines_is_taken_back_in_slices(tmp_path):
    body = b"".join(b"- line %d\n" % n for n in range(60))
    made = store(tmp_path, files={"memory/topic.md": body})
    rows = made.read().filter(pl.int_range(pl.len()) % 3 > 0)
    _, undo = carried_out(made, edit(rows, "tombstone", "x", superseded_by=TOMBSTONE))
    newest_first = list(reversed(undo))
    made.revert(newest_first[:25])
    made.revert(newest_first[25:])
    assert (made.path / "memory/topic.md").read_bytes() == body


def test_a_line_that_changed_since_is_stale_and_left_alone(tmp_path):
    made = store(tmp_path)
    before, path = made.read(), made.path / "memory/2026-11-02.md"
    path.write_bytes(NOTE.replace(b"Coffee is free", b"Coffee is gone"))
    plan = squash(
        edit(
            before.filter(pl.col("text") == "Coffee is free."),
            "tombstone",
            "x",
            superseded_by=TOMBSTONE,
        )
    )
    kept = []
    answers = made.write(Work(plan, before, NOW, lambda live, counts: {}, kept.extend))
    assert [(a.state, a.why) for a in answers] == [("stale", "skip.line_moved")]
    assert (kept, path.read_bytes()) == ([], NOTE.replace(b"Coffee is free", b"Coffee is gone"))


def test_applying_again_removes_no_twin(tmp_path):
    made = store(tmp_path, files={"memory/topic.md": b"- twin\n- twin\n"})
    before = made.read()
    plan = squash(edit(before.head(1), "tombstone", "x", superseded_by=TOMBSTONE))
    work = Work(plan, before, NOW, lambda live, counts: {}, lambda undo: None)
    assert [a.state for a in made.write(work)] == ["applied", "moved"]
    assert [a.state for a in made.write(work)] == ["stale"]
    assert (made.path / "memory/topic.md").read_bytes() == b"- twin\n"


def test_a_twin_that_stays_is_known_by_the_number_that_the_other_had(tmp_path):
    made = store(tmp_path, files={"memory/topic.md": b"- twin\n- other\n- twin\n- twin\n"})
    first, second, third = (f"memory/topic.md:{digest(b'- twin')}:{n}" for n in range(3))
    plan = edit(made.read().filter(pl.col("id") == first), "merge", "x", superseded_by=second)
    answers, undo = carried_out(made, plan)
    assert {a.id: (a.state, a.new_id) for a in answers} == {
        first: ("applied", third), second: ("moved", first), third: ("moved", second),
    }  # fmt: skip
    assert set(made.read()["id"]) >= {first, second}
    made.revert(undo)
    assert (made.path / "memory/topic.md").read_bytes() == b"- twin\n- other\n- twin\n- twin\n"


def test_a_run_that_keeps_the_later_of_two_twins_reads_back_as_written(tmp_path):
    made, state = (
        store(tmp_path, files={"memory/topic.md": b"- twin\n- x\n- twin\n"}),
        tmp_path / "s",
    )
    was = tree(made.path)
    taken = snapshot.take(made, state, NOW, POLICY)
    before = taken.records()
    gone, kept = before.filter(pl.col("text") == "twin")["id"].sort()
    here = pl.col("id") == gone
    changes = edit(before.filter(here), "merge", "x", superseded_by=kept).with_columns(
        rule=pl.lit("merge_exact"), risk=pl.lit("low")
    )
    sunk = edit(before.filter(~here), "demote", "x", importance=0.125)
    sunk = sunk.with_columns(rule=pl.lit("demote_faded"), risk=pl.lit("low"))
    both = pl.concat([changes, sunk])
    both = planfile.Planned(taken, before, both, both.clear(), POLICY, NOW)
    plan = planfile.save(state, both, NOW)
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert (done["state"], done["applied"]) == ("verified", 3)
    after = joined(made, state)
    assert after.filter(pl.col("superseded_by").is_null())["importance"].to_list() == [0.125] * 2
    assert (
        after.filter(pl.col("superseded_by").is_not_null()).rows_by_key(
            "id", named=True, unique=True
        )[kept]["superseded_by"]
        == gone
    )
    applying.rollback(runs.find_run(done["run"], state), state)
    assert tree(made.path) == was
    assert diff(joined(made, state), before).is_empty()


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    made = store(tmp_path)
    before = made.read()
    first, second, third = (
        by_text(made, t)["id"][0]
        for t in ("Tea is served at four.", "Coffee is free.", "Plain words.")
    )
    chain = pl.concat([
        edit(before.filter(pl.col("id") == first), "supersede", "x", superseded_by=second),
        edit(before.filter(pl.col("id") == second), "supersede", "x", superseded_by=third),
    ])  # fmt: skip
    check = lambda live, counts: (
        {} if second in live["id"] else {first: "the record that replaces it is gone"}
    )  # noqa: E731
    carried_out(made, chain.filter(pl.col("id") == second))
    again = OpenClaw(str(made.path))
    work = Work(squash(chain), before, NOW, check, lambda undo: None, frozenset([second]))
    assert {a.id: a.state for a in again.write(work)} == {first: "applied", second: "already"}
    assert again.read()["text"].to_list() == ["Plain words."]


def test_a_change_to_a_record_that_the_snapshot_lacks_is_stale(tmp_path):
    made = store(tmp_path)
    plan = squash(edit(made.read(), "promote", "x", tier="core"))
    answers = made.write(
        Work(plan, made.read().clear(), NOW, lambda live, counts: {}, lambda undo: None)
    )
    assert {a.state for a in answers} == {"stale"}
    assert (made.path / "memory/2026-11-02.md").read_bytes() == NOTE


def test_an_insertion_happens_once(tmp_path):
    made = store(tmp_path)
    plan = put(from_rows(NEW[:1]), "found")
    first, _ = carried_out(made, plan)
    second, undo = carried_out(made, plan)
    assert [a.state for a in (*first, *second)] == ["applied", "already"]
    assert (first[0].new_id, undo) == (second[0].new_id, [])
    assert (
        made.path / "memory/memops/fact.md"
    ).read_bytes() == b"- 2026-11-21: The gateway speaks TLS 1.3\n"


def test_folders_that_had_to_be_made_go_when_a_run_is_taken_back_and_others_stay(tmp_path):
    made = store(tmp_path, files={"memory/2026-11-02.md": NOTE})
    (made.path / "memory" / "empty").mkdir()
    was = sorted(made.path.rglob("*"))
    _, undo = carried_out(made, put(from_rows(NEW), "found"))
    assert {u.where for u in undo} == {"memory/memops/fact.md", "memory/memops/preference.md"}
    for item in sorted(undo, key=lambda u: u.where):
        made.revert([item])
    assert sorted(made.path.rglob("*")) == was


def test_the_guard_sees_live_records_and_keepers_and_may_refuse(tmp_path):
    made = store(tmp_path)
    old, new = (
        by_text(made, "Tea is served at four.")["id"][0],
        by_text(made, "Plain words.")["id"][0],
    )
    seen = {}

    def check(live, counts):
        seen.update(ids=sorted(live["id"]), counts=counts.to_dicts())
        return {old: "no"}

    answers, undo = carried_out(
        made,
        edit(made.read().filter(pl.col("id") == old), "supersede", "x", superseded_by=new),
        check,
    )
    assert [(a.state, a.why) for a in answers] == [("refused", "no")]
    assert (undo, (made.path / "memory/2026-11-02.md").read_bytes()) == ([], NOTE)
    assert seen == {
        "ids": sorted([old, new]),
        "counts": [{"scope": "default", "kind": "note", "category": None, "live": 3}],
    }


def test_a_point_goes_with_the_points_beneath_it(tmp_path):
    made = store(tmp_path, files={"memory/topic.md": b"- Alice\n  - designs\n- Bob\n"})
    alice = by_text(made, "Alice\n  - designs")
    answers, undo = carried_out(made, edit(alice, "tombstone", "x", superseded_by=TOMBSTONE))
    assert [a.state for a in answers] == ["applied"]
    assert (made.path / "memory/topic.md").read_bytes() == b"- Bob\n"
    made.revert(undo)
    assert (made.path / "memory/topic.md").read_bytes() == b"- Alice\n  - designs\n- Bob\n"


SECTIONS = (
    b"# Notes\n\nWords.\n\n## Tools\n\n**Editors:**\n- vim\n- ed\n\n---\n\n### Older\n\n"
    b"1. cat\n2. echo\n\n## People\n- Bob\n"
)


def test_headings_and_labels_go_with_the_last_that_stands_under_them_and_come_back(tmp_path):
    made = store(tmp_path, files={"memory/topic.md": SECTIONS})
    path, before = made.path / "memory/topic.md", made.read()
    tools = before.filter(pl.col("subject").str.starts_with("Notes › Tools"))
    answers, _ = carried_out(made, edit(tools.head(1), "tombstone", "x", superseded_by=TOMBSTONE))
    assert b"**Editors:**" in path.read_bytes() and b"## Tools" in path.read_bytes()
    path.write_bytes(SECTIONS)
    answers, undo = carried_out(made, edit(tools, "tombstone", "x", superseded_by=TOMBSTONE))
    assert {a.state for a in answers} == {"applied"}
    assert path.read_bytes() == b"# Notes\n\nWords.\n\n## People\n- Bob\n"
    made.revert(undo)
    assert path.read_bytes() == SECTIONS


def test_one_of_a_section_that_comes_back_alone_comes_back_under_its_headings(tmp_path):
    made = store(tmp_path, files={"memory/topic.md": SECTIONS})
    path, before = made.path / "memory/topic.md", made.read()
    tools = before.filter(pl.col("subject").str.starts_with("Notes › Tools"))
    _, undo = carried_out(made, edit(tools, "tombstone", "x", superseded_by=TOMBSTONE))
    first = [u for u in undo if u.id in tools.filter(pl.col("text") == "ed")["id"]]
    made.revert(first)
    kept = made.read().filter(pl.col("text") == "ed")
    assert kept["subject"].to_list() == ["Notes › Tools › Editors"]
    made.revert([u for u in undo if u not in first])
    assert path.read_bytes() == SECTIONS


@pytest.mark.parametrize(
    "said", ["1. yes, 950", "- the blue one", "| a | b |\n|---|---|\n| 1 | 2 |", "> as you said"]
)
def test_a_turn_is_left_where_its_new_text_would_be_read_as_something_else(tmp_path, said):
    text = (
        "# Session: 2026-05-01 09:00:00 UTC\n\n- **Session ID**: x\n\n## Conversation Summary\n\n"
        f"user: <relevant-memories>\n- the rent is due\n</relevant-memories>\n\n{said}\n"
        "assistant: Noted, from June.\nuser: And Ben pays 400 of it.\nassistant: Got it.\n"
    )
    made = store(tmp_path, files={"memory/2026-05-01-0900.md": text.encode()})
    plan = unwrap_turns(made.read(), Context(now=NOW))
    carried_out(made, plan)
    left = (made.path / "memory/2026-05-01-0900.md").read_text()
    assert said in left and "\nuser: And Ben pays 400 of it.\nassistant: Got it.\n" in left
    assert "\nassistant: Noted, from June.\n" in left


def test_bytes_that_are_no_text_survive_an_edit_beside_them(tmp_path):
    made = store(tmp_path, files={"memory/topic.md": b"- key \xe7\xb5 abc word\n"})
    rows = made.read()
    assert rows["text"].to_list() == ["key \ufffd\ufffd abc word"]
    carried_out(made, edit(rows, "update", "redacted", text="key \ufffd\ufffd [redacted] word"))
    assert (made.path / "memory/topic.md").read_bytes() == b"- key \xe7\xb5 [redacted] word\n"


def test_links_and_odd_files_are_passed_over_and_named(tmp_path):
    made = store(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"- secret\n")
    folder = made.path / "memory"
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "folder").symlink_to(outside)
    os.link(outside / "secret.md", folder / "hard.md")
    os.mkfifo(folder / "pipe.md")
    (folder / ".tmp.1.md").write_bytes(b"- transient\n")
    raw = tmp_path / "raw"
    raw.mkdir()
    assert made.copy(raw)["skipped"] == {
        "memory/folder": "a symbolic link",
        "memory/hard.md": "a hard link",
        "memory/link.md": "a symbolic link",
        "memory/pipe.md": "no regular file",
    }
    assert set(made.read()["text"]) == {"Tea is served at four.", "Coffee is free.", "Plain words."}
    assert not any(b"secret" in p.read_bytes() for p in raw.rglob("*") if p.is_file())


def test_a_root_that_is_missing_or_a_link_is_named(tmp_path):
    with pytest.raises(StoreNotFound, match=r"nowhere does not exist"):
        OpenClaw(str(tmp_path / "nowhere")).read()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(StoreNotFound, match=r"link is a symbolic link") as caught:
        OpenClaw(str(tmp_path / "link")).read()
    assert str(tmp_path / "real") in caught.value.hint


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    made = store(tmp_path)
    opened = os.open

    def refusing(path, flags, *args, **kwargs):
        if str(path) == "2026-11-02.md":
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(Incomplete, match=r"memory/2026-11-02\.md: Permission denied"):
        made.read()


def test_recent_names_the_records_of_files_written_since(tmp_path):
    made = store(tmp_path, files={"memory/old.md": b"- old\n", "memory/new.md": b"- new\n"})
    os.utime(made.path / "memory/new.md", (NOW.timestamp(), NOW.timestamp()))
    assert made.recent(NOW) == {by_text(made, "new")["id"][0]}


def test_a_plan_without_changes_has_no_batch(tmp_path):
    assert list(store(tmp_path).batches(nothing())) == []
