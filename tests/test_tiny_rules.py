"""Every rule, on tables of none to five odd records: a plan, whatever they say and whenever."""

import ast
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import memops
from memops.apply.checks import Checker
from memops.context import Context
from memops.language.text import wordlist
from memops.plan import nothing, outcome, squash
from memops.plan_agreement import alone
from memops.policy import Policy
from memops.policy.hygiene import Floors
from memops.rules import MIGRATION, RULES, propose
from memops.safety import secrets
from memops.safety.secrets_shapes import shapes
from memops.schema import CHANGES, RECORDS, TIERS, from_rows, live_counts

from .tiny import NOW, tables

MANY = [pytest.param(6, id="6"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]
SEARCHES = ("contains_any", "extract_many", "find_many")


def bare(policy):
    """The policy with every list and table empty, and no kind of secret looked for."""
    emptied = {
        section.name: {
            item.name: type(value)()
            for item in fields(getattr(policy, section.name))
            if isinstance(value := getattr(getattr(policy, section.name), item.name), list | dict)
        }
        for section in fields(policy)
    }
    emptied["secrets"]["off"] = sorted(
        {shape.kind for shape in shapes(replace(policy.secrets, off=[]))}
    )
    return replace(
        policy, **{n: replace(getattr(policy, n), **given_) for n, given_ in emptied.items()}
    )


POLICIES = [Policy(), bare(Policy())]
NO_FLOORS = Policy(floors=Floors(default=0, kinds={}))
SAID = [
    "Conversation resumed (17:57)", "ok, thanks", "The door of the kitchen tap is blue", "好的，收到",
    "The door of the kitchen tap is green", "the door of the kitchen tap is blue.", "TODO: fix it", "ops: done",
]  # fmt: skip
alike = st.fixed_dictionaries(
    {
        "text": st.sampled_from(SAID),
        "created_at": st.integers(0, 900).map(lambda days: NOW - timedelta(days=days)),
        "kind": st.sampled_from(["fact", "note", "remember", "session"]),
        "tier": st.sampled_from(TIERS),
        "pinned": st.sampled_from([False, False, False, True]),
        "source": st.sampled_from([None, "user", "tool", "extractor"]),
        "access_count": st.sampled_from([0, 0, 30]),
        "importance": st.sampled_from([0.05, 0.5, 0.95]),
    }
)
"""Records of few texts, so that several rules meet on each."""
BRIEF = {"text": SAID[0], "pinned": False, "source": None, "access_count": 0, "importance": 0.5}
FLOORED = [
    BRIEF | {"kind": "fact", "tier": "working", "created_at": NOW - timedelta(days=3)},
    BRIEF | {"kind": "note", "tier": "working", "created_at": NOW - timedelta(days=400)},
]
"""A fact that is merged into a note that then goes, so that its kind's floor would be passed."""
RAISED = [
    BRIEF | {"kind": "fact", "tier": "peripheral", "text": SAID[2], "pinned": True, "access_count": 30, "created_at": NOW - timedelta(days=3)},
    BRIEF | {"kind": "note", "tier": "working", "text": SAID[2], "created_at": NOW - timedelta(days=40)},
]  # fmt: skip
"""A keeper that rises before another is merged into it."""


@pytest.mark.parametrize("examples", MANY)
def test_every_rule_plans_for_a_table_of_none_to_five_odd_records(examples):
    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )  # fmt: skip
    @given(tables, st.sampled_from([*POLICIES, Policy()]), st.booleans())
    def law(rows, policy, restored):
        records = from_rows(rows)
        back = frozenset(records["id"]) if restored else frozenset()
        ctx = Context(now=NOW, policy=policy, restored=back)
        for rule in RULES:
            step = rule(records, replace(ctx, cache={}))
            assert set(step.columns) <= set(CHANGES.names()), rule.__name__
        for rules in (RULES, MIGRATION):
            plan, _ = propose(records, replace(ctx, cache={}), rules)
            assert outcome(records, plan).schema == RECORDS

    law()


@pytest.mark.parametrize("examples", MANY)
def test_nothing_is_proposed_that_apply_would_refuse(examples):
    @settings(max_examples=3 * examples, deadline=None, suppress_health_check=list(HealthCheck))
    @example(FLOORED, Policy())
    @example(RAISED, Policy())
    @given(st.lists(alike, min_size=2, max_size=6), st.sampled_from([NO_FLOORS, Policy()]))
    def law(rows, policy):
        records = from_rows([{"id": f"r{n}", **row} for n, row in enumerate(rows)])
        plan, _ = propose(records, Context(now=NOW, policy=policy), RULES)
        least = alone(
            plan.with_columns(unattended=pl.col("intent") != "demote"), records, policy, False
        )
        for chosen in (plan, least.filter("unattended")):
            changes = squash(chosen)
            checker = Checker(records, changes, nothing(), policy, "unattended", True, False)
            check, _ = checker.of(changes)
            assert check(records, live_counts(records)) == {}

    law()


@pytest.mark.parametrize("words", [[], [""], ["a"], ["a", "a"], ["a", "字", "👍"], ["x" * 9999]])
def test_any_list_of_words_can_be_looked_for(words):
    texts = ["a", "", None, "字👍"]
    wanted = [None if t is None else any(w and w in t for w in words) for t in texts]
    for rows in (texts, []):
        table = pl.DataFrame({"t": rows}, schema={"t": pl.String})
        said = table.select(pl.col("t").str.contains_any(wordlist(words)))["t"].to_list()
        told = table.select(pl.col("t").str.extract_many(wordlist(words)))["t"].to_list()
        assert said == wanted[: len(rows)]
        assert [None if t is None else len(t) > 0 for t in told] == said


def test_nothing_is_looked_for_by_a_bare_list_which_has_no_type_when_it_is_empty():
    bare_lists = [
        f"{path.name}:{node.lineno}"
        for path in Path(memops.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in SEARCHES
        if getattr(getattr(node.args[0], "func", None), "id", "") not in ("wordlist", "sought")
    ]
    assert bare_lists == []


def test_with_every_kind_of_secret_off_none_is_found():
    texts = pl.Series("text", ["pass" + "word: " + "hunter2-hunter2", "", None])
    off = POLICIES[1].secrets
    assert secrets.found(texts, off).is_empty()
    assert secrets.redacted(texts, off).to_list() == texts.to_list()
