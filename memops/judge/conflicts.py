"""Conflicts: pairs of live statements that cannot both hold, judged, with their signals.

Everything is computed per statement and per pair of statements, then spread to the records that
make them. `conflicts` and `duplicates` list; the rules decide what may happen unattended.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.candidates.neighbours_dense import cosines
from memops.judge.candidates.similarity import (
    Statements,
    candidates_in_parts,
    spoken,
    statements,
    unkept,
    used_in,
)
from memops.judge.candidates.worth import WORTH, combined, worth_reading
from memops.judge.cascade import asked, heard
from memops.judge.comparing import Keep, decided_pairs, read_once, to_ask, verdicts
from memops.judge.fitted import in_fitted_languages, suits
from memops.judge.known import PAIR, VERDICTS, known
from memops.ordered import connected
from memops.statements.readings import Readings, likeness, read_all, readings

CARRIED = "carried"
"""Where the context notes that a rule was given pairs which an earlier step of the plan found."""
FOUND = "found"
"""Where it keeps those; without them pairs are looked for anew."""


TELLS = (
    pl.col("same") | pl.col("opposes").is_not_null()
    | pl.col("likely_same") | pl.col("likely_part") | pl.col("likely_conflict")
)  # fmt: skip
"""Of judged pairs: something may come of them."""


_STEP = 400_000  # pairs whose texts are put together at a time


class _Judged(NamedTuple):
    """Judged pairs, and whether they are those of earlier statements that are left."""

    pairs: pl.DataFrame
    carried: bool


def judged(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the candidate pairs of statements that could be judged, and what they are.

    Columns: a, b (numbers of statements, a < b), jaccard, cosine, bm25, score (the seed's
    similarity), same (bool), opposes (why, or null), firm_a, firm_b (asserted as standing fact);
    with a judge also what it said (`memops.judge.judge`).
    """
    said = statements(records, ctx)
    last: tuple[Statements, _Judged] | None = ctx.cache.get(judged)
    if last is None or last[0] is not said or (last[1].carried and FOUND not in ctx.cache):
        ctx.cache.pop(judged, None)  # before others are made: of many they take gigabytes
        last = ctx.cache[judged] = said, _judged_whole(records, ctx)
    if last[1].carried:
        ctx.cache[CARRIED] = True
    return last[1].pairs


