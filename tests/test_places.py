"""What places say: which records of a workspace may be compared."""

from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest

from memops.context import Context
from memops.judge.places import about, misdated, other_named, stating
from memops.policy import Policy, Retention
from memops.rules.merge_exact import merge_exact
from memops.rules.retire_old import retire_old
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


AGAIN = "## Plan\n- The pump house gets a new roof in the autumn\n- Rosa orders its tiles at the harbour yard, glazed in last year's green\n\n"


@pytest.mark.parametrize(
    ("second", "codes"),
    [
        (AGAIN, ["merge.again", "merge.again"]),
        (AGAIN.rstrip() + "\n- A carpenter comes in October\n", []),
    ],
)
def test_a_section_is_held_again_only_as_a_whole(tmp_path, second, codes):
    assert _codes(tmp_path, "2026-05-01", AGAIN + second) == codes


def _codes(folder, name, text):
    note = folder / "memory" / f"{name}.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"# {name}\n\n{text}", encoding="utf-8")
    return _merged_of(folder)


def _merged_of(folder):
    records = open_store(f"openclaw:{folder}").read()
    plan = merge_exact(records, Context(now=datetime(2026, 6, 1, tzinfo=UTC)))
    return plan.filter(pl.col("intent") == "merge")["code"].to_list()


def test_of_a_turn_no_half_goes_though_it_stands_above(tmp_path):
    ways = "".join(
        f"## Way {n}\n\n- The north gate gets new hinges, and the wall behind it a coat of lime, in week {n}\n"
        f"- Rosa asks the yard for {n} sacks\n- It holds for {n} winters\n\n"
        for n in range(4)
    )
    turn = f"assistant: {ways}## I would\n\n- take the {{}} way\n\n"
    head = (
        "# Session: 2026-05-01 09:12:00 UTC\n\n- **Session ID**: x\n\n## Conversation Summary\n\n"
    )
    note = tmp_path / "memory" / "2026-05-01-0912.md"
    note.parent.mkdir()
    note.write_text(head + turn.format("first") + turn.format("last"), encoding="utf-8")
    assert _merged_of(tmp_path) == []


COST = "## Cost\n- The joiner asks 900 euros for it, scaffold and all\n\n"
TIME = "## Time\n- The tiles take six weeks to come from the yard by ship\n\n"


def test_sections_on_end_that_stand_again_in_their_order_are_a_copy(tmp_path):
    assert _codes(tmp_path, "2026-05-01", (AGAIN + COST + TIME) * 2) == ["merge.again"] * 4


def test_a_long_stretch_farther_off_waits_under_a_code_of_its_own(tmp_path):
    parts = "".join(
        f"## Field {n}\n- Drained by hand, {n} posts lean towards the ditch\n- Otto marked them\n\n"
        for n in range(14)
    )
    text = parts + "## Evening\nIda came by with soup.\n\n" + parts
    assert _codes(tmp_path, "2026-05-01", text) == ["merge.apart"] * 28


DOSE = "## Dose given\nGave the dog half a tablet with its food and it kept it down well.\n\n"
WALK = "## Walk\nTwenty minutes to the canal and back, limping a little on the way home.\n\n"
CHORUS = "## Chorus\nOh carry me over the river at night, over the river and under the light.\n\n"
VERSES = ("## Verse\nThe ferryman sleeps and the ropes are wet.\n\n",
          "## Verse\nThe lanterns are out and the tide is in.\n\n")  # fmt: skip
