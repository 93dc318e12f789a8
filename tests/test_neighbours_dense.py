"""Neighbours by vector: what an encoder adds to the candidates."""

import json
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from memops.context import Context, Models
from memops.errors import MemopsError
from memops.judge.candidates.neighbours_dense import RECALL, dense_neighbours, measured
from memops.judge.candidates.similarity import candidates, statements
from memops.judge.conflicts import judged
from memops.models.local import local_models
from memops.policy import Dense, Policy
from memops.schema import from_rows

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TOPICS = {
    "Wir treffen uns um neun Uhr": 0,
    "The daily stand-up begins at 9:00": 0,
    "晨会九点开始": 0,
    "每天早上九点开 stand-up": 0,
    "The gateway listens on port 8080": 1,
    "用户养了一只猫": 2,
}


def by_topic(texts):
    """A unit vector a topic, and a little of its own for each text."""
    vectors = np.zeros((len(texts), 8), np.float32)
    for row, text in enumerate(texts):
        vectors[row, TOPICS.get(text, 6)], vectors[row, 7] = 1, len(text) / 100
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def store(texts=TOPICS, scope="me"):
    return from_rows([{"id": f"{scope}{n}", "text": t, "kind": "fact", "scope": scope} for n, t in enumerate(texts)])  # fmt: skip


def context(encode=by_topic, **dense):
    return Context(now=NOW, policy=Policy(dense=Dense(**dense)), models=Models(encode=encode))


def said(pairs, frame, ctx):
    texts = dict(statements(frame, ctx).table.select("statement", "text").iter_rows())
    return {frozenset((texts[a], texts[b])) for a, b in pairs.select("a", "b").iter_rows()}


def test_what_an_encoder_places_near_is_compared_though_no_word_is_shared():
    frame, ctx = store(), context(cosine=0.8)
    near = {frozenset(p) for p in ((a, b) for a in TOPICS for b in TOPICS if a < b) if len({TOPICS[t] for t in p}) == 1}  # fmt: skip
    plain = candidates(frame, Context(now=NOW))
    found = candidates(frame, ctx)
    assert near - said(plain, frame, ctx)
    assert said(found, frame, ctx) == said(plain, frame, ctx) | near
    low = found.join(plain, on=["a", "b"], how="anti")
    assert low["cosine"].min() >= 0.8 and low["jaccard"].min() < 0.1
    assert judged(frame, ctx).filter(pl.col("cosine") >= 0.8)["score"].min() >= 0.3


def test_neighbours_are_few_near_enough_and_of_one_scope():
    frame = pl.concat([store(), store(scope="you")]).sort("id")
    table = statements(frame, Context(now=NOW)).table
    every = dense_neighbours(table, context(cosine=0.8))
    scope = dict(table.select("statement", "scope").iter_rows())
    assert every.height == 12 and all(scope[a] == scope[b] for a, b, _ in every.iter_rows())
    assert dense_neighbours(table, context(cosine=0.9999)).height < 12
    assert dense_neighbours(table, context(cosine=0.8, nearest=1)).height < 12
    assert dense_neighbours(table, Context(now=NOW)) is None
    assert dense_neighbours(table.head(1), context()).is_empty()


def test_across_languages_what_says_the_same_is_nearer_than_what_is_said_in_one_language():
    rng = np.random.default_rng(11)
    topics, languages = rng.normal(size=(60, 24)), 3 * rng.normal(size=(2, 24))
    texts = {f"{word} {n:02}": (n, code) for code, word in enumerate(("room", "房间")) for n in range(60)}  # fmt: skip

    def encode(asked):
        vectors = np.array([topics[texts[t][0]] + languages[texts[t][1]] + rng.normal(size=24) / 9 for t in asked])  # fmt: skip
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    frame = store(texts)
    found = said(dense_neighbours(statements(frame, Context(now=NOW)).table, context(encode, nearest=1)), frame, context())  # fmt: skip
    assert sum(frozenset((f"room {n:02}", f"房间 {n:02}")) in found for n in range(60)) >= 55


def test_cells_find_what_the_policy_asks_for_and_say_how_much():
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(40, 16))
    vectors = (centres[rng.integers(0, 40, 3000)] + rng.normal(size=(3000, 16)) / 4).astype(np.float32)  # fmt: skip
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = pl.DataFrame({"statement": range(3000), "scope": "a", "text": [f"{n:04}" for n in range(3000)]}).cast({"statement": pl.UInt32})  # fmt: skip
    encode = lambda texts: vectors[[int(t) for t in texts]]
    exact = dense_neighbours(table, context(encode, cosine=0.7))
    ctx = context(encode, cosine=0.7, exact=1000, recall=0.9)
    by_cells = dense_neighbours(table, ctx)
    assert 0.9 <= ctx.cache[RECALL] <= 1
    assert by_cells.join(exact, on=["a", "b", "cosine"]).height >= 0.85 * exact.height
    assert dense_neighbours(table, context(encode, cosine=0.7, exact=1000, recall=0.9)).equals(by_cells)  # fmt: skip
    models = Models(encode, recipes={"encoder": {"encoder": "x"}})
    assert measured(Context(now=NOW, models=models, cache=ctx.cache))["encoder"]["recall"] == ctx.cache[RECALL]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_neighbours_on_any_number_of_threads_and_in_any_order(threads):
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(400, 48)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"{n:03}" for n in range(400)]
    table = pl.DataFrame({"statement": range(400), "scope": "a", "text": texts}).cast({"statement": pl.UInt32})  # fmt: skip
    limits = context(lambda asked: vectors[[int(t) for t in asked]], cosine=0.2)
    with threadpool_limits(threads):
        found = dense_neighbours(table, limits)
    grid = np.rint(vectors * 4000).astype(np.int64)
    for a, b, cosine in found.iter_rows():
        assert cosine == (grid[a] @ grid[b]) / 4000**2


def test_a_plan_names_the_encoder_and_one_that_is_not_there_is_an_error(memops, tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": t}, ensure_ascii=False) + "\n" for n, t in enumerate(TOPICS)))  # fmt: skip
    (tmp_path / "memops.toml").write_text('[policy.dense]\nencoder = "lsa"\n')
    made = memops("plan", f"jsonl:{path}", "--now", NOW.isoformat())
    with open(made["path"] + "/plan.json") as held:
        first = json.load(held)["basis"]["models"]["encoder"]
    assert first["encoder"] == "lsa" and len(first["fitted"]) == 16
    for name in ("/no/such/folder", "http://127.0.0.1:9/v1#x", "sentence-transformers/any"):
        with pytest.raises(MemopsError, match="no such folder"):
            local_models(Policy(dense=Dense(encoder=name)), tmp_path, store())
    assert local_models(Policy(), tmp_path, store()) == Models()
