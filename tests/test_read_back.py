"""Read-back: what a run wrote is read again, and what is not as written ends nothing as good."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from memops import apply as applying
from memops.cli import run
from memops.progress import watched
from memops.state import planfile
from memops.state.sources import clock

from .stores.clawseed_db import build

NOW = "2026-06-01T00:00:00Z"
LINES = "# Notes\n\n" + "".join(
    f"- Gate {n} of the lower yard opens at {n}:30 on every day of the working week\n"
    for n in (1, 2, 3, 1, 2, 3)
)


def meddled(folder):
    """Return the address of a store in which something else takes every supersession back as soon as it is made."""
    rows = [
        {"id": f"{n}{twin}", "key": f"k{n}{twin}", "content": f"Gate {n} of the depot is shut"}
        for n in range(4)
        for twin in "ab"
    ]
    db = build(folder, rows)
    with closing(sqlite3.connect(db)) as live, live:
        live.execute(
            "CREATE TRIGGER meddler AFTER UPDATE OF superseded_by ON memories BEGIN"
            " UPDATE memories SET superseded_by = NULL WHERE id = new.id; END"
        )
    return f"clawseed:{folder}"


@pytest.fixture
def undone(tmp_path):
    return meddled(tmp_path / "ws")


def test_a_night_whose_records_do_not_read_as_written_ends_with_33_wherever_one_looks(
    memops, undone
):
    (night,) = memops("nightly", undone, "--approve", "--now", NOW)
    assert (memops.code, night["code"], night["state"]) == (33, 33, "needs-attention")
    assert night["error"] == f"run {night['run']}: 4 records do not read as written"
    assert f"memops rollback {night['run']}" in night["hint"] and len(night["wrong"]) == 4
    (stands,) = memops("status", "--now", NOW)
    assert (memops.code, stands["state"], stands["code"]) == (32, "failed", 33)
    log = [json.loads(x) for x in (memops.state / "log.jsonl").read_text().splitlines()]
    (step,) = [line for line in log if line["step"] == "apply_step"]
    assert (step["event"], step["code"], step["error"]) == ("failed", 33, "ReadBackFailed")
    page = memops.state / "plans" / night["plan"] / "report.html"
    assert "Read-back failed: 4 records" in page.read_text(encoding="utf-8")
    assert memops("history")[-1]["code"] == 33


def test_applying_it_again_or_going_on_checks_it_again(memops, undone):
    plan = memops("plan", undone, "--rule", "merge_exact", "--now", NOW)["plan"]
    done = memops("apply", plan, "--approve")
    for verb in (["apply", plan, "--approve"], ["resume", done["run"]]):
        assert (memops.code, len(done["wrong"]), done["state"]) == (33, 4, "needs-attention")
        done = memops(*verb)
    assert memops.code == 33
    assert run(["--state", str(memops.state), "apply", plan, "--approve"]) == 33
    assert "4 records do not read as written: " in memops.capsys.readouterr().out
    memops("rollback", done["run"])
    assert memops.code == 0


def test_lines_that_left_a_file_and_were_put_back_leave_it_again(memops, tmp_path):
    """Its agent said them again, or somebody put an old copy of the file in its place."""
    note = tmp_path / "ws" / "memory" / "2026-04-01.md"
    note.parent.mkdir(parents=True)
    note.write_text(LINES, encoding="utf-8")
    shutil.copy2(note, tmp_path / "copy.md")
    ends = []
    for _ in range(2):
        plan = memops("plan", f"openclaw:{tmp_path / 'ws'}", "--rule", "merge_exact", "--now", NOW)
        done = memops("apply", plan["plan"], "--approve")
        ends.append((memops.code, done["state"], done["applied"], note.read_text().count("Gate")))
        shutil.copy2(tmp_path / "copy.md", note)
    assert ends == [(0, "verified", 3, 3)] * 2


def test_what_the_agent_wrote_after_the_run_is_its_word_and_no_failure(memops, tmp_path):
    note = tmp_path / "ws" / "memory" / "2026-04-01.md"
    note.parent.mkdir(parents=True)
    note.write_text(LINES, encoding="utf-8")
    plan = memops("plan", f"openclaw:{tmp_path / 'ws'}", "--rule", "merge_exact", "--now", NOW)
    said_again = LINES.splitlines(keepends=True)[-1]

    def agent(title, done, total):
        if title != "applying":
            return
        with note.open("a", encoding="utf-8") as file:
            file.write(said_again)

    made = planfile.load(plan["plan"], memops.state)
    with watched(agent):
        done = applying.apply(made, memops.state, clock(), approve=True)
    assert (done["state"], done["code"], done["wrong"]) == ("verified", 0, [])
    assert note.read_text().count(said_again) == 2


@pytest.mark.slow
def test_a_demonstration_that_is_made_anew_goes_as_the_first_one_went(memops):
    first, second = (memops("demo", "--into", "d") for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert (one["state"], other["state"]) == ("verified", "verified")
        assert (one["by_rule"], one["rows"]) == (other["by_rule"], other["rows"])
