"""A module imports only what stands before it; heavy libraries only where they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG

ROOT = Path(__file__).parent.parent
LAYERS = [
    # words and tables
    {"errors", "failpoints", "ordered", "progress"},
    {"files", "language", "measures", "network", "schema", "verdicts"},
    {"values"},
    {"documents", "plan", "policy", "reasons", "statements"},
    {"overlay", "refusals", "safety", "settings"},
    {"spread"},
    {"context"},
    # computing on them
    {"hygiene", "models"},
    {"extract", "autonomy", "believing", "guard", "stores"},
    {"judge", "search", "snapshot"},
    # deciding, and the world
    {"rules", "state"},
    {"apply", "reports", "suite"},
    # composing
    {"commands", "evaluation"},
    {"steps"},
    {"nights"},
    {"cli"},
    {"__main__"},
]
INSIDE = {
    "documents": "lines leads balance blocks units parts reading editing forms",
    "language": "lexicon packs detection text prefilter stemming passages codes terms vocabulary tokens",
    "values": "units value lexicon lexing grammar forms portions numerals rules_clock rules_dates rules_spans "
    "rules_rates rules_money rules_shares rules_counts addresses canonical bounds joining relative reading algebra clauses "
    "matching agreement signs",
    "network": "credentials wire telling endpoint",
    "policy": "ranges checking defaults grading hygiene models narrowest",
    "statements": "said fact opposites cues turns numbering aligned reading_whole reading taken "
    "remembered readings",
    "safety": "trust display hostile secrets_labels secrets_traits secrets_checks secrets_shapes secrets_views secrets looked masking",
    "hygiene": "impact chatter dues tasks closing decay moving floors",
    "models": "nearest vectors encode remote transformers completions distilled judge endpoint_judge local",
    "extract": "person grammar fingerprints forms clauses modality statements entities noise fitted weighing "
    "reading verdicts model asking",
    "judge/candidates": "heap near neighbours termsets openings neighbours_dense unread similarity worth",
    "judge": "places judgement vetoes consensus scorer merge opposing decision votes cascade known conflicts confirmations parts explain "
    "kept swings supersession",
    "search": "collection fuse bm25 openclaw clawseed voices diversity ranks cosine rsclaw arms profiles "
    "hybrid retrieve passages",
    "state": "evidence history logbook cadence descent chain seals runs unfinished waiting sources basis archive retention sought outputs forgetting forgetting_plans keepings restoring planfile",
    "apply": "checks batches lines recovery",
    "reports": "data figures riskiest words pictures view page approval reporting",
    "suite": "statistics format golden echoes exchange proposals purged lineage asking check grading "
    "proposing comparing",
    "evaluation": "gate gate_blame gate_output gate_runs tuning tuning_picture bench_pairs bench_recall "
    "judging suites choosing judge_tests",
    "commands": "naming audit doctor starting configuring keeping purging repairing reviewing showing collecting simulation "
    "simulation_picture inspecting looking controls curator importing sheets",
    "nights": "asking monitoring night rounds notices demo",
}
HEAVY = {"prefect", "torch", "sentence_transformers", "faiss", "sklearn", "scipy"}


def modules():
    return sorted((ROOT / "memops").rglob("*.py"))


def layer_of(name):
    return next((n for n, layer in enumerate(LAYERS) if name in layer), None)


def imports(path, top_only=False):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module.startswith("memops"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
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
            assert there < here, f"{mine} imports {parts[1]}"


@pytest.mark.parametrize("package", INSIDE)
def test_a_module_imports_only_what_stands_before_it_in_its_package(package):
    order, home = INSIDE[package].split(), ROOT / "memops" / package
    assert sorted(order) == sorted(p.stem for p in home.glob("*.py") if p.stem != "__init__")
    for here, name in enumerate(order):
        wanted = set(imports(home / f"{name}.py", top_only=True))
        after = [
            other
            for other in order[here:]
            if f"memops.{package.replace('/', '.')}.{other}" in wanted
        ]
        assert not after, f"{package}.{name} imports {after}"


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
        assert mine <= {"steps", "nights", "policy", "settings", "errors", "__version__"}, path.name


def test_what_the_slow_suite_takes_over_stands_where_it_is_said_to():
    for path, name in (line.split("::") for line in LONG):
        assert f"def {name.split('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8")
