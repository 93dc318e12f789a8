"""Confirmations: how often somebody else, or somebody again another day, said what a record says.

Counted in the store each time they are needed, never read from a field that whoever writes a
record could fill. What was merged into a record, or stepped back behind one that says the same,
still counts for it until it is deleted.
"""

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import Statements, statements_of
from memops.judge.conflicts import groups, judged_among
from memops.plan import STEPS
from memops.safety.trust import voice
from memops.schema import LIVE, RETIRED, only


def confirmed(ids: pl.Series, records: pl.DataFrame, ctx: Context, least: int = 1) -> pl.DataFrame:
    """Return (id, confirmed, by): the voices beside its own that say what each of these records says.

    Looked at are the given records themselves and what stepped back behind them; what is
    quarantined or retired says nothing.
    A person has one voice a session, or a day where the store knows no sessions; all that machines
    and channels say is one voice together, and confirms nothing by itself. A count under `least`
    may come out as 0. `by` names as many of the others as make `least`, with what they stand
    behind.
    """
    hidden = behind(ids, records)
    mine = pl.concat([ids.rename("id"), hidden["id"]]).unique()
    standing = ~pl.col("superseded_by").is_in(RETIRED).fill_null(False)
    said = alike(only(records, mine).filter(standing), ctx, least)
    given = only(said.select("id", "group", own="voice").sort("id"), ids)
    others = given.join(_voices(said, hidden, least), on="group").filter(
        pl.col("own").ne_missing(pl.col("voice"))
    )
    some = others.filter(pl.col("first").rank("ordinal").over("id") <= least)
    named = pl.concat([some.select("id", by=name) for name in ("first", "end")]).drop_nulls()
    named = named.filter(pl.col("by") != pl.col("id")).group_by("id").agg("by")
    counted = others.group_by("id").agg(pl.col("voices").first() - 1).join(named, on="id")
    return given.join(counted, on="id", how="left").select(
        "id",
        confirmed=pl.col("voices").fill_null(0).cast(pl.UInt32),
        by=pl.col("by").list.unique().list.sort(),
    )


def alike(records: pl.DataFrame, ctx: Context, least: int = 0) -> pl.DataFrame:
    """Return records, hidden ones too, with their `voice` and the `group` that says the same.

    Groups are found where more than `least` voices may come together, elsewhere records stand alone.
    A later round that asks of the same records is told the same, unless a model is asked as well.
    """
    last = ctx.cache.get((alike, least))
    if last is None or ctx.models.judge is not None or not last[0].equals(records):
        last = ctx.cache[alike, least] = records, _grouped(records, ctx, least)
    found: pl.DataFrame = last[1]
    return found


def _grouped(records: pl.DataFrame, ctx: Context, least: int) -> pl.DataFrame:
    shown = records.with_columns(superseded_by=pl.lit(None, pl.String))
    said, voiced = statements_of(shown, ctx), records.with_columns(voice=voice())
    voices = said.members.join(voiced.select("id", "voice"), on="id").select("statement", "voice")
    keep = lambda pairs: _many_voiced(pairs, said, voices, least)  # noqa: E731
    same = judged_among(said, shown, ctx, keep).filter(pl.col("same"))
    of = groups(same, said.table.height)
    return voiced.join(said.members.join(of, on="statement").select("id", "group"), on="id")


def _many_voiced(
    pairs: pl.DataFrame, said: Statements, voices: pl.DataFrame, least: int
) -> pl.DataFrame:
    """The pairs that hang together with statements of more than `least` voices: reading is dear."""
    pairs = pairs.filter("ruled")
    if pairs.is_empty():
        return pairs
    of = groups(pairs, said.table.height)
    many = voices.join(of, on="statement").group_by("group").agg(pl.col("voice").n_unique())
    worth = of.join(many.filter(pl.col("voice") > least), on="group", how="semi")
    return pairs.filter(pl.col("a").is_in(worth["statement"].implode()))


def _voices(said: pl.DataFrame, hidden: pl.DataFrame, least: int) -> pl.DataFrame:
    """The first voices of each group, one more than `least`, with the first record of each.

    (group, voices, voice, first, end); `voices` counts all of them, `end` is what `first` is behind.
    """
    firsts = said.group_by("group", "voice").agg(first=pl.col("id").min()).sort("group", "first")
    counts = firsts.group_by("group").agg(voices=pl.len().cast(pl.Int64))
    few = firsts.filter(pl.int_range(pl.len()).over("group") <= least)
    ends = hidden.rename({"id": "first"})
    return few.join(counts, on="group").join(ends, on="first", how="left").sort("group", "first")


def behind(ids: pl.Series, records: pl.DataFrame) -> pl.DataFrame:
    """What stepped back behind these records, and the one that it is behind at the end (id, end)."""
    link = pl.col("superseded_by")
    links = records.select("id", "superseded_by").filter(~LIVE).filter(~link.is_in([*RETIRED]))
    last = ids.unique().to_frame("superseded_by").with_columns(end="superseded_by")
    found = [last.select(id="superseded_by", end="end").clear()]
    for _ in range(STEPS):
        here = links.join(last, on="superseded_by")
        if here.is_empty():
            break
        found.append(here.select("id", "end"))
        links = links.join(here, on="id", how="anti")
        last = here.select(superseded_by="id", end="end")
    return pl.concat(found)
