"""The plan of a store of many scopes on every runner: the same bytes, and what each costs.

    python -m tests.bench.runners 200 5000 plain threads processes flow-threads flow-dask

Arguments: scopes, records in each, runners. `flow-*` are Prefect's task runners, under a server of
their own, whose start counts. CPU is that of all processes, compared with the first runner's.
"""

import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.bench.night import NOW, records

os.environ |= {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
os.environ |= {"PREFECT_LOGGING_LEVEL": "ERROR"}
FLOWS = Path(__file__).parents[2] / "flows"


def store(folder, scopes, each):
    """A JSONL store whose scopes say alike, but not the same."""
    path = folder / "m.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for scope in range(scopes):
            for row in records(each, seed=scope):
                own = row | {"id": f"{scope}-{row['id']}", "scope": f"agent:{scope}"}
                out.write(json.dumps(own, ensure_ascii=False) + "\n")
    return path


@contextmanager
def mapper_of(kind, runner):
    """The mapper of Prefect's runners, inside a flow run; None for those that steps open."""
    if not kind.startswith("flow-"):
        yield None
        return
    sys.path.insert(0, str(FLOWS))
    from prefect.testing.utilities import prefect_test_harness
    from runners import mapping

    with prefect_test_harness(server_startup_timeout=180), mapping(runner) as mapper:
        yield mapper


def measured(kind, scopes, each, part, workers):
    """Plan once; returns the plan's digest, seconds and CPU seconds of all processes."""
    from memops import sources, steps
    from memops.settings import Runner, Settings

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner(kind=kind.removeprefix("flow-"), workers=workers, part=part)
        settings = Settings(state=folder / "state", runner=runner)
        taken = sources.take_snapshot(f"jsonl:{store(folder, scopes, each)}", settings, NOW)
        cpu = spent()
        with mapper_of(kind, runner) as mapper:
            begun = time.perf_counter()
            made = steps.make_plan(taken["path"], settings, NOW, mapper=mapper)
            seconds = time.perf_counter() - begun
        digest = hashlib.sha256()
        for file in ("ops.jsonl", "changes.parquet", "refused.jsonl"):
            data = (made.path / file).read_bytes()
            digest.update(data.replace(str(folder).encode(), b""))
        cpu = spent() - cpu
        return {"kind": kind, "ops": made.header["ops"], "sha256": digest.hexdigest()[:12], "seconds": round(seconds, 1), "cpu": round(cpu, 1)}  # fmt: skip


def spent():
    whole = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in whole)


def main(argv):
    scopes, each, kinds = int(argv[0]), int(argv[1]), argv[2:]
    part = max(1, min(5000, scopes * each // 8))
    first = None
    print("runner | changes | plan | seconds | CPU s | CPU against the first")
    for kind in kinds:
        row = measured(kind, scopes, each, part, workers=2)
        first = first or row
        ratio = round(row["cpu"] / first["cpu"], 2)
        print(" | ".join(map(str, [*row.values(), ratio])), flush=True)
        assert row["sha256"] == first["sha256"]


if __name__ == "__main__":
    main(sys.argv[1:])
