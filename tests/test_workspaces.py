"""Plans over made workspaces: the laws of structure, and what an owner would want of them."""

import json
from pathlib import Path

import pytest

from tests.laws import breaches, tree
from tests.workspaces import BEAT, LEAKED, WORDS, build

NOW = "2026-03-12T03:30:00Z"
SEEDS = [(0, "en"), (1, "zh"), (2, "ru"), (3, "en")]


def night(memops, folder):
    """Plan, approve everything, and return the plan's lines and the run."""
    plan = memops("plan", f"openclaw:{folder}", "--now", NOW)
    lines = [json.loads(line) for line in (Path(plan["path"]) / "ops.jsonl").open(encoding="utf-8")]
    return lines, memops("apply", plan["plan"], "--approve") if lines else None


@pytest.mark.parametrize(("seed", "language"), SEEDS)
def test_no_plan_breaks_a_law_and_rolling_it_back_leaves_every_byte_and_folder(memops, tmp_path, seed, language):  # fmt: skip
    folder = build(tmp_path / "ws", seed, language, "\r\n" if seed == 3 else "\n")
    before = tree(folder)
    lines, run = night(memops, folder)
    assert breaches(before, tree(folder)) == []
    assert memops("plan", f"openclaw:{folder}", "--now", NOW)["ops"] == 0
    if run:
        memops("rollback", run["run"])
    assert tree(folder) == before


@pytest.mark.parametrize(("seed", "language"), SEEDS[:3])
def test_prompts_that_the_agents_software_left_are_hidden_and_the_owners_orders_are_not(memops, tmp_path, seed, language):  # fmt: skip
    folder = build(tmp_path / "ws", seed, language)
    night(memops, folder)
    text = (folder / "memory/2026-03-09-0715.md").read_text()
    assert LEAKED not in text and BEAT not in text
    rules = [rule.split("{")[0] for rule in WORDS[language]["rules"]]
    user = (folder / "USER.md").read_text()
    assert any(rule in user for rule in rules) and WORDS[language]["quote"] in user


@pytest.mark.parametrize(("seed", "language"), SEEDS[:3])
def test_a_passage_that_a_day_repeats_is_kept_once_and_each_day_keeps_its_own(
    memops, tmp_path, seed, language
):
    folder = build(tmp_path / "ws", seed, language)
    last = WORDS[language]["sum"]
    days = sorted((folder / "memory").glob("2026-03-0?.md"))
    with_it = [path for path in days if last in path.read_text("utf-8")]
    head, told = WORDS[language]["label"], WORDS[language]["steps"][0]
    section = f"\n## {head}\n\n{told}, {last}\n\n{last} ({told})\n"
    note = with_it[0]
    note.write_text(
        note.read_text("utf-8") + f"{section}{section}\n## X\n\n- 1\n{section}", "utf-8"
    )
    night(memops, folder)
    assert note.read_text("utf-8").count(section.strip()) == 2  # what stands apart may be meant
    assert all(last in path.read_text("utf-8") for path in with_it[1:])
