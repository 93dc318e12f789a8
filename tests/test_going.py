"""What `show` says of a record's end is what the rules then do."""

from datetime import UTC, datetime, timedelta

import pytest

from memops.cli import run
from memops.commands.inspecting import going
from memops.context import Context
from memops.policy import Policy, from_table
from memops.rules.delete_retired import delete_retired
from memops.rules.delete_superseded import delete_superseded
from memops.rules.expire_dated import expire_dated
from memops.rules.retire_old import retire_old
from memops.schema import QUARANTINE, from_rows

from .test_hygiene import NOW, drawn

POLICY = from_table({"retention": {"windows": {"session": 180.0, "fact": 700.0, "note": 30.0}}})
RULES = (retire_old, expire_dated, delete_retired, delete_superseded)


def asked(row, on):
    return [rule.__name__ for rule in RULES if rule(row, Context(now=on, policy=POLICY)).height]


@pytest.mark.parametrize("seed", range(2))
def test_a_record_goes_when_it_is_said_to_go_and_not_before(seed):
    records, seen = drawn(seed, stores=6), set()
    for nth in range(records.height):
        row = records[nth]
        said = going(row, NOW, POLICY)
        if row["superseded_by"][0] and said["on"]:  # what replaced it must be there
            keeper = {"id": row["superseded_by"][0]}
            row = from_rows(
                [*row.to_dicts(), keeper] if said["why"].startswith("what") else row.to_dicts()
            )
        end = said["on"] or NOW + timedelta(days=40_000)
        early = asked(row, end - timedelta(minutes=1)) if end > NOW else []
        late = asked(row, end + timedelta(minutes=1)) if said["on"] else asked(row, end)
        assert (bool(early), bool(late)) == (False, said["on"] is not None), (said, row.to_dicts())
        seen.add((said["what"], said["why"][:12]))
    assert len(seen) >= 6


def test_what_a_person_must_look_at_and_what_has_no_window_stays():
    rows = from_rows([{"id": "a", "kind": "fact"}, {"id": "b", "superseded_by": QUARANTINE}])
    assert [going(rows[n], NOW, Policy())["what"] for n in (0, 1)] == [None, None]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "周会改到周四了",
            "retired after 2026-07-01, unless it is used before: a note is kept for 30 days",
        ),
        ("我对花生过敏", "stays: facts about money, health and access are not retired"),
    ],
)
def test_show_says_when_a_record_goes_and_why(memops, capsys, text, says):
    at = datetime(2026, 6, 1, tzinfo=UTC).isoformat()
    path = memops.write("m.jsonl", [{"id": "a", "kind": "note", "text": text, "created_at": at}])
    (memops.folder / "memops.toml").write_text("[policy.retention]\nwindows = { note = 30.0 }\n")
    assert run(["--state", str(memops.state), "show", f"jsonl:{path}", "a", "--now", at]) == 0
    assert says in capsys.readouterr().out
