"""The laws of plans, on every kind of store: any plan does what its outcome says, and comes undone."""

import itertools
import shutil

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memops import apply as applying
from memops import snapshot
from memops.guard import protect
from memops.plan import delete, diff, edit, outcome, put
from memops.schema import QUARANTINE, TOMBSTONE, from_rows
from memops.state import planfile, runs

from .samples import BUILDERS, NOW, build
from .test_contract import POLICY, joined, said

TEXTS = ["changed to 42", "改成了 42 号", "a  b\tc", "x" * 300, "<!-- not ours -->", "# no heading"]
MANY = [pytest.param(3, id="3"), pytest.param(200, id="200", marks=pytest.mark.slow)]
ACTIONS = ("text", "importance", "tier", "merge", "retire", "quarantine", "delete", "tags", "pin")
steps = st.tuples(st.integers(0, 40), st.sampled_from(ACTIONS), st.integers(0, 40))
drafts = st.tuples(
    st.lists(steps, min_size=1, max_size=6, unique_by=lambda step: step[0]), st.booleans()
)


def changes(records, draft):
    """The plan of a draft: numbers name records, by their order in the store."""
    made, insert = draft
    ids = records["id"].sort().to_list()
    chosen = {ids[n % len(ids)]: (what, ids[m % len(ids)]) for n, what, m in made}
    hidden = {id_ for id_, (what, _) in chosen.items() if what in ("merge", "retire", "delete")}
    parts = [
        _step(records.filter(id=id_), what, other, hidden) for id_, (what, other) in chosen.items()
    ]
    if insert:
        new = {"id": "5b0c1c9e-0000-5000-8000-000000000009", "kind": "fact", "text": "新的一条 new"}
        parts.append(
            put(
                from_rows([new | {"created_at": NOW, "scope": records["scope"][0]}]),
                "x",
                risk="low",
            ).with_columns(rule=pl.lit("extract_notes"))
        )
    return pl.concat([part for part in parts if part is not None])


def _step(row, what, other, hidden):
    same = other == row["id"][0] or other in hidden
    link = TOMBSTONE if same else other
    text = TEXTS[len(other + row["text"][0]) % len(TEXTS)]
    fields = {
        "text": ("redact_x", {"text": pl.lit(text)}),
        "importance": ("demote_faded", {"importance": 0.125}),
        "tier": ("demote_faded", {"tier": "peripheral"}),
        "merge": ("merge_near", {"superseded_by": link}),
        "retire": ("retire_old", {"superseded_by": TOMBSTONE, "valid_to": NOW}),
        "quarantine": ("quarantine_injected", {"superseded_by": QUARANTINE}),
        "tags": ("note", {"tags": ["werkstatt", "车间"]}),
        "pin": ("pin", {"pinned": True}),
    }
    rule, given_ = fields.get(what, ("delete_retired", {}))
    step = delete(row, "x") if what == "delete" else edit(row, "update", "x", **given_)
    return step.with_columns(rule=pl.lit(rule), risk=pl.lit("low"))


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_any_plan_does_what_its_outcome_says_and_comes_undone(
    kind, examples, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    numbers = itertools.count()

    @settings(
        max_examples=examples, deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(drafts)
    def law(draft):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        store, state = build(kind, folder), folder / "state"
        taken = snapshot.take(store, state, NOW, POLICY)
        before = taken.records()
        allowed, _ = protect(changes(before, draft), before, POLICY)
        made = planfile.Planned(taken, before, allowed, allowed.clear(), POLICY, NOW)
        plan = planfile.save(state, made, NOW)
        done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
        assert (done["skipped"], done["state"]) == ([], "verified")
        assert said(joined(store, state)) == said(outcome(before, plan.plan()))
        assert applying.apply(plan, state, NOW, approve=True, as_of=NOW)["applied"] == 0
        back = applying.rollback(runs.find_run(done["run"], state), state)
        assert back["skipped"] == []
        assert diff(joined(store, state), before).is_empty()
        shutil.rmtree(folder)

    law()
