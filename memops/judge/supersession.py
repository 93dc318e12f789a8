"""Supersession: which record steps back behind which, by the time at which each was said.

Statements that say the same form a group; groups that conflict through any pair conflict as a
whole, so that one translation or paraphrase that is understood carries the others along. Within
conflicting groups time decides: event time before storage time. Where times are equal or unknown
only what is confirmed clearly more often decides; a machine's later word decides nothing against a
person's, nor a channel's against what a person said more often, and a preference that goes to and
fro must be said again before it replaces the other value. A link leads to the record that stands in the
end, the evidence names the steps between.
"""

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.confirmations import confirmed
from memops.judge.conflicts import TELLS, groups, judged
from memops.judge.decision import conflict
from memops.judge.places import other_named, parted
from memops.judge.swings import swinging
from memops.plan import arguments
from memops.safety.trust import by_anybody, by_machine
from memops.schema import LIVE

SIGNALS = ("jaccard", "cosine", "bm25")

_EVIDENCE = 5
_PASSING = ("session", "summary")  # what was said in passing steps back, and overtakes nothing


def overtaken(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the records that step back, with current, until, evidence_ids, code and args."""
    return _stepping(conflicting(records, ctx), records, ctx)


def likely_overtaken(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the records that probably step back behind a later one, by fitted weights alone.

    None behind which others have stepped back: what they lead to is not moved by what is only likely.
    """
    pairs = judged(records, ctx).filter("likely_conflict")
    if pairs.is_empty():
        return records.clear()
    pairs = pairs.with_columns(opposes=pl.lit("likely"), told=pl.lit(None, pl.String))
    turned = pairs.rename({"a": "b", "b": "a"}).select(pairs.columns)
    of = statements(records, ctx).members.join(
        records.filter(LIVE).select("id", lasting=~pl.col("kind").is_in(_PASSING)), on="id"
    )  # fmt: skip
    edges = (
        pl.concat([pairs, turned])
        .join(of.select(old="id", a="statement"), on="a")
        .join(of.filter("lasting").select(new="id", b="statement"), on="b")
        .filter(~pl.col("old").is_in(records["superseded_by"].drop_nulls().implode()))
        .select("old", "new", "opposes", "told", "score", *SIGNALS)
        .sort("old", "new")
    )  # fmt: skip
    return _stepping(edges, records, ctx).filter("later")


def _stepping(edges: pl.DataFrame, records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """The records that step back along edges from old to new."""
    apart = other_named(edges.filter(pl.col("told").is_null()), records)
    edges = parted(edges.join(apart, on=["old", "new"], how="anti"), records)
    time = _said_at(records, ctx)
    timed = (
        edges.join(time.rename({"id": "old", "at": "old_at", "pinned": "old_pinned"}), on="old")
        .join(time.select(new="id", new_at="at"), on="new")
        .filter(~pl.col("old_pinned"))
    )  # fmt: skip
    timed = _believed(timed.filter(~pl.col("old").is_in(list(ctx.fresh))), records, ctx)
    timed = timed.join(swinging(timed, records, ctx), on=["old", "new"], how="anti")
    ends = _currents(timed)
    chosen = (
        timed.sort("old", "score", "new_at", "new", descending=[False, True, False, False], nulls_last=True)
        .group_by("old", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in ("opposes", "score", *SIGNALS)),
            later=_later().first(),
            strong=pl.col("new").head(_EVIDENCE - 2),
            next=pl.col("new").sort_by("new_at", "new").first(),
            until=pl.col("new_at").min(),
        )
        .join(ends, on="old")
        .with_columns(evidence_ids=pl.concat_list("strong", "next", "current").list.unique(maintain_order=True))
        .with_columns(code=_code(), args=_args())
    )  # fmt: skip
    return records.join(chosen, left_on="id", right_on="old", how="inner").sort("id")


def _believed(edges: pl.DataFrame, records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """The edges to a later word that may overtake the older one.

    A machine's word overtakes no person's, one from a channel none that was confirmed more often.
    Of words of one time, or of no known time, only the one that is confirmed clearly more stands.
    """
    later, level = _later(), pl.col("new_at").eq_missing(pl.col("old_at"))
    edges = edges.filter(pl.col("told").is_null() | (pl.col("told") == "b"))
    machine, anybody = (records.filter(by)["id"].implode() for by in (by_machine(), by_anybody()))
    mine = edges.filter(later | level).filter(
        ~pl.col("new").is_in(machine) | pl.col("old").is_in(machine)
    )
    doubtful = mine.filter(level | pl.col("new").is_in(anybody))
    if doubtful.is_empty():
        return mine
    ids = pl.concat([doubtful["old"], doubtful["new"].rename("old")]).unique().rename("id")
    count = confirmed(ids, records, ctx)
    by = [count.rename({"id": n, "confirmed": f"{n}_confirmed"}) for n in ("old", "new")]
    weighed = doubtful.join(by[0], on="old", how="left").join(by[1], on="new", how="left")
    more = pl.col("new_confirmed").cast(pl.Int32) - pl.col("old_confirmed").cast(pl.Int32)
    enough = (more >= ctx.policy.conflicts.confirmed) | pl.col("told").is_not_null()
    stands = pl.when(level).then(enough).otherwise(more >= 0)
    lost = weighed.filter(~stands.fill_null(False))
    return mine.join(lost, on=["old", "new"], how="anti")


def conflicting(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return conflicting pairs of records, both ways round.

    Columns: old, new, opposes, score, the three signals and `told` ("a" or "b" where a decider
    said which is current: the old or the new), of the pair of statements that decided.
    """
    pairs = judged(records, ctx).filter(TELLS & pl.col("firm_a") & pl.col("firm_b"))
    told = pl.col("later") if "later" in pairs.columns else pl.lit(None, pl.String)
    pairs = pairs.with_columns(told=told)
    members = statements(records, ctx).members.join(
        records.filter(LIVE).select("id", lasting=~pl.col("kind").is_in(_PASSING)), on="id"
    )  # fmt: skip
    against = pairs.filter(conflict(ctx.policy))
    if against.is_empty():
        return pl.DataFrame(
            schema=dict.fromkeys(("old", "new", "opposes", "told"), pl.String)
            | dict.fromkeys(("score", *SIGNALS), pl.Float64)
        )
    group = groups(pairs.filter(pl.col("same")), statements(records, ctx).table.height)
    lifted = (
        against.join(group.rename({"statement": "a", "group": "ga"}), on="a")
        .join(group.rename({"statement": "b", "group": "gb"}), on="b")
        .filter(pl.col("ga") != pl.col("gb"))
        .group_by("ga", "gb")
        .agg(*_strongest())
    )
    turned = lifted.rename({"ga": "gb", "gb": "ga"}).select(lifted.columns)
    turned = turned.with_columns(pl.col("told").replace({"a": "b", "b": "a"}))
    both = pl.concat([lifted, turned])
    both = both.group_by("ga", "gb").agg(*_strongest())
    of = members.join(group, on="statement").select("id", "group", "lasting")
    wide = (
        both.join(of.select("id", "group").rename({"id": "old", "group": "ga"}), on="ga")
        .join(of.filter("lasting").rename({"id": "new", "group": "gb"}), on="gb")
    )  # fmt: skip
    return wide.select("old", "new", "opposes", "told", "score", *SIGNALS).sort("old", "new")


def _said_at(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """When each was said; what has no time counts as said when its like was last said."""
    same_said = judged(records, ctx).filter(pl.col("same"))
    group = groups(same_said, statements(records, ctx).table.height)
    own = (
        statements(records, ctx).members.join(group, on="statement")
        .join(records.select("id", "pinned", _at=pl.coalesce("valid_from", "created_at")), on="id")
    )  # fmt: skip
    return own.select("id", "pinned", at=pl.coalesce("_at", pl.col("_at").max().over("group")))


def _strongest() -> list[pl.Expr]:
    """Of several pairs between two groups the one with the highest score."""
    order = [pl.col("score"), pl.col("opposes"), *map(pl.col, SIGNALS)]
    falling = [True, False, *(True for _ in SIGNALS)]
    names = ("opposes", "told", "score", *SIGNALS)
    return [pl.col(name).sort_by(order, descending=falling).first() for name in names]


def _code() -> pl.Expr:
    later = pl.when(pl.col("later")).then(pl.format("conflict.{}", "opposes"))
    return later.otherwise(pl.lit("conflict.confirmed"))


def _args() -> pl.Expr:
    """How similar the two are, and its three signals."""
    signals = {name: pl.col(name).round(2) for name in SIGNALS}
    return arguments(similarity=pl.col("score").round(2), **signals)


def _later() -> pl.Expr:
    return (pl.col("new_at") > pl.col("old_at")).fill_null(False)


def _currents(timed: pl.DataFrame) -> pl.DataFrame:
    """Follow each old record to the one that stands: (old, current)."""
    olds = timed.select(id=pl.col("old").unique())
    standing = timed.join(olds, left_on="new", right_on="id", how="anti")
    last = (
        standing.sort("new_at", "new", descending=[True, False]).group_by("old", maintain_order=True)
        .agg(current=pl.col("new").first())
    )  # fmt: skip
    rest = timed.join(last.select("old"), on="old", how="anti")
    while rest.height:
        step = (
            rest.join(last, left_on="new", right_on="old", how="inner")
            .sort("new_at", "new", descending=[True, False]).group_by("old", maintain_order=True)
            .agg(current=pl.col("current").first())
        )  # fmt: skip
        if step.is_empty():
            break
        last = pl.concat([last, step])
        rest = rest.join(step.select("old"), on="old", how="anti")
    return last.sort("old")
