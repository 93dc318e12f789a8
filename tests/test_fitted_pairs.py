"""What fitted weights find probable: proposed for a person, of rows alone, and below every veto."""

import json
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from memops.context import Context
from memops.judge.conflicts import features
from memops.judge.decision import DOUBTED, SURE, weighed
from memops.judge.fitted import ENCODED, PROBE, in_fitted_languages, suits
from memops.language.lexicon import lexicon
from memops.plan import outcome
from memops.policy import Policy
from memops.rules import LIKELY, RULES, propose
from memops.rules.merge_likely import agreed, fuller, merge_likely
from memops.rules.supersede_likely import supersede_likely
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
    plan, _ = propose(records, context(), (supersede_likely, merge_likely))
    found = set(plan.select("id", "code", "superseded_by").drop_nulls().iter_rows())
    assert {code for _, code, _ in found} <= {"conflict.likely", "merge.likely"}
    assert found and "r3" not in plan["id"].to_list()


@pytest.mark.parametrize("chance", [0.5, 0.74])
def test_what_is_less_probable_is_left_alone(chance):
    read = features([{"a": SAID[0][0], "b": SAID[1][0]}])
    bare = read.with_columns(same=pl.lit(False), opposes=pl.lit(None, pl.String))
    left = weighed(
        bare, pl.DataFrame({"same": [chance], "part": [0.0], "conflict": [0.0], "worded": [0.5]})
    )
    assert not left["likely_same"].item()
    done = weighed(
        bare,
        pl.DataFrame({"same": [SURE["same"]], "part": [0.0], "conflict": [0.0], "worded": [0.5]}),
    )
    assert done["likely_same"].item() and not done["same"].item()


def test_a_veto_stands_above_every_probability():
    read = features(
        [{"a": "The boat holds 400 litres of water.", "b": "The boat holds 450 litres of water."}]
    )
    bare = read.with_columns(same=pl.lit(False), opposes=pl.lit(None, pl.String))
    assert bare["veto_same"].to_list() == ["value"]
    left = weighed(
        bare, pl.DataFrame({"same": [1.0], "part": [0.0], "conflict": [0.0], "worded": [0.5]})
    )
    assert not left["likely_same"].item()


def test_the_order_of_two_texts_changes_nothing():
    texts = [text for text, _ in SAID]
    pairs = [(a, b) for a in texts for b in texts if a != b]
    there = features([{"a": a, "b": b} for a, b in pairs]).select(
        "same", "opposes", "likely_same", "likely_conflict"
    )
    back = features([{"a": b, "b": a} for a, b in pairs]).select(
        "same", "opposes", "likely_same", "likely_conflict"
    )
    assert there.equals(back)


def test_what_is_of_no_language_that_was_learned_is_not_weighed():
    texts = [
        "Frau Weber hat dienstags um 16:30 Physio.", "Анна приходит по вторникам в 16:30.", "月曜日の会議は十時に始まります。",
        "Maja has her choir on Mondays.", "每周一上午十点开例会。",
    ]  # fmt: skip
    every, asked = np.arange(len(texts)), in_fitted_languages(pl.Series(texts))
    assert asked(every, every).tolist() == [False, False, False, True, True]


def test_what_is_likely_changes_nothing_that_is_sure():
    records = rows(
        [text for text, _ in SAID] * 2 + ["The rent is 900 euros.", "The rent is now 950 euros."]
    )
    sure = tuple(rule for rule in RULES if rule not in LIKELY)
    whole, _ = propose(records, context(), RULES)
    alone, _ = propose(records, context(), sure)
    assert whole.filter(~pl.col("rule").is_in([rule.__name__ for rule in LIKELY])).equals(alone)
    after = outcome(records, whole)
    assert propose(after, context(), RULES)[0].is_empty()


def test_of_a_group_any_two_must_say_the_same():
    group = pl.DataFrame({"statement": [0, 1, 2, 3, 4], "group": [0, 0, 0, 1, 1]})
    alike = pl.DataFrame({"a": [0, 1, 3], "b": [1, 2, 4]}, {"a": pl.UInt32, "b": pl.UInt32})
    assert agreed(group, alike)["statement"].to_list() == [3, 4]


