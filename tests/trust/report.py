"""The trust report: does every experiment, a slice at a time, and writes TRUST.md of what happened.

    python -m tests.trust.report [moderate|full] [--minutes M] [ROW..]

Each slice that is done is a line of ledger.jsonl, and is not done again; so the full counts, which
take hours, may be made up of many calls (`--fresh` forgets the lines of the rows named, or all).
Calls may run beside one another when they name different rows. TRUST.md says what is promised,
which test proves it, how many runs there were, how many faults really struck in them, how many
runs went wrong, and when.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # the tables are tiny, and threads only wait

from .checker import Tally
from .experiments import ROWS
from .scene import ROOT

OUT = Path(__file__).with_name("TRUST.md")
LEDGER = Path(__file__).with_name("ledger.jsonl")


def ledger():
    """Return the lines of what was done."""
    if not LEDGER.exists():
        return []
    return [json.loads(line) for line in LEDGER.read_text(encoding="utf-8").splitlines()]


def work(scale, names, seconds):
    """Do the slices that are missing until they are all there or the time is out."""
    ends, failed = time.monotonic() + seconds, 0
    done = {(e["row"], e["slice"]) for e in ledger()}
    for row in ROWS:
        if names and row.key not in names:
            continue
        folder = Path(tempfile.mkdtemp(prefix="trust-"))
        try:
            for nth in range(row.full if scale == "full" else row.moderate):
                if time.monotonic() < ends and (row.key, nth) not in done:
                    failed += _slice(row, nth, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return failed


def _slice(row, nth, folder):
    begun, cpu = time.monotonic(), _cpu()
    try:
        tally, about = row.slice(folder, nth)
    except Exception as error:
        tally, about = Tally(1, 0, [f"it could not be done: {error!r}"[:400]]), ""
    entry = {
        "row": row.key,
        "slice": nth,
        "runs": tally.runs,
        "struck": tally.delivered,
        "failures": tally.failures[:20],
        "about": about,
        "seconds": round(time.monotonic() - begun, 1),
        "cpu": round(_cpu() - cpu, 1),
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": _commit(),
    }
    line = json.dumps(entry, ensure_ascii=False) + "\n"
    handle = os.open(LEDGER, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(handle, line.encode())
    os.close(handle)
    print(row.key, nth, f"{tally.runs} runs, {tally.delivered} struck, {len(tally.failures)} failed,",
          f"{entry['cpu']} s of CPU", *tally.failures[:5], sep="\n  " if tally.failures else " ", flush=True)  # fmt: skip
    return len(tally.failures)


def written(entries):
    """Return TRUST.md."""
    head = """# Trust

What memops promises, the test that proves it, and what happened when it was run: by
`python -m tests.trust.report full`, which writes this file from the slices in `ledger.jsonl`.
The counts of a change's own tests are smaller (`pytest tests/trust`).

A fault counts as struck only when it was seen to happen: the process died of it, or the error came
back. Where faults are not what a row is about, the note says what the number is, or there is none.
`done` counts the slices of the full count; runs at a smaller count that went before are in the
sums, too. `commit` is the code that was run, with a + where it was changed besides; it says nothing
of later ones.

| | promise | test | runs | struck | failures | done | commit | date | note |
|---|---|---|--:|--:|--:|--:|---|---|---|
"""
    lines = [_line(row, [e for e in entries if e["row"] == row.key]) for row in ROWS]
    cpu, seconds = (sum(e[name] for e in entries) for name in ("cpu", "seconds"))
    days = sorted({e["day"] for e in entries})
    foot = f"\nAll of it took {cpu / 60:.0f} minutes of CPU and {seconds / 60:.0f} minutes by the clock"
    foot += f", on {os.cpu_count()} processors that others used, too ({', '.join(days)}).\n"
    failed = [
        f"- {e['row']}, slice {e['slice']}: {what}" for e in entries for what in e["failures"]
    ]
    return head + "\n".join(lines) + "\n" + foot + "\n".join(["", *failed, ""] if failed else [])


def _line(row, mine):
    runs, struck = sum(e["runs"] for e in mine), sum(e["struck"] for e in mine)
    failures = sum(len(e["failures"]) for e in mine)
    day = max((e["day"] for e in mine), default="never")
    worst = row.worst([e["about"] for e in mine]) if mine else "not run yet"
    commits = list(dict.fromkeys(e["commit"] for e in mine))
    at = ", ".join(commits[-3:]) + (f" and {len(commits) - 3} before" if len(commits) > 3 else "")
    share = f"{sum(isinstance(e['slice'], int) for e in mine)}/{row.full}"
    return f"| {row.id} | {row.promise} | `{row.test}` | {runs} | {struck or '-'} | {failures} | {share} | {at} | {day} | {worst} |"


def _cpu():
    """Seconds of this process and of children that it waited for."""
    return sum(os.times()[:4])


def _commit():
    said = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "memops"], cwd=ROOT)
    return said.stdout.strip() + ("+" if changed.returncode else "")


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scale", nargs="?", choices=["moderate", "full"], default="moderate")
    parser.add_argument("rows", nargs="*", help=", ".join(row.key for row in ROWS))
    parser.add_argument("--minutes", type=float, default=10**6)
    parser.add_argument("--fresh", action="store_true")
    asked = parser.parse_intermixed_args(argv)
    if asked.fresh:
        kept = [e for e in ledger() if asked.rows and e["row"] not in asked.rows]
        LEDGER.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in kept))
    failed = work(asked.scale, asked.rows, 60 * asked.minutes)
    OUT.write_text(written(ledger()), encoding="utf-8")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
