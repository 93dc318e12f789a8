"""What a cross-encoder as the judge changes on labelled pairs.

    python -m tests.bench.judge FOLDER [PAIRS.jsonl ...]    the folder of a CrossEncoder

Each pair {a, b, label, lang} is judged as it would be in a store; by default those of evals/pairs.
Printed a language and way of asking: how many of each label were asked, and are called the same,
or in conflict, by rules alone, where the judge may only withhold, and where it decides.
"""

import gzip
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from memops.context import Context, Models
from memops.judge.conflicts import features
from memops.judge.judge import heard
from memops.models.judge import CrossEncoderJudge
from memops.policy import Judge, Policy

PAIRS = Path(__file__).parents[2] / "evals" / "pairs"


def read(path):
    """The pairs of a JSON lines file."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.splitlines() if line.strip()]


def told(pairs, folder, cache, decides):
    """The pairs with what rules, and the judge if there is a folder, make of them."""
    texts = sorted({pair[side] for pair in pairs for side in "ab"})
    place = {text: n for n, text in enumerate(texts)}
    sides = pl.DataFrame([{side: place[pair[side]] for side in "ab"} for pair in pairs])
    ruled = features(pairs).select("same", "opposes", "firm_a", "firm_b")
    judge = CrossEncoderJudge(folder, cache) if folder else None
    policy = Policy(judge=Judge(model=folder, decides=decides))
    ctx = Context(now=datetime.now(UTC), policy=policy, models=Models(judge=judge))
    found = heard(pl.concat([sides, ruled], how="horizontal"), pl.Series("text", texts), ctx)
    if "word" not in found.columns:
        found = found.with_columns(entailment=None, word=None)
    about = {name: [pair.get(name, "") for pair in pairs] for name in ("label", "lang")}
    return found.with_columns(pl.Series(name, held) for name, held in about.items())


def main(folder, *paths):
    """Print the counts of each way."""
    files = [Path(p) for p in paths] or sorted(PAIRS.glob("*.jsonl"))
    pairs = [pair for path in files for pair in read(path)]
    firm = pl.col("firm_a") & pl.col("firm_b")
    with tempfile.TemporaryDirectory() as cache:
        for way, model, decides in (("rules", "", False), ("withholds", folder, False), ("decides", folder, True)):  # fmt: skip
            begun = time.process_time()
            found = told(pairs, model, Path(cache), decides)
            counts = found.group_by("lang", "label").agg(
                pairs=pl.len(),
                asked=pl.col("entailment").is_not_null().sum(),
                same=(firm & pl.col("same") & pl.col("opposes").is_null()).sum(),
                conflict=(firm & ~pl.col("same") & pl.col("opposes").is_not_null()).sum(),
            )
            print(f"{way}: {time.process_time() - begun:.1f} CPU-s")
            for row in counts.sort("lang", "label").iter_rows():
                print("  ", *row)


if __name__ == "__main__":
    main(*sys.argv[1:])
