"""Search: each formula against an oracle, and what may be seen by whom and when."""

import dataclasses
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import bm25s
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from memops.errors import Corrupt, MemopsError
from memops.language.stemming import stemmed
from memops.language.terms import grams, words
from memops.models.encode import Lsa, open_encoder
from memops.models.nearest import nearest
from memops.models.vectors import unit
from memops.policy import Policy
from memops.schema import QUARANTINE, from_rows, instant
from memops.search.arms import in_own_voice, named
from memops.search.bm25 import bm25, counted
from memops.search.fuse import best, best_sparse, convex, minmax, rrf_rows
from memops.search.retrieve import RETRIEVERS, search
from tests.bench.night import records as made_up
from tests.counts import few

T0 = datetime(2025, 1, 1, tzinfo=UTC)
TEXTS = [
    "Anna moved to Berlin in March", "The cat is called Miso and eats tuna",
    "用户喜欢喝乌龙茶，不喝咖啡", "Deploys happen on Fridays at noon", "服务器监听8080端口",
    "Anna works as a baker in Munich", "The staging server listens on port 8080",
]  # fmt: skip


def store(**columns):
    rows = [
        {"id": f"r{i}", "text": text, "scope": "u", "created_at": T0}
        for i, text in enumerate(TEXTS)
    ]
    for name, values in columns.items():
        rows = [row | {name: value} for row, value in zip(rows, values, strict=True)]
    return from_rows(rows)


def asked(*texts, **columns):
    rows = {"query_id": [f"q{i}" for i in range(len(texts))], "text": list(texts)}
    return pl.DataFrame(rows | columns, schema_overrides={"scope": pl.String})


def found(records, queries, retriever="hybrid", k=10):
    encoder = Lsa().fitted(records["text"].to_list())
    run = search(records, queries, retriever, encoder, Policy(), k)
    return {
        q: ids for q, ids in run.sort("query_id", "rank").group_by("query_id").agg("doc_id").rows()
    }


@pytest.mark.parametrize("seed", range(3))
def test_bm25_scores_are_those_of_bm25s(seed):
    rng = np.random.default_rng(seed)
    docs = [[f"w{x}" for x in rng.zipf(1.4, rng.integers(1, 30)) % 50] for _ in range(80)]
    queries = [[f"w{x}" for x in rng.choice(60, 4, replace=False)] for _ in range(20)]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index(docs, show_progress=False)
    ours = bm25(counted(codes(docs), np.zeros(80, np.int64)), np.array([1.2]), np.array([0.75]))
    scores = (
        ours.asked(codes(queries).with_columns(part=pl.lit(0, pl.Int64)), 20) @ ours.weights
    ).toarray()
    for i, query in enumerate(queries):
        assert np.abs(scores[i] - theirs.get_scores(query)).max() < 1e-4


def codes(documents):
    rows = [(i, int(word[1:])) for i, words_ in enumerate(documents) for word in words_]
    return pl.DataFrame(rows, schema={"row": pl.UInt32, "code": pl.UInt64}, orient="row")


def test_a_scope_is_scored_as_if_the_others_were_not_there():
    records = store(scope=["u", "u", "u", "u", "v", "v", "v"])
    alone = search(
        records.filter(pl.col("scope") == "u"),
        asked("Anna Berlin server", scope=["u"]),
        "bm25",
        None,
        Policy(),
    )
    among = search(
        records, asked("Anna Berlin server", "port", scope=["u", "v"]), "bm25", None, Policy()
    )
    assert among.filter(pl.col("query_id") == "q0").equals(alone)


@pytest.mark.parametrize("retriever", sorted(RETRIEVERS))
def test_a_query_stays_in_its_scope_and_null_is_every_scope(retriever):
    records = store(scope=["u", "u", "u", "u", "v", "v", "v"])
    out = found(
        records, asked("server port", "server port", "Anna", scope=["u", "v", None]), retriever
    )
    assert not set(out.get("q0", [])) & {"r4", "r5", "r6"}
    assert set(out["q1"]) <= {"r4", "r5", "r6"} and out["q1"][0] == "r6"
    assert set(out["q2"][:2]) == {"r0", "r5"}