RUN = "## Intervals\nSix times 800 metres with two minutes of rest between them.\n\n"
REST = "## Rest day\nNothing but a walk, and the foam roller for ten minutes in the evening.\n\n"
LONG = "## Long run\nNinety minutes along the canal, slow enough to talk the whole way.\n\n"
STOP = "## Stop the service\nStop it on both machines and wait until the queue is empty.\n\n"
CHECK = (
    "## Check the disk\nAt least ten gigabytes have to be free on the machine with the data.\n\n"
)
ROUND = f"{DOSE}{WALK}## Cold store\nIt stood at (-4 °C) with the door shut, as the book wants it to be.\n\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("2026-05-01", DOSE + WALK + DOSE),
        ("2026-05-02", DOSE + DOSE + "Half a tablet more at night.\n"),
        ("song", VERSES[0] + CHORUS + VERSES[1] + CHORUS),
        ("training", RUN + REST + LONG + REST + RUN),
        (
            "procedure",
            STOP + CHECK + "## Update\nFetch the new version and start it.\n\n" + STOP + CHECK,
        ),
        *(("ward", first + ROUND + second + ROUND) for first, second in (
            ("Ida, 8:00\n\n", "Ida, 20:00\n\n"),
            ("<h2>aurora</h2>\n\n", "<h2>borealis</h2>\n\n"),
            ("## Morning\n\n", "## Evening\n\n"),
            ("**Ward A**\n\n", "**Ward B**\n\n"),
            ("## Handover\nPetra to Jonas.\n\n", "## Handover\nJonas to Lina.\n\n"),
            ("", "![the ward](ward.png)\n\n"),
        )),
        ("leads", DOSE.replace("\n", "\n**Anna**\n\n", 1) + DOSE.replace("\n", "\n**Otto**\n\n", 1)),
        ("signs", ROUND + ROUND.replace("-4 °C", "4 °C")),
    ],
)  # fmt: skip
def test_what_anything_parts_from_the_first_may_be_meant(tmp_path, name, text):
    assert "merge.again" not in _codes(tmp_path, name, text)


def _merged(folder, **notes):
    for name, text in notes.items():
        path = folder / "memory" / f"{name.replace('_', '-').removeprefix('d-')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    records = open_store(f"openclaw:{folder}").read()
    plan = merge_exact(records, Context(now=datetime(2026, 6, 1, tzinfo=UTC)))
    gone = plan.filter(pl.col("intent") == "merge")["id"].to_list()
    return records.filter(pl.col("id").is_in(gone))["text"].to_list()


POINTS = "- The tiles for the pump house are glazed in a green from the old harbour quarry\n"
MORE = "- Rosa keeps the moulds of every tile in the loft over the drying room, by year\n"


def test_a_point_is_not_torn_out_of_its_list_for_a_copy_in_another_file(tmp_path):
    lists = {"tiles": f"# A\n\n{POINTS}{MORE}", "loft": f"# A\n\n{MORE}- Own\n- Other\n"}
    assert _merged(tmp_path, **lists) == []


def test_what_is_brief_is_said_of_its_own_day(tmp_path):
    note = "# {}\n\n## Checks\n- The pump runs, nothing to report\n- {}\n"
    one, two = note.format("2026-05-01", "Oil changed"), note.format("2026-05-02", "Belt changed")
    assert _merged(tmp_path, d_2026_05_01=one, d_2026_05_02=two) == []


def test_what_was_done_at_an_hour_is_an_account_and_not_how_things_are(tmp_path):
    hour = "## Night watch ~{}\n\n- Gauge {} checked\n- 1{} crates counted in the cold store\n\n"
    note = tmp_path / "memory" / "2026-05-01.md"
    note.parent.mkdir(parents=True)
    note.write_text(
        "# 2026-05-01\n\n" + hour.format("01:10", "A", "4") + hour.format("03:20", "B", "6")
    )
    assert set(open_store(f"openclaw:{tmp_path}").read()["form"]) == {"event"}


def test_each_check_of_a_log_keeps_its_own_lines(tmp_path):
    check = (
        "## 2026-05-0{} 0{}:00 - Pump check\n\n**State:** fine\n\n**Result:**\n"
        "1. Valves closed and sealed by the keeper\n2. No leak\n\n**By:** the keeper of the week\n\n"
    )
    log = "# Pump log\n\n" + "".join(check.format(n, n) for n in (1, 2, 3))
    assert _merged(tmp_path, pump_log=log) == []


def test_what_an_entry_of_a_stamped_log_says_stays_in_it(tmp_path):
    passed = (
        "- every pump and gate in the lower yard was left out of this hourly pass of the keeper\n"
    )
    log = "".join(f"- timestamp: 2026-05-01T0{n}:00:00Z\n{passed}\n" for n in (1, 2, 3))
    assert _merged(tmp_path, pump_log=f"# Pumps\n\n{log}") == []
    said = f"# Pumps\n\n{passed[2:]}\n- oil\n\n{passed[2:]}"
    assert len(_merged(tmp_path / "other", pumps=said)) == 1


def test_items_of_one_list_that_read_alike_may_each_be_another(tmp_path):
    due = "- a bill of the harbour yard for tiles that came by ship, number INV-2026..., is still open\n"
    assert _merged(tmp_path, d_2026_05_01=f"# 2026-05-01\n\n## Bills\n\n{due * 3}") == []
    assert _merged(tmp_path, bills=f"# Bills\n\n{due}- one is paid\n{due}") == []


