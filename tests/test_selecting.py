"""Records named by id, by key, and by a beginning that is no other's; and the echo of a change."""

import pytest

from memops.commands.selecting import meant, numbers
from memops.errors import MemopsError
from memops.schema import from_rows

ROWS = [
    {"id": "3f2a-1", "key": "user_city", "text": "Lives in Porto", "kind": "fact"},
    {"id": "3f9b-2", "key": "user_name", "text": "Is called Ines", "kind": "fact"},
    {"id": "user", "key": "other", "text": "Runs the print workshop", "kind": "fact"},
]


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("3f2a-1", "3f2a-1"), ("3f2", "3f2a-1"), ("user_city", "3f2a-1"),
        ("user_n", "3f9b-2"), ("user", "user"), ("oth", "user"),
    ],
)  # fmt: skip
def test_a_record_is_named_by_id_key_or_the_only_beginning(name, id):
    assert meant(from_rows(ROWS), [name], "home") == [id]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("3f", "names 2 records; nothing was changed say which: '3f2a-1', '3f9b-2'"),
        ("user_", "names 2 records"),
        ("user_ctiy", "no record 'user_ctiy'; nothing was changed did you mean 'user_city'?"),
        ("zzz", "list them with `memops records inspect home`"),
        ("", "names 3 records"),
    ],
)
def test_what_names_none_or_several_is_refused_with_what_is_near(name, words):
    with pytest.raises(MemopsError) as error:
        meant(from_rows(ROWS), [name], "home", "; nothing was changed")
    assert words in f"{error.value.message} {error.value.hint}"


def test_a_plan_a_run_and_a_snapshot_are_named_by_how_theirs_alone_begins(memops, twins):
    made = memops("plan", f"jsonl:{memops.write('m.jsonl', twins)}")
    plan, taken = made["plan"], made["snapshot"]
    assert memops("explain", plan[:6], "1")["plan"] == plan and memops.code == 0
    assert memops("report", plan[:5])["path"].split("/")[-2] == plan
    run = memops("apply", plan[:5], "--approve")["run"]
    assert memops("check", taken[:18])["snapshot"] == taken
    assert memops("rollback", run[:7])["run"] == run
    memops("review", plan, "--keep", "all")
    again = memops("apply", plan, "--approve")["run"]
    said = memops("resume", plan)  # the beginning of both
    assert (memops.code, "names 2 things" in said["message"]) == (2, True)
    assert run in said["hint"] and again in said["hint"]
    assert memops("explain", plan[:3], "1")["code"] == 22


def test_every_command_of_records_takes_a_key_or_a_beginning(memops):
    store = f"jsonl:{memops.write('m.jsonl', ROWS)}"
    assert memops("records", "show", store, "user_c")["record"]["id"] == "3f2a-1"
    assert memops("records", "pin", store, "3f9")["ids"] == ["3f9b-2"]
    assert memops("records", "unpin", store, "user_name")["ids"] == ["3f9b-2"]
    done = memops("records", "edit", store, "user_city", "--tier", "core")
    assert memops("explain", done["plan"], "3f2")["id"] == "3f2a-1"
    assert memops("records", "forget", store, "oth")["ids"] == ["user"]
    assert memops("records", "recover", store, "other")["ids"] == ["user"]
    memops("records", "forget", store, "3f")
    assert memops.code == 2


def test_what_is_edited_or_forgotten_is_shown_as_before_and_after(memops):
    from memops.cli import run

    store = f"jsonl:{memops.write('m.jsonl', ROWS)}"
    state = ["--state", str(memops.state), "records"]
    assert run([*state, "edit", store, "user_city", "--text", "Lives in Lisbon"]) == 0
    out = memops.capsys.readouterr().out
    assert "  3f2a-1: Lives in Porto\n    text: Lives in Porto -> Lives in Lisbon\n" in out
    assert run([*state, "forget", store, "user_name", "--plan-only"]) == 0
    assert "  3f9b-2: Is called Ines\n" in memops.capsys.readouterr().out


def test_changes_are_named_by_numbers_and_ranges_of_them():
    assert numbers("3,7-9, 12") == [3, 7, 8, 9, 12]
    assert numbers(None) == []


@pytest.mark.parametrize("wrong", ["3,x", "9-7", "1-", "-3", "1-9999999999", "0-900000000"])
def test_what_is_no_number_or_range_is_named(wrong):
    with pytest.raises(MemopsError, match="change"):
        numbers(wrong)