@pytest.mark.parametrize("retriever", sorted(RETRIEVERS))
def test_what_is_public_is_read_beside_every_scope_and_nothing_else_is(retriever):
    records = store(scope=["luna", "nova", "nova", "nova", "nova", "public", "public"])
    queries = asked("server port", "server port", "Anna", scope=["luna", "public", "empty"])
    out = found(records, queries, retriever)
    public = {i for i, scope in records.select("id", "scope").rows() if scope == "public"}
    assert set(out["q0"]) <= public | {"r0"} and set(out["q0"]) & public
    assert set(out["q1"]) <= public and set(out["q1"])
    assert set(out.get("q2", [])) <= public


@pytest.mark.parametrize("retriever", sorted(RETRIEVERS))
def test_a_superseded_or_quarantined_record_is_not_found(retriever):
    records = store(superseded_by=["r5", None, None, None, None, None, QUARANTINE])
    out = found(records, asked("Anna Berlin", "server port"), retriever)
    assert "r0" not in out["q0"] and "r6" not in out.get("q1", [])


def test_as_of_a_time_nothing_newer_is_seen_and_the_superseded_still_is():
    stored = [T0 + timedelta(days=10 * i) for i in range(7)]
    records = store(created_at=stored, superseded_by=["r5", *[None] * 6])
    times = [T0 + timedelta(days=d) for d in (20, 55, -1)]
    queries = asked("Anna", "Anna", "Anna", as_of=times)
    out = found(records, queries, "bm25")
    assert out == {"q0": ["r0"], "q1": ["r5"]}


def test_chinese_and_english_questions_find_their_records():
    out = found(store(), asked("用户喜欢喝什么茶", "which port does staging listen on", "哪个端口"))
    assert [out[q][0] for q in ("q0", "q1", "q2")] == ["r2", "r6", "r4"]


def test_ties_go_by_id_and_nothing_depends_on_the_order_of_rows():
    records = from_rows(
        [{"id": i, "text": "same words here", "scope": "u"} for i in ("c", "a", "b", "d")]
    )
    for retriever in RETRIEVERS:
        shuffled = records.sample(fraction=1.0, shuffle=True, seed=3)
        one, other = (found(r, asked("same words"), retriever, 3) for r in (records, shuffled))
        assert one == other == {"q0": ["a", "b", "c"]}


def test_a_store_without_live_records_and_a_suite_without_queries_give_an_empty_run():
    records = store()
    assert search(records.clear(), asked("x"), "bm25", None, Policy()).is_empty()
    assert search(records, asked("x").clear(), "bm25", None, Policy()).is_empty()
    assert search(records, asked("???"), "bm25", None, Policy()).is_empty()


def test_an_unknown_retriever_is_named_with_those_known():
    with pytest.raises(
        MemopsError, match="unknown retriever 'bm52'; known: bm25, dense, rrf, hybrid, grep"
    ):
        search(store(), asked("x"), "bm52", None, Policy())


@few(20)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_the_best_are_those_of_a_full_sort(seed, k):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, (4, 9)).astype(np.float32) / 5
    seen = rng.random((4, 9)) < 0.8
    rows, values = best(scores, k, seen)
    for i in range(4):
        order = sorted(
            (j for j in range(9) if seen[i, j] and scores[i, j] > 0),
            key=lambda j: (-scores[i, j], j),
        )[:k]
        assert [j for j in rows[i] if j >= 0] == order
        assert np.allclose(values[i][: len(order)], scores[i, order], atol=1e-6)


