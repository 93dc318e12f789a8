"""A module imports only what stands before it; heavy libraries only where they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = [
    # words and tables
    {"errors", "lexicon", "policy", "schema", "text", "display", "numerals", "values", "settings"}
    | {"stemming", "heap", "ordered"},
    # computing on them
    {
        "files",
        "failpoints",
        "spread",
        "plan",
        "context",
        "merge",
        "terms",
        "secrets",
        "prefilter",
        "trust",
        "passages",
        "hostile",
        "chatter",
        "decay",
        "narrowest",
        "statistics",
    },
    {
        "parts",
        "vectors",
        "credentials",
        "wire",
        "endpoint",
        "encode",
        "models",
        "vocabulary",
        "numbering",
        "tokens",
        "opposites",
        "hints",
        "openings",
        "unread",
        "taken",
        "codes",
        "near",
        "neighbours",
        "termsets",
        "similarity",
        "scorer",
        "fact",
        "reading",
        "reading_whole",
        "readings",
        "completions",
    }
    | {
        "judgement",
        "opposing",
        "conflicts",
        "supersession",
        "extract",
        "cues",
        "aligned",
        "turns",
        "dues",
        "tasks",
        "closing",
        "impact",
        "moving",
        "confirmations",
        "swings",
    },
    # deciding
    {"floors"},
    {"guard", "refusals", "rules"},
    # the world
    {"stores", "overlay", "snapshot", "basis", "planfile", "apply", "runs", "retention"}
    | {"descent"}
    | {
        "sources",
        "archive",
        "cadence",
        "history",
        "reviewing",
        "search",
        "recovery",
        "logbook",
        "keeping",
    },
    # judging it
    {
        "measures",
        "suite",
        "gate",
        "gate_output",
        "bench_pairs",
        "bench_recall",
        "judging",
        "suites",
        "tuning",
        "choosing",
        "audit",
        "explain",
    }
    | {"doctor"},
    # composing
    {"report", "report_data", "simulation_picture"},
    {"reporting_figures"},
    {"asking", "curator"},
    {"steps", "night", "reporting", "monitoring", "rounds"}
    | {"purging", "demo", "looking", "pairs", "controls", "inspecting", "simulation"}
    | {"collecting", "importing", "repairing", "transcripts"},
    {"cli"},
]
HEAVY = {"prefect", "torch", "sentence_transformers", "faiss", "sklearn", "scipy"}


def modules():
    return sorted((ROOT / "memops").rglob("*.py"))


def layer_of(name):
    for n, layer in enumerate(LAYERS):
        if name in layer:
            return n
    return None if "_" not in name else layer_of(name.rsplit("_", 1)[0])


def imports(path, top_only=False):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "memops":
                yield from (f"memops.{alias.name}" for alias in node.names)
            yield node.module


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_what_stands_before_it(path):
    mine = path.relative_to(ROOT / "memops").with_suffix("").parts[0]
    if mine == "__init__":
        return
    here = layer_of(mine)
    assert here is not None, f"{mine} has no layer"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "memops" and len(parts) > 1 and parts[1] not in (mine, "__version__"):
            there = layer_of(parts[1])
            assert there is not None, f"{parts[1]} has no layer"
            assert there <= here, f"{mine} imports {parts[1]}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_are_imported_where_they_are_used(path):
    assert not {n.split(".")[0] for n in imports(path, top_only=True)} & HEAVY


def test_click_is_imported_by_the_command_line_only_and_prefect_by_flows_only():
    for path in modules():
        names = {n.split(".")[0] for n in imports(path)}
        assert "click" not in names or "cli" in path.parts
        assert "prefect" not in names


def test_the_command_line_starts_without_the_heavy_libraries():
    code = "import sys, memops.cli; print(sorted({m.split('.')[0] for m in sys.modules}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(ast.literal_eval(out.stdout))


def test_flows_import_steps_settings_and_policy_only():
    for path in (ROOT / "flows").glob("*.py"):
        mine = {n.split(".")[1] for n in imports(path) if n.startswith("memops.")}
        assert mine <= {"steps", "night", "rounds", "policy", "settings", "errors"}, path.name
