"""A run's own records: torn lines, the first pre-image, and what the checker itself notices."""

import os

import pytest

from memops.errors import Corrupt
from memops.journal import Journal
from memops.state.runs import Run, batches_of_undo

from .checker import lost_lines, lost_rows, unexplained


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path / "j.jsonl")
    made.add({"n": 1}, {"n": "二"})
    return made


@pytest.mark.parametrize("torn", [b"{", b'{"sum": "0123', b"x" * 200_000])
def test_a_torn_line_is_passed_over_and_cut_off(journal, torn):
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + torn)
    assert journal.entries() == [{"n": 1}, {"n": "二"}]
    journal.add({"n": 3})
    assert journal.entries() == [{"n": 1}, {"n": "二"}, {"n": 3}]
    assert journal.path.read_bytes().startswith(whole + b'{"sum"')


def test_every_beginning_of_a_journal_reads_as_what_was_acknowledged_by_then(journal):
    whole = journal.path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for size in range(len(whole) + 1):
        journal.path.write_bytes(whole[:size])
        assert len(journal.entries()) == sum(end <= size for end in ends)


def test_a_broken_line_before_the_last_is_damage(journal):
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"n": 1', b'"n": 2'))
    with pytest.raises(Corrupt, match=r"j\.jsonl, line 1"):
        journal.entries()


def test_of_two_pre_images_the_first_is_the_one_to_go_back_to(tmp_path):
    run = Run(tmp_path)
    run.undo.add({"id": "a", "where": "t", "before": "one", "after": "two"})
    run.undo.add({"id": "a", "where": "t", "before": "two", "after": "three"})
    ((undo,),) = batches_of_undo(run)
    assert (undo.before, undo.after) == ("one", "three")


def test_of_undo_that_holds_some_fields_the_first_pre_image_of_each_counts(tmp_path):
    """Another field may differ when a change that was cut off is made again."""
    run = Run(tmp_path)
    about = {"id": "a", "where": "t"}
    run.undo.add({**about, "before": {"x": 1}, "after": {"x": 2}})
    run.undo.add({**about, "before": {"x": 2, "y": "一"}, "after": {"x": 3, "y": "二"}})
    run.undo.add({**about, "before": {"x": 3, "y": "二", "z": 0}, "after": None})
    run.undo.add({"id": "new", "where": "t", "before": None, "after": {"x": 1, "y": 1}})
    run.undo.add({"id": "new", "where": "t", "before": {"x": 1}, "after": {"x": 2}})
    (there,) = batches_of_undo(run)
    images = {undo.id: (undo.before, undo.after) for undo in there}
    assert images["a"] == ({"x": 1, "y": "一", "z": 0}, None)
    assert images["new"] == (None, {"x": 2, "y": 1})


def test_files_are_private_whatever_the_umask(tmp_path):
    old = os.umask(0)
    try:
        made = Journal(tmp_path / "open.jsonl")
        made.add({"n": 1})
    finally:
        os.umask(old)
    assert made.path.stat().st_mode & 0o777 == 0o600


def test_the_checker_notices_what_was_lost_changed_or_came_back():
    acks = [
        {"op": "put", "id": "a", "content": "one"},
        {"op": "put", "id": "b", "content": "two"},
        {"op": "link", "id": "b", "link": "key_a"},
        {"op": "put", "id": "c", "content": "three"},
        {"op": "forget", "id": "c"},
    ]
    right = {
        "a": {"content": "one", "superseded_by": None},
        "b": {"content": "two", "superseded_by": "key_a"},
    }
    assert lost_rows(acks, right) == []
    assert len(lost_rows(acks, {"b": right["b"]})) == 1
    assert len(lost_rows(acks, {**right, "b": {"content": "older", "superseded_by": None}})) == 2
    assert len(lost_rows(acks, {**right, "c": right["a"]})) == 1


def test_the_checker_wants_each_line_once_and_each_deletion_explained():
    acks = [{"op": "line", "path": "n.md", "line": "- x\n"}]
    assert lost_lines(acks, {"n.md": b"# n\n- x\n"}) == []
    assert len(lost_lines(acks, {"n.md": b"- x\n- x\n"})) == len(lost_lines(acks, {})) == 1
    before = {"a": {"content": "one"}}
    undo = [{"id": "a", "before": {"content": "one"}}]
    deletion = [{"id": "a", "action": "delete"}]
    assert unexplained(before, {}, [], deletion, undo) == []
    assert len(unexplained(before, {}, [], [], undo)) == 1
    assert len(unexplained(before, {}, [], deletion, [])) == 1
