"""How well the judge tells pairs apart: python -m tests.bench.says PAIRS.jsonl ... [--misses FILE].

A pair has `id`, `lang`, `a`, `b`, `label` (equal or different) and perhaps `kind`; one without a
kind is of signs and roles. Printed are, for each language and kind, the share of equal pairs that
a night would merge or calls different, and of different pairs that it would merge.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import polars as pl

from memops.judge.conflicts import features
from memops.judge.decision import DUPLICATE

SAID = (
    pl.when(DUPLICATE).then(pl.lit("same"))
    .when(pl.col("veto_same").is_not_null()).then(pl.lit("differs"))
    .otherwise(pl.lit("unsure"))
)  # fmt: skip


def judged(pairs):
    """Return what a night makes of each two texts: same, differs, or unsure."""
    told = features([{"a": one, "b": other} for one, other in pairs]) if pairs else None
    return told.select(said=SAID)["said"].to_list() if pairs else []


def label(pair):
    return pair.get("label") or ("equal" if pair["same"] else "different")


def main(files, misses=None):
    lines = [line for path in files for line in Path(path).read_text(encoding="utf-8").splitlines()]
    pairs = [*map(json.loads, lines)]
    groups = defaultdict(lambda: [0, 0, 0, 0, 0])
    missed = []
    for pair, said in zip(pairs, judged([(p["a"], p["b"]) for p in pairs]), strict=True):
        same, kind = label(pair) == "equal", pair.get("kind", "signs")
        what = "values" if "kind" in pair else "signs"
        for name in {f"{what}", f"{what} {pair['lang']}", f"{what} {pair['lang']} {kind}"}:
            counts = groups[name]
            counts[0 if same else 2] += 1
            counts[1 if same else 3] += said == "same"
            counts[4] += same and said == "differs"
        if (said == "same") != same:
            missed.append(pair | {"said": said})
    for name, (same, found, other, wrong, apart) in sorted(groups.items()):
        print(
            f"{name:28} equal found {found}/{same} {found / max(same, 1):.3f}  called different {apart}"
            f"  different called equal {wrong}/{other} {wrong / max(other, 1):.4f}"
        )
    if misses:
        rows = (json.dumps(m, ensure_ascii=False) + "\n" for m in missed)
        Path(misses).write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--misses")
    told = parser.parse_args()
    main(told.files, told.misses)
