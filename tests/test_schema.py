import polars as pl
import pytest

from memops.errors import Corrupt
from memops.schema import conform, from_rows, instant, native


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ({"id": ["a", "a"]}, "id 'a' stands twice"),
        ({"id": ["a", None]}, "row 2 has no id"),
        ({"id": ["a"], "tier": ["Core"]}, "record 'a': unknown tier 'Core'"),
        ({"id": ["a"], "kind": ["memo"]}, "record 'a': unknown kind 'memo'"),
        ({"id": ["a"], "form": ["poem"]}, "record 'a': unknown form 'poem'"),
        ({"id": ["a"], "role": ["attic"]}, "record 'a': unknown role 'attic'"),
        ({"id": ["a"], "colour": ["red"]}, "unknown column 'colour'"),
        ({"id": ["a", "b"], "importance": ["0.5", "很高"]}, "row 2, column 'importance'"),
    ],
)
def test_a_bad_row_is_named(frame, says):
    with pytest.raises(Corrupt, match=says):
        conform(pl.DataFrame(frame))


def test_unknown_fields_of_a_row_are_named():
    with pytest.raises(Corrupt, match="unknown column 'colour'"):
        from_rows([{"id": "a", "colour": "red"}])


def test_a_time_without_a_zone_is_no_instant():
    assert instant("2025-01-01") is None
    assert instant("not-a-date") is None
    assert str(instant("2026-06-01T23:00:00-07:00")) == "2026-06-02 06:00:00+00:00"


def test_a_native_column_is_found_however_its_name_is_written():
    held = ["{}", '{"done": true}', r'{"d\u006fne": "yes"}', '{"undone": 1}']
    told = pl.DataFrame({"extra": held}).select(native("done")).to_series()
    assert told.to_list() == [None, "true", "yes", None]