def test_a_file_that_another_line_names_is_another_thing(tmp_path):
    (tmp_path / "memory").mkdir()
    for day, name in (("2026-05-01", "GATES.md"), ("2026-05-02", "PUMPS.md")):
        note = f"# {day}\n\n## Retain\n- W @yard: The rules of the yard stand in `{name}`\n"
        (tmp_path / f"memory/{day}.md").write_text(note, "utf-8")
    records = open_store(f"openclaw:{tmp_path}").read()
    edges = pl.DataFrame({"old": [records["id"][0]], "new": [records["id"][1]]})
    assert other_named(edges, records).height == 1


def test_a_year_in_one_file_name_alone_is_a_slip(tmp_path):
    note = (
        "# {}\n\nThe kiln of the lower yard was measured twice, and cracked at the third firing.\n"
    )
    days = [f"2026-05-0{n}" for n in range(1, 6)]
    folder = tmp_path / "memory"
    folder.mkdir()
    for day in [*days, "2025-05-02"]:
        (folder / f"{day}.md").write_text(note.format(day), encoding="utf-8")
    said = open_store(f"openclaw:{tmp_path}").read().select("origin", slip=misdated())
    assert [row[0].split("#")[0] for row in said.filter("slip").iter_rows()] == [
        "memory/2025-05-02.md"
    ]


def test_what_a_day_copied_from_the_curated_file_stays_in_the_day(tmp_path):
    led = (
        "Every Monday the keeper writes down:\n1. The height of the water\n2. What the pump burnt\n"
    )
    (tmp_path / "MEMORY.md").write_text(f"# Memory\n\n## The keeper's Monday\n{led}", "utf-8")
    day = f"# 2026-05-01\n\n## Template\n{led}\n## Other\n- The gate was painted\n"
    assert _merged(tmp_path, d_2026_05_01=day) == []


TALK = """# Session: 2026-02-05 15:28:47 UTC

## Conversation Summary

user: Which pump do we take for the lower yard
assistant: Let me look into it and come back to you

## What I found

- The small one lifts eleven metres

**Both cost the same.**

user: Good, and the price list
assistant: Here it is:
| Pump | Lift |
|------|------|
| small | 11 m |
"""


