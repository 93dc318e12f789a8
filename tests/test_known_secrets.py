"""A secret that one record tells is masked in the others, up to the plan and its pages."""

import json
import random
import string
from pathlib import Path

import pytest

from memops.safety.masks import only_masked

KEY = "3f9a77d0c2b84e6f" + "9c1d55aa07be6c42"


def test_a_known_secret_is_masked_wherever_it_stands_and_shown_nowhere(memops):
    folder = memops.folder / "ws"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n- The yard has two gates\n", "utf-8")
    text = f"# 2026-05-01\n\n## Storage\n- NAS token: {KEY}\n- Ask Rosa for the gate\n\n## Mount\n"
    text += f"- The run of the mount was {KEY} and took long\n- It takes a minute\n"
    (folder / "memory" / "2026-05-01.md").write_text(text, "utf-8")
    said = memops("plan", f"openclaw:{folder}", "--now", "2026-06-01T00:00:00Z")
    lines = Path(said["path"], "ops.jsonl").read_text("utf-8").splitlines()
    ops = [json.loads(line) for line in lines]
    assert [op["rule"] for op in ops if "rule" in op] == ["redact_secrets"] * 2
    assert KEY not in json.dumps(said) and said["refused"] == 0
    shown = memops("explain", said["plan"], "2")
    assert KEY not in json.dumps(shown) and memops.code == 0
    done = memops("apply", said["plan"], "--approve")
    assert done["applied"] == 2
    assert KEY not in (folder / "memory" / "2026-05-01.md").read_text("utf-8")
    page = memops.state / "page.html"
    memops("report", done["run"], "-o", page)
    assert KEY not in page.read_text("utf-8")
    assert memops("plan", f"openclaw:{folder}", "--now", "2026-06-02T00:00:00Z")["ops"] == 0


MASKED = "[redacted:token]"


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        (f"a {KEY} b", f"a {MASKED} b", True),
        (f"{KEY},{KEY}", f"{MASKED},{MASKED}", True),
        (f"a {KEY} b", f"a {MASKED} c", False),
        (f"a {KEY} b", f"b {MASKED} b", False),
        ("a word without any figure b", f"a {MASKED} b", False),
        ("a 1234 b", f"a {MASKED} b", False),
        (f"a {KEY} b", f"a {KEY} b", False),
        (",".join([KEY] * 60) + " x", ",".join([MASKED] * 60) + " y", False),
    ],
)
def test_a_redaction_takes_nothing_but_values(old, new, holds):
    assert only_masked(old, new) == holds


def test_a_key_in_a_tag_or_a_comment_leaves_the_file_and_one_in_a_heading_is_told_of(memops, tmp_path):  # fmt: skip
    rng = random.Random(4)
    keys = ["gh" + "p_" + "".join(rng.choices(string.ascii_letters + string.digits, k=36)) for _ in range(3)]  # fmt: skip
    note = tmp_path / "memory" / "2026-03-01.md"
    note.parent.mkdir()
    text = (
        "# 2026-03-01\n\n- the pump is paid #{} #yard\n- hose ordered <!-- by {} -->\n\n## Old {}\n"
    )
    note.write_text(text.format(*keys), encoding="utf-8")
    address = f"openclaw:{tmp_path}"
    plan = memops("plan", address, "--now", "2026-03-09T00:00:00Z")
    run = memops("apply", plan["plan"], "--approve")
    left = note.read_text(encoding="utf-8")
    assert [key in left for key in keys] == [False, False, True] and left.count("[redacted:") == 2
    assert memops("plan", address, "--now", "2026-03-09T00:00:00Z")["ops"] == 0
    assert "memory/2026-03-01.md holds secrets: line 6" in json.dumps(memops("doctor", address))
    memops("rollback", run["run"])
    assert note.read_text(encoding="utf-8") == text.format(*keys)
