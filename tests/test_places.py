"""What places say: which records of a workspace may be compared."""

import pytest

from memops.judge.places import about
from memops.stores import open_store

NOTES = "# {day}\n\n## 09:10 - {section}\n{text}\n\n## {own}\n- The kiln door needs a new hinge\n"


@pytest.fixture
def records(tmp_path):
    """Notes of three days with one section in common, and one of its own each."""
    folder = tmp_path / "memory"
    folder.mkdir()
    for day, own in (("2026-05-01", "Kiln"), ("2026-05-02", "Wheel"), ("2026-05-03", "Glaze")):
        text = f"The studio of {day} opens late"
        made = NOTES.format(day=day, section="记录", text=text, own=own)
        (folder / f"{day}.md").write_text(made, encoding="utf-8")
    return open_store(f"openclaw:{tmp_path}").read().sort("origin")


def test_a_time_over_a_section_says_when_it_was_written_and_makes_no_event_of_it(records):
    assert set(records["form"]) == {"claim"}


def test_a_heading_of_several_days_is_a_habit_and_no_subject(records):
    said = records.select("subject", about=about())
    assert dict(said.iter_rows()) == {
        "记录": "",
        "Kiln": "kiln",
        "Wheel": "wheel",
        "Glaze": "glaze",
    }
