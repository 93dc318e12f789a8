"""Bombs: what unfolds to too much is refused, within 10 s and 1 GiB, by a command of its own."""

import gzip
import io
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from .scene import package_root

RUN = """
import json, re, sys, time
from memops import cli
begun = time.process_time()
code = cli.run(sys.argv[1:])
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
sys.stderr.write("\\n" + json.dumps([code, peak, time.process_time() - begun]))
"""


def written(table, **options):
    out = io.BytesIO()
    parquet.write_table(table, out, **options)
    return out.getvalue()


def dictionary_bomb():
    """One text of 1 MB, said 4,000 times: a few kilobytes that unfold to 4 GB."""
    text = pa.DictionaryArray.from_arrays(
        pa.array([0] * 4_000, pa.int32()), pa.array(["字" * 350_000])
    )
    ids = pa.array([f"r{n}" for n in range(4_000)])
    return written(pa.table({"id": ids, "text": text}), compression="zstd")


def zeros_bomb():
    """Texts of nothing but one letter, pressed to a thousandth."""
    text = pa.array(["a" * 1_000_000] * 300, pa.large_string())
    ids = pa.array([f"r{n}" for n in range(300)])
    return written(pa.table({"id": ids, "text": text}), compression="zstd", use_dictionary=False)


def rows_bomb():
    """Twenty million rows of nothing."""
    nothing = pa.nulls(20_000_000, pa.string())
    return written(pa.table({"id": nothing}), compression="zstd")


BOMBS = {
    "a dictionary": ("m.parquet", dictionary_bomb, ["plan", "parquet:{path}"], 20),
    "one letter": ("m.parquet", zeros_bomb, ["plan", "parquet:{path}"], 20),
    "rows of nothing": ("m.parquet", rows_bomb, ["plan", "parquet:{path}"], 20),
    "deep JSON": ("m.jsonl", lambda: b'{"a":' * 10**6, ["plan", "jsonl:{path}"], 20),
    "deep lists": ("m.jsonl", lambda: b"[" * 10**6, ["plan", "jsonl:{path}"], 20),
    "a number without end": ("m.jsonl", lambda: b'{"id": ' + b"9" * 10**6 + b"}", ["plan", "jsonl:{path}"], 20),
    "deep settings": ("memops.toml", lambda: b"a = " + b"[" * 10**5, ["--config", "{path}", "runs"], 2),
    "settings with a long number": ("memops.toml", lambda: b"a = " + b"9" * 10**5, ["--config", "{path}", "runs"], 2),
    "deep tables": ("memops.toml", lambda: b"[" + b"a." * 10**4 + b"a]", ["--config", "{path}", "runs"], 2),
    "a pressed file": ("pairs.jsonl.gz", lambda: gzip.compress(b"\0" * (128 << 20), 1), ["bench", "pairs", "{path}", "--json-lines"], 20),
}  # fmt: skip


def exploded(folder, name, make, argv):
    """Run a command on a bomb; returns what it ended with, bytes at most, seconds, and what it said."""
    path = folder / name
    path.write_bytes(make())
    argv = [a.format(path=path) for a in ["--state", str(folder / "state"), *argv]]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *argv],
        capture_output=True,
        cwd=folder,
        timeout=300,
        env={**os.environ, "PYTHONPATH": package_root(), "POLARS_MAX_THREADS": "1"},
    )
    *said, last = done.stderr.decode().split("\n")
    return (*json.loads(last), "\n".join(said))


@pytest.mark.parametrize("title", BOMBS)
def test_a_bomb_is_refused_in_bounded_time_and_space(tmp_path, title):
    name, make, argv, wanted = BOMBS[title]
    code, peak, seconds, said = exploded(tmp_path, name, make, argv)
    assert (code, "Traceback" in said) == (wanted, False), said
    assert name in said
    assert peak < 1 << 30
    assert seconds < 10


def test_a_large_file_of_ordinary_texts_is_read(tmp_path):
    import random

    rng = random.Random(1)
    text = pa.array([f"{rng.getrandbits(4000):x} 记" for _ in range(600)])
    table = pa.table({"id": pa.array([f"r{n}" for n in range(600)]), "text": text})
    code, *_ = exploded(
        tmp_path, "m.parquet", lambda: written(table), ["snapshot", "parquet:{path}"]
    )
    assert code == 0
