"""What apply checks: what has to wait, the guard on live records, and how the store reads after."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

import polars as pl

from memops import overlay
from memops.guard import looked_at, protect
from memops.plan import EDITS, PUTS, linked, outcome, successors
from memops.policy import Policy
from memops.reasons import packed
from memops.schema import RETIRED
from memops.state.runs import Run
from memops.stores import Store, Written

Check = Callable[[pl.DataFrame, pl.DataFrame], Mapping[str, str]]

_APART = ["place.daily_lasts", "place.daily_idle"]  # reasons that take a file apart
_SAME = ["id", "text", "kind", "scope", "tier", "pinned", "superseded_by"]


class Checker:
    """The guard that runs on live records inside the store's transaction, for batches of a plan."""

    def __init__(
        self,
        records: pl.DataFrame,
        changes: pl.DataFrame,
        before: pl.DataFrame,
        policy: Policy,
        authority: str,
        approved: bool,
        unsigned: bool,
    ) -> None:
        self.policy, self.before, self.unsigned = policy, before, unsigned
        self.asked, self.approved = authority != "person", approved
        self.ends = successors(outcome(records, changes))
        self.new = outcome(records.clear(), changes.filter(PUTS))
        both = pl.concat([self.new, records])
        self.records = both.unique("id", keep="first", maintain_order=True)

    def of(self, batch: pl.DataFrame) -> tuple[Check, frozenset[str]]:
        """Return the check of a batch, and the ids of the live records that it looks at."""
        if not self.asked:
            return lambda live, counts: {}, frozenset()
        led = linked(batch, self.ends)
        far = self.records.join(led.select(id="superseded_by").unique(), on="id", how="semi")
        direct = batch.filter(pl.col("superseded_by").is_not_null()).select("id", "superseded_by")
        beyond = pl.concat([self.new["id"], overlay.archived_ids(self.before)])
        named = direct.filter(~pl.col("superseded_by").is_in([*RETIRED, *beyond]))

        def check(live: pl.DataFrame, counts: pl.DataFrame) -> Mapping[str, str]:
            here = overlay.joined(live, self.before.filter(EDITS))
            lost = named.join(here.select(superseded_by="id"), on="superseded_by", how="anti")
            known = pl.concat([here, far.join(here.select("id"), on="id", how="anti")])
            kept, refused = protect(led, known, self.policy, counts, self.unsigned)
            waiting = kept.clear() if self.approved else kept.filter(~pl.col("unattended"))
            gone = dict.fromkeys(lost["id"], "guard.keeper_gone")
            whys = refused.select("id", "code", "args").iter_rows()
            held = dict(waiting.select("id", "waits").iter_rows())
            return held | {id: packed(code, args) for id, code, args in whys} | gone

        return check, looked_at(led) | {*direct["superseded_by"]}


def touched(
    of: Mapping[str, tuple[str, str]], written: Iterable[Written]
) -> list[tuple[str, str, int]]:
    """Return how many records of each scope and kind were changed, new ones apart."""
    counts = Counter(of[w.id] for w in written if w.state == "applied" and w.id in of)
    return [(*group, n) for group, n in sorted(counts.items())]


def expected(
    records: pl.DataFrame, changes: pl.DataFrame, written: Iterable[Written]
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the records that were written, as they should read, under the ids they now have."""
    good = [w for w in written if w.state in ("applied", "already", "moved")]
    moved = {w.id: w.new_id for w in good if w.new_id and w.new_id != w.id}
    ids = pl.Series("id", [w.id for w in good], dtype=pl.String)
    mine = changes.filter(pl.col("id").is_in(ids.implode()))
    base = records.filter(pl.col("id").is_in(ids.implode()))
    after = outcome(base, mine).with_columns(pl.col("id", "superseded_by").replace(moved))
    return after.sort("id"), moved


def misread(there: pl.DataFrame, wanted: pl.DataFrame) -> list[str]:
    """Return the ids of wanted records that do not read as they should."""
    now, then = there.select(_SAME), wanted.select(_SAME)
    return sorted(then.join(now, on=_SAME, how="anti", nulls_equal=True)["id"])


def since_written(
    store: Store, there: pl.DataFrame, wanted: pl.DataFrame, at: datetime
) -> set[str]:
    """Return the ids of wanted records that the agent wrote itself since then, or whose file it wrote."""
    own = there.filter(pl.col("updated_at") > at)["id"]
    recent = store.recent(at)
    file = pl.col("origin").str.extract(r"^(.*)#\d+$")
    busy = store.read(recent).select(file).to_series().drop_nulls() if recent else pl.Series([""])
    mine = pl.col("id").is_in(own.implode()) | file.is_in(busy.implode()).fill_null(False)
    return set(wanted.filter(mine)["id"])


def held_back(
    changes: pl.DataFrame, store: Store, run: Run, policy: Policy
) -> tuple[list[Written], pl.DataFrame]:
    """Leave records in files that were written lately, and what is made of them, for a later night.

    Approval overrides that, except for consolidation, which takes a file apart.
    """
    consolidated = pl.col("code").fill_null("").is_in(_APART)
    apart = changes.filter(consolidated)
    from_them = pl.col("derived_from").list.set_intersection(apart["id"].to_list()).list.len() > 0
    made = consolidated | from_them.fill_null(False)  # a later rule may have named them its own
    mine = changes.filter(made) if run.header["approved"] else changes
    if mine.is_empty():
        return [], changes
    grace = timedelta(minutes=policy.limits.fresh_minutes)
    recent = list(store.recent(run.started - grace))
    of_them = pl.col("derived_from").list.eval(pl.element().is_in(recent)).list.any()
    fresh = mine.filter((pl.col("id").is_in(recent) | of_them).fill_null(False))
    rest = changes.join(fresh.select("id"), on="id", how="anti")
    return [Written(i, "stale", "skip.fresh") for i in fresh["id"]], rest
