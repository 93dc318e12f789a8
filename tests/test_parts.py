"""Parts of a store come to what the whole comes to, whatever they run on."""

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memops.context import Context
from memops.language.stemming import stemmed
from memops.policy import Candidates, Policy
from memops.rules import MIGRATION, RULES, propose
from memops.settings import Runner
from memops.spread import Spread, plainly, spreading
from memops.stores import open_store
from tests.bench.night import NOW, records

AT = NOW.isoformat()


def scoped(folder, scopes, each):
    """A store whose scopes say alike, but not the same."""
    lines = []
    for scope in range(scopes):
        for row in records(each, seed=scope % 3):
            own = {
                "id": f"{scope}-{row['id']}",
                "scope": f"员工{scope}" if scope % 2 else f"s{scope}",
            }
            lines.append(json.dumps(row | own, ensure_ascii=False) + "\n")
    path = folder / "m.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(("rules", "size"), [(RULES, 15), (MIGRATION, 60)])
def test_parts_of_any_size_come_to_the_same_plan(tmp_path, rules, size):
    whole = open_store(f"jsonl:{scoped(tmp_path, 3, 40)}").read()
    policy = Policy(candidates=Candidates(nearest=5))
    plain = propose(whole, Context(now=NOW, policy=policy), rules)
    spread = Spread(plainly, tmp_path, size)
    apart = propose(whole, Context(now=NOW, policy=policy, spread=spread), rules)
    assert plain[0].height > 10
    assert apart[0].equals(plain[0])
    assert apart[1].equals(plain[1])


def test_every_job_can_be_done_twice_and_in_any_order(tmp_path):
    """As after a worker has died: its part is done again by another."""
    whole = open_store(f"jsonl:{scoped(tmp_path, 2, 40)}").read()
    plain = propose(whole, Context(now=NOW), RULES)

    def twice(step, jobs):
        backwards = [step(*job) for job in reversed(jobs)]
        assert [step(*job) for job in jobs] == backwards[::-1]
        return backwards[::-1]

    apart = propose(whole, Context(now=NOW, spread=Spread(twice, tmp_path, 20)), RULES)
    assert apart[0].equals(plain[0])


def test_commands_make_the_same_plan_bytes_on_threads_and_processes(memops, tmp_path):
    store = scoped(tmp_path, 3, 40)
    snapshot = Path(memops("snapshot", f"jsonl:{store}", "--now", AT)["path"])
    made = {}
    for kind in ("plain", "threads", "processes"):
        (tmp_path / "memops.toml").write_text(f'[runner]\nkind = "{kind}"\npart = 30\n')
        path = Path(memops("plan", snapshot.name, "--now", AT)["path"])
        names = ("plan.json", "ops.jsonl", "changes.parquet", "refused.jsonl")
        made[kind] = [path.name, *((path / name).read_bytes() for name in names)]
        shutil.rmtree(path)
    assert made["threads"] == made["plain"] == made["processes"]
    assert list((memops.state / "parts").iterdir()) == []
    (tmp_path / "memops.toml").write_text('[runner]\nkind = "dask"\n')
    said = memops("plan", snapshot.name, "--now", AT)
    assert (memops.code, "memops serve" in said["hint"]) == (2, True)


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


def test_parts_that_a_crash_left_are_removed(tmp_path):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)  # fmt: skip
    left = tmp_path / "parts" / f"{gone.stdout.strip()}-abc"
    left.mkdir(parents=True)
    (left / "said-0.parquet").write_bytes(b"memory")
    with spreading(Runner(kind="threads"), tmp_path) as spread:
        assert [p.name for p in (tmp_path / "parts").iterdir()] == [spread.folder.name]
        assert spread.folder.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "parts").iterdir()) == []


FLOW = """
import json, sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[1])

if __name__ == "__main__":
    from nightly import nightly
    from prefect.testing.utilities import prefect_test_harness
    from tests.bench.runners import kill_a_worker
    ends = {}
    with prefect_test_harness(server_startup_timeout=180):
        for kind, given in json.loads(sys.argv[2]).items():
            if kind == "dask-killed":
                threading.Thread(target=kill_a_worker, args=[Path(given["state"])], daemon=True).start()
            ends[kind] = nightly(**given, return_state=True).name
    print(json.dumps(ends))
"""


def flow_runs(tmp_path, kinds, store):
    """A night's flow on each runner; returns its state and the bytes of plan and grades."""
    from tests.test_flows import QUIET, ROOT

    given = {}
    for kind in kinds:
        config = tmp_path / f"{kind}.toml"
        config.write_text(f'[runner]\nkind = "{kind.split("-")[0]}"\npart = 60\n')
        given[kind] = {
            "store": f"jsonl:{store}", "config": str(config), "state": str(tmp_path / kind),
            "suite": str(suite(tmp_path)), "now": AT,
        }  # fmt: skip
    script = tmp_path / "run.py"
    script.write_text(FLOW)
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT / "flows"), json.dumps(given)],
        env=os.environ | QUIET | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert ("killed" in done.stderr) == ("dask-killed" in kinds)
    ends = json.loads(done.stdout.splitlines()[-1])
    names = ("ops.jsonl", "changes.parquet", "refused.jsonl", "grades.json")
    files = {}
    for kind in kinds:
        (plan,) = (tmp_path / kind / "plans").iterdir()
        files[kind] = [plan.name, *((plan / name).read_bytes() for name in names)]
    return {kind: (ends[kind], files[kind]) for kind in kinds}


def suite(folder):
    made = folder / "suite"
    made.mkdir(exist_ok=True)
    (made / "suite.toml").write_text('measures = ["R@5", "RR@10"]\nretriever = "hybrid"\n')
    rows = [
        {"query_id": f"q{n}", "text": f"Who runs the depot {n}?", "nuggets": [f"depot {n} is"]}
        for n in range(20)
    ]
    (made / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made


@pytest.mark.slow
@pytest.mark.flows
def test_flows_on_threads_processes_and_dask_make_the_same_plans_and_grades(tmp_path):
    """Also when a Dask worker is killed on the way."""
    pytest.importorskip("prefect")
    pytest.importorskip("distributed")
    kinds = ("plain", "threads", "processes", "dask", "dask-killed")
    found = flow_runs(tmp_path, kinds, scoped(tmp_path, 5, 40))
    plain = found["plain"]
    assert len(plain[1][1].splitlines()) > 10
    for kind in kinds:
        assert found[kind] == plain, kind


ORPHANS = """
import os, signal, sys, time
from pathlib import Path
from memops.settings import Runner
from memops.spread import spreading

def job(n):
    time.sleep(0.5)
    return os.getpid()

if __name__ == "__main__":
    with spreading(Runner(kind="processes", workers=2), Path(sys.argv[1])) as spread:
        print(*set(spread.map(job, [(n,) for n in range(4)])), flush=True)
        os.kill(os.getpid(), int(sys.argv[2]))
        time.sleep(60)
"""


@pytest.mark.parametrize("number", [9, 15])
def test_workers_end_with_the_process_that_started_them(tmp_path, number):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, str(script), str(tmp_path), str(number)]
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == -number
    workers = [Path(f"/proc/{pid}") for pid in done.stdout.split()]
    assert workers
    end = time.monotonic() + 10
    while any(w.exists() for w in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [w for w in workers if w.exists()]
