"""Plans: what should change in a store, and why.

A plan is a table of changes, in order: each puts a whole record, edits the fields that it names (null
leaves one alone, `clears` empties), or deletes. `outcome` works on a table, whether it previews, grades
or tests.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

import polars as pl

from memops.schema import CHANGES, INTENTS, RECORDS, REPLACED, TOMBSTONE, places

DELETES = pl.col("action") == "delete"
EDITS = pl.col("action") == "edit"
PUTS = pl.col("action") == "put"
FIELDS = tuple(name for name in RECORDS if name != "id")
STEPS = 64  # links that are followed, at most
ABOUT = (
    "intent", "rule", "code", "args", "evidence", "derived_from", "risk", "unattended", "waits",
    "clears",
)  # fmt: skip


def nothing() -> pl.DataFrame:
    """Return the plan without changes."""
    return CHANGES.to_frame()


Said = str | pl.Expr
"""A word, or an expression of it over the records."""
Args = Mapping[str, Any] | pl.Expr
"""Arguments of a reason, values or expressions; or an expression of `arguments`."""
NO_ARGS: Mapping[str, Any] = MappingProxyType({})


def put(
    records: pl.DataFrame, code: Said, args: Args = NO_ARGS, intent: Said = "insert", **about: Any
) -> pl.DataFrame:
    """Propose each record as given, in place of any that has its id."""
    whole = {name: pl.col(name) for name in RECORDS}
    return _changes("put", records, intent, code, args, **whole, **about)


def edit(
    records: pl.DataFrame,
    intent: Said,
    code: Said,
    args: Args = NO_ARGS,
    clears: Sequence[str] = (),
    **fields: Any,
) -> pl.DataFrame:
    """Propose new values for some fields and empty others; values may be expressions."""
    emptied = {"clears": pl.lit(list(clears), pl.List(pl.String))} if clears else {}
    return _changes("edit", records, intent, code, args, **emptied, **fields)


def retire(
    records: pl.DataFrame, at: datetime, code: Said, args: Args = NO_ARGS, **about: Any
) -> pl.DataFrame:
    """Propose that each record is hidden from then on, and deleted once its grace time is over."""
    gone: dict[str, Any] = {"superseded_by": TOMBSTONE, "valid_to": pl.lit(at)}
    return edit(records, "tombstone", code, args, **gone, **about)


def delete(records: pl.DataFrame, code: Said, args: Args = NO_ARGS, **about: Any) -> pl.DataFrame:
    """Propose that each record goes."""
    return _changes("delete", records, "tombstone", code, args, **about)


def arguments(**values: Any) -> pl.Expr:
    """Return the arguments of a reason as a JSON object, its keys in order; null for none."""
    if not values:
        return pl.lit(None, pl.String)
    if not any(isinstance(value, pl.Expr) for value in values.values()):
        said = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return pl.lit(said)
    named = (
        (v if isinstance(v, pl.Expr) else pl.lit(v)).alias(n) for n, v in sorted(values.items())
    )
    return pl.struct(named).struct.json_encode()


def without_secrets(records: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Return records with their texts as a plan's redactions leave them, for pages that show them."""
    masked = plan.filter((pl.col("intent") == "redact") & pl.col("text").is_not_null())
    masked = masked.select("id", _masked="text").unique("id", keep="last", maintain_order=True)
    told = records.join(masked, on="id", how="left", maintain_order="left")
    return told.with_columns(text=pl.coalesce("_masked", "text")).drop("_masked")


def squash(plan: pl.DataFrame) -> pl.DataFrame:
    """Return the same plan with one change a record, sorted by id, for those who carry it out."""
    if not plan["id"].is_duplicated().any():
        return plan.select(CHANGES.names()).sort("id")
    order = plan.with_row_index("nth")
    whole = order.filter(~EDITS).unique("id", keep="last", maintain_order=True)
    edits = _squash_edits(
        order.filter(EDITS)
        .join(whole.select("id", replaced="nth"), on="id", how="left")
        .filter(pl.col("replaced").is_null() | (pl.col("nth") > pl.col("replaced")))
    )
    whole = whole.select(CHANGES.names())
    names = [*FIELDS, *(n for n in ABOUT if n != "clears")]
    puts = _edited(whole.filter(PUTS).sort("id"), edits.sort("id"), names)
    rest = edits.join(whole, on="id", how="anti").select(CHANGES.names())
    return pl.concat([puts, rest, whole.filter(DELETES)]).sort("id")


