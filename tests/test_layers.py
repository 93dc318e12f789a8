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
    {"errors", "failpoints", "heap", "ordered", "progress"},
    {"files", "language", "measures", "schema", "verdicts"},
    {"journal", "locks", "values"},
    {"documents", "plan", "policy", "reasons", "statements"},
    {"overlay", "refusals", "safety", "settings"},
    {"snapshot_draft"},
    {"context"},
    # computing on them
    {"hygiene", "models"},
    {"extract", "autonomy", "guard", "limits", "stores"},
    {"plan_agreement"},
    {"judge", "search", "snapshot"},
    # deciding, and the world
    {"rules", "state"},
    {"apply", "evaluation", "reports"},
    # composing
    {"commands"},
    {"steps"},
    {"nights"},
    {"cli"},
    {"__main__"},
]
HEAVY = {"prefect", "torch", "sentence_transformers", "faiss", "sklearn", "scipy"}


def modules():
    return sorted((ROOT / "memops").rglob("*.py"))


def layer_of(name):
    return next((n for n, layer in enumerate(LAYERS) if name in layer), None)


def imports(path, top_only=False):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_only else ast.walk(tree):
        yield from (name for module, names in named(node) for name in (module, *names))


def named(node):
    """The modules that a statement imports, each with what it takes of it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, ()) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module, [f"{node.module}.{alias.name}" for alias in node.names]


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


def graph():
    """Every module with those that importing and calling it imports, and the packages it enters."""
    names = {
        ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p
        for p in modules()
    }

    def seen(name, tree):
        typed = {
            id(node)
            for branch in ast.walk(tree)
            if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
            for node in ast.walk(branch)
        }
        for node in ast.walk(tree):
            for module, parts in () if id(node) in typed else named(node):
                for found in [n if n in names else module for n in parts] or [module]:
                    yield found
                    while found := found.rpartition(".")[0]:
                        if not f"{name}.".startswith(f"{found}."):
                            yield found  # a package is run before what is in it

    return {
        name: {*seen(name, ast.parse(path.read_text(encoding="utf-8")))} - {name}
        for name, path in names.items()
    }


def test_no_modules_import_each_other_in_a_circle_not_even_where_they_are_called():
    found = graph()
    while True:  # what imports nothing that is left is in no circle; nor what nothing left imports
        wanted = set().union(*found.values())
        kept = {n: w & found.keys() for n, w in found.items() if w & found.keys() and n in wanted}
        if kept == found:
            break
        found = kept
    assert not found


def test_the_house_has_at_most_twenty_rooms():
    paths = [path.relative_to(ROOT / "memops").parts for path in modules()]
    assert len({parts[0] for parts in paths if len(parts) > 1}) <= 20


def test_functions_are_short():
    """Lines of a function's body, its docstring aside."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in modules())
    defs = (n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    sizes = sorted(
        body[-1].end_lineno - body[0].lineno + 1 if body else 0
        for one in defs
        for body in [one.body[1:] if ast.get_docstring(one) else one.body]
    )
    median, p90 = sizes[len(sizes) // 2], sizes[len(sizes) * 9 // 10]
    print(f"{len(sizes)} functions, median {median}, p90 {p90}, longest {sizes[-1]}")
    assert median <= 5 and p90 <= 18


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
