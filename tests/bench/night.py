"""The night over generated bilingual records: time and peak memory by step, as one table.

    python -m tests.bench.night 1000 10000

Each size runs in a process of its own, so that peak memory is that night's. Texts are facts of
many subjects with values, restatements, changes of value and chatter, half of them Chinese.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
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
    """Yield records as JSON values: a tenth repeat another, a tenth change its value."""
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


def night(count):
    """Run one night over `count` records; returns seconds by step and the peak in megabytes."""
    from memops import settings
    from memops.nights.night import curate
    from memops.policy import Limits, Policy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.jsonl"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in records(count))
        policy = Policy(limits=Limits(share=1.0, records=10**9))
        with_state = settings.Settings(state=Path(folder) / "state", policy=policy)
        begun, cpu = time.perf_counter(), time.process_time()
        done = curate(f"jsonl:{path}", with_state, NOW, approve=True)
        assert done["code"] in (0, 3), done
        assert done["ops"] > count / 20
        return {
            "records": count,
            "ops": done["ops"],
            "steps": {t["step"]: t["seconds"] for t in done["timings"]},
            "seconds": round(time.perf_counter() - begun, 2),
            "cpu_seconds": round(time.process_time() - cpu, 2),
            "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }


def measured(counts):
    """Run each size in its own process and return what each said."""
    argv = [sys.executable, "-m", "tests.bench.night", "--one"]
    root = Path(__file__).parents[2]
    runs = [
        subprocess.run([*argv, str(n)], capture_output=True, text=True, check=True, cwd=root)
        for n in counts
    ]
    return [json.loads(run.stdout.splitlines()[-1]) for run in runs]


def _values(rng, lang):
    return {
        "hour": rng.randrange(6, 22),
        "minute": rng.randrange(0, 60, 5),
        "name": rng.choice(NAMES)[lang],
        "value": rng.randrange(10, 9000),
    }


def main(argv):
    if argv[0] == "--one":
        print(json.dumps(night(int(argv[1]))))
        return
    rows = measured([int(n) for n in argv])
    names = list(rows[0]["steps"])
    print(" | ".join(["records", "changes", *names, "whole", "CPU s", "peak MB"]))
    for row in rows:
        cells = [row["records"], row["ops"], *(row["steps"][n] for n in names)]
        print(
            " | ".join(str(c) for c in [*cells, row["seconds"], row["cpu_seconds"], row["peak_mb"]])
        )


if __name__ == "__main__":
    main(sys.argv[1:])
