"""Workspaces with gold labels from outside: budgets, tasks and current facts after a whole night.

`MEMOPS_WORKSPACES` names a folder with `<kind>_ws`, each a workspace and its `gold.json`: `lines` (id, path,
text, role, status, slot, value), `todos` (lines, stale) and `meta` (base, today).
"""

import json
import os
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

HERE = os.environ.get("MEMOPS_WORKSPACES", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HERE, reason="MEMOPS_WORKSPACES names no folder of workspaces"),
]
MEASURE = {"openclaw": (lambda text: len(text.split()), 2000), "xinghebot": (len, 1000)}
AROUND = re.compile(
    r"^- (?:\d{4}-\d\d-\d\d(?:T[\d:]+Z)?:? )?(?:\d\d:\d\d )?(?:\[\w+\] )?| \[score=.*$"
    r"|^(?:[WBO](?:\(c=[\d.]+\))? @\S+|user|assistant): |(?: #\S+)* \(source=[^)]*\)$|\s*<!--.*?-->"
)


def opened(kind, folder):
    """A copy of the workspace with its gold: its root, the labels, and the instant of the night."""
    shutil.copytree(Path(HERE) / f"{kind}_ws", folder / f"{kind}_ws", symlinks=True)
    gold = json.loads((folder / f"{kind}_ws" / "gold.json").read_text("utf-8"))
    parts = Path(gold["meta"]["base"]).parts
    root = folder.joinpath(*parts[parts.index(f"{kind}_ws") :])
    return root, gold, f"{gold['meta']['today']}T12:00:00Z"


def bare(text):
    """What a line says, without what its grammar puts around it."""
    while (less := AROUND.sub("", text).strip()) != text:
        text = less
    return text


def current(gold):
    """The wordings of each value that is in force: (slot, value) and what its lines say."""
    said = defaultdict(set)
    for line in gold["lines"]:
        if line.get("status") == "active":
            said[line["slot"], line["value"]].add(bare(line["text"]))
    return said


def keepers(plan, live):
    """The lines that the plan takes for others which say the same, where those are live after it."""
    rows = [json.loads(row) for row in (Path(plan["path"]) / "ops.jsonl").open(encoding="utf-8")]
    link = {
        op["id"]: op["set"]["superseded_by"]
        for op in rows
        if op.get("set", {}).get("superseded_by")
    }
    found = set()
    for op in rows:
        end = op["id"]
        while end in link:
            end = link[end]
        if op["op"] == "merge" and end in live:
            found.add((op["locator"]["path"], op["locator"]["line"]))
    return found


def overgrown(memory, gold, measure, most):
    """Write into MEMORY.md what the notes say that is in force and what happened, past its size."""
    lines = ["", "## Facts", *(f"- {sorted(said)[0]}" for said in current(gold).values())]
    events = [bare(line["text"]) for line in gold["lines"] if line["role"] == "event"]
    text = memory.read_text("utf-8").rstrip("\n")
    for n in range(100):
        whole = "\n".join([text, *lines, ""])
        if measure(whole) > 1.3 * most:
            break
        lines += [f"- {event} ({n})" if n else f"- {event}" for event in events[:50]]
    memory.write_text(whole, "utf-8")


@pytest.mark.parametrize("grown", [False, True])
@pytest.mark.parametrize("kind", sorted(MEASURE))
def test_a_night_keeps_the_budget_every_current_fact_and_the_open_tasks(memops, kind, grown):
    root, gold, now = opened(kind, memops.folder)
    measure, most = MEASURE[kind]
    memory = root / "MEMORY.md"
    if grown:
        overgrown(memory, gold, measure, most)
    for path in root.rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    was = measure(memory.read_text("utf-8"))
    plan = memops("plan", f"{kind}:{root}", "--now", now)
    done = memops("apply", plan["plan"], "--approve")
    assert memops.code == 0, (done, memops.err)
    left = memops("inspect", f"{kind}:{root}", "--limit", "0", "--now", now)["records"]
    texts = {bare(record["text"]) for record in left}
    facts = current(gold)
    stood = keepers(plan, {record["id"] for record in left})
    lost = {
        (line["slot"], line["value"])
        for line in gold["lines"]
        if line.get("status") == "active"
        and not facts[line["slot"], line["value"]] & texts
        and (line["path"], line["line"]) not in stood
    }
    by = {line["id"]: bare(line["text"]) for line in gold["lines"]}
    stands = {t["tid"]: {by[i] for i in t["lines"]} & texts for t in gold["todos"]}
    stale = [t["tid"] for t in gold["todos"] if t["stale"]]
    size = measure(memory.read_text("utf-8"))
    found = [tid for tid in stale if not stands[tid]]
    opens = [t["tid"] for t in gold["todos"] if not t["stale"]]
    touched = [tid for tid in opens if not stands[tid]]
    print(
        f"\n{kind}: MEMORY.md {was} -> {size} of {most}; {len(facts)} current facts, {len(lost)} lost; "
        f"stale tasks {len(found)} of {len(stale)}, open ones touched {len(touched)} of {len(opens)}; "
        f"{plan['by_rule'].get('move_overflow', 0)} moved by size"
    )
    assert done["skipped"] == []
    assert (was > most) == grown and size <= most
    assert (lost, touched, found) == (set(), [], stale)
