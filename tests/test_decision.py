"""Decision: verdicts about two texts are made in one place, and everything else asks there."""

import ast
from pathlib import Path

import memops

FOUNDATIONS = {f"memops.judge.{name}" for name in ("judgement", "opposing", "vetoes")}
HOME = {f"{name}.py" for name in ("decision", "judgement", "opposing", "vetoes")}


def test_what_differs_is_looked_at_where_pairs_are_judged_and_nowhere_else():
    root = Path(memops.__file__).parent
    used = {
        path.name
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module in ("memops.statements.readings", "memops.judge.decision")
        and {"differences", "decided"} & {name.name for name in node.names}
    }
    assert used == {"comparing.py"}


def test_nothing_but_the_decision_makes_a_verdict_of_what_differs():
    root, seen = Path(memops.__file__).parent, 0
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        used |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        used |= {f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}  # fmt: skip
        seen += bool(used & FOUNDATIONS)
        if path.parent != root / "judge" or path.name not in HOME:
            assert not used & FOUNDATIONS, f"{path} decides by itself"
    assert seen == 3  # decision, and the two that build on judgement