def groups(same: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return (statement, group): statements that pairs connect share a group."""
    label = connected(same["a"].to_numpy(), same["b"].to_numpy(), n)
    return pl.DataFrame({"statement": np.arange(n, dtype=np.uint32), "group": label})


def features(pairs: list[dict[str, Any]]) -> pl.DataFrame:
    """Return the features of pairs, with what the rules make of them."""
    texts = sorted({text for pair in pairs for text in (pair["a"], pair["b"])})
    place = {text: n for n, text in enumerate(texts)}
    a, b = (np.array([place[pair[side]] for pair in pairs]) for side in ("a", "b"))
    sure = in_fitted_languages(pl.Series(texts, dtype=pl.String))
    return compared(read_all(texts), a, b, True, sure(a, b))


def compared(said: Readings, a: Any, b: Any, alone: Any = False, sure: Any = False) -> pl.DataFrame:
    """Return what differs in pairs of readings, what is made of it, and how much the two share.

    Rules alone make it, unless weights may be asked (`decided_pairs`).
    """
    return decided_pairs(said, a, b, alone, sure).hstack(likeness(said, a, b))


def _judged_whole(records: pl.DataFrame, ctx: Context) -> _Judged:
    """The pairs of all statements: of a plan's later steps, which hide, those found before that are left.

    Of those found before only such stay as say the same or oppose each other; nothing comes of others.
    What is near hangs a little on what else there is, so such pairs are `carried`: once nothing comes
    of them any more, the plan asks for pairs found anew (`memops.rules.propose`).
    """
    said, before = statements(records, ctx), ctx.cache.get(FOUND)
    if ctx.models.encode or ctx.models.judge:
        return _Judged(judged_among(said, records, ctx), False)
    if before and (left := _left(said, ctx, *before)):
        return _Judged(_scored(*left, said, records, ctx), True)
    found = _found(said.table, ctx, None)
    tells = found[1].select(TELLS).to_series()
    ctx.cache[FOUND] = said, *(part.filter(tells) for part in found)
    return _Judged(_scored(*found, said, records, ctx), False)


def _left(
    said: Statements,
    ctx: Context,
    before: Statements,
    pairs: pl.DataFrame,
    verdict: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Those pairs of the statements `before` that are left; None if there are statements which were not."""
    both = said.members.join(before.members, on="id", suffix="_was", maintain_order="left")
    both = both.unique("statement", keep="first", maintain_order=True)
    now, was = said.table[both["statement"]], before.table[both["statement_was"]]
    new = now["text"] != was["text"]
    alike = all(now[name].equals(was[name]) for name in ("scope", "about", "owned", "states"))
    one, two = (spoken(of["text"].filter(new), ctx) for of in (now, was))
    alike = alike and one.equals(two)
    if both.height < said.table.height or not alike:
        return None
    place = pl.repeat(None, before.table.height, dtype=pl.UInt32, eager=True)
    place = place.scatter(both["statement_was"], both["statement"])
    pairs = pairs.with_columns(place.gather(pairs[side]).alias(side) for side in ("a", "b"))
    left = pairs["a"].is_not_null() & pairs["b"].is_not_null()
    return pairs.filter(left), verdict.filter(left)


def judged_among(
    said: Statements, records: pl.DataFrame, ctx: Context, keep: Keep | None = None
) -> pl.DataFrame:
    """Return the pairs of some statements, as `judged` does; of them only those that `keep` keeps."""
    return _scored(*_found(said.table, ctx, keep), said, records, ctx)


def _scored(
    pairs: pl.DataFrame,
    verdict: pl.DataFrame,
    said: Statements,
    records: pl.DataFrame,
    ctx: Context,
) -> pl.DataFrame:
    told = pl.concat([pairs, verdict], how="horizontal").with_columns(
        score=combined(ctx.policy.conflicts)
    )
    settled = heard(told, said, records, ctx).drop("vectors", "ruled", "across", "rank")
    asked(settled, said.members, ctx)
    return settled


def _found(
    table: pl.DataFrame, ctx: Context, keep: Keep | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The pairs of statements worth comparing, and what each is; what is known of them is not made."""
    before = known(table, ctx) if keep is None else None
    if before and (told := before.whole()):
        return told
    sought = unkept(table, ctx) if before is None else before.sought()
    found = candidates_in_parts(table, ctx, sought, before.spared if before else None)
    parts = [worth_reading(pairs, part, ctx.policy, to_ask(ctx)) for part, pairs in found]
    parts = [part if keep is None else keep(part) for part in parts]
    pairs = pl.concat([WORTH.to_frame(), *parts])
    made = _what_they_are(pairs, table, ctx)
    if not before:
        return pairs, pl.concat([VERDICTS.to_frame(), *(verdict for _, verdict in made)])
    telling, silent = [pl.DataFrame(schema=WORTH | VERDICTS)], [PAIR.to_frame()]
    for some, verdict in made:
        tells = verdict.select(TELLS).to_series()
        telling.append(some.hstack(verdict).filter(tells))
        silent.append(some.select(*PAIR).filter(~tells))
    whole = pl.concat(telling)
    before.note(pl.concat(silent), whole)
    return whole.select(*WORTH), whole.select(*VERDICTS)


def _what_they_are(
    pairs: pl.DataFrame, table: pl.DataFrame, ctx: Context
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Some pairs after the other, with what they are."""
    if pairs.is_empty():
        return
    used = used_in(pairs)
    texts, placed = table["text"].gather(used), table["placed"].gather(used)
    taken, rows = read_once(texts, ctx)
    sure, alone = in_fitted_languages(texts), ~placed.to_numpy()
    encode = ctx.models.encode
    known = encode is not None and ctx.once(suits, lambda: suits(encode))
    for some in pairs.iter_slices(_STEP):
        own = used_in(some)
        said = readings(taken[rows.gather(np.searchsorted(used, own))])
        one, two = (np.searchsorted(used, some[side].to_numpy()) for side in ("a", "b"))
        near = cosines(texts, one, two, ctx) if known else None
        asked = alone[one] & alone[two], sure(one, two)
        yield some, verdicts(some, said, own, *asked, near)
