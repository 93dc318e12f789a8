"""Fuzzing: no input is a crash, a hang or a flood; it is read, or refused with an error of ours.

    python -m tests.trust.test_fuzz NAME COUNT SEED FOLDER     the worker: a process of its own

What a native library does to a process (a signal, a panic that is no Exception) counts, too.
"""

import json
import random
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memops import overlay, settings, snapshot
from memops.commands import importing
from memops.errors import MemopsError
from memops.evaluation import golden
from memops.policy import Policy
from memops.settings import Import
from memops.state import planfile, runs
from memops.stores import open_store
from tests.stores.samples import NOW, build

from .checker import Tally
from .fuzz import guided
from .scene import ROOT, package_root

SECONDS, BYTES = 10, 1 << 30
TOKENS = (
    b"\x00", b"\xff\xfe", b"\xe4\xbd", b"\r\n", b"\n", b"\xef\xbb\xbf", b"NaN", b"-Infinity", b"1e999",
    b"9" * 400, b'"\\ud800"', b"[" * 3000, b'{"a":' * 2000, b"null", b"true", b"-1", b"18446744073709551616",
    b'{"id": "a"}', b'"id"', b"---\n", b"&a [*a]", b"# ", b"- ", b"```", b"2026-13-45", b"\xe2\x80\xa8", b"../" * 9,
)  # fmt: skip


def stored(kind, inner):
    """A store whose file of that name is fuzzed, and is read and copied."""

    def make(folder):
        store = build(kind, folder)
        target = sorted(folder.rglob(inner))[0]

        def read():
            open_store(store.address).read()
            with tempfile.TemporaryDirectory(dir=folder) as raw:
                store.copy(Path(raw))

        return target, read

    return make


def a_plan(name):
    def make(folder):
        store = build("jsonl", folder)
        taken = snapshot.take(store, folder / "state", NOW, Policy())
        records = taken.records()
        changes = _changes(records)
        plan = planfile.Planned(taken, records, changes, changes, Policy(), NOW, ["fuzz"])
        made = planfile.save(folder / "state", plan, NOW)

        def read():
            found = planfile.load(made.id, folder / "state")
            planfile.refuse_expired(found, NOW)
            return found.ops(), found.refused()

        return (made.path / name).resolve(), read

    return make


def _changes(records):
    import polars as pl

    from memops.plan import delete

    return delete(records.head(4), "x", risk="low").with_columns(rule=pl.lit("fuzz"))


def a_snapshot(folder):
    taken = snapshot.take(build("jsonl", folder), folder / "state", NOW, Policy())
    return taken.path / "manifest.json", lambda: snapshot.open_snapshot(taken.path).records()


def a_run(folder):
    path = folder / "run"
    path.mkdir()
    run = runs.Run(path)
    run.journal.add({"state": "applying"}, {"batch": []}, {"状态": "好"})
    run.seal()
    (path / "seal.json").unlink()
    return path / "journal.jsonl", lambda: (run.verify(), run.state)


def an_overlay(folder):
    import polars as pl

    from memops.plan import edit
    from memops.schema import from_rows

    path = folder / "overlay.parquet"
    rows = from_rows([{"id": f"r{n}", "text": "文"} for n in range(5)])
    overlay.write(path, edit(rows, "promote", "x", tier="core").with_columns(rule=pl.lit("fuzz")))
    return path, lambda: overlay.read(path)


def some_settings(folder):
    path = folder / "memops.toml"
    path.write_text(
        '[stores.notes]\naddress = "jsonl:m.jsonl"\n[policy.floors]\ndefault = 3\n[policy.floors.kinds]\nfact = 2\n'
        '[import.other]\npath = "x.json"\nfields = { text = "内容" }\n',
        encoding="utf-8",
    )
    return path, lambda: settings.read(path, None)


def an_export(folder):
    path = folder / "export.json"
    entries = [{"id": n, "text": f"事 {n}", "created_at": "2026-01-01T00:00:00Z"} for n in range(9)]
    path.write_text(json.dumps({"memories": entries}, ensure_ascii=False), encoding="utf-8")
    return path, lambda: importing.mapped("export", Import(path, {"text": "text", "id": "id"}))


def a_suite(folder):
    (folder / "suite.toml").write_text('measures = ["R@5"]\nretriever = "hybrid"\nk = 10\n')
    path = folder / "queries.jsonl"
    query = {"query_id": "q1", "text": "门 3 gate", "relevant": {"r03": 1}, "answerable": True}
    path.write_text("".join(json.dumps({**query, "query_id": f"q{n}"}) + "\n" for n in range(6)))
    return path, lambda: golden.load(folder)


