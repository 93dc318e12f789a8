"""Laws of plans over random workspaces: whatever part of a plan is carried out, files stay whole."""

import random
import re
import shutil
from pathlib import Path

import pytest

from tests.laws import breaches, tree
from tests.workspaces import BEAT, LEAKED

from .made import BLOCKS, LINES

NOW = "2026-03-12T03:30:00Z"
MANY = [
    pytest.param(range(4), id="4"),
    *(pytest.param(range(n, n + 20), id=f"{n}", marks=pytest.mark.slow) for n in range(0, 200, 20)),
]
KEY = "s" + "k-proj-" + "Ab3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"  # no secret stands in a file of ours
SAID = [
    f"api_key: {KEY}", f"- **Token:** `{KEY}`", f"user: {LEAKED}", f"user: {BEAT}", LEAKED, "ok", "HEARTBEAT_OK",
    "- [ ] Pay the rent by 2026-03-02", "- [x] Pay the rent by 2026-03-02", "- **Port:** 8080", "- **Port:** 9090",
    "The archive room is locked at 9:30 on weekdays and the key hangs behind the blue door.",
    "档案室工作日九点半锁门，钥匙挂在蓝色的门后面，周末由值班的人保管。",
]  # fmt: skip
SECTION = "## Part\n\n" + SAID[-2] + "\n\n- a\n- b\n  - nested\n\n" + SAID[-1] + "\n\n"
SESSION = "# Session: 2026-03-09 07:15:00 UTC\n\n- **Session ID**: x\n\n## Conversation Summary\n\n"
FACTS = [
    f"## 9:1{n} AM - Fact\nThe lower yard is heated with {fuel}.\n\n"
    for n, fuel in enumerate(("coal", "wood"))
]
PATHS = ["MEMORY.md", "USER.md", "AGENTS.md", "memory/2026-03-01.md", "memory/2026-03-04.md",
         "memory/ideas.md", "memory/2026-03-09-0715.md"]  # fmt: skip


def build(folder, draw):
    """Write random documents as a workspace: what rules look for among lines of any structure."""
    known = [SECTION, *FACTS, *BLOCKS]
    for path in sorted({"MEMORY.md", *draw.sample(PATHS, draw.randint(1, 4))}):
        again = [draw.choice(known) for _ in range(2)]
        parts = [_part(draw, again) for _ in range(draw.randint(3, 25))]
        head = SESSION if path.endswith("0715.md") else ""
        data = (head + "".join(parts)).encode("utf-8", "surrogatepass")
        shapes = [data, data, b"\xef\xbb\xbf" + data, data.rstrip(b"\r\n"), data + b"\xff\x00"]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(draw.choice(shapes))


def _part(draw, again):
    if draw.random() < 0.2:
        return draw.choice(again)
    return draw.choice(draw.choice([LINES, SAID, SAID])) + draw.choice(["\n", "\n", "\r\n"])


def unmasked(files):
    """The files as they would stand had nothing been masked, which is all that a redaction may do.

    A mask stands for a key with a line below it that is nothing but signs of one, too.
    """
    key = rb"\[redacted:[^\]]*\]|" + KEY.encode() + rb"\r?\nQUJDREVG[\w=]+"
    return {n: data and re.sub(key, KEY.encode(), data) for n, data in files.items()}


@pytest.mark.parametrize("seeds", MANY)
def test_any_part_of_any_plan_leaves_whole_files_and_comes_undone(memops, seeds):
    planned = 0
    for seed in seeds:
        draw, folder = random.Random(seed), memops.folder / f"w{seed}"
        build(folder, draw)
        before = tree(folder)
        plan = memops("plan", f"openclaw:{folder}", "--now", NOW)
        assert memops.code == 0, (seed, plan)
        if plan["ops"]:
            ops = Path(plan["path"]) / "ops.jsonl"
            lines = ops.read_text(encoding="utf-8").split("\n")[:-1]
            share = draw.choice((0.3, 0.7, 1.0))
            part = [line for line in lines if draw.random() < share]
            ops.write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
            done = memops("apply", plan["plan"], "--approve")
            assert memops.code in (0, 3), (seed, done)
            assert breaches(unmasked(before), unmasked(tree(folder))) == [], seed
            planned += len(part)
            memops("rollback", done["run"])
            assert tree(folder) == before, seed
        shutil.rmtree(folder)
    assert planned >= len(seeds)


def test_runs_in_one_file_are_taken_back_in_their_order_alone(memops):
    folder = memops.folder / "ws"
    (folder / "memory").mkdir(parents=True)
    lines = f"- ok\n- [ ] Pay the rent by 2026-03-02\n- The key `{KEY}` opens the shop.\n- 👍\n"
    (folder / "memory/2026-03-01.md").write_text(f"# Log\n\n{lines}", encoding="utf-8")
    before = tree(folder)
    plan = memops("plan", f"openclaw:{folder}", "--now", NOW)
    assert plan["ops"] > 1
    first = memops("review", plan["plan"], "--accept", "redact_secrets")["run"]
    second = memops("apply", plan["plan"], "--approve")["run"]
    held = tree(folder)
    refused = memops("rollback", first)
    assert (memops.code, refused["hint"]) == (25, f"take that back first: memops rollback {second}")
    assert tree(folder) == held
    for run in (second, first):
        memops("rollback", run)
        assert memops.code == 0
    assert tree(folder) == before
