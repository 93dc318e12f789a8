"""The commands in their groups: found, listed, with examples that parse; old names work for now."""

import shlex
from pathlib import Path

import click
import pytest

from memops.cli import cli, run
from memops.cli.registry import COMMANDS, EXAMPLES, GROUPS, SECTIONS, STEADY, TOP, path_of
from tests.test_next_steps import understood


def helped(capsys, *argv):
    code = run([*argv, "--help"])
    return code, capsys.readouterr().out


def test_the_top_has_fourteen_commands_and_the_groups_the_rest():
    listed = [own for _, held in GROUPS.values() for own in held.values()]
    assert len(TOP) - len(GROUPS) == 14
    assert {*TOP, *listed} == {*COMMANDS, *GROUPS}
    assert len(listed) == len({*listed}) and {*TOP} & {*listed} == {"snapshot"}


def test_help_lists_the_daily_commands_first_and_none_that_stands_in_a_group(capsys):
    code, out = helped(capsys)
    places = [out.index(f"\n{title}:") for title in SECTIONS]
    assert code == 0 and places == sorted(places) and next(iter(SECTIONS)) == "Every day"
    assert "\n  nightly " in out and "\n  inspect " not in out and "\n  records " in out
    for name in GROUPS:
        code, out = helped(capsys, name)
        assert code == 0 and all(f"\n  {own} " in out for own in GROUPS[name][1])


def leaves():
    """What is typed for every command that is no group by itself, with its example."""
    for name in COMMANDS:
        below = getattr(cli.get_command(click.Context(cli), name), "commands", {"": None})
        for own in below:
            yield f"{path_of(name)} {own}".strip(), EXAMPLES.get(f"{name} {own}".strip())


@pytest.mark.parametrize(("path", "given"), sorted(leaves()))
def test_every_help_has_an_example_which_memops_understands(
    path, given, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("PAIRS.jsonl", "notes.txt", "sheet.tsv"):
        Path(name).touch()
    Path("FOLDER").mkdir()
    understood([*path.split(), *shlex.split(given.split(">")[0])])
    assert f"Example: memops {path} {given}".rstrip() in helped(capsys, *path.split())[1]


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {*TOP}))
def test_an_old_name_works_and_says_the_new_one_but_for_those_that_programs_call(name, capsys):
    assert run([name, "--help"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"Usage: memops {name} ")
    hint = f"memops: `memops {name}` is `memops {path_of(name)}` now\n"
    assert said.err == ("" if name in STEADY else hint)
    run([name, "--no-such-option", "--json"])
    assert "is `memops" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "near"),
    [(["nihgtly"], "nightly"), (["recrods"], "records"), (["records", "shw"], "show")],
)
def test_what_is_mistyped_gets_a_suggestion(argv, near, capsys):
    assert run(argv) == 2
    assert f"No such command {argv[-1]!r}. Did you mean {near!r}?" in capsys.readouterr().err


@pytest.mark.parametrize("argv", ["--state one runs", "runs --state one", "runs --state=one"])
def test_the_state_folder_may_be_named_before_the_command_or_behind_it(argv, memops):
    path = memops.write("m.jsonl", [{"id": "a", "text": "tea"}])
    assert run(["snapshot", f"jsonl:{path}", "--state", "one"]) == 0
    assert run(argv.split()) == 0
    assert "no run and no plan in" in memops.capsys.readouterr().out
    assert run(["runs", "--state"]) == 2
    assert "Option '--state' requires an argument" in memops.capsys.readouterr().err


def test_snapshot_takes_one_as_ever_and_has_its_own_commands(memops):
    path = memops.write("m.jsonl", [{"id": "a", "text": "tea"}])
    first = memops("snapshot", f"jsonl:{path}")
    assert memops("snapshot", "--now", "2026-06-01T12:00:00Z", f"jsonl:{path}")["rows"] == 1
    assert memops("snapshot", "take", f"jsonl:{path}")["rows"] == 1
    memops("snapshot", "check", first["snapshot"])
    assert memops.code == 0


def test_a_line_to_copy_of_a_group_carries_the_state_folder(memops):
    run(["--state", str(memops.state), "records", "show", "jsonl:none.jsonl", "a"])
    run(["--state", str(memops.state), "plan", "odd:thing"])
    assert f"memops --state {memops.state} store kinds" in memops.capsys.readouterr().err
