"""JSON files are written as `json` writes them, whatever is long in them."""

import hashlib
import json
import time

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


def test_a_file_is_hashed_once_until_it_is_touched(tmp_path, monkeypatch):
    path, read = tmp_path / "held", []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *of: read.append(of) or digest(*of))
    for nth, held in enumerate((b"one", b"two"), 1):
        path.write_bytes(held)
        assert files.sha256(path) == hashlib.sha256(held).hexdigest()
        time.sleep(0.1)
        for _ in range(3):
            assert files.sha256(path) == hashlib.sha256(held).hexdigest()
        assert len(read) in (2 * nth - 1, 2 * nth)  # one that is so new is read again