@pytest.mark.parametrize("k", [3, 12])
def test_the_best_of_large_products_are_those_of_the_matrix(k):
    rng = np.random.default_rng(k)
    queries = (rng.random((70, 30)) * (rng.random((70, 30)) < 0.2)).round(1).astype(np.float32)
    weights = (rng.random((30, 400)) * (rng.random((30, 400)) < 0.3)).round(1).astype(np.float32)
    expected = best(queries @ weights, k, None)
    rows, scores = best_sparse(csr_array(queries), csr_array(weights), 0, k)
    assert (rows == expected[0]).all() and np.allclose(scores, np.where(rows < 0, 0, expected[1]))
    vectors = unit(rng.normal(size=(400, 30)).astype(np.float32))
    vectors[50:60] = vectors[7]
    near = nearest(vectors, vectors[:9], k)
    wanted = best(vectors[:9] @ vectors.T, k, None, -np.inf)
    assert (near[0] == wanted[0]).all() and np.allclose(near[1], wanted[1], atol=2e-6)


@few(20)
@given(st.integers(0, 10_000))
def test_reciprocal_rank_fusion_is_that_of_a_dictionary(seed):
    rng = np.random.default_rng(seed)
    rankings = [np.array([rng.permutation(12)[:6] for _ in range(3)]) for _ in range(2)]
    rankings[0][0, 3:] = -1
    rows, scores = rrf_rows(rankings, 60, 5)
    for i in range(3):
        votes: dict[int, float] = {}
        for ranking in rankings:
            for rank, document in enumerate(ranking[i], 1):
                if document >= 0:
                    votes[int(document)] = votes.get(int(document), 0) + 1 / (60 + rank)
        expected = sorted(votes, key=lambda d: (-round(votes[d], 6), d))[:5]
        assert [r for r in rows[i] if r >= 0] == expected
        assert np.allclose(scores[i][: len(expected)], [votes[d] for d in expected], atol=1e-6)


def test_min_max_looks_only_at_what_is_seen():
    scores = np.array([[1.0, 2.0, 9.0], [3.0, 3.0, 3.0]], dtype=np.float32)
    seen = np.array([[True, True, False], [True, True, True]])
    assert minmax(scores, seen)[:, :2].tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert convex({"a": scores, "b": -scores}, {"a": 3.0, "b": 1.0}, seen)[0, :2].tolist() == [
        0.25,
        0.75,
    ]


def test_a_turn_gains_from_the_turns_around_it():
    texts = ["what did you cook", "a lasagna with spinach", "the weather is grey", "nothing else"]
    rows = [{"id": f"t{i}", "text": t, "scope": "u"} for i, t in enumerate(texts)]
    turns = from_rows(rows).with_columns(session=pl.lit("s1"), nth=pl.int_range(4, dtype=pl.Int64))
    plain = search(turns.drop("session", "nth"), asked("cook"), "hybrid", None, Policy())
    near = search(turns, asked("cook"), "hybrid", None, Policy())
    scores = {
        name: dict(run.select("doc_id", "score").rows())
        for name, run in (("plain", plain), ("near", near))
    }
    assert scores["plain"]["t1"] == 0 < scores["near"]["t1"] < scores["near"]["t0"]


def test_only_a_speaker_who_is_named_alone_is_named():
    documents = pl.DataFrame(
        {"part": [0, 0, 1], "speaker": ["Ann Lee", "Bo Lee", "user"]},
        schema_overrides={"part": pl.Int64},
    )
    queries = pl.DataFrame(
        {
            "part": [0] * 4 + [1],
            "text": ["When did Ann move?", "Ann and Bo", "the Lee house", "nobody", "the user"],
        }
    )
    assert named(documents, queries.cast({"part": pl.Int64})) == ["Ann Lee", None, None, None, None]


def test_a_question_about_a_speaker_is_put_in_that_speakers_voice():
    texts = ["When did Ann Lee sell Ann's car? anna knows", "no one"]
    assert in_own_voice(texts, ["Ann Lee", None]) == [
        "When did I sell my car? anna knows",
        "no one",
    ]