def test_of_an_old_talk_what_was_worked_out_and_what_a_person_said_stays(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-02-05-pumps.md").write_text(TALK, "utf-8")
    noted = "# 2026-02-05\n\n## Conversation\n- Spoke with Rosa about the harbour pump\n"
    (tmp_path / "memory/2026-02-05.md").write_text(noted, "utf-8")
    records = open_store(f"openclaw:{tmp_path}").read()
    policy = replace(Policy(), retention=Retention(windows={"session": 90.0}))
    plan = retire_old(records, Context(now=datetime(2026, 11, 1, tzinfo=UTC), policy=policy))
    gone = records.filter(pl.col("id").is_in(plan["id"].implode()))["text"].to_list()
    assert sorted(gone) == [
        "Let me look into it and come back to you",
    ]


DAY = """# {0}

## Rounds
- Gauge A stands at {1}

## 9:10 AM - Fact
The lower yard is heated with {2}.
"""


def test_what_a_day_reports_gives_way_to_no_later_day_but_what_was_marked_as_a_fact_may(tmp_path):
    (tmp_path / "memory").mkdir()
    for day, gauge, fuel in (("2026-05-01", 4, "coal"), ("2026-05-02", 6, "wood")):
        (tmp_path / f"memory/{day}.md").write_text(DAY.format(day, gauge, fuel), "utf-8")
    (tmp_path / "memory/yard.md").write_text("# Yard\n\n- Gauge B stands at 7\n", "utf-8")
    records = open_store(f"openclaw:{tmp_path}").read()
    told = sorted(records.filter(stating())["text"])
    assert told == ["Gauge B stands at 7", *(f"The lower yard is heated with {f}." for f in ("coal", "wood"))]  # fmt: skip


def test_what_one_day_measured_and_what_its_log_says_is_of_that_day(tmp_path):
    table = (
        "| Gate | State of the seals |\n|---|---|\n| North gate | painted, waits for the keeper |\n"
    )
    log = "Round at 22:50 by the keeper: every seal was looked at, nothing open found on the wall\n"
    day = f"# {{}}\n\n{log}\n## Gates\n{table}"
    one, two = day.format("2026-05-01"), day.format("2026-05-02")
    assert _merged(tmp_path, d_2026_05_01=one, d_2026_05_02=two) == []


def test_a_line_of_a_log_belongs_to_the_entry_above_it(tmp_path):
    proof = "- tail -n 20 /srv/pump-house/logs/what-the-keeper-wrote-down-this-week.md\n"
    log = "".join(f"[0{n}:00] Round\n{proof}- gauge {n}\n\n" for n in (1, 2, 3))
    assert _merged(tmp_path, d_2026_05_01=f"# 2026-05-01\n\n{log}") == []
    twice = f"# 2026-05-02\n\n{proof[2:]}\n- gauge 1\n\n{proof[2:]}"
    assert len(_merged(tmp_path / "other", d_2026_05_02=twice)) == 1


@pytest.mark.parametrize("name", ["letters", "d_2026_05_01"])
def test_what_a_file_says_in_two_sections_is_of_each(tmp_path, name):
    line = "We will look after the lower gate for as long as the two of us can hold a brush.\n"
    letter = "## To the keeper\n\n{}\n\n" + line + "\n"
    text = "# Gates\n\n" + "".join(letter.format(why) for why in ("It is spring.", "It froze."))
    assert len(_merged(tmp_path, **{name: text})) == 0


MENU = "- Barley soup on Mondays, thick and without leeks for Ida\n- Fish on Fridays, from the harbour\n- Nothing fried\n"


@pytest.mark.parametrize(
    ("heading", "held", "gone"),
    [
        ("Menu", MENU, 3),
        ("**Menu**", f"{MENU}- Cake on Sundays\n", 3),
        ("Menu (summer)", MENU, 0),
        ("Menu", MENU.replace("Mondays", "Tuesdays"), 0),
        ("Menu", "".join(reversed(MENU.splitlines(keepends=True))), 0),
        ("What Otto eats", MENU, 0),
    ],
)
def test_a_section_goes_that_a_curated_file_holds_word_for_word(tmp_path, heading, held, gone):
    (tmp_path / "MEMORY.md").write_text(f"# Memory\n\n## {heading}\n{held}", "utf-8")
    text = f"# 2026-05-01\n\n## Menu\n{MENU}\n## Cellar\n- The pump runs again\n"
    assert len(_merged(tmp_path, d_2026_05_01=text)) == gone


def test_a_message_that_a_talk_holds_twice_by_its_channels_name_goes_once(tmp_path):
    def turn(name: str) -> str:
        return f"user: [Wed 2026-05-06 22:55 GMT+8] what now\n[message_id: {name}]\n"

    head = (
        "# Session: 2026-05-06 22:50:00 UTC\n\n- **Session ID**: x\n\n## Conversation Summary\n\n"
    )
    text = head + turn("7") + turn("7") + turn("8") + "assistant: We wait.\n"
    assert _merged(tmp_path, d_2026_05_06_2250=text) == [turn("7").removeprefix("user: ").strip()]


def test_a_paragraph_of_a_longer_section_stays_where_only_it_is_said_again(tmp_path):
    said = "The boiler of the north wing is bled on the first Monday of each month, by Rosa.\n"
    text = f"# 2026-05-01\n\n## Heat\n{said}\nIt was cold.\n\n## Heat\n{said}\nIt was warm.\n"
    assert _merged(tmp_path, d_2026_05_01=text) == []


def test_what_a_file_on_a_subject_says_twice_in_one_section_goes_once(tmp_path):
    line = "We will look after the lower gate for as long as the two of us can hold a brush.\n"
    section = f"## To the keeper\n\n{line}\nIt is spring.\n\n{line}\n"
    assert len(_merged(tmp_path, letters=f"# Gates\n\n{section}")) == 1
    assert len(_merged(tmp_path / "again", letters=f"# Gates\n\n{section}{section}")) > 1


def test_a_bold_line_right_over_a_list_stays_with_it(tmp_path):
    rule = "**Round one: the height of the water at both gates, by the keeper's own hand**\n"
    note = tmp_path / "memory" / "2026-05-01.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"# 2026-05-01\n\n{rule}- North gate first\n- Then the south gate\n", "utf-8")
    (text,) = open_store(f"openclaw:{tmp_path}").read()["text"]
    assert "at both gates" in text and "south gate" in text
