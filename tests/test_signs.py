"""A text's sign is one normal form, whatever the words that deny, count and bind."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.language.vocabulary import plainly
from memops.statements.signs import sign

TABLES = sorted((Path(__file__).parent / "signs").glob("*.txt"))


def agree(one, two, opposed=0):
    """Return whether two texts have one sign, `opposed` pairs of opposites standing between them.

    What only one does is what all but that one do not.
    """
    odd = opposed % 2 == 1
    if {one.scope, two.scope} == {"only", "except"}:
        turned = one.denied == two.denied
    else:
        turned = one.denied != two.denied or one.scope != two.scope
    apart = {one.state, two.state} == {"ended", "yet"}
    alike = one.much == two.much and one.bound == two.bound and one.mood == two.mood
    return alike and not apart and turned == odd and (one.scope == "") == (two.scope == "")


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        for mark, wanted in ((" == ", True), (" != ", False)):
            one, found, other = line.partition(mark)
            if found and not line.startswith("#"):
                yield one, other, wanted


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_signs_agree_as_the_tables_say(path):
    wrong = [
        (one, other, sign(plainly(one)), sign(plainly(other)))
        for one, other, wanted in rows(path)
        if agree(sign(plainly(one)), sign(plainly(other))) != wanted
    ]
    assert not wrong


def test_an_opposite_between_two_texts_counts_as_a_denial():
    still, closed = sign("the gate is not open"), sign("the gate is closed")
    assert agree(still, closed, opposed=1) and not agree(still, closed)


def test_what_only_one_does_is_what_all_but_that_one_do_not():
    shut, open_ = sign("only on Monday it is shut"), sign("it is open except on Monday")
    assert agree(shut, open_, opposed=1) and not agree(shut, open_)


@settings(deadline=None, max_examples=200)
@given(
    st.text(
        st.sampled_from("not nobody only unless 不没只有除了非, .") | st.characters(), max_size=80
    )
)
def test_any_text_has_a_sign_and_agrees_with_itself(text):
    assert agree(sign(text), sign(text))