def test_threads_stem_each_their_own_words():
    words = [head + end for head in ("relation", "organis", "univers") for end in ("s", "al", "ation", "ing", "ally", "ities") * 40]  # fmt: skip
    plain = [stemmed(word, "english") for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            turns = [words[n:] + words[:n] for n in range(4)]
            found = pool.map(lambda own: [stemmed(word, "english") for word in own], turns)
            for n, stems in enumerate(found):
                assert stems == plain[n:] + plain[:n]
    finally:
        sys.setswitchinterval(before)


def test_words_are_stemmed_and_grams_cross_words_but_not_texts():
    table = words(pl.Series(["running dogs", "the dog ran", "北京"]))
    rows = table.group_by("row").agg(pl.col("code").unique()).sort("row")["code"].to_list()
    assert len(set(rows[0]) & set(rows[1])) == 1 and len(rows[2]) == 3
    assert grams(pl.Series(["ab cd", "", None, "x北京大"])).group_by("row").len().sort(
        "row"
    ).rows() == [(0, 4), (3, 6)]


def test_codes_are_the_same_on_every_machine():
    assert words(pl.Series(["Berlin"]))["code"].to_list() == [7109533960466376472]
    assert grams(pl.Series(["京"]))["code"].to_list() == [22145263744370679]


def test_a_fitted_encoder_is_frozen_and_comes_back_from_its_file(tmp_path):
    encoder = Lsa(dims=4).fitted(TEXTS)
    encoder.save(tmp_path / "e.npz")
    again = Lsa.load(tmp_path / "e.npz")
    assert again.recipe() == encoder.recipe() != Lsa(dims=4).fitted(TEXTS[:4]).recipe()
    asked_ = [*TEXTS, "unseen zzz", ""]
    assert np.allclose(again.encode(asked_), encoder.encode(asked_), atol=1e-6)
    assert np.allclose(np.linalg.norm(encoder.encode(TEXTS), axis=1), 1, atol=1e-5)
    assert not encoder.encode([""]).any()
    (tmp_path / "bad.npz").write_bytes(b"PK nonsense")
    with pytest.raises(Corrupt, match="not a fitted encoder"):
        Lsa.load(tmp_path / "bad.npz")


def test_the_encoder_keeps_alike_texts_together():
    encoder = open_encoder("lsa").fitted(TEXTS * 20)
    v = encoder.encode(["Anna lives in Berlin", "Anna moved to Berlin", "乌龙茶"])
    assert v[0] @ v[1] > 0.5 > abs(v[0] @ v[2])
    assert unit(np.zeros((1, 3), np.float32)).tolist() == [[0, 0, 0]]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor has one thread")
def test_what_an_encoder_learns_does_not_depend_on_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    said, learnt = [row["text"] for row in made_up(600)], []
    for threads in (1, 2):
        with threadpool_limits(threads):
            learnt.append(Lsa().fitted(said).recipe()["fitted"])
    assert learnt[0] == learnt[1]


def test_an_encoder_that_was_not_fitted_says_so():
    with pytest.raises(MemopsError, match="not fitted"):
        Lsa().encode(["x"])


def test_a_dense_retriever_without_an_encoder_says_so():
    with pytest.raises(MemopsError, match="needs an encoder"):
        search(store(), asked("x"), "dense", None, Policy())


def test_an_approximate_search_finds_what_it_promised():
    from memops.models.nearest import approximate

    rng = np.random.default_rng(3)
    centres = rng.normal(size=(60, 32))
    documents = unit(
        (centres[rng.integers(0, 60, 6000)] + rng.normal(size=(6000, 32)) / 2).astype("f4")
    )
    asked = unit((centres[rng.integers(0, 60, 50)] + rng.normal(size=(50, 32)) / 2).astype("f4"))
    index = approximate(documents, 0.9)
    exact, _ = nearest(documents, asked, 10)
    found, scores = index.nearest(asked, 10)
    assert index.recall >= 0.9 and index.probes < 200
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, found, strict=True)]) > 0.8
    assert (np.diff(scores, axis=1) <= 0).all()
    everything = approximate(documents[:300], 1.0)
    assert (
        everything.nearest(asked, 10)[0] == nearest(documents[:300], asked, 10)[0]
    ).mean() > 0.97


