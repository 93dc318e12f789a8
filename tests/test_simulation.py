import json
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime, timedelta

import polars as pl

from memops.commands.simulation import simulated, summed
from memops.context import Context
from memops.plan import outcome
from memops.policy import Policy, from_table
from memops.rules import HYGIENE, propose
from memops.schema import from_rows

from .stores import samples

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def fact(id, days, **fields):
    return {
        "id": id,
        "kind": "fact",
        "importance": 0.2,
        "created_at": NOW - timedelta(days=days),
        **fields,
    }


def moves(course, *names):
    return {
        name: course.weeks.filter(pl.col(name) > 0).select("week", name).rows() for name in names
    }


def test_every_move_comes_in_its_week():
    records = from_rows(
        [
            fact("fades", 0),
            fact("pinned", 900, pinned=True),
            fact("useful", 3, importance=0.9, access_count=9),
            fact("dated", 1, expires_at=NOW + timedelta(days=15)),
            {"id": "said", "kind": "session", "created_at": NOW - timedelta(days=170)},
        ]
    )
    policy = from_table({"floors": {"default": 0}})
    course = simulated(records, policy, NOW, 70)
    assert moves(course, "promoted", "expired", "retired", "deleted") == {
        "promoted": [(0, 1)],
        "expired": [(3, 1)],
        "retired": [(2, 1)],
        "deleted": [(7, 1), (8, 1)],
    }
    assert course.weeks.height == 11
    assert course.records["id"].to_list() == ["fades", "pinned", "useful"]
    assert dict(course.records.select("id", "tier").iter_rows())["fades"] == "peripheral"


def test_a_simulated_week_is_what_a_night_of_that_week_would_do():
    records = from_rows([fact(f"{n}", n * 3, access_count=n % 4) for n in range(40)])
    standing = records
    for week in range(5):
        plan, _ = propose(standing, Context(now=NOW + timedelta(days=7 * week)), HYGIENE)
        standing = outcome(standing, plan)
    assert simulated(records, Policy(), NOW, 28).records.equals(standing)


def test_floors_hold_and_what_they_keep_is_counted():
    records = from_rows([fact(f"{n}", 100 + n, kind="session") for n in range(8)])
    policy = from_table(
        {"floors": {"kinds": {"session": 3}}, "retention": {"windows": {"session": 30.0}}}
    )
    said = summed(simulated(records, policy, NOW, 21))
    assert said["kinds"] == [
        {"scope": "default", "kind": "session", "start": 8, "least": 3, "end": 3, "floor": 3}
    ]
    assert (said["retired"], said["held"], said["live"]) == (5, 3, 3)


def test_the_policy_in_force_and_one_from_a_file_are_compared(memops):
    rows = [
        {
            "id": f"s{n}",
            "kind": "session",
            "text": f"第 {n} 次会议",
            "created_at": (NOW - timedelta(days=100)).isoformat(),
        }
        for n in range(6)
    ]
    path = memops.write("m.jsonl", rows)
    before = path.read_bytes()
    tried = memops.folder / "try<&>.toml"
    tried.write_text("[policy.retention]\nwindows = { session = 120.0 }\n", encoding="utf-8")
    picture = memops.folder / "p.svg"
    said = memops(
        "simulate",
        f"jsonl:{path}",
        "--policy",
        tried,
        "--days",
        "56",
        "-o",
        picture,
        "--now",
        NOW.isoformat(),
    )
    assert [(c["policy"], c["retired"], c["live"]) for c in said["courses"]] == [
        ("in force", 0, 6),
        ("try<&>.toml", 6, 0),
    ]
    assert [d["setting"] for d in said["differs"]] == ["retention.windows"]
    assert path.read_bytes() == before
    drawn = ElementTree.parse(picture).getroot()
    assert "6 retired" in drawn.find("{*}desc").text and "try<&>.toml" in drawn.find("{*}desc").text
    assert len(drawn.findall("{*}path[@d]")) == 2 + 2 * 3  # keys; live, retired, deleted


def test_the_table_names_weeks_kinds_and_floors(memops, capsys):
    from memops.cli import run

    address = samples.BUILDERS["jsonl"](memops.folder)
    code = run(
        [
            "--state",
            str(memops.state),
            "simulate",
            address,
            "--days",
            "400",
            "--now",
            "2026-06-01T12:00:00Z",
        ]
    )
    out = capsys.readouterr().out
    assert code == 0
    assert "night of" in out and "floor" in out
    assert json.loads(json.dumps(out)).count("policy in force") == 1
