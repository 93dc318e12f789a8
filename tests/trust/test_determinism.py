"""A plan is the same bytes whatever seeds the hashes, and in any zone, locale and number of threads.

python -m tests.trust.test_determinism STATE     plan every snapshot there, and say what was written
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memops import snapshot
from memops.cli import run
from memops.errors import MemopsError
from memops.policy import Policy
from memops.rules import MIGRATION
from memops.stores import open_store
from tests.stores.samples import polluted
from tests.tiny import NOW, STORES, build, drawn

from .checker import Tally
from .scene import ROOT

PLACES = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.utf8", "POLARS_MAX_THREADS": "1"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai", "LC_ALL": "C", "POLARS_MAX_THREADS": "4"},
    {
        "PYTHONHASHSEED": "77",
        "TZ": "America/St_Johns",
        "LC_ALL": "POSIX",
        "POLARS_MAX_THREADS": "2",
    },
    {
        "PYTHONHASHSEED": "random",
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "tr_TR.UTF-8",
        "POLARS_MAX_THREADS": "7",
    },
]
"""Ways in which machines differ; a locale that is not there is C to Python."""
MANY = [
    pytest.param(1, 2, id="1", marks=pytest.mark.slow),
    pytest.param(20, 4, id="20", marks=pytest.mark.slow),
]


def stores(folder, examples):
    """The sample stores, and so many tiny ones of each kind."""
    polluted(folder / "samples")
    yield from (f"{kind}:{folder / 'samples' / kind}" for kind in ("clawseed", "openclaw"))
    for kind in sorted(STORES):
        for nth, one in enumerate(drawn(STORES[kind], examples)):
            place = folder / f"{kind}-{nth}"
            place.mkdir()
            yield build(kind, place, one)


def snapshots(folder, examples):
    """A state folder with a snapshot of each of the stores, and how many there are."""
    state, taken = folder / "state", 0
    for address in stores(folder, examples):
        try:
            snapshot.take(open_store(address), state, NOW, Policy())
            taken += 1
        except MemopsError:
            continue  # a folder that holds no memory
    return state, taken


def planned(state, place):
    """What plans of the snapshots say, by their hashes, when they are made in such a place."""
    own = state.with_name(f"state-{place['PYTHONHASHSEED']}")
    shutil.copytree(state, own)
    argv = [sys.executable, "-m", __spec__.name, str(own)]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | place
    out = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def told(state):
    """Plan each snapshot of a state folder, by a night's and a migration's rules; hash what was written."""
    hashes = {}
    moving = [word for rule in MIGRATION for word in ("--rule", rule.__name__)]
    for taken in sorted((state / "snapshots").iterdir()):
        for words in ([], moving):
            code = run(
                [
                    "--state",
                    str(state),
                    "plan",
                    taken.name,
                    *words,
                    "--now",
                    NOW.isoformat(),
                    "--json",
                ]
            )
            hashes[f"plan {taken.name} {len(words)}"] = code
    for path in sorted((state / "plans").rglob("*")):
        if path.is_file() and path.name != "made.json":  # when and by whom it was made
            hashes[str(path.relative_to(state))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


def same_everywhere(folder, examples, places):
    """Plan the stores in so many places; a run is a file that is written in each of them."""
    state, count = snapshots(folder, examples)
    first, *others = (planned(state, place) for place in PLACES[:places])
    differ = [
        f"{name}: {place}" for place, other in zip(PLACES[1:], others, strict=False)
        for name in sorted({*first, *other}) if first.get(name) != other.get(name)
    ]  # fmt: skip
    codes = [
        f"{name} ended with {code}"
        for name, code in first.items()
        if code not in (0, 4) and type(code) is int
    ]
    files = sum(name.endswith("ops.jsonl") for name in first)
    return Tally(files * places, count, differ + codes)


@pytest.mark.parametrize(("examples", "places"), MANY)
def test_a_plan_is_the_same_bytes_wherever_it_is_made(tmp_path, examples, places):
    tally = same_everywhere(tmp_path, examples, places)
    assert tally.failures == []
    assert tally.runs >= 2 * tally.delivered > 0


if __name__ == "__main__":
    said = told(Path(sys.argv[1]))
    print()
    print(json.dumps(said))
