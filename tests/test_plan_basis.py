import polars as pl
from hypothesis import given, settings

from memops.guard import protect
from memops.plan import edit, outcome, squash, successors
from memops.policy import Policy
from memops.schema import from_rows, only
from memops.state.plan_basis import basis

from .strategies import plans, records


def linked(n):
    """A chain of n records, each superseded by the next, and one beside it."""
    links = [{"id": f"c{i}", "superseded_by": f"c{i + 1}"} for i in range(n)]
    return from_rows([{"kind": "fact", **row} for row in [*links, {"id": f"c{n}"}, {"id": "x"}]])


@settings(deadline=None)
@given(records(), plans())
def test_links_end_where_they_end_in_the_whole_table(r, p):
    mine = basis(p, lambda ids: only(r, ids))
    ids = [*p["id"], *p["superseded_by"].drop_nulls()]
    ends = lambda table: only(successors(outcome(table, p)), ids).sort("id")  # noqa: E731
    assert ends(mine).equals(ends(r))
    assert outcome(only(mine, p["id"]), squash(p)).equals(outcome(only(r, p["id"]), squash(p)))


def test_a_chain_is_followed_to_its_end_and_no_further_record_is_read():
    whole = linked(40)
    plan = edit(whole.filter(pl.col("id") == "x"), "supersede", "same", superseded_by="c3")
    mine = basis(plan, lambda ids: only(whole, ids))
    assert sorted(mine["id"]) == sorted(["x", *(f"c{i}" for i in range(3, 41))])
    assert protect(plan, mine, Policy())[0].equals(protect(plan, whole, Policy())[0])
