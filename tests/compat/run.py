"""Run a file of compatibility vectors against the parity implementations.

usage: run.py VECTORS.json [--parity] [--failures]

Prints {group: {passed, failed, unsupported}}. `VECTORS.json` is run by the module of its name in
this folder, whose GROUPS maps a group to a function of one case that returns whether it holds, or
raises Unsupported. Cases that pin a bug of the peer (`peer_bug`) are run with --parity only;
--failures names on standard error what failed.
"""

import argparse
import importlib
import importlib.util
import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.compat import Unsupported


def cases(vectors):
    """Yield (group, case): from a list that names its groups, or from lists that are groups."""
    for name, found in vectors.items():
        if isinstance(found, list) and all(isinstance(case, dict) for case in found):
            for case in found:
                yield case.get("group") or case["suite"] if name == "vectors" else name, case


def run(path, parity=False, say=lambda line: None):
    vectors = json.loads(Path(path).read_text(encoding="utf-8"))
    groups = _groups(Path(path).stem)
    result = defaultdict(lambda: {"passed": 0, "failed": 0, "unsupported": 0})
    for group, case in cases(vectors):
        result[group][_outcome(groups.get(group), group, case, parity, say)] += 1
    return dict(result)


def _outcome(check, group, case, parity, say):
    if check is None or (case.get("peer_bug") and not parity):
        return "unsupported"
    try:
        if check(case):
            return "passed"
        say(f"{group}: {case.get('name') or case.get('id') or case}")
    except Unsupported:
        return "unsupported"
    except Exception as error:  # a crash is a failure, not the end of the run
        say(f"{group}: {case.get('name') or case.get('id') or case}: {error!r}")
    return "failed"


def _groups(stem):
    name = f"tests.compat.{stem}"
    return importlib.import_module(name).GROUPS if importlib.util.find_spec(name) else {}


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
