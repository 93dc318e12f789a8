"""Repeats: what of a file goes for the same beside it, and what never does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.documents.editing import without
from memops.documents.reading import parse
from tests.documents.made import documents

PATH = "memory/2026-05-01.md"
TITLE = "# Notes of 2026-05-01\n\n"
PUMP = "## Pump\n\n- Looked at it in the morning: it runs\n- The belt of the pump house was changed for the one that Rosa had kept in the loft\n- ok\n\n"
GATE = "## Gate\n\n- shut since the morning of the fair\n- Painted the lower gate with what was left of the green from the harbour yard in the spring\n- ok\n\n"
LOFT = "## Loft\n\nSwept it from end to end.\n\n### Moulds\n\n- The moulds of every tile stand over the drying room now, by year and by glaze\n- ok\n\n"
MORE = "## Evening\n\nIda came by with soup.\n"


def left(text, path=PATH):
    """What a file comes to without its repeats."""
    document = parse(text.encode(), path)
    gone = [n for n, unit in enumerate(document.units) if unit.line in document.repeats]
    return without(document, gone, path)[0].decode()


def lines(text):
    return {line for line in text.splitlines() if not re.fullmatch(r"-{3}|\s*", line)}


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ((PUMP + GATE) * 3, PUMP + GATE),
        (PUMP + GATE + LOFT + PUMP + GATE + LOFT + MORE, PUMP + GATE + LOFT + MORE),
        (PUMP + GATE + GATE + PUMP + GATE, PUMP + GATE),
        (f"{PUMP}{GATE}---\n\n{GATE}---\n\n{PUMP}{GATE}---\n\n{LOFT}", f"{PUMP}{GATE}---\n\n{LOFT}"),
        ((TITLE + PUMP) * 2, TITLE + PUMP),
        (TITLE + PUMP + TITLE + PUMP + GATE, TITLE + PUMP + GATE),
        (TITLE + PUMP + TITLE + PUMP + MORE + TITLE + PUMP + TITLE + PUMP + MORE + GATE,
         TITLE + PUMP + MORE + GATE),
        (f"{TITLE}{PUMP}---\n{TITLE}{PUMP.rstrip()}\n- and the oil\n",
         f"{TITLE}{PUMP.rstrip()}\n- and the oil\n"),
        (f"---\nday: 1\n---\n\n{TITLE}{PUMP}{TITLE}{PUMP}{GATE}",
         f"---\nday: 1\n---\n\n{TITLE}{PUMP}{GATE}"),
    ],
)  # fmt: skip
def test_what_stands_again_on_end_goes_until_nothing_does(text, stays):
    assert left(text).rstrip() == stays.rstrip()


@pytest.mark.parametrize("between", ["<h2>borealis</h2>", "**Ward B**", "Otto:", "<!-- B -->", "## Otto", "x"])  # fmt: skip
def test_what_parts_two_copies_may_say_whose_the_second_is(between):
    text = f"{PUMP}\n{between}\n\n{PUMP}"
    assert left(text) == text
    text = f"{TITLE}{PUMP}\n{between}\n\n{TITLE}{PUMP}{GATE}"
    assert left(text) == text
    text = f"{TITLE}{PUMP}\n{between}\n\n{TITLE}{PUMP}"
    assert left(text) == text


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (PUMP + PUMP + "- and more\n", PATH),
        (PUMP + GATE + PUMP, PATH),
        (TITLE + PUMP + GATE + TITLE + PUMP, PATH),
        (TITLE + PUMP + TITLE + GATE + PUMP, PATH),
        (TITLE + PUMP + TITLE + PUMP + GATE, "memory/rounds.md"),
        (TITLE + PUMP + TITLE + PUMP + GATE + "# Other\n\nx\n", PATH),
        (TITLE + PUMP + TITLE + PUMP.replace("it runs", "it runs hot") + GATE, PATH),
        (f"{TITLE}## Week 1\n{PUMP}## Week 3\n{PUMP}{MORE}", PATH),
        (f"{TITLE}- ok\n{TITLE}- ok\n- fine\n", PATH),
    ],
)
def test_what_is_no_copy_stays(text, path):
    assert left(text, path) == text


SECTIONS = st.sampled_from(
    [TITLE, PUMP, GATE, LOFT, MORE, PUMP.replace("##", "###"), GATE + "---\n\n"]
)


@given(st.lists(SECTIONS, max_size=14).map("".join))
def test_no_sections_are_left_of_which_one_repeats_another_and_no_line_is_lost(text):
    once = left(text)
    assert left(once) == once and parse(once.encode(), PATH).repeats == {}
    assert lines(once) == lines(text)


DAY = "".join(
    f"## Field {n}\n\n- The drain of field {n} runs again since the stones were taken out of it by hand\n"
    f"- Otto marked the {n} posts that lean\n- ok\n\n" for n in range(12)
)  # fmt: skip


def far(text):
    """What a file comes to without what stands again farther off."""
    document = parse(text.encode(), PATH)
    gone = [n for n, unit in enumerate(document.units) if unit.line in document.apart]
    return without(document, gone, PATH)[0].decode()


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        (DAY + DAY, {"copied": 36}),
        (DAY * 3, {"copied": 72}),
        (PUMP * 12, {"again": 33}),  # many copies are no longer
        (PUMP + PUMP + DAY + DAY, {"again": 3, "copied": 36}),
        (DAY + MORE + "\n" + DAY, {"apart": 36}),
        (DAY + MORE + "\n" + DAY + PUMP + PUMP, {"again": 3, "apart": 36}),
    ],
)
def test_how_a_file_holds_something_again(text, ways):
    document = parse((TITLE + text).encode(), PATH)
    found = [way for unit in document.units for way in document.repeated(unit.line)]
    assert {way: found.count(way) for way in found} == ways


@pytest.mark.parametrize(
    "between", [MORE + "\n", "## Field 3\n\n- Only mown.\n\n", MORE + "\n" + PUMP]
)
def test_a_stretch_that_stands_again_goes_with_its_headings(between):
    assert far(TITLE + DAY + between + DAY).rstrip() == (TITLE + DAY + between).rstrip()
    once = far(f"{TITLE}{DAY}{between}{DAY}{GATE}{DAY}").rstrip()
    assert once == f"{TITLE}{DAY}{between}{GATE}".rstrip() and far(once) == once


@pytest.mark.parametrize(
    "text",
    [
        DAY + MORE + "\n" + DAY.replace("Otto", "Rosa"),  # another told it
        DAY + MORE + "\n" + DAY.replace("- ok", "- [x] ok"),
        f"## 9:00\n\n{DAY.replace('##', '###')}## 15:00\n\n{DAY.replace('##', '###')}",
        PUMP + MORE + "\n" + PUMP,  # short enough to be meant
    ],
)
def test_what_is_short_or_told_of_another_hour_stays(text):
    assert far(TITLE + text) == TITLE + text


@pytest.mark.parametrize(
    "more", ["### Field 99\n\n- New since today.\n", DAY.replace("##", "###")[:120]]
)
def test_what_stands_again_with_other_sections_is_another_version_and_stays(more):
    below = DAY.replace("##", "###")
    text = f"{TITLE}## Round\n\n{below}{MORE}\n## Round\n\n{below}{more}"
    assert far(text) == text
    whole = f"{TITLE}## Round\n\n{below}{MORE}\n"
    assert far(f"{whole}## Round\n\n{below}").rstrip() == whole.rstrip()


@given(documents())
def test_what_stands_for_a_line_stays_itself(data):
    found = parse(data, PATH).repeats
    assert found.keys().isdisjoint(found.values())
