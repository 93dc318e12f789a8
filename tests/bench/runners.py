"""Plan and grades of a store of many scopes on every runner: the same bytes, and what each costs.

    python -m tests.bench.runners 200 5000 plain threads processes flow-threads flow-dask flow-dask-killed

Arguments: scopes, records in each, runners. `flow-*` are Prefect's task runners, under a server of
their own, whose start counts; of `flow-dask-killed` one of the two workers is killed on the way.
Each runner has a process of its own. CPU is that of it and all below it, compared with the first
runner's; memory is the peak of it, and of the largest process below it.
"""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from tests.bench.night import NOW, records

os.environ |= {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
os.environ |= {"PREFECT_LOGGING_LEVEL": "ERROR"}
ROOT = Path(__file__).parents[2]
PLAN = ("ops.jsonl", "changes.parquet", "refused.jsonl")
COLUMNS = ("runner", "changes", "plan", "grades", "s to plan", "s to grade", "CPU s", "MB", "MB below")  # fmt: skip


def store(folder, scopes, each):
    """A JSONL store whose scopes say alike, but not the same."""
    path = folder / "m.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for scope in range(scopes):
            for row in records(each, seed=scope):
                own = row | {"id": f"{scope}-{row['id']}", "scope": f"agent:{scope}"}
                out.write(json.dumps(own, ensure_ascii=False) + "\n")
    return path


def suite(folder, scopes, each):
    """Two queries of each scope: the beginning of what one of its records says."""
    folder.mkdir()
    (folder / "suite.toml").write_text('measures = ["R@5", "RR@10"]\n', encoding="utf-8")
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as out:
        for scope in range(scopes):
            told = [r for r in records(min(each, 60), seed=scope) if len(r["text"]) > 15]
            for n, row in enumerate((told[0], told[-1])):
                asked = row["text"][: len(row["text"]) * 2 // 3]
                query = {
                    "query_id": f"{scope}-{n}", "text": asked, "scope": f"agent:{scope}",
                    "relevant": [f"{scope}-{row['id']}"],
                }  # fmt: skip
                out.write(json.dumps(query, ensure_ascii=False) + "\n")


def kill_a_worker(state, when="codes-0"):
    """Kill one of the processes below this one once a part of that name is there."""
    import psutil

    while not list(state.glob(f"parts/*/round-*/{when}.parquet")):
        time.sleep(0.01)
    below = psutil.Process().children(recursive=True)
    workers = [p for p in below if "spawn_main" in " ".join(p.cmdline())]
    os.kill(workers[-1].pid, signal.SIGKILL)
    print("killed", workers[-1].pid, file=sys.stderr)


@contextmanager
def mapper_of(kind, runner):
    """The mapper of Prefect's runners, inside a flow run; None for those that steps open."""
    if not kind.startswith("flow-"):
        yield None
        return
    sys.path.insert(0, str(ROOT / "flows"))
    from prefect.testing.utilities import prefect_test_harness
    from runners import mapping

    with prefect_test_harness(server_startup_timeout=180), mapping(runner) as mapper:
        yield mapper


def measured(kind, snapshot, folder, part, workers=2):
    """Plan and grade once; returns digests, seconds, CPU seconds and peaks of memory."""
    from memops import steps
    from memops.settings import Runner, Settings
    from memops.spread import plainly

    state = folder / kind
    bare = kind.removeprefix("flow-").removesuffix("-killed")
    runner = Runner(kind=bare, workers=workers, part=part)
    settings = Settings(state=state, runner=runner)
    if kind.endswith("-killed"):
        threading.Thread(target=kill_a_worker, args=[state, "read-0"], daemon=True).start()
    with mapper_of(kind, runner) as mapper:
        begun = time.perf_counter()
        made = steps.make_plan(snapshot, settings, NOW, mapper=mapper)
        planned = time.perf_counter()
        said = steps.grade_plan(
            str(snapshot), str(made.path), str(folder / "suite"), settings, mapper or plainly
        )
        graded = time.perf_counter()
    whole = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cells = (
        kind, made.header["ops"], digest(*(made.path / name for name in PLAN)),
        digest(Path(said["grades"])), round(planned - begun, 1), round(graded - planned, 1),
        round(sum(use.ru_utime + use.ru_stime for use in whole), 1),
        *(round(use.ru_maxrss / 1024) for use in whole),
    )  # fmt: skip
    return dict(zip(COLUMNS, cells, strict=True))


def digest(*files):
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


def main(argv):
    if argv[0] == "--one":
        print(json.dumps(measured(argv[1], Path(argv[2]), Path(argv[3]), int(argv[4]))))
        return
    from memops.settings import Settings
    from memops.state import sources

    scopes, each, kinds = int(argv[0]), int(argv[1]), argv[2:]
    part = max(1, min(5000, scopes * each // 8))
    first = None
    with tempfile.TemporaryDirectory() as name:
        folder, settings = Path(name), Settings(state=Path(name) / "state")
        suite(folder / "suite", scopes, each)
        address = f"jsonl:{store(folder, scopes, each)}"
        taken = sources.take_snapshot(address, settings, NOW)["path"]
        print(" | ".join([*COLUMNS, "CPU against the first"]))
        for kind in kinds:
            one = [sys.executable, "-m", "tests.bench.runners", "--one", kind]
            one += [str(taken), str(folder), str(part)]
            done = subprocess.run(one, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
            row = json.loads(done.stdout.splitlines()[-1])
            first = first or row
            ratio = round(row["CPU s"] / first["CPU s"], 2)
            print(" | ".join(map(str, [*row.values(), ratio])), flush=True)
            assert (row["plan"], row["grades"]) == (first["plan"], first["grades"])


if __name__ == "__main__":
    main(sys.argv[1:])
