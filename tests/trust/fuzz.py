"""Fuzzing guided by coverage: libFuzzer, by atheris, mutates what reaches new code.

    python -m tests.trust.fuzz PARSER [--minutes N] [--corpus FOLDER]

The parsers are those of `test_fuzz`. An input that raises anything but an error of ours, takes over
ten seconds or over 1 GiB ends the session, and is kept in the corpus folder as `crash-*`.
atheris is no dependency of memops: `pip install atheris`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .checker import Tally

ROOT = Path(__file__).parents[2]

SECONDS, MEGABYTES = 10, 1024
_INPUT = 1 << 16  # bytes that an input may grow to


def guided(name, minutes, corpus):
    """Fuzz one parser in a process of its own; returns the tally, `delivered` are new paths."""
    corpus.mkdir(parents=True, exist_ok=True)
    before = len(list(corpus.iterdir()))
    argv = [sys.executable, "-m", "tests.trust.fuzz", name, "--corpus", corpus, "--inside"]
    env = {"PYTHONPATH": str(ROOT), **os.environ, "POLARS_MAX_THREADS": "1"}
    limits = [f"-max_total_time={max(1, round(60 * minutes))}", "-print_final_stats=1"]
    process = subprocess.run([*argv, *limits], cwd=ROOT, env=env, capture_output=True)
    said = process.stderr.decode("utf-8", "replace")
    ran = re.search(r"number_of_executed_units:\s+(\d+)", said)
    found = sorted(corpus.glob("crash-*")) + sorted(corpus.glob("timeout-*"))
    failures = [f"{name}: {path}" for path in [*found, *corpus.glob("oom-*")]]
    if process.returncode or not ran:
        failures.append(f"{name}: exit {process.returncode}: {said[-300:]}")
    return Tally(int(ran[1]) if ran else 0, len(list(corpus.iterdir())) - before, failures)


def _inside(name, corpus, arguments):
    """Be the process that is fuzzed, which imports memops here only; does not return."""
    import atheris

    with atheris.instrument_imports(include=["memops"]):
        from memops.errors import MemopsError

        from .test_fuzz import PARSERS, TOKENS

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    target, read = PARSERS[name](folder)
    read()
    (corpus / "seed").write_bytes(target.read_bytes())
    words = folder / "words"
    words.write_text("".join(_word(token) for token in TOKENS if len(token) < 64))

    def once(data):
        target.chmod(0o600)
        target.write_bytes(data)
        try:
            read()
        except MemopsError:
            return
        except BaseException as error:  # a panic of a native library is no Exception
            raise RuntimeError(f"{type(error).__name__}: {error}") from error

    limits = [f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", f"-max_len={_INPUT}"]
    kept = [f"-artifact_prefix={corpus}/", f"-dict={words}", str(corpus)]
    atheris.Setup([sys.argv[0], *limits, *arguments, *kept], once)
    atheris.Fuzz()


def _word(token):
    return '"' + "".join(f"\\x{byte:02x}" for byte in token) + '"\n'


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parser")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked, rest = parser.parse_known_args(argv)
    corpus = asked.corpus or Path(tempfile.gettempdir()) / "memops-corpus" / asked.parser
    if asked.inside:
        return _inside(asked.parser, corpus, rest)
    tally = guided(asked.parser, asked.minutes, corpus)
    print(f"{asked.parser}: {tally.runs} inputs, {tally.delivered} reached new code", *tally.failures, sep="\n  ")  # fmt: skip
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
