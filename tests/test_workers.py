"""Workers share the cores and end with what started them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ORPHANS = """
import os, signal, sys, time
from memops.nights.several import workers

def job(n):
    time.sleep(0.5)
    return os.getpid()

if __name__ == "__main__":
    with workers(2) as pool:
        print(*set(pool.map(job, range(4))), flush=True)
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(60)
"""


THREADS = """
import os
from memops.nights.several import workers

def threads():
    import polars
    return polars.thread_pool_size()

if __name__ == "__main__":
    with workers(os.cpu_count()) as pool:
        print(pool.submit(threads).result())
"""


def test_workers_share_the_cores(tmp_path):
    script = tmp_path / "threads.py"
    script.write_text(THREADS)
    kept = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"}
    env = kept | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, str(script)], env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.split() == ["1"]


@pytest.mark.parametrize("number", [9, 15])
def test_workers_end_with_the_process_that_started_them(tmp_path, number):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, str(script), str(number)]
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == -number
    workers = [Path(f"/proc/{pid}") for pid in done.stdout.split()]
    assert workers
    end = time.monotonic() + 10
    while any(w.exists() for w in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [w for w in workers if w.exists()]
