"""The net bites: each fault that is seeded into the safety code is caught by a named test."""

import ast

import pytest

from .mutants import MUTANTS, ROOT, caught, copied, misfits, run


def test_every_mutant_stands_once_in_the_code_as_it_is():
    assert misfits() == []
    assert len({m.name for m in MUTANTS}) == len(MUTANTS) >= 25


def test_every_mutant_names_a_test_that_is_there():
    for mutant in MUTANTS:
        path, name = mutant.test.split("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}, mutant.test


@pytest.mark.slow
def test_every_mutant_is_caught(tmp_path):
    copy = copied(tmp_path)
    for test in sorted({m.test for m in MUTANTS}):
        assert run(test, copy) == 0, f"{test} fails without any fault"
    assert [m.name for m in MUTANTS if not caught(m, copy)] == []
