"""How well readers tell pairs apart: python -m tests.bench.value_pairs values|signs PAIRS.jsonl [MISSES.jsonl].

A pair has `id`, `lang`, `a`, `b`, `same` and perhaps `kind`. Printed are, overall and for each language
and kind, the share of same pairs found equal and the share of other pairs called equal.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path


def judged(what, pair):
    from memops import values

    if what == "values":
        one, two = (values.read(pair[side], lang=pair["lang"]) for side in "ab")
        return values.agree(one, two)
    return values.same_sign(pair["a"], pair["b"], pair["lang"])


def main(what, path, misses=None):
    groups = defaultdict(lambda: [0, 0, 0, 0, 0])
    missed = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        said = judged(what, pair)
        right = (said == "equal") == bool(pair["same"])
        for name in ("all", pair["lang"], f"{pair['lang']} {pair.get('kind', '')}"):
            counts = groups[name]
            counts[0 if pair["same"] else 2] += 1
            counts[1 if pair["same"] else 3] += said == "equal"
            counts[4] += bool(pair["same"]) and said == "different"
        if not right:
            missed.append(pair | {"said": said})
    for name, (same, found, other, wrong, apart) in sorted(groups.items()):
        print(
            f"{name:28} equal {found}/{same} {found / max(same, 1):.3f}  called different {apart}  wrongly equal {wrong}/{other} {wrong / max(other, 1):.4f}"
        )
    if misses:
        Path(misses).write_text(
            "".join(json.dumps(m, ensure_ascii=False) + "\n" for m in missed), encoding="utf-8"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
