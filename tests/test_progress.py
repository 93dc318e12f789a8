"""Long steps tell how far they are: on a terminal's standard error, and nowhere else unasked."""

import pytest

from memops.cli.progress_bars import _Bars
from memops.progress import spread, stage, tell, tracked, watched
from tests.terminal import typed

NOW = "2026-06-01T12:00:00Z"


def test_whoever_watches_is_told_of_each_step_and_nobody_else():
    told = []
    with watched(lambda *said: told.append(said)):
        assert list(tracked("reading", ["a", "b"])) == ["a", "b"]
        assert list(tracked("nothing", [])) == []
    with watched(lambda *said: told.append(said)):
        with pytest.raises(KeyError), stage("writing"):
            raise KeyError
        for item in tracked("looking", [1, 2, 3]):
            if item == 2:
                break
    assert told[3:] == [("writing", 0, 1), ("writing", -1, 1), ("looking", 0, 3), ("looking", 1, 3), ("looking", -1, 3)]  # fmt: skip
    told = told[:3]
    tell("alone", 1, 1)
    assert told == [("reading", 0, 2), ("reading", 1, 2), ("reading", 2, 2)]


def test_every_long_command_tells_how_far_its_steps_are(memops, twins):
    store = f"jsonl:{memops.write('m.jsonl', twins[:8]).name}"
    heard = {}

    def told(*argv):
        steps = heard.setdefault(argv[0], {})
        with watched(lambda title, done, total: steps.setdefault(title, []).append((done, total))):
            return memops(*argv, *(["--now", NOW] if argv[0] in ("plan", "apply") else []))

    made = told("plan", store)
    run = told("apply", made["plan"], "--approve")
    told("report", made["plan"])
    told("audit", store)
    told("rollback", run["run"])
    told("check")
    told("restore", made["snapshot"])
    told("purge", store, twins[0]["id"])
    for command, steps in {
        "plan": {"copying the store", "reading the store", "writing the snapshot", "rules"},
        "apply": {"applying"},
        "report": {"gathering the report", "rendering the report"},
        "audit": {"auditing"},
        "rollback": {"taking back"},
        "check": {"checking snapshots", "checking files"},
        "restore": {"restoring the store"},
        "purge": {"looking through snapshots"},
    }.items():
        assert steps <= heard[command].keys(), command
        for title in steps:
            done, total = heard[command][title][-1]
            assert done == total > 0, (command, title)


def test_a_step_that_was_given_up_leaves_no_bar():
    bars = _Bars()
    for done in (0, 1, -1):
        bars.tell("looking", done, 3)
    assert bars.bars is None and bars.tasks == {}


def test_parts_of_a_step_come_in_their_order_and_are_told_of(monkeypatch):
    monkeypatch.setattr("polars.thread_pool_size", lambda: 3)
    said = []
    with watched(lambda *what: said.append(what)):
        assert spread("squaring", lambda n: n * n, range(9)) == [n * n for n in range(9)]
    assert said == [("squaring", n, 9) for n in range(10)]
    with pytest.raises(ZeroDivisionError):
        spread("dividing", lambda n: 1 // n, range(9))


def planned(memops, *options, terminal=False):
    """Standard output and standard error of a plan; the latter a pseudo-terminal or a pipe."""
    argv = ["--state", memops.state, *options, "plan", "jsonl:m.jsonl", "--now", NOW, "--json"]
    code, seen, rest = typed(argv, memops.folder, on=("stderr",) if terminal else ())
    assert code == 0
    out, _, err = rest.partition("\n")
    return out, seen if terminal else err


def test_a_terminal_sees_the_steps_of_a_plan_and_a_pipe_nothing(memops, twins):
    memops.write("m.jsonl", twins)
    out, said = planned(memops, terminal=True)
    assert "rules" in said and "rule " in said and "/" in said
    piped, nothing = planned(memops)
    assert nothing == "" and "\x1b" not in piped + out
    assert "rule " not in planned(memops, "-q", terminal=True)[1]


def test_verbose_tells_of_each_step_in_lines_where_there_is_no_terminal(memops, twins):
    memops.write("m.jsonl", twins)
    said = planned(memops, "-v")[1]
    assert "rules: " in said and " s" in said and "\x1b" not in said
