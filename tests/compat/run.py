"""Run a file of compatibility vectors against the parity implementations.

usage: run.py VECTORS.json [--parity] [--failures]

Prints {group: {passed, failed, unsupported}}, with a reason where something is unsupported.
`VECTORS.json` is run by the module of its name in this folder, whose GROUPS maps a group to a
function of one case that returns whether it holds, or raises Unsupported; its REASONS say what is
to bring a group, or why nothing will, '' of any other. A case is judged by its fields: one that
has a field which its check did not look at fails, for the check may not know what it is about.
Cases that pin a bug of the peer (`peer_bug`) are run with --parity only; --failures names on
standard error what failed.
"""

import argparse
import importlib
import importlib.util
import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.compat import Case, Unsupported

ABOUT = frozenset(
    (
        "name",
        "id",
        "group",
        "suite",
        "origin",
        "src",
        "source",
        "note",
        "version",
        "peer_test",
        "peer_bug",
        "peer_assert",
        "class",
        "human_truth_conflict",
    )
)
"""Fields that say what a case is and where it is from, to readers."""
PEER = (
    "a bug of the peer, run with --parity; what only the peer itself does; or told in words alone"
)


def cases(vectors):
    """Yield (group, case): from a list that names its groups, or from lists that are groups."""
    for name, found in vectors.items():
        if isinstance(found, list) and all(isinstance(case, dict) for case in found):
            for case in found:
                yield case.get("group") or case["suite"] if name == "vectors" else name, case


def run(path, parity=False, say=lambda line: None):
    vectors = json.loads(Path(path).read_text(encoding="utf-8"))
    groups, reasons = _module(Path(path).stem)
    result = defaultdict(lambda: {"passed": 0, "failed": 0, "unsupported": 0})
    for group, case in cases(vectors):
        result[group][_outcome(groups.get(group), group, case, parity, say)] += 1
    for group, counts in result.items():
        if counts["unsupported"]:
            counts["reason"] = PEER if group in groups else reasons.get(group, reasons[""])
    return dict(result)


def _outcome(check, group, case, parity, say):
    if check is None or (case.get("peer_bug") and not parity):
        return "unsupported"
    name, asked = case.get("name") or case.get("id") or case, Case(case)
    try:
        right = check(asked)
        unread = asked.unread(ABOUT) if right else ()
        if right and not unread:
            return "passed"
        say(f"{group}: {name}" + "".join(f": does not know the field {path}" for path in unread))
    except Unsupported:
        return "unsupported"
    except Exception as error:  # a crash is a failure, not the end of the run
        say(f"{group}: {name}: {error!r}")
    return "failed"


def _module(stem):
    """GROUPS and REASONS of the module for a file of vectors."""
    name = f"tests.compat.{stem}"
    if not importlib.util.find_spec(name):
        return {}, {"": "nothing: memops knows no store of this name"}
    module = importlib.import_module(name)
    return module.GROUPS, module.REASONS


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors")
    parser.add_argument("--parity", action="store_true")
    parser.add_argument("--failures", action="store_true")
    args = parser.parse_args(argv)

    def say(line):
        if args.failures:
            print(line, file=sys.stderr)

    result = run(args.vectors, args.parity, say)
    print(json.dumps(result, indent=2, ensure_ascii=False))
    return 1 if any(group["failed"] for group in result.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