def test_diversity_puts_another_record_before_a_repeated_one():
    from memops.search.fuse import diversified

    vectors = unit(np.array([[1, 0], [1, 0.01], [0.6, 0.8], [0, 1]], np.float32))
    rows = np.array([[0, 1, 2, -1], [3, -1, -1, -1]])
    scores = np.array([[1.0, 0.99, 0.8, 0], [0.5, 0, 0, 0]])
    ranked, _ = diversified(rows, scores, vectors, 0.5, 3)
    assert ranked.tolist() == [[0, 2, 1], [3, -1, -1]]
    assert diversified(rows, scores, vectors, 0.0, 3)[0].tolist() == [[0, 1, 2], [3, -1, -1]]


def test_priors_and_age_count_only_where_the_policy_says_so():
    rows = [
        {"id": "a", "text": "the port is open", "tier": "peripheral", "created_at": "2026-01-01T00:00:00Z"},
        {"id": "b", "text": "the port is open", "pinned": True, "created_at": "2025-06-01T00:00:00Z"},
        {"id": "c", "text": "the port is open", "importance": 0.9, "created_at": "2025-12-31T00:00:00Z"},
        {"id": "d", "text": "cats sleep all day", "created_at": "2025-01-01T00:00:00Z"},
    ]  # fmt: skip
    records = from_rows([r | {"created_at": instant(r["created_at"])} for r in rows])
    queries = pl.DataFrame({"query_id": ["q"], "text": ["port"]})

    def order(**changes):
        retrieval = dataclasses.replace(Policy().retrieval, **changes)
        policy = dataclasses.replace(Policy(), retrieval=retrieval)
        return "".join(search(records, queries, "hybrid", Lsa(), policy, 3)["doc_id"])

    assert order(importance=1.0)[0] == "c"
    assert order(pinned_factor=2.0)[0] == "b"
    assert order(tier_factors={"core": 1.0, "working": 1.0, "peripheral": 0.5})[-1] == "a"
    assert order(half_life_days=30.0) == "acb"


class Reader:
    """A sentence model that can read Latin letters only; its vectors of anything are by length."""

    speaks, knows_chinese = True, 0.0

    def encode(self, texts):
        return unit(np.array([[len(text) % 7 + 1, len(text) % 3, 1] for text in texts], np.float32))

    encode_queries = encode

    def reads(self, texts):
        return self.knows_chinese if any("一" <= c <= "鿿" for t in texts for c in t) else 1.0

    def recipe(self):
        return {"encoder": "reader"}

    def fitted(self, texts):
        return self


def test_what_a_model_cannot_read_it_does_not_rank():
    queries = asked("用户喝什么茶", "who moved to Berlin", scope=["zh", "en"])
    chinese = ["用户喜欢喝乌龙茶", "服务器监听端口", "茶几在客厅", "用户住在上海", "喝水的杯子"]
    both = [("zh", text) for text in chinese] + [("en", text) for text in TEXTS if text.isascii()]
    records = from_rows([{"id": f"r{n}", "text": t, "scope": s, "created_at": T0} for n, (s, t) in enumerate(both)])  # fmt: skip

    def ranked(encoder, **weights):
        retrieval = dataclasses.replace(Policy().retrieval, **weights)
        policy = dataclasses.replace(Policy(), retrieval=retrieval)
        run = search(records, queries, "hybrid", encoder, policy, 5)
        return [run.filter(pl.col("query_id") == q)["doc_id"].to_list() for q in ("q0", "q1")]

    weights = dict(Policy().retrieval.model_weights)
    words = ranked(Reader(), model_weights=weights | {"dense": 0.0})
    knowing = Reader()
    knowing.knows_chinese = 1.0
    assert ranked(Reader())[0] == words[0] != ranked(knowing)[0]
    assert ranked(Reader())[1] == ranked(knowing)[1] != words[1]
