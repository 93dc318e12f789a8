"""Label sheets: changes of plans in their place, for readers to judge; and the counts of their labels.

A reader writes `right` (the owner would want it), `harmless` (nothing lost, nothing won) or `harmful`
(something true, current or needed is lost, hidden or torn apart). Counts go on; sentences stay in the
sheet.
"""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from memops import autonomy, files
from memops.commands import reviewing
from memops.errors import Corrupt, StoreNotFound
from memops.safety.display import csv_safe
from memops.stores import family

LABELS = ("right", "harmless", "harmful")
_KEY = ("store", "plan", "seq", *autonomy.SHAPE, "family")
_SEEN = ("place", "subject", "why", "before", "text", "after", "becomes", "evidence")
_ROOM = 700  # characters of each text around a change
_TEXT = 6000  # characters of the text itself


def sheet(plans: Iterable[str], state: Path, most: int, codes: Sequence[str] = ()) -> pl.DataFrame:
    """Return at most so many changes of each shape and family, of reasons in `codes` if any, spread over
    plans and texts.

    Texts that stand in a plan many times are shown once before any is shown again, and what a keeper
    gains goes with its change. The choice is by digest, so that the same plans give the same sheet.
    """
    reviews = [reviewing.begun(name, state) for name in plans]
    rows = pl.concat([_rows(nth, review) for nth, review in enumerate(reviews)])
    rows = rows.filter(pl.col("code").is_in(codes)) if codes else rows
    turns = ("family", *autonomy.SHAPE)
    chosen = (
        rows.with_columns(again=pl.int_range(pl.len()).over("nth", *turns, "text", order_by="draw"))
        .with_columns(turn=pl.int_range(pl.len()).over("nth", *turns, order_by=["again", "draw"]))
        .with_columns(place=pl.int_range(pl.len()).over(*turns, order_by=["turn", "draw"]))
        .filter(pl.col("place") < most)
        .sort("family", *autonomy.SHAPE, "nth", "seq")
    )
    shown = [
        row
        for (nth,), some in chosen.group_by("nth", maintain_order=True)
        for row in _shown(reviews[int(nth)], some)
    ]
    names = [*_KEY, *_SEEN, "label", "note"]
    return pl.DataFrame(shown, schema=dict.fromkeys(names, pl.String), orient="row")


def written(rows: pl.DataFrame) -> bytes:
    """Return a sheet as a file of tab-separated values that a spreadsheet opens."""
    held = io.BytesIO()
    safe = [[csv_safe(cell) for cell in row] for row in rows.iter_rows()]
    pl.DataFrame(safe, schema=rows.schema, orient="row").write_csv(held, separator="\t")
    return held.getvalue()


