"""JSON files are written as `json` writes them, whatever is long in them."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from memops import files

LONG = st.lists(st.text(max_size=3) | st.integers(), min_size=60, max_size=70)
FLAT = st.none() | st.booleans() | st.integers() | st.text(max_size=40)
VALUES = st.recursive(
    FLAT | LONG,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
def test_a_value_is_written_indented_and_in_the_order_of_its_names(value):
    plain = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)
    try:
        wanted = (plain + "\n").encode()
    except UnicodeEncodeError:
        return
    assert files.json_bytes(value) == wanted