def outcome(records: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Return the records as they stand once the plan is carried out, sorted by id."""
    if plan.is_empty():
        return records if records["id"].is_sorted() else records.sort("id")
    changes, kept = squash(plan), records
    gone = changes.filter(~EDITS)
    if gone.height:
        puts = changes.filter(PUTS).select(RECORDS.names())
        kept = _without(records, gone["id"])
        kept = pl.concat([kept, puts]) if puts.height else kept
    kept = kept if kept["id"].is_sorted() else kept.sort("id")
    return _edited(kept, changes.filter(EDITS), FIELDS)


def diff(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return the plan that turns `before` into `after`; undo is the diff the other way."""
    gone = before.join(after, on="id", how="anti")
    differs = after.join(before, on=RECORDS.names(), how="anti", nulls_equal=True)
    return pl.concat([delete(gone, "difference.absent"), put(differs, "difference.other")])


def successors(records: pl.DataFrame) -> pl.DataFrame:
    """Return, for each replaced record, the one at the end of its links (id, end); of a cycle, one after STEPS."""
    links = records.filter(REPLACED).select("id", end="superseded_by")
    for _ in range(STEPS.bit_length() - 1):
        further = links.join(links.rename({"id": "end", "end": "next"}), on="end", how="left")
        if further["next"].null_count() == further.height:
            break
        links = further.select("id", end=pl.coalesce("next", "end"))
    return links


def linked(changes: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """Return changes whose links lead to the records at their ends (`successors`)."""
    found = changes.join(ends, left_on="superseded_by", right_on="id", how="left")
    return found.with_columns(superseded_by=pl.coalesce("end", "superseded_by")).drop("end")


def meaning(plan: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return the plan with a column `op`: what each change is called in a plan file.

    That is its intent, but for puts (insert or update) and moves (update).
    """
    known = pl.col("id").is_in(records["id"].implode())
    op = (
        pl.when(PUTS).then(pl.when(known).then(pl.lit("update")).otherwise(pl.lit("insert")))
        .when(pl.col("intent") == "move").then(pl.lit("update"))
        .otherwise(pl.col("intent").fill_null("update"))
    )  # fmt: skip
    return plan.with_columns(op=op)


def tallied(rows: pl.DataFrame, *by: str) -> dict[str, dict[str, int]]:
    """Return how many rows there are by one column and another, in the order in which they stand."""
    counted: dict[str, dict[str, int]] = {}
    for one, other, n in rows.group_by(by, maintain_order=True).len().iter_rows():
        counted.setdefault(one, {})[other] = n
    return counted


def gravity() -> pl.Expr:
    """Return how grave a change is: what hides its record most, then by its place in INTENTS."""
    ranks = {intent: i for i, intent in enumerate(INTENTS)}
    hides = DELETES | pl.col("superseded_by").is_not_null()
    rank = pl.col("intent").replace_strict(ranks, default=-1, return_dtype=pl.Int8)
    return rank + hides.cast(pl.Int8) * len(INTENTS)


def _squash_edits(edits: pl.DataFrame) -> pl.DataFrame:
    """One edit a record: each field as the last edit that set or emptied it left it."""
    asked = {*edits["clears"].explode().drop_nulls()}
    emptied = {
        name: pl.col("clears").list.contains(name).fill_null(False)
        for name in FIELDS if name in asked
    }  # fmt: skip
    said = {name: pl.col(name).is_not_null() for name in FIELDS}
    said |= {name: said[name] | empties for name, empties in emptied.items()}
    last = [pl.col(name).filter(told).last() for name, told in said.items()]
    cleared = [
        empties.filter(said[name]).last().fill_null(False).alias(f"clear:{name}")
        for name, empties in emptied.items()
    ]
    about = [pl.col(n).drop_nulls().last() for n in ("action", "risk")]
    gravest = pl.col("intent", "rule", "code", "args").sort_by(gravity(), maintain_order=True)
    about += [gravest.last()]
    about += [pl.col("unattended").fill_null(True).all(), pl.col("waits").drop_nulls().first()]
    lists = [pl.col(n).drop_nulls().last() for n in ("evidence", "derived_from")]
    merged = edits.group_by("id", maintain_order=True).agg(*about, *lists, *last, *cleared)
    none = pl.lit(None, pl.String)
    named = (pl.when(f"clear:{name}").then(pl.lit(name)) for name in emptied)
    merged = merged.with_columns(clears=pl.concat_list(none, *named).list.drop_nulls())
    clears = pl.when(pl.col("clears").list.len() > 0).then("clears")
    return merged.with_columns(clears=clears).select(CHANGES.names())


def _without(records: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    if not records["id"].is_sorted():
        return records.filter(~pl.col("id").is_in(ids.implode()))
    gone = places(records["id"], ids)["place"]
    stays = pl.repeat(True, records.height, eager=True).scatter(gone, False)
    return records.filter(stays) if gone.len() else records


def _edited(rows: pl.DataFrame, edits: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Rows with the fields that the edits (one a record) set or empty; both are sorted by id."""
    if edits.is_empty() or rows.is_empty():
        return rows
    found = places(rows["id"], edits["id"])
    edits, at = edits[found["nth"]], found["place"]
    cleared = set(edits["clears"].drop_nulls().explode().drop_nulls().unique())
    names = [n for n in names if n in cleared or edits[n].null_count() < edits.height]
    old = {n: rows[n].gather(at) for n in names}
    new = edits.select(
        pl.when(pl.col("clears").list.contains(n).fill_null(False) & pl.lit(n in cleared))
        .then(None)
        .otherwise(pl.coalesce(n, old[n]))
        .alias(n)
        for n in names
    )
    columns = [_placed(rows[n], at, new[n]) for n in names]
    blank = [pl.lit(None, CHANGES["clears"]).alias("clears")] if "clears" in rows.columns else []
    return rows.with_columns(columns).with_columns(blank)


def _placed(column: pl.Series, at: pl.Series, values: pl.Series) -> pl.Series:
    if not column.dtype.is_nested():
        return column.clone().scatter(at, values)
    nth = pl.int_range(column.len(), eager=True)
    both = pl.concat([column, values.cast(column.dtype)])
    return both.gather(nth.scatter(at, pl.int_range(column.len(), both.len(), eager=True)))


def _changes(
    action: str, records: pl.DataFrame, intent: Said, code: Said, args: Args, **fields: Any
) -> pl.DataFrame:
    if records.is_empty():
        return nothing()
    told = args if isinstance(args, pl.Expr) else arguments(**args)
    given = {"action": action, "intent": intent, "code": code, "args": told, "id": pl.col("id")}
    row = {
        n: v if isinstance(v, pl.Expr) else pl.lit(v, CHANGES[n] if isinstance(v, list) else None)
        for n, v in (given | fields).items()
    }
    blank = {name: pl.lit(None, dtype) for name, dtype in CHANGES.items()}
    return records.select(**blank | row).cast(CHANGES)
