"""Whole nights over made-up stores: what each costs, from the command's start to its end.

    python -m tests.bench.night 1000 10000 100000            # few large scopes
    python -m tests.bench.night --scopes 200 10000 100000    # many
    python -m tests.bench.night --steps 10000                # seconds by step, too

Of each size the first night, a night of a store that nobody touched since, and one of a store of
which 1 % changed; each is a process of its own, `memops nightly` as a person starts it. CPU is
user and system time of that process and those below it. A small night goes before them all, so that
modules are compiled, as they are of what is installed. Limits are told, never asserted.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
GOALS = {
    1000: (2, None), 10_000: (4, None), 100_000: (25, 1500), 1_000_000: (300, 6000),
}  # fmt: skip
"""Seconds and megabytes of a first night, by records."""
CHANGED = {100_000: 6, 1_000_000: 40}
"""Seconds of a night of which 1 % changed."""
HEAD = ["records", "night", "changes", "plan s", "whole s", "CPU s", "peak MB", "state MB", "open files", "goal s", "goal MB"]  # fmt: skip
_POLICY = "[policy.limits]\nshare = 1.0\nrecords = 1000000000\n"
_LOOK = 0.05
THINGS = [
    ("gateway", "网关"),
    ("depot", "仓库"),
    ("studio", "工作室"),
    ("library", "图书馆"),
    ("clinic", "诊所"),
]
FACTS = [
    ("The {thing} {n} opens at {hour}:{minute:02}", "{thing}{n}号每天{hour}点{minute:02}分开门"),
    ("The {thing} {n} is run by {name}", "{thing}{n}号由{name}负责"),
    ("The contact address of {thing} {n} is box {value}", "{thing}{n}号的信箱是{value}号"),
    (
        "{name} asked that {thing} {n} keep {value} spare lamps",
        "{name}要求{thing}{n}号备好{value}只灯泡",
    ),
]
NAMES = [("Ines", "伊妮"), ("Marek", "马睿"), ("Rosa", "罗莎"), ("Tao", "陶然"), ("Hana", "花奈")]
CHATTER = ["ok, thanks", "好的，收到", "Good morning", "嗯嗯", "Session started."]


def records(count, seed=7):
    """Yield short records as JSON values: a tenth repeat another, a tenth change its value."""
    rng, made = random.Random(seed), []
    for i in range(count):
        lang, at = rng.randrange(2), NOW - timedelta(days=rng.uniform(0.5, 150))
        kind = rng.random()
        if made and kind < 0.1:
            text = rng.choice(made)["text"]
        elif made and kind < 0.2:
            template, fields, lang = rng.choice(made)["how"]
            text = template.format(**fields | _values(rng, lang))
        elif kind < 0.25:
            text = rng.choice(CHATTER)
        else:
            template = rng.choice(FACTS)[lang]
            fields = {
                "thing": rng.choice(THINGS)[lang],
                "n": rng.randrange(count),
                **_values(rng, lang),
            }
            text = template.format(**fields)
            made.append({"text": text, "how": (template, fields, lang)})
        yield {"id": f"r{i:07}", "text": text, "kind": "fact", "created_at": at.isoformat()}


def _values(rng, lang):
    return {
        "hour": rng.randrange(6, 22),
        "minute": rng.randrange(0, 60, 5),
        "name": rng.choice(NAMES)[lang],
        "value": rng.randrange(10, 9000),
    }


def nights(count, scopes):
    """Yield what a first night, one after nothing changed and one after 1 % changed cost."""
    from tests.bench import stores

    with tempfile.TemporaryDirectory(prefix="memops-night-") as name:
        folder = Path(name)
        path = folder / "m.jsonl"
        stores.write(path, count, scopes)
        (folder / "memops.toml").write_text(_POLICY, encoding="utf-8")
        for nth, what in enumerate(("first", "0 % changed", "1 % changed")):
            if nth == 2:
                stores.change(path, 0.01)
            row = night(folder, NOW + timedelta(days=nth))
            yield {"records": count, "night": what} | row


def night(folder, now):
    """Run the command once; what it says of its steps, and what the machine says of it."""
    state, out = folder / "state", folder / "said.json"
    argv = [sys.executable, "-m", "memops", "--config", str(folder / "memops.toml")]
    argv += ["--state", str(state), "nightly", f"jsonl:{folder / 'm.jsonl'}", "--approve"]
    argv += ["--now", now.isoformat(), "--json"]
    begun = time.perf_counter()
    compiled = {"PYTHONPYCACHEPREFIX": str(folder.parent / "memops-compiled")}
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | compiled
    with out.open("wb") as said:
        process = subprocess.Popen(argv, stdout=said, cwd=Path(__file__).parents[2], env=env)
    most = _watched(process.pid)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begun
    assert process.returncode in (0, 3), out.read_text(encoding="utf-8")[-2000:]
    done = json.loads(out.read_text(encoding="utf-8"))
    done = done[0] if isinstance(done, list) else done
    steps = {t["step"]: t["seconds"] for t in done["timings"]}
    held = sum(file.stat().st_size for file in state.rglob("*") if file.is_file())
    return {
        "changes": done["ops"],
        "plan s": round(steps["plan_step"], 1),
        "whole s": round(seconds, 1),
        "CPU s": round(used.ru_utime + used.ru_stime, 1),
        "peak MB": round(used.ru_maxrss / 1024),
        "state MB": round(held / 2**20),
        "open files": most[0],
        "steps": steps,
    }


def _watched(pid):
    """Look at how many files a process holds open; the most is in the list that comes back."""
    most = [0]

    def look():
        while True:
            try:
                most[0] = max(most[0], len(os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208
            except OSError:
                return
            time.sleep(_LOOK)

    threading.Thread(target=look, daemon=True).start()
    return most


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--scopes", type=int, default=0)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("records", type=int, nargs="+")
    asked = parser.parse_args(argv)
    next(nights(20, 0))
    print(" | ".join(HEAD))
    spent = {}
    for count in asked.records:
        for row in nights(count, asked.scopes):
            first = row["night"] == "first"
            goal = GOALS.get(count, ("", None)) if first else ("", None)
            if row["night"].startswith("1 %"):
                goal = (CHANGED.get(count, ""), None)
            cells = [*(row[name] for name in HEAD[:-2]), goal[0], goal[1] or ""]
            print(" | ".join(map(str, cells)), flush=True)
            if asked.steps:
                print("   ", ", ".join(f"{step} {s:.1f}" for step, s in row["steps"].items()))
            spent.setdefault(row["night"], []).append((count, row["CPU s"]))
    for what, points in spent.items():
        (least, few), (most, many) = points[0], points[-1]
        if most > least:
            print(f"{what}: CPU grows as records^{log(many / few) / log(most / least):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