PARSERS = {
    "jsonl": stored("jsonl", "m.jsonl"),
    "parquet": stored("parquet", "m.parquet"),
    "clawseed": stored("clawseed", "brain.db"),
    "openclaw": stored("openclaw", "*.md"),
    "xinghebot": stored("xinghebot", "2*.md"),
    "rsclaw": stored("rsclaw", "memory.redb"),
    "plan": a_plan("plan.json"),
    "ops": a_plan("ops.jsonl"),
    "made": a_plan("made.json"),
    "refused": a_plan("refused.jsonl"),
    "key": a_plan("../../seal.key"),
    "manifest": a_snapshot,
    "journal": a_run,
    "overlay": an_overlay,
    "settings": some_settings,
    "export": an_export,
    "suite": a_suite,
}


def mutated(rng, data):
    """Return the bytes with one to four things done to them."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, size = rng.randrange(len(data) + 1), rng.choice((1, 2, 8, 40, 400))
        did = rng.randrange(7)
        if did == 0 and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif did == 1:
            data = data[:at] + bytes(rng.randrange(256) for _ in range(size)) + data[at + size :]
        elif did == 2:
            data = data[:at]
        elif did == 3:
            data = data[:at] + data[at + size :]
        elif did == 4:
            data = data[:at] + data[at : at + size] * rng.choice((2, 2, 50)) + data[at + size :]
        else:
            data = data[:at] + rng.choice(TOKENS) + data[at + (size if did == 5 else 0) :]
    return data


def fuzzed(name, count, seed):
    """Try so many inputs in a process of its own; returns the tally, `delivered` are refusals."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="fuzz-") as folder:
        argv = [sys.executable, "-m", "tests.trust.test_fuzz", name, str(count), str(seed), folder]
        env = {"PYTHONPATH": f"{package_root()}:{ROOT}", "POLARS_MAX_THREADS": "1", "PATH": ""}
        process = subprocess.run(
            argv, cwd=ROOT, env=env, capture_output=True, timeout=60 + SECONDS * count
        )
        said = [json.loads(line) for line in process.stdout.splitlines()]
        if process.returncode or not said:
            last = (Path(folder) / "nth").read_text() if (Path(folder) / "nth").exists() else "?"
            what = f"{name}: exit {process.returncode} at input {last} of seed {seed}"
            return Tally(1, 0, [f"{what}: {process.stderr.decode()[-200:]}"])
        return Tally(said[0]["runs"], said[0]["refused"], said[0]["failures"])


class _Hang(BaseException):
    """Raised by the alarm."""


def worker(name, count, seed, folder):
    """Feed mutated inputs to a parser and print what it came to as JSON."""

    def alarm(number, frame):
        raise _Hang

    signal.signal(signal.SIGALRM, alarm)
    inside = Path(folder) / "in"
    inside.mkdir()
    target, read = PARSERS[name](inside)
    whole, rng = target.read_bytes(), random.Random(seed)
    read()
    failures, refused = [], 0
    for nth in range(count):
        data = mutated(rng, whole)
        target.chmod(0o600)
        target.write_bytes(data)
        (Path(folder) / "nth").write_text(str(nth))
        signal.alarm(SECONDS)
        try:
            read()
        except MemopsError:
            refused += 1
        except BaseException as error:
            what = f"{name}, input {nth} of seed {seed}: {type(error).__name__}: {error}"
            failures.append(what[:300])
        finally:
            signal.alarm(0)
    status = Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10
    if peak > BYTES:
        failures.append(f"{name}, seed {seed}: {peak >> 20} MiB")
    print(json.dumps({"runs": count, "refused": refused, "failures": failures[:20]}))


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_a_damaged_input_is_read_or_refused(name):
    tally = fuzzed(name, 20, seed=1)
    assert tally.failures == []
    assert tally.runs == 20
    assert tally.delivered >= 1 or name in ("openclaw", "xinghebot")  # any text is Markdown


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PARSERS))
def test_five_thousand_damaged_inputs(name):
    tally = fuzzed(name, 5_000, seed=2)
    assert tally.failures == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PARSERS))
def test_ten_minutes_guided_by_coverage(name, tmp_path):
    pytest.importorskip("atheris")
    assert guided(name, 10, tmp_path / "corpus").failures == []


if __name__ == "__main__":
    worker(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
