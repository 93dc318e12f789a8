"""The first minutes: this machine's stores are found, and a settings file that holds is written."""

import json
import os
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from memops import cli


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("CLAWSEED_WORKSPACE", "RSCLAW_BASE_DIR", "MEMOPS_CONFIG", "MEMOPS_STATE"):
        monkeypatch.delenv(name, raising=False)
    for place in (
        ".openclaw/workspace",
        ".openclaw/workspace-work",
        ".xinghebot/workspace/p/memory",
    ):
        (tmp_path / "home" / place / "memory").mkdir(parents=True)
        (tmp_path / "home" / place / "MEMORY.md").write_text(
            "# Memory\n\n- The depot opens at nine\n"
        )
    (tmp_path / "home" / ".openclaw" / "workspace-empty").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def run(capsys, *argv):
    code = cli.run([*map(str, argv)])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_init_names_the_stores_that_stand_in_their_usual_places_and_touches_none(home, capsys):
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    code, said = run(capsys, "init")
    assert code == 0, said
    with open("memops.toml", "rb") as file:
        table = tomllib.load(file)
    assert {n: s["address"] for n, s in table["stores"].items()} == {
        "openclaw": f"openclaw:{home}/.openclaw/workspace",
        "openclaw-2": f"openclaw:{home}/.openclaw/workspace-work",
        "xinghebot": f"xinghebot:{home}/.xinghebot/workspace/p/memory",
    }
    assert {p: p.read_bytes() for p in before} == before
    lines, cron = said.split("next:")[1].split("every night, by a line of `crontab -e`:\n")
    assert cron.startswith(
        f"  30 3 * * *  cd {os.getcwd()} && {{ {sys.executable} -m memops nightly; "
    )
    commands = [line.split() for line in lines.strip().splitlines()]
    assert [words[1] for words in commands] == ["plan", "review", "apply", "nightly"]
    assert run(capsys, *commands[0][1:])[0] == 0
    assert run(capsys, "config", "check")[0] == 0
    code, said = run(capsys, "init")
    assert code == 2 and "is there already" in said


def test_init_says_what_it_warns_of(home, capsys):
    (home / ".openclaw/workspace/MEMORY.md").chmod(0o666)
    said = run(capsys, "init")[1]
    assert "openclaw: warning: " in said and "writ" in said.split("openclaw: warning: ")[1]


def test_the_line_for_cron_names_the_program_by_its_path_and_escapes_what_cron_reads(
    home, capsys, monkeypatch
):
    (home / "50% off").mkdir()
    monkeypatch.chdir(home / "50% off")
    monkeypatch.setattr(sys, "argv", ["../bin/memops", "init"])
    said = run(capsys, "--state", "s t", "init")[1]
    line = said.splitlines()[-1].replace("\\%", "%")
    assert "\\%" in said and "\\" not in line
    folder, _, do = line.partition("cd ")[2].partition(" && ")
    assert shlex.split(folder) == [os.getcwd()]
    first = shlex.split(do.removeprefix("{ ").partition(";")[0])
    assert Path(first[0]).is_absolute() and Path(first[0]).name == "memops"
    assert first[1:] == ["--state", "s t", "nightly"]


def test_where_no_store_is_found_init_says_where_it_looked_and_writes_nothing(
    home, capsys, monkeypatch
):
    monkeypatch.setenv("HOME", str(home / "nobody"))
    code, said = run(capsys, "init")
    assert code == 10
    assert "~/.openclaw/workspace" in said and "memops init KIND:PATH" in said
    assert not (home.parent / "here" / "memops.toml").exists()


def test_every_setting_is_shown_with_the_line_that_sets_it(home, capsys, monkeypatch):
    (home.parent / "here" / "memops.toml").write_text(
        '[stores.home]\naddress = "openclaw:~/.openclaw/workspace"\n\n[policy.limits]\n'
        'share = 0.2\n[notify]\nwebhook = "https://u:hidden@example.org"\n'
    )
    code, said = run(capsys, "--state", "s", "config", "show", "--all", "--json")
    rows = {row["name"]: row for row in json.loads(said)}
    assert (rows["policy.limits.share"]["value"], rows["policy.limits.share"]["from"]) == (
        0.2, "memops.toml:5",
    )  # fmt: skip
    assert rows["policy.limits.records"]["from"] == "default"
    assert (rows["state"]["from"], rows["notify.webhook"]["value"]) == ("--state", "set")
    assert "hidden" not in said
    monkeypatch.setenv("MEMOPS_STATE", str(home / "elsewhere"))
    said = run(capsys, "config", "show")[1]
    assert "MEMOPS_STATE" in said and "policy.limits.share" in said and "records" not in said


def test_a_settings_file_is_checked_to_what_it_names_with_key_and_line(home, capsys):
    file = home.parent / "here" / "memops.toml"
    for text, words in (
        ('[policy.limits]\nshare = 2.0\n', ["line 2", "policy.limits.share"]),
        ('[flows]\nschedule = "never"\n', ["line 2", "flows.schedule"]),
        ('[flows]\ntimezone = "Mars/North"\n', ["line 2", "flows.timezone"]),
        ('[policy.secrets]\nallow = ["("]\n', ["line 2", "policy.secrets.allow"]),
        ('[stores.a]\naddress = "jsonl:nowhere.jsonl"\n', ["stores.a", "nowhere.jsonl"]),
    ):  # fmt: skip
        file.write_text(text)
        code, said = run(capsys, "config", "check")
        assert code in (2, 10), said
        assert all(word in said for word in words), said


def test_a_suite_that_no_night_can_read_is_no_good_setting(home, capsys):
    here = home.parent / "here"
    (here / "notes.jsonl").write_text('{"text": "The gym is in Leith."}\n')
    (here / "s").mkdir()
    (here / "s" / "queries.jsonl").write_text("")
    (here / "memops.toml").write_text('[stores.a]\naddress = "jsonl:notes.jsonl"\nsuite = "s"\n')
    for retriever, code in (("hybrid", 0), ("as-the-engine", 2)):
        (here / "s" / "suite.toml").write_text(f'retriever = "{retriever}"\n')
        told = run(capsys, "config", "check")
        assert told[0] == code, told
    assert all(word in told[1] for word in ("stores.a", "suite.toml", "as-the-engine"))


def test_the_schema_takes_what_memops_takes_and_refuses_what_it_refuses(home, capsys):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(run(capsys, "config", "schema")[1])
    for text, good in (
        ('[policy.limits]\nshare = 0.5\n[stores.a]\naddress = "openclaw:x"\n', True),
        ("[policy.limits]\nshare = 5.0\n", False),
        ("[policy.limits]\nshares = 0.5\n", False),
        ("[stores.a]\nsuite = 'x'\n", False),
    ):
        wrong = list(jsonschema.Draft202012Validator(schema).iter_errors(tomllib.loads(text)))
        assert bool(wrong) is not good, (text, wrong)


def test_the_state_folder_is_here_if_it_stands_here_and_else_the_users(home, capsys, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "states"))

    def state():
        rows = json.loads(run(capsys, "config", "show", "state", "--json")[1])
        return rows[0]["value"], rows[0]["from"]

    assert state() == (str(home / "states" / "memops"), "per user: no .memops is here")
    (home.parent / "here" / ".memops").mkdir(mode=0o700)
    assert state() == (str(home.parent / "here" / ".memops"), "here")
