"""Memory files that are larger than their agent reads."""

import polars as pl

from memops.context import Context
from memops.hygiene.decay import relevance, shown
from memops.hygiene.impact import impact
from memops.hygiene.moving import moved
from memops.hygiene.tasks import is_task
from memops.judge.places import line_of, writable
from memops.plan import nothing
from memops.schema import LIVE, native

_CURATED = r"^MEMORY\.md:"
_AROUND = {"words": 10, "runes": 100}  # comments and stamps, which no record tells of


def move_overflow(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Move the lines that matter least out of a MEMORY.md that is over its size.

    They go to the undated file of their kind, where search finds them: states first, then what is
    least relevant, the older before the newer. Pinned lines and open tasks stay, and high-impact
    facts while others can go. What remains has a tenth of the size to grow.
    """
    budgets = ctx.policy.budgets
    words, runes = budgets.words.get(ctx.store, 0), budgets.runes.get(ctx.store, 0)
    here = records.filter(LIVE, pl.col("id").str.contains(_CURATED))
    if not (words or runes) or here.is_empty():
        return nothing()
    unit, most = ("words", words) if words else ("runes", runes)
    sized = here.with_columns(_size=_size(unit))
    total = int(sized["_size"].sum()) + _headings(here, unit) + _AROUND[unit]
    if total <= most:
        return nothing()
    order = sized.sort(
        pl.col("pinned"),
        pl.col("kind") != "project_state",
        impact().is_not_null(),
        relevance(ctx.now, ctx.policy.decay),
        pl.col("created_at"),
        "id",
        nulls_last=False,
    )
    spare = total - int(most * budgets.room)
    loose = order.filter(
        ~pl.col("pinned") & ~is_task(),
        writable(),
        ~pl.col("id").is_in(_parents(here).implode()),
        ctx.at_rest(),
    )
    loose = loose.with_columns(_before=pl.col("_size").cum_sum() - pl.col("_size"))
    going = loose.filter(pl.col("_before") < spare).sort("id")
    score = shown(relevance(ctx.now, ctx.policy.decay))
    told = {"total": total, "most": most, "spare": spare}
    args = told | {"before": pl.col("_before"), "relevance": score}
    return moved(going, "move", f"place.{unit}", args)


def _size(unit: str) -> pl.Expr:
    """What an entry takes of its file: the line itself, and the comments that belong to it."""
    around = map(native, ("prefix", "suffix", "above"))
    whole = pl.concat_str([pl.col("text"), *around], separator=" ", ignore_nulls=True)
    return _counted(whole, unit)


def _counted(text: pl.Expr, unit: str) -> pl.Expr:
    """Characters, or words, of which each Chinese character is one."""
    if unit == "runes":
        return text.str.len_chars().cast(pl.Int64)
    return text.str.count_matches(r"\p{Han}|[^\s\p{Han}]+").cast(pl.Int64)


def _headings(here: pl.DataFrame, unit: str) -> int:
    over = here.select(h=native("under")).drop_nulls()
    every = over.select(pl.col("h").str.json_decode(pl.List(pl.String))).explode("h").unique()
    return int(every.select((_counted(pl.col("h"), unit) + 2).sum()).item() or 0)


def _parents(here: pl.DataFrame) -> pl.Series:
    """Lines with points beneath them, which would lose what they are about."""
    prefix = native("prefix").fill_null("")
    height = native("lines").cast(pl.Int64, strict=False)
    lines = here.select(
        "id",
        line=line_of(),
        height=height.fill_null(1).clip(1),
        indent=prefix.str.extract(r"^(\s*)").str.len_chars(),
    ).sort("line", "id")
    below = pl.col("line").shift(-1) == pl.col("line") + pl.col("height")
    return lines.filter(below & (pl.col("indent").shift(-1) > pl.col("indent")))["id"]
