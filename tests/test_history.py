import pytest

from memops.errors import Corrupt
from memops.state import history


def night(day, store="harbour", **fields):
    done = {
        "store": store, "now": f"2026-06-{day:02}T02:00:00+00:00", "code": 0, "ops": 4, "applied": 3,
        "skipped": [{"id": "a", "why": "changed"}], "rows": {"before": 40, "after": 41, "live_before": 39, "live_after": 30 + day},
        "timings": [{"step": "take_snapshot", "seconds": 0.5}, {"step": "plan_step", "seconds": 1.25}],
        "verdict": "pass", "recall": [{"measure": "R@5", "before": 0.8, "after": 0.9}],
    }  # fmt: skip
    return done | fields


def test_a_night_becomes_one_row(tmp_path):
    history.append(tmp_path, night(1))
    (row,) = history.trend(history.nights(tmp_path))
    assert {k: v for k, v in row.items() if k != "at"} == {
        "store": "harbour", "place": None, "rows": 41, "live": 31, "ops": 4, "applied": 3, "skipped": 1, "verdict": "pass",
        "code": 0, "recall": {"R@5": 0.9}, "seconds": 1.75, "days_since": None,
    }  # fmt: skip
    assert row["at"].isoformat() == "2026-06-01T02:00:00+00:00"


def test_a_night_that_was_stopped_keeps_the_recall_of_the_store_as_it_was(tmp_path):
    history.append(tmp_path, night(1, applied=0, verdict="fail", code=30))
    assert history.trend(history.nights(tmp_path))[0]["recall"] == {"R@5": 0.8}


def test_what_was_not_measured_is_a_gap_and_no_nought(tmp_path):
    history.append(tmp_path, {"store": "harbour", "now": "2026-06-01T02:00:00Z", "code": 10})
    history.append(tmp_path, night(2, ops=0, applied=None) | {"verdict": None, "recall": None})
    first, second = history.trend(history.nights(tmp_path))
    assert (first["rows"], first["live"], first["applied"], first["seconds"], first["recall"]) == (
        None,
    ) * 4 + ({},)
    assert (second["verdict"], second["recall"]) == (None, {})


def test_the_same_night_stands_once_and_stores_stand_apart(tmp_path):
    for fields in ({}, {"applied": 1}):
        history.append(tmp_path, night(1, **fields))
    history.append(tmp_path, night(1, store="港口"))
    table = history.nights(tmp_path)
    assert table.select("store", "applied").rows() == [("harbour", 1), ("港口", 3)]
    assert table.filter(store="港口").height == 1


def test_a_day_without_figures_is_a_gap_in_the_sparkline(tmp_path):
    for day in (1, 2, 5):
        history.append(tmp_path, night(day))
    assert history.spark(history.nights(tmp_path), "live") == "▁▃  █"
    assert [row["days_since"] for row in history.trend(history.nights(tmp_path))] == [
        None,
        1.0,
        3.0,
    ]


def test_the_table_shows_missing_nights_as_a_line(memops, capsys):
    from memops.cli import run

    for day in (1, 2, 5):
        history.append(memops.state, night(day))
    run(["--state", str(memops.state), "history"])
    out = capsys.readouterr().out
    assert "(2 nights without figures)" in out and "0.900" in out
    assert [r["live"] for r in memops("history", "harbour")] == [31, 32, 35]
    assert memops("history", "elsewhere") == []


def test_a_damaged_history_is_named_and_the_next_night_begins_a_new_one(tmp_path):
    path = tmp_path / "history.parquet"
    path.write_bytes(b"PAR1 torn")
    with pytest.raises(Corrupt, match=r"history\.parquet: the history cannot be read"):
        history.nights(tmp_path)
    history.append(tmp_path, night(1))
    assert history.nights(tmp_path).height == 1
    assert path.with_name("history.parquet.damaged").read_bytes() == b"PAR1 torn"
