"""What an encoder's neighbours add to the candidates, by language, and what they cost.

Run with `pytest -m slow tests/bench/test_dense_candidates.py -s -n 0`. LSA is measured, and the
sentence-transformers models whose folders MEMOPS_BENCH_ENCODERS names (with `:` between them).
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from memops.context import Context
from memops.judge.candidates.similarity import candidates, statements
from memops.judge.conflicts import judged
from memops.models.local import local_models
from memops.policy import Dense, Policy
from memops.schema import from_rows
from tests.bench.corpus import store
from tests.bench.pair_templates import pairs as made
from tests.bench.timing import cpu

pytestmark = pytest.mark.slow
NOW = datetime(2026, 6, 1, tzinfo=UTC)
PAIRS = Path(__file__).parents[2] / "evals" / "pairs"
ENCODERS = ["lsa", *filter(None, os.environ.get("MEMOPS_BENCH_ENCODERS", "").split(":"))]


def language(*texts):
    han = [any("一" <= c <= "鿿" for c in text) for text in texts]
    latin = [any(c.isascii() and c.isalpha() for c in text) for text in texts]
    if len(set(han)) > 1:
        return "across"
    return "mixed" if han[0] and any(latin) else "zh" if han[0] else "en"


def written():
    files = sorted(PAIRS.glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.open(encoding="utf-8")]


def context(records, encoder, folder):
    policy = Policy(dense=Dense(encoder=encoder))
    return Context(now=NOW, policy=policy, models=local_models(policy, folder, records))


def labelled(pairs):
    """One store of all that the pairs say; its table, and the pairs (a, b, label, language)."""
    texts = sorted({pair[side] for pair in pairs for side in "ab"})
    records = from_rows([{"id": f"{n:05}", "text": t, "kind": "fact"} for n, t in enumerate(texts)])
    said = statements(records, Context(now=NOW)).members
    number = dict(zip(texts, said.sort("id")["statement"], strict=True)) if said.height == len(texts) else {}  # fmt: skip
    rows = [
        (*sorted((number[p["a"]], number[p["b"]])), p["label"], language(p["a"], p["b"]))
        for p in pairs
        if number[p["a"]] != number[p["b"]]
    ]
    kinds = {"a": pl.UInt32, "b": pl.UInt32, "label": pl.String, "lang": pl.String}
    return records, pl.DataFrame(rows, schema=kinds, orient="row").unique(maintain_order=True)


@pytest.mark.parametrize("source", [written, made])
def test_an_encoder_adds_labelled_pairs_to_the_candidates_and_takes_none_away(source, tmp_path):
    records, pairs = labelled(source())
    wanted = pairs.filter(pl.col("label").is_in(["duplicate", "conflict"]))
    shares = {}
    for encoder in ("", *ENCODERS):
        ctx = context(records, encoder, tmp_path)
        spent, found = cpu(lambda ctx=ctx: candidates(records, ctx), 1)
        read = judged(records, ctx)
        rows = wanted.with_columns(
            pl.struct("a", "b").is_in(table.select(pl.struct("a", "b")).to_series().implode()).alias(name)
            for name, table in (("held", found), ("read", read))
        )  # fmt: skip
        by = rows.group_by("lang").agg(pl.len(), pl.col("held", "read").mean()).sort("lang")
        shares[encoder] = {row["lang"]: row["held"] for row in by.to_dicts()}
        told = read.filter(pl.col("firm_a") & pl.col("firm_b")).join(pairs, on=["a", "b"])
        verdicts = told.group_by("label").agg(pl.col("same").sum(), pl.col("opposes").count()).sort("label")  # fmt: skip
        print(f"\n{source.__name__}, {encoder or 'words alone'}: {found.height} candidates, {read.height} read, {spent:.2f} CPU-s")  # fmt: skip
        print(by.rows(), verdicts.rows())
        for lang, share in shares[""].items():
            assert shares[encoder][lang] >= share
    if source is written:
        assert shares["lsa"]["zh"] > shares[""]["zh"] + 0.03


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_dense_neighbours_of_ten_thousand_records_cost(encoder, tmp_path):
    records = store(10_000)
    plain, words = cpu(lambda: candidates(records, Context(now=NOW)), 1)
    opening, ctx = cpu(lambda: context(records, encoder, tmp_path), 1)
    spent, found = cpu(lambda: candidates(records, ctx), 1)
    print(f"\n{encoder}: {words.height} candidates by words in {plain:.1f} CPU-s; {found.height} in {spent:.1f}, opened in {opening:.1f}")  # fmt: skip
    assert words.select("a", "b").join(found, on=["a", "b"], how="anti").is_empty()
