"""The documentation cannot drift: what the README and docs/ show is what there is."""

import re
import subprocess
import sys
import tomllib

import pytest

from memops.cli import COMMANDS, cli
from memops.policy import Policy, described
from memops.schema import RECORDS
from memops.stores import kind_class

from . import docs

TEXTS = {page.name: page.read_text(encoding="utf-8") for page in docs.PAGES}
PARTS = {m[2]: m[0] for text in TEXTS.values() for m in docs.PART.finditer(text)}
CONTRIBUTING = (docs.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("name", sorted(docs.PARTS))
def test_a_made_part_of_a_page_is_current(name):
    made = f"<!-- made: {name} -->\n{docs.made(name)}<!-- end -->"
    assert PARTS[name] == made, f"write it anew: python -m tests.docs {name}"


@pytest.mark.parametrize("page", docs.PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme():
    names = {f"docs/{page.name}" for page in docs.PAGES if page.parent.name == "docs"}
    assert names <= set(LINK.findall(TEXTS["README.md"]))


def test_the_page_of_records_names_every_column():
    columns, _, _ = TEXTS["records.md"].partition(
        "\n## "
    )  # the tables of later parts are of others
    rows = re.findall(r"(?m)^\| `(\w+)`", columns)
    assert rows == RECORDS.names()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_and_every_option_a_word(name):
    command = cli.get_command(None, name)
    assert command.help
    subcommands = getattr(command, "commands", {"": command}).values()
    for sub in subcommands:
        assert all(p.help for p in sub.params if p.param_type_name == "option"), sub.name


def test_every_setting_has_its_reason():
    assert all(why for _, _, why in described(Policy()))


def test_help_names_the_exit_codes_and_the_stores():
    argv = [sys.executable, "-m", "memops", "--help"]
    out = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert out.stdout.startswith("Usage: memops ")
    for word in ("guard refused", "incomplete snapshot"):
        assert word in out.stdout
    shown = re.findall(r"\b([a-z]+):([A-Z]\S+|http\S+)", out.stdout.split("A STORE is")[1])
    assert len(shown) > 5 and all(path in kind_class(kind).paths for kind, path in shown)


def test_the_readme_names_every_suite_marker_and_extra():
    for word in ("pytest -m slow", "memops[flows]", "memops[models]", "constraints.txt"):
        assert any(word in text for text in (*TEXTS.values(), CONTRIBUTING))


def test_the_package_runs_as_the_command_does():
    argv = [sys.executable, "-m", "memops", "no-such-command"]
    out = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (out.returncode, out.stderr.split("\n")[0]) == (
        2,
        "memops: No such command 'no-such-command'.",
    )


def test_the_first_command_installs_the_core_alone_and_every_extra_is_named():
    first = TEXTS["README.md"].split("```sh\n")[1].splitlines()[0]
    assert "-e . " in first and "[" not in first and first.endswith("memops demo")
    with (docs.ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert all(f"`memops[{extra}]`" in TEXTS["README.md"] for extra in extras if extra != "dev")
