"""What fitted weights find probable: proposed for a person, of rows alone, and below every veto."""

import json
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from memops.context import Context
from memops.judge.conflicts import features
from memops.judge.decision import SURE, weighed
from memops.policy import Policy
from memops.rules import propose
from memops.rules.merge_near import merge_near
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.schema import from_rows
from tests.bench.fit_pairs import _trees
from tests.bench.written import FOLDER, entries, pairs_of, told

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SAID = [
    ("Maja's physiotherapy is on Tuesdays at half past four with Mr Obi.", "same"),
    ("Maja has physiotherapy with Mr Obi on Tuesdays at 16:30.", "same"),
    ("Maja's physiotherapy with Mr Obi has moved to Thursdays at 16:30.", "newer"),
    ("Maja has her choir on Mondays at half past seven.", None),
]


def rows(texts, **more):
    return from_rows(
        [
            {"id": f"r{n}", "text": text, "scope": "s", "kind": "fact",
             "created_at": datetime(2026, 1, 1 + n, tzinfo=UTC)} | more
            for n, text in enumerate(texts)
        ]
    )  # fmt: skip


def context():
    return Context(now=NOW, policy=Policy())


def test_what_is_said_again_and_what_took_its_place_are_proposed():
    records = rows([text for text, _ in SAID])
    plan, _ = propose(records, context(), (supersede_conflicting, merge_near))
    found = set(plan.select("id", "code", "superseded_by").drop_nulls().iter_rows())
    assert {(one, code) for one, code, _ in found} <= {
        ("r0", "conflict.likely"), ("r1", "conflict.likely"),
        ("r0", "merge.likely"), ("r1", "merge.likely"),
        ("r0", "conflict.replaced"), ("r1", "conflict.replaced"),
    }  # fmt: skip
    assert found and "r3" not in plan["id"].to_list()


@pytest.mark.parametrize("chance", [0.5, 0.79])
def test_what_is_less_probable_is_left_alone(chance):
    read = features([{"a": SAID[0][0], "b": SAID[1][0]}])
    bare = read.drop("likely").with_columns(same=pl.lit(False), opposes=pl.lit(None, pl.String))
    left = weighed(bare, pl.DataFrame({"same": [chance], "conflict": [0.0]}))
    assert left.select("same", "likely").row(0) == (False, False)
    done = weighed(bare, pl.DataFrame({"same": [SURE["same"]], "conflict": [0.0]}))
    assert done.select("same", "likely").row(0) == (True, True)


def test_a_veto_stands_above_every_probability():
    read = features(
        [{"a": "The boat holds 400 litres of water.", "b": "The boat holds 450 litres of water."}]
    )
    bare = read.drop("likely").with_columns(same=pl.lit(False), opposes=pl.lit(None, pl.String))
    assert bare["veto_same"].to_list() == ["value"]
    left = weighed(bare, pl.DataFrame({"same": [1.0], "conflict": [0.0]}))
    assert not left["same"].item()


def test_a_conflict_that_weights_find_improbable_is_none_and_one_not_asked_about_stays():
    read = features([{"a": "The rent is 900 euros.", "b": "The rent is 950 euros."}]).drop("likely")
    assert read["opposes"].item() is not None
    for chance, kept in ((0.1, False), (0.5, True), (None, True)):
        told_of = pl.DataFrame(
            {"same": [0.0], "conflict": [chance]}, {"same": pl.Float64, "conflict": pl.Float64}
        )
        assert (weighed(read, told_of)["opposes"].item() is not None) == kept


def test_the_order_of_two_texts_changes_nothing():
    texts = [text for text, _ in SAID]
    pairs = [(a, b) for a in texts for b in texts if a != b]
    there = features([{"a": a, "b": b} for a, b in pairs]).select("same", "opposes", "likely")
    back = features([{"a": b, "b": a} for a, b in pairs]).select("same", "opposes", "likely")
    assert there.equals(back)


def test_of_a_group_any_two_must_say_the_same():
    from memops.rules.merge_near import _agreed

    group = pl.DataFrame({"statement": [0, 1, 2, 3, 4], "group": [0, 0, 0, 1, 1]})
    alike = pl.DataFrame({"a": [0, 1, 3], "b": [1, 2, 4]}, {"a": pl.UInt32, "b": pl.UInt32})
    assert _agreed(group, alike)["statement"].to_list() == [3, 4]


def test_of_pairs_written_to_be_taken_for_one_hardly_any_is():
    """They were written by somebody who saw no rule, and no weight was fitted on them."""
    pairs = [json.loads(line) for line in (FOLDER.parent / "pairs" / "hard.jsonl").open()]
    told = features(pairs).with_columns(label=pl.Series([pair["label"] for pair in pairs]))
    firm = told.filter("firm_a", "firm_b").filter(pl.col("label") == "neither")
    assert firm.filter(pl.col("same")).height <= 1
    assert firm.filter(pl.col("opposes").is_not_null()).height <= 10


def test_trees_say_what_the_library_says_that_grew_them():
    rng = np.random.default_rng(7)
    found = rng.integers(0, 5, (400, 6)).astype(float)
    gold = found[:, 0] + found[:, 1] > 4
    grown = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=6, random_state=0).fit(
        found, gold
    )
    assert np.allclose(_trees(grown).of(found), grown.decision_function(found), atol=1e-5)


def test_written_stores_name_earlier_entries_and_their_pairs_are_closed():
    for path in sorted(FOLDER.glob("*.jsonl")):
        seen = set[str]()
        for row in entries(path):
            named = {*row.get("same", ()), *row.get("replaces", ()), *row.get("part_of", ())}
            assert named <= seen and row["id"] not in seen
            seen.add(row["id"])
    chain = [
        {"id": "a"},
        {"id": "b", "replaces": ["a"]},
        {"id": "c", "same": ["b"]},
        {"id": "d", "replaces": ["c"]},
    ]
    assert told(chain) == {
        (0, 1): "conflict", (0, 2): "conflict", (1, 2): "same", (0, 3): "conflict", (1, 3): "conflict", (2, 3): "conflict",
    }  # fmt: skip


def test_the_pairs_of_a_written_store_are_those_that_a_night_compares():
    pairs = pairs_of(min(FOLDER.glob("*.jsonl")))
    assert sum(pairs.near) > 500 and {"same", "conflict", "neither"} <= {*pairs.label}