def test_of_pairs_written_to_be_taken_for_one_hardly_any_is():
    """They were written by somebody who saw no rule, and no weight was fitted on them."""
    pairs = [json.loads(line) for line in (FOLDER.parent / "pairs" / "hard.jsonl").open()]
    told = features(pairs).with_columns(label=pl.Series([pair["label"] for pair in pairs]))
    neither = told.filter(pl.col("label") == "neither")
    assert neither.filter("likely_same").height <= 2
    assert neither.filter("likely_conflict").height <= 4


def test_trees_say_what_the_library_says_that_grew_them():
    rng = np.random.default_rng(7)
    found = rng.integers(0, 5, (400, 6)).astype(float)
    gold = found[:, 0] + found[:, 1] > 4
    grown = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=6, random_state=0).fit(
        found, gold
    )
    whole = _trees(grown).of(found)
    assert np.allclose(whole, grown.decision_function(found), atol=1e-5)
    asked = _trees(grown).of(found, 1.0)
    assert (asked[whole >= 1.0] == whole[whole >= 1.0]).all() and np.isneginf(asked).any()
    assert (asked[whole < 1.0] <= whole[whole < 1.0]).all()


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


def test_an_encoder_is_known_again_by_how_near_it_places_some_texts():
    wanted = lexicon(ENCODED)["probed"]

    def like(noise):
        """Vectors with the cosines that the weights know, some of them moved."""
        found = np.eye(len(PROBE))
        found[np.triu_indices(len(PROBE), 1)] = np.array(wanted) + noise
        found = np.maximum(found, found.T)
        return np.linalg.cholesky(found)

    assert suits(lambda texts: like(0.01))
    assert not suits(lambda texts: like(np.array([0, 0, 0, -0.1, 0, 0])))
    assert not suits(lambda texts: np.zeros((len(texts), 3)))
    assert not suits(lambda texts: np.full((len(texts), 3), np.nan))


def test_a_conflict_of_the_rules_that_weights_find_improbable_is_none():
    read = features([{"a": "The rent is 900 euros.", "b": "The rent is 950 euros."}])
    assert read["opposes"].to_list() == ["value"]
    for chance, left in ((DOUBTED, "value"), (DOUBTED - 0.01, None)):
        told = {"same": [0.0], "part": [0.0], "conflict": [chance], "worded": [0.5]}
        assert weighed(read, pl.DataFrame(told))["opposes"].to_list() == [left]
    asked = {name: [None] for name in ("same", "part", "conflict", "worded")}
    unasked = pl.DataFrame(asked, schema=dict.fromkeys(asked, pl.Float64))
    assert weighed(read, unasked)["opposes"].to_list() == ["value"]


def test_what_steps_back_behind_a_fuller_record_is_kept_by_one_that_stays():
    held = pl.DataFrame({"a": [0, 1, 2], "b": [1, 2, 3]}, {"a": pl.UInt32, "b": pl.UInt32})
    texts = [
        "Ada paints.",
        "In May Ada paints.",
        "May: Ada paints, and sells.",
        "Ada paints in May; she sells",
    ]
    assert fuller(held, live(*texts)).rows() == [("c", "d")]  # b and c go themselves


def live(*texts):
    """Records a, b, c ... that say one text each, as the rule hands them on."""
    rows = {"id": [*"abcd"[: len(texts)]], "statement": range(len(texts)), "text": texts}
    held = pl.DataFrame(rows, {"id": pl.String, "statement": pl.UInt32, "text": pl.String})
    return held.with_columns(fullness=pl.col("text").str.len_chars())


@pytest.mark.parametrize(
    ("text", "longer", "goes"),
    [
        ("小林负责前端。", "小林负责前端，代码由别人写。", True),
        ("小林负责前端。", "小林负责前端的招聘，代码由别人写。", False),
        ("Ada runs the shop.", "Ada runs the shop and the stall.", True),
        ("Ada runs the shop", "Ada runs the shopping centre", False),
    ],
)
def test_a_text_that_goes_on_within_a_clause_holds_none_that_ends_there(text, longer, goes):
    held = pl.DataFrame({"a": [0], "b": [1]}, {"a": pl.UInt32, "b": pl.UInt32})
    assert fuller(held, live(text, longer)).rows() == ([("a", "b")] if goes else [])
