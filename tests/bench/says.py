"""How well normal forms tell pairs apart: python -m tests.bench.says PAIRS.jsonl ... [--misses FILE].

A pair has `id`, `lang`, `a`, `b`, `label` (equal or different) and perhaps `kind`; one without a
kind is of signs and roles, of which the judge says whether they are the same. Printed are,
for each language and kind, the share of equal pairs found equal and of different pairs called equal.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from memops.judge.conflicts import features
from memops.judge.decision import DUPLICATE
from tests.agreement import same_values
from tests.comparing import DIFFERENT, EQUAL, INCOMPARABLE


def said(pair):
    """What the normal forms of the two texts of a pair come to."""
    if "kind" in pair:
        return same_values(pair["a"], pair["b"], pair["lang"])
    ((one, veto),) = features([pair]).select(DUPLICATE, "veto_same").rows()
    return EQUAL if one else DIFFERENT if veto else INCOMPARABLE


def label(pair):
    return pair.get("label") or ("equal" if pair["same"] else "different")


def main(files, misses=None):
    groups = defaultdict(lambda: [0, 0, 0, 0, 0])
    missed = []
    for path in files:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            found, same = said(pair), label(pair) == "equal"
            kind = pair.get("kind", "signs")
            what = "values" if "kind" in pair else "signs"
            for name in {f"{what}", f"{what} {pair['lang']}", f"{what} {pair['lang']} {kind}"}:
                counts = groups[name]
                counts[0 if same else 2] += 1
                counts[1 if same else 3] += found == EQUAL
                counts[4] += same and found == DIFFERENT
            if (found == EQUAL) != same:
                missed.append(pair | {"said": found})
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
