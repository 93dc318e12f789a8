"""One small store of each kind, all saying the same things, in English and Chinese."""

import importlib.util
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memops.schema import from_rows
from memops.stores import open_store

from .clawseed_db import build as build_clawseed

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SAID = [
    "The depot opens at 7:30 on weekdays",
    "Ines runs the print workshop",
    "用户每周三晚上打羽毛球",
    "用户的猫叫麻薯",
    "The spare key hangs behind the blue door",
    "仓库的备用钥匙挂在蓝色门后",
    "Marek takes the early shift in June",
    "发布前要先做灰度验证",
    "The backup job writes to the second disk",
    "备份任务写到第二块磁盘",
    "Rosa prefers tea to coffee",
    "The reading group meets in room 12",
]


def at(n):
    return NOW - timedelta(days=40 - n)


def table(folder, kind):
    path = folder / f"m.{kind}"
    rows = [
        {"id": f"r{n:02}", "text": t, "kind": "fact", "created_at": at(n)}
        for n, t in enumerate(SAID)
    ]
    if kind == "jsonl":
        lines = [
            json.dumps(r | {"created_at": r["created_at"].isoformat()}, ensure_ascii=False)
            for r in rows
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        from_rows(rows).write_parquet(path)
    return f"{kind}:{path}"


def clawseed(folder):
    rows = [
        {
            "content": t,
            "category": "project",
            "created_at": at(n).isoformat(timespec="microseconds"),
        }
        for n, t in enumerate(SAID)
    ]
    build_clawseed(folder / "ws", rows)
    return f"clawseed:{folder / 'ws'}"


def openclaw(folder):
    for n, text in enumerate(SAID):
        day = folder / "ws" / "memory" / f"{at(n):%Y-%m-%d}.md"
        day.parent.mkdir(parents=True, exist_ok=True)
        day.write_text(
            f"# {at(n):%Y-%m-%d}\n\n## Log\n- 09:1{n % 10} {text}\n- 10:00 Reviewed the plan of {n}\n",
            encoding="utf-8",
        )
    return f"openclaw:{folder / 'ws'}"


def xinghebot(folder):
    for n, text in enumerate(SAID):
        day = folder / "mem" / "daily" / f"{at(n):%Y-%m-%d}.md"
        day.parent.mkdir(parents=True, exist_ok=True)
        stamp = f"{at(n):%Y-%m-%dT%H:%M:%SZ}"
        day.write_text(
            f"- {stamp} [fact] {text} #work (source=run-{n})\n- {stamp} [note] 第 {n} 次检查\n",
            encoding="utf-8",
        )
    (folder / "mem" / "MEMORY.md").write_text("# MEMORY\n\n## Notes\n", encoding="utf-8")
    return f"xinghebot:{folder / 'mem'}"


def rsclaw(folder):
    from memops.stores.rsclaw.docs import abstract, overview, packed
    from memops.stores.rsclaw.redb import Table
    from memops.stores.rsclaw.redb_build import build

    docs = [
        {
            "id": f"d{n:02}", "scope": "agent:main", "kind": "fact", "text": t,
            "created_at": int(at(n).timestamp()), "accessed_at": int(at(n).timestamp()),
            "access_count": 1, "importance": 0.5, "tier": "Working", "abstract_text": abstract(t),
            "overview_text": overview(t), "tags": [], "pinned": False,
        }
        for n, t in enumerate(SAID)
    ]  # fmt: skip
    rows = [(d["id"].encode(), packed(d, b"")) for d in docs]
    path = folder / "memory.redb"
    path.write_bytes(build({"memory_docs": Table(b"\x01&str", b"\x01&[u8]", rows)}))
    return f"rsclaw:{path}"


BUILDERS = {
    "jsonl": lambda folder: table(folder, "jsonl"),
    "parquet": lambda folder: table(folder, "parquet"),
    "clawseed": clawseed,
    "openclaw": openclaw,
    "xinghebot": xinghebot,
    "rsclaw": rsclaw,
}


def build(kind, folder):
    """Return an open store of that kind, made in a folder."""
    return open_store(BUILDERS[kind](folder))


def polluted(folder):
    """Write the polluted sample stores that the demonstration uses."""
    spec = importlib.util.spec_from_file_location(
        "memops_samples", ROOT / "data" / "make_samples.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(folder)
    return folder
