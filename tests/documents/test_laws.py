"""Laws of documents: every byte is kept, and what goes leaves a whole file, whatever it was."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memops.documents.blocks import blocks
from memops.documents.editing import cuts, without
from memops.documents.lines import bare, blank, decoded, encoded, lines_of
from memops.documents.parts import unbalanced
from memops.documents.reading import parse
from tests.counts import few

from .made import documents

LAWS = few(60)


@LAWS
@given(documents())
def test_parsing_and_printing_gives_the_bytes_back(data):
    found = parse(data)
    assert found.bom + b"".join(found.lines) == data
    assert encoded(decoded(data)) == data and b"".join(lines_of(data)) == data


@LAWS
@given(documents())
def test_every_line_that_says_something_is_in_one_unit_frame_or_between_them(data):
    found = parse(data)
    taken = Counter(n for unit in found.units for n in range(unit.start, unit.stop))
    taken.update(n for frame in found.frames for n in range(frame.start, frame.stop))
    taken.update(list(found.loose))
    assert set(taken.values()) <= {1}
    missed = [line for n, line in enumerate(found.lines) if n not in taken and not blank(line)]
    assert missed == []


@LAWS
@given(documents(), st.data())
def test_what_is_taken_leaves_every_other_unit_and_a_whole_file(data, draw):
    found = parse(data)
    numbers = range(len(found.units))
    gone = draw.draw(st.sets(st.sampled_from(numbers))) if found.units else set()
    left, went = without(found, gone)
    after = parse(left)
    kept = [found.raw(unit) for n, unit in enumerate(found.units) if n not in went]
    assert Counter(map(after.raw, after.units)) == Counter(kept)
    assert _empty(after) <= _empty(found)
    assert _steps(after) <= _steps(found)
    assert _open(decoded(left)) == _open(decoded(data))
    assert without(parse(left), set())[0] == left


@LAWS
@given(documents(), st.data())
def test_cuts_follow_each_other_and_hold_whole_lines(data, draw):
    found = parse(data)
    gone = draw.draw(st.sets(st.sampled_from(range(len(found.units))))) if found.units else set()
    made = cuts(found, gone)
    assert all(a.stop <= b.start for a, b in zip(made, made[1:], strict=False))
    assert {cut.unit for cut in made if cut.unit >= 0} == gone


def _empty(found):
    """The headings and labels over nothing, as often as they stand."""
    held = {f for unit in found.units if unit.kind != "comment" for f in found.over(unit.frame)}
    return Counter(
        frame.text
        for n, frame in enumerate(found.frames)
        if n not in held and not unbalanced(frame.text)
    )


def _steps(found):
    texts = [decoded(bare(line)) for line in found.lines]
    return Counter("\n".join(texts[b.start : b.stop]) for b in blocks(texts) if b.kind == "steps")


def _open(text):
    """The tags and keys that a text opens more or less often than it closes them, code apart."""
    lines, sums = text.removeprefix("\ufeff").split("\n"), Counter()
    for block in blocks(lines):
        if block.kind not in ("code", "comment"):
            sums.update(unbalanced("\n".join(lines[block.start : block.stop])))
    return {name: n for name, n in sums.items() if n and name != "<!--"}
