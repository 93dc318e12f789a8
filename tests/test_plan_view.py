"""What a plan shows of itself: the riskiest changes first, before and after, in their place."""

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from memops import cli
from memops.reports.riskiest import riskiest
from memops.schema import CHANGES

NOW = "2026-06-01T12:00:00Z"
SECRET = "sk-" + "a1B2c3D4e5F6g7H8" * 2


def rows(*given):
    names = ("rule", "risk", "unattended")
    return pl.DataFrame(given, schema={n: CHANGES[n] for n in names}, orient="row")


def test_what_waits_and_what_is_risky_comes_first_and_every_rule_has_its_turn():
    many = [("merge", "low", True)] * 30
    table = rows(*many, ("hide", "high", True), ("hide", "medium", True), ("ask", "low", False))
    assert riskiest(table, 7) == [33, 31, 32, 1, 2, 3, 4]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w" / "memory").mkdir(parents=True)
    (tmp_path / "w" / "MEMORY.md").write_text(
        "# Memory\n\n## Servers\n\n- The build server is called anvil\n"
        f"- The key of the build server is {SECRET}\n- Backups run at four\n"
    )
    return tmp_path


def plan(capsys, *more):
    code = cli.run(["plan", "openclaw:w", "--now", NOW, *more])
    assert code == 0
    return capsys.readouterr().out


def test_a_plan_shows_each_change_before_and_after_under_its_headings_between_its_lines(
    workspace, capsys
):
    said = plan(capsys)
    at = said.index("MEMORY.md:6 > Memory > Servers")
    lines = [line.strip() for line in said[at:].splitlines()[:5]]
    assert lines[1] == "The build server is called anvil"
    assert lines[2].startswith("- The key of the build server is")
    assert lines[3].startswith("+ The key of the build server is")
    assert "[secret:" in lines[2] and "[redacted:" in lines[3]
    assert lines[4] == "Backups run at four"
    assert SECRET not in said
    assert "every change, in their place:" in said
    assert "all of them: memops review" in said


def test_the_same_is_in_its_json_and_as_many_as_are_asked_for(workspace, capsys):
    said = json.loads(plan(capsys, "--json"))
    (change,) = said["riskiest"]
    assert (change["above"], change["below"]) == (
        "The build server is called anvil", "Backups run at four",
    )  # fmt: skip
    assert change["under"] == ["# Memory", "## Servers"]
    assert change["locator"] == {"path": "MEMORY.md", "line": 6}
    assert sum(said["by_risk"]["redact_secrets"].values()) == 1
    assert SECRET not in json.dumps(said)
    assert json.loads(plan(capsys, "--json", "--show", "0"))["riskiest"] == []


def test_what_waits_is_counted_with_its_reason(workspace, capsys):
    memory = workspace / "w" / "memory"
    (workspace / "w" / "MEMORY.md").write_text("# Memory\n\n- The depot opens at nine\n")
    (memory / "2026-05-30.md").write_text("- The depot opens at nine.\n- 好的\n- ok\n")
    said = json.loads(plan(capsys, "--json"))
    waiting = sum(not change["unattended"] for change in said["riskiest"])
    assert sum(waits["changes"] for waits in said["waits"]) == waiting


def test_colour_is_for_terminals_and_no_record_can_colour_a_listing(workspace, capsys):
    (workspace / "w" / "MEMORY.md").write_text(f"# Memory\n\n- red \x1b[31m {SECRET} key\n")
    assert "\x1b" not in plan(capsys)


def test_the_report_shows_the_riskiest_in_their_place(workspace, capsys):
    made = json.loads(plan(capsys, "--json"))
    assert cli.run(["report", made["plan"], "-o", "page.html"]) == 0
    page = (workspace / "page.html").read_text()
    assert "Riskiest changes, in their place" in page
    first = page.split("Riskiest changes, in their place")[1].split("</details>")[0]
    for text in ("# Memory", "## Servers", "is called anvil", "Backups run at four"):
        assert text in first
    assert SECRET not in page


def test_a_review_shows_each_change_as_the_plan_does(workspace, capsys, monkeypatch):
    said = plan(capsys)
    block = said[said.index("#1 redact") : said.index("   why:")]
    assert "MEMORY.md:6 > Memory > Servers" in block
    name = said.removeprefix("plan ").split(":")[0]
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.run(["review", name]) == 0
    shown = capsys.readouterr().out
    assert block in shown and SECRET not in shown
    assert cli.run(["review", name, "--json"]) == 0
    (change,) = json.loads(capsys.readouterr().out)["waiting"]
    assert change["locator"] == {"path": "MEMORY.md", "line": 6}
    assert (change["above"], change["below"]) == (
        "The build server is called anvil", "Backups run at four",
    )  # fmt: skip


def test_a_secret_deep_in_a_long_text_is_shown_where_it_goes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before, after = (
        "The crew prunes each row of the orchard. " * 40,
        " The hut is locked at night." * 30,
    )
    text = f"{before}The token is {SECRET} for now.{after}"
    (tmp_path / "m.jsonl").write_text(json.dumps({"id": "a", "kind": "fact", "text": text}) + "\n")
    assert cli.run(["plan", "jsonl:m.jsonl", "--rule", "redact_secrets", "--now", NOW]) == 0
    said = capsys.readouterr().out
    name = said.split()[1].rstrip(":")
    assert cli.run(["review", name]) == 0
    for seen in (said, capsys.readouterr().out):
        was, now = (line for line in seen.splitlines() if line.strip()[:2] in ("- ", "+ "))
        assert "The token is [secret:" in was and "The token is [redacted:" in now
        assert was.strip()[2] == "…" and len(was) < 1100
    assert cli.run(["report", name, "-o", "page.html"]) == 0
    page = re.sub("<[^>]+>", "", Path("page.html").read_text())
    assert "The token is [secret:" in page and "The token is [redacted:" in page
