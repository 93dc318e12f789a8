"""Remembered secrets: what one record told is a secret is masked wherever it stands, also afterwards."""

import json

import polars as pl
import pytest

from memops.policy.safety import Secrets
from memops.safety.known_secrets import KnownSecrets, learn, remembered
from memops.schema import from_rows
from tests.test_purging import holding

VALUE = "Vb4" + "?ku" + "R8wz" + "LqM"
NOTE = f"""# 2026-05-19

- The password of the greenhouse pump is {VALUE}
- The pump runs at dawn

## {VALUE}

- it opens ({VALUE}), too
- Liv oils the pump in March

**{VALUE}:**

- works on the second pump
"""


class _Counted(dict[str, tuple[str, int]]):
    """What is known, and how often all of it is gone through."""

    times = 0

    def values(self):
        self.times += 1
        return super().values()


def test_what_is_known_is_gone_through_once_however_many_texts_are_looked_at():
    known = _Counted({f"{n:032}": ("token", n % 30) for n in range(100)})
    texts = pl.Series([f"run 3f9a77d0c2b84e{n:02} of the mount" for n in range(50)])
    assert KnownSecrets(((b"key", known),)).values(texts, Secrets()) == {}
    assert known.times == 1


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "ws" / "memory"
    folder.mkdir(parents=True)
    (folder.parent / "MEMORY.md").write_text("# Memory\n\n- Liv keeps bees\n")
    (folder / "2026-05-19.md").write_text(NOTE)
    return f"openclaw:{tmp_path / 'ws'}"


def shown(memops, *argv):
    """What a command prints, for people and for programs."""
    from memops.cli import run

    run(["--state", str(memops.state), *map(str, argv)])
    text = memops.capsys.readouterr().out
    return text + json.dumps(memops(*argv), ensure_ascii=False)


def test_a_heading_that_is_a_secret_is_shown_nowhere_before_its_note_is_masked_and_after(
    memops, notes, tmp_path
):
    plan = memops("plan", notes)["plan"]
    said = [
        shown(memops, *argv) for argv in (("plan", notes), ("review", plan), ("inspect", notes))
    ]
    memops("report", plan)
    memops("apply", memops("plan", notes)["plan"], "--approve")
    text = (tmp_path / "ws" / "memory" / "2026-05-19.md").read_text()
    assert memops.code == 0 and f"## {VALUE}" in text and f"is {VALUE}" not in text
    later = memops("snapshot", notes)["snapshot"]
    later_plan = memops("plan", notes, "--now", "2027-08-01T12:00:00Z")["plan"]
    memops("report", later_plan)
    (pump,) = memops("inspect", notes, "--text", "second pump")["records"]
    asked = (
        ("plan", notes),
        ("review", later_plan),
        ("show", notes, pump["id"]),
        ("inspect", notes),
    )
    said += [shown(memops, *argv) for argv in asked]
    assert [VALUE in one for one in said] == [False] * len(said)
    held = [p for p in holding(memops.state, VALUE) if "/raw/" not in p and "undo.jsonl" not in p]
    assert held == []
    assert "[redacted:" in (memops.state / "snapshots" / later / "records.jsonl").read_text()


def test_an_audit_names_headings_and_labels_that_are_secrets_elsewhere(memops, notes, tmp_path):
    said = memops("audit", notes, "--fail-on", "secrets")
    assert memops.code == 32
    memops("apply", memops("plan", notes)["plan"], "--approve")
    said = memops("audit", notes, "--fail-on", "secrets")
    examples = said["classes"]["secrets"]["examples"]
    why = "in a heading, label or comment over memory/2026-05-19.md#"
    assert memops.code == 32 and len(examples) >= 1
    assert {one["why"].startswith(why) for one in examples} == {True}
    assert VALUE not in json.dumps(said)
    path = tmp_path / "ws" / "memory" / "2026-05-19.md"
    path.write_text(path.read_text().replace(VALUE, "spare"))
    memops("audit", notes, "--fail-on", "secrets")
    assert memops.code == 0


def test_what_is_known_is_masked_whole_and_unless_the_policy_calls_it_none(tmp_path):
    rows = [{"id": "a", "text": f"The password of the greenhouse pump is {VALUE}"}]
    for folder in ("one", "two"):
        (tmp_path / "stores" / folder).mkdir(parents=True)
    learn(tmp_path / "stores" / "one", from_rows(rows), Secrets())
    known, text = remembered(tmp_path), f"see <{VALUE}>, {VALUE}x, x-{VALUE}"
    assert VALUE.encode() not in (tmp_path / "stores" / "one" / "secrets.json").read_bytes()
    assert known.text(text, Secrets()) == text.replace(f"<{VALUE}>", "<[redacted:password]>")
    assert known.text(text, Secrets(allow=["Vb4.*"])) == text
    assert known.text(text, Secrets(off=["password"])) == text
    (tmp_path / "stores" / "one" / "secrets.json").write_text("{")
    assert remembered(tmp_path).text(text, Secrets()) == text
