"""Run every rule's fixtures: `tests/rules/<rule>.toml` is the rule's specification."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from memops import policy as policies
from memops.context import Context
from memops.plan import outcome
from memops.reasons import codes, named, opened
from memops.rules import MIGRATION, RULES, propose
from memops.schema import INTENTS, from_rows
from tests.pages import unsaid
from tests.test_reasons import COMPLETE, asked_for

HERE = Path(__file__).parent / "rules"
KNOWN = {rule.__name__: rule for rule in (*RULES, *MIGRATION)}
FILES = sorted(HERE.glob("*.toml"))
CASES = [
    pytest.param(path.stem, spec.get("now"), case, id=f"{path.stem}: {case['title']}")
    for path in FILES
    for spec in [tomllib.loads(path.read_text(encoding="utf-8"))]
    for case in spec["case"]
]
DEFAULT_NOW = datetime(2026, 6, 1, tzinfo=UTC)


def context(now, case):
    policy = policies.from_table(case.get("policy", {}))
    told = {name: frozenset(case.get(name, [])) for name in ("restored", "purged")}
    return Context(now=now or DEFAULT_NOW, policy=policy, store=case.get("store", ""), **told)


@pytest.mark.parametrize(("name", "now", "case"), CASES)
def test_fixture(name, now, case):
    records = from_rows(case["records"])
    plan = KNOWN[name](records, context(case.get("now", now), case))
    got = plan.sort("id", "action").to_dicts()
    wanted = sorted(
        ({"action": "edit"} | c for c in case["changes"]), key=lambda c: (c["id"], c["action"])
    )
    assert [(c["id"], c["action"]) for c in got] == [(c["id"], c["action"]) for c in wanted]
    for have, want in zip(got, wanted, strict=True):
        have["args"] = opened(have["args"])
        assert {name: have[name] for name in want} == want
        assert asked_for({have["code"]} - set(codes())) == "" and have["intent"] in INTENTS
        for lang in COMPLETE:
            assert named(have["code"], lang) == have["args"].keys()


@pytest.mark.parametrize(("name", "now", "case"), CASES)
def test_planning_the_outcome_again_proposes_nothing(name, now, case):
    records = from_rows(case["records"])
    ctx = context(case.get("now", now), case)
    plan, _ = propose(records, ctx, [KNOWN[name]])
    again, _ = propose(outcome(records, plan), ctx, [KNOWN[name]])
    assert again.to_dicts() == []


def test_every_rule_has_a_fixture_and_a_sentence():
    for name, rule in KNOWN.items():
        assert HERE / f"{name}.toml" in FILES, f"write tests/rules/{name}.toml"
        said = (rule.__doc__ or "").split("\n")[0]
        assert said.endswith("."), f"begin the docstring of {name} with a sentence"


def test_rules_are_specified_in_both_languages():
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FILES}
    english = {
        name for name, text in texts.items() if not any("\u4e00" <= c <= "\u9fff" for c in text)
    }
    unsaid(english, len(KNOWN), "tests/rules/<rule>.toml")


def test_a_rule_sees_what_the_one_before_it_leaves():
    def retitle(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
        from memops.plan import edit

        return edit(records.filter(pl.col("text") == "old"), "update", "x", text=pl.lit("new"))

    def forget(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
        from memops.plan import delete

        return delete(records.filter(pl.col("text") == "new"), "y")

    rows = from_rows([{"id": "a", "text": "old"}])
    plan, refused = propose(rows, context(None, {}), [retitle, forget])
    assert plan["rule"].to_list() == ["retitle", "forget"]
    assert outcome(rows, plan).is_empty()
    assert refused.is_empty()
