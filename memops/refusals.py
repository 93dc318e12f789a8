"""Refusals: what a person refused, or a store cannot take, is not proposed again until its evidence changes.

A refusal names rule, record and a digest of what record and evidence say and where the change would
lead.
"""

import polars as pl

from memops.files import digest
from memops.plan import EDITS, PUTS, arguments

KEY = pl.Schema({"rule": pl.String(), "id": pl.String(), "digest": pl.String()})
REFUSED = pl.Schema(KEY | {"code": pl.String()})

PERSON, STORE = "guard.refused", "guard.passed_over"
_SAYS = ("scope", "kind", "key", "text", "valid_from", "valid_to", "expires_at")
_GOES = ("tier", "superseded_by", "scope", "kind")


def refusals(changes: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return rule, id and digest of each change, in order; `records` are the night's snapshot."""
    named = pl.concat([changes["id"], changes["evidence"].explode().rename("id")]).unique()
    says = records.join(named.to_frame(), on="id", how="semi").select("id", says=_content())
    goes = [pl.col(n).alias(f"to:{n}") for n in _GOES]
    rows = changes.select("id", "rule", "action", *goes, "evidence", own=_content())
    rows = rows.with_row_index("nth")
    cited = (
        rows.select("nth", id="evidence")
        .explode("id", empty_as_null=True)
        .join(says, on="id", how="left")
        .group_by("nth")
        .agg(cited=pl.concat_str("id", "says", separator="\x1e", ignore_nulls=True).sort())
        .with_columns(cited=pl.col("cited").list.join("\x1d", ignore_nulls=True))
    )
    goes = [pl.when(EDITS).then(pl.col(f"to:{n}")) for n in _GOES]
    whole = rows.join(says, on="id", how="left").join(cited, on="nth", how="left").sort("nth")
    says_ = pl.coalesce("says", pl.when(PUTS).then("own"), pl.lit(""))
    parts = [pl.col("action"), says_, pl.col("cited"), *goes]
    text = pl.concat_str([p.fill_null("") for p in parts], separator="\x1c")
    keys = [digest(key)[:32] for key in whole.select(text).to_series()]
    keyed = whole.select("rule", "id", digest=pl.Series(keys, dtype=pl.String))
    return keyed.cast(KEY)


def withheld(
    changes: pl.DataFrame, records: pl.DataFrame, refused: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split changes into those to propose and those refused before, by the snapshot's `records`, with what hangs."""
    if refused.is_empty() or changes.is_empty():
        return changes, changes.clear()
    rows = refusals(changes, records).with_row_index("nth")
    known = rows.join(refused, on=list(KEY), how="inner").unique("nth")
    held = hanging(changes, records, known["nth"]).to_frame()
    codes = known.select("nth", "code")
    why = held.join(codes, on="nth", how="left", maintain_order="left")["code"]
    mine = pl.int_range(pl.len(), dtype=pl.UInt32).is_in(held["nth"].implode())
    gone = changes.filter(mine).with_columns(code=why.fill_null(PERSON), args=arguments())
    return changes.filter(~mine), gone


def hanging(changes: pl.DataFrame, records: pl.DataFrame, nths: pl.Series) -> pl.Series:
    """Return the positions given and those of changes that make no sense without them: what is done to a
    record that is not inserted, and what a keeper takes from one that does not step back.
    """
    rows = changes.with_row_index("nth")
    new = rows.filter(PUTS).join(records.select("id"), on="id", how="anti")
    behind = rows.filter(pl.col("superseded_by").is_not_null())
    taken = rows.filter(EDITS & pl.col("superseded_by").is_null()).select(
        "nth", "rule", keeper="id", id="evidence"
    )
    taken = taken.explode("id", empty_as_null=True).drop_nulls("id")
    gains = behind.select("rule", "id", held="nth", keeper="superseded_by")
    gains = taken.join(gains, on=["rule", "id", "keeper"], how="inner").select("held", "nth")
    links = new.select(held="nth", superseded_by="id").join(behind, on="superseded_by")
    edits = new.select("id", held="nth").join(rows.filter(EDITS), on="id")
    every = pl.concat([gains, links.select("held", "nth"), edits.select("held", "nth")])
    out = nths.cast(pl.UInt32).rename("held").to_frame().unique()
    while True:
        more = every.join(out, on="held", how="semi").select(held="nth").unique()
        more = more.join(out, on="held", how="anti")
        if more.is_empty():
            return out["held"].sort().rename("nth")
        out = pl.concat([out, more])


def _content() -> pl.Expr:
    tags = pl.col("tags").list.sort().cast(pl.List(pl.String)).list.join(",", ignore_nulls=True)
    parts = [*(pl.col(name).cast(pl.String) for name in _SAYS), tags]
    return pl.concat_str([part.fill_null("") for part in parts], separator="\x1f")