def read(path: Path) -> pl.DataFrame:
    """Return a sheet that somebody filled in; raises MemopsError for what is none."""
    if not path.is_file():
        raise StoreNotFound(f"{path} is not there", "write one with `memops dev evidence sheet`")
    try:
        rows = pl.read_csv(path, separator="\t", infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise Corrupt(f"{path}: {error}", "it holds tab-separated values") from error
    if missing := [name for name in (*_KEY, "label") if name not in rows.columns]:
        raise Corrupt(f"{path}: no column {missing[0]!r}", "fill in a sheet as it was written")
    rows = rows.with_columns(pl.col("label").fill_null("").str.strip_chars().str.to_lowercase())
    wrong = rows.with_row_index("line", 2).filter(~pl.col("label").is_in([*LABELS, ""]))
    if wrong.height:
        line, label = wrong.row(0, named=True)["line"], wrong["label"][0]
        raise Corrupt(f"{path}, row {line}: no label {label!r}", f"one of {', '.join(LABELS)}")
    return rows


def counts(sheets: Sequence[Path], second: tuple[Path, str] | None = None) -> dict[str, Any]:
    """Return the counts of judged sheets by shape and family, and how far a second reader agrees."""
    rows = pl.concat([read(path).select(*_KEY, "label") for path in sheets])
    judged = rows.filter(pl.col("label") != "").unique(["plan", "seq"], keep="last")
    counted = judged.group_by(*autonomy.SHAPE, "family").agg(
        *((pl.col("label") == label).sum().alias(label) for label in LABELS),
        stores=pl.col("store").n_unique(),
    )
    changes = {"changes": counted.sort("family", *autonomy.SHAPE).to_dicts()}
    if second is None:
        return changes
    return {"second": {"by": second[1], **_agreement(judged, read(second[0]))}} | changes


def _agreement(first: pl.DataFrame, other: pl.DataFrame) -> dict[str, Any]:
    """How many labels two readers share, and Cohen's kappa (1960); None where chance alone is certain."""
    from sklearn.metrics import cohen_kappa_score

    both = first.join(other.filter(pl.col("label") != ""), on=["plan", "seq"], suffix="_b")
    one, two = both["label"], both["label_b"]
    certain = pl.concat([one, two]).n_unique() < 2
    kappa = None if certain else round(float(cohen_kappa_score(one.to_list(), two.to_list())), 3)
    return {"n": both.height, "same": int((one == two).sum()), "kappa": kappa}


def _rows(nth: int, review: reviewing.Review) -> pl.DataFrame:
    """A plan's changes that are judged by themselves, with a number drawn by their digest."""
    plan, kind = review.plan, review.plan.header["store"]["kind"]
    whole = autonomy.completing(plan.changes).implode()
    changes = review.rows.filter(~pl.int_range(pl.len(), dtype=pl.UInt32).is_in(whole))
    return changes.join(review.records.select("id", said="text"), on="id", how="left").select(
        pl.lit(nth).alias("nth"),
        "seq",
        *autonomy.SHAPE,
        pl.lit(family(kind)).alias("family"),
        text=pl.coalesce("said", "text").fill_null(""),
        draw=pl.format("{}:{}", pl.lit(plan.id), "seq").map_elements(files.digest, pl.String),
    )


def _shown(review: reviewing.Review, some: pl.DataFrame) -> list[dict[str, Any]]:
    """Changes as a reader judges them: whole texts, secrets included, and what stands around."""
    records, plan = review.records, review.plan
    rows = {row["id"]: row for row in records.to_dicts()}
    around = _around(records)
    changes = {row["id"]: row for row in plan.changes.to_dicts()}
    lines = {int(line["seq"]): line for line in plan.ops()}
    told = []
    for row in some.to_dicts():
        change = plan.changes.row(row["seq"] - 1, named=True)
        was, line = rows.get(change["id"], change), lines[row["seq"]]
        link = change["superseded_by"]
        named = dict.fromkeys(i for i in [link, *(change["evidence"] or [])] if i != change["id"])
        others = [rows.get(i) or changes.get(i) for i in named if i]
        before, after = around.get(change["id"], ("", ""))
        evidence = (f"[{_place(o)}] {o['text'][:_TEXT]}" for o in others if o and o["text"])
        shape = {name: row[name] for name in (*autonomy.SHAPE, "family")}
        about = {"store": plan.header["address"], "plan": plan.id, "seq": str(row["seq"]), **shape}
        about |= {"place": _place(was), "subject": was["subject"] or ""}
        about |= {"why": f"{line['op']}: {line['reason']}", "becomes": _becomes(change)}
        about |= {"before": before, "text": (was["text"] or "")[:_TEXT], "after": after}
        told.append(about | {"evidence": "\n--\n".join(evidence), "label": "", "note": ""})
    return told


def _becomes(change: dict[str, Any]) -> str:
    if change["action"] == "delete":
        return "deleted"
    link = change["superseded_by"]
    said = [f"hidden ({link})" if link.startswith("memops:") else "replaced by:"] if link else []
    said += [f"tier {change['tier']}"] if change["tier"] and not link else []
    said += [change["text"][:_TEXT]] if change["text"] else []
    return "\n".join(said)


def _place(record: dict[str, Any]) -> str:
    where = record["origin"] or record["key"] or record["id"]
    day = record["created_at"].date().isoformat() if record["created_at"] else "undated"
    return f"{where} ({record['role']}, {record['form']}, {day})"


def _around(records: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """What stands before and after each record of a document, two units each way."""
    placed = records.filter(pl.col("block").is_not_null(), pl.col("origin").is_not_null())
    path, line = (pl.col("origin").str.extract(r"^(.*)#(\d+)$", n) for n in (1, 2))
    text = pl.col("text").str.slice(0, _ROOM)
    near = {
        n: text.shift(n).over("_path", order_by="_line").fill_null("").alias(f"_{n}")
        for n in (2, 1, -1, -2)
    }
    rows = placed.with_columns(_path=path, _line=line.cast(pl.Int64)).select("id", *near.values())
    return {id: ("\n".join(filter(None, (a, b))), "\n".join(filter(None, (c, d))))
            for id, a, b, c, d in rows.iter_rows()}  # fmt: skip
