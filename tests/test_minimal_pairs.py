"""Laws of pairs that are known by construction: what is never one thing, what is no conflict, and either order."""

import pytest

from tests.minimal_pairs.pairs import families, pairs, turned, verdicts

FAMILIES = families()
COUNT = 150
# The share of wrong "same" and of wrong "conflict" that a family may have at most; of all others, none.
KNOWN: dict[str, tuple[float, float]] = {
    "modal": (0.034, 0.0),
    "tense": (0.027, 0.0),
    "symbols": (0.034, 0.0),
    "per_what": (0.04, 0.0),
    "whose": (0.0, 0.007),
    "voice": (0.0, 0.127),
    "converse_right": (0.0, 0.027),
    "double_denial": (0.0, 0.047),
    "typography": (0.0, 0.067),
    "only_nobody": (0.0, 0.007),
    "relatives": (0.0, 0.014),
    "log_lines": (0.0, 0.007),
    "tastes": (0.0, 0.074),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_pairs_known_by_construction_are_judged_no_worse_than_known_and_as_in_the_other_order(name):
    family = FAMILIES[name]
    rows = pairs(family, COUNT)
    both = [*verdicts([*rows, *turned(rows)])]
    told, back = both[: len(rows)], both[len(rows) :]
    assert [row for row, a, b in zip(rows, told, back, strict=True) if a != b] == []
    wrong = [
        (verdict, row["a"], row["b"])
        for verdict, row in zip(told, rows, strict=True)
        if not family.right(verdict)
    ]
    for kind, most in zip(("same", "conflict"), KNOWN.get(name, (0.0, 0.0)), strict=True):
        found = [texts for verdict, *texts in wrong if verdict == kind]
        assert len(found) <= most * len(rows), (kind, len(found) / len(rows), found[:5])


def test_pairs_are_many_and_the_same_each_time():
    assert len(FAMILIES) >= 60 and all(
        sum(map(len, f.frames.values())) >= 6 for f in FAMILIES.values()
    )
    family = FAMILIES["units"]
    assert pairs(family, 50) == pairs(family, 50) == pairs(family, 60)[:50]
