"""Statements: sentences that say something lasting, put into the third person."""

import polars as pl

from memops.extract.person import third_person

_BESIDE = 6  # letters beside an attribute of the user that make a statement of their own
_TO_ASSISTANT = r"(?i)[你您]|给我|跟我|\b(?:you|your|me)\b"


def statements(parts: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Return one statement for each passage and kind that tells: its clauses that assert, joined.

    `parts` are clauses with the `kind` that they tell (null where that is nothing), their `passage`
    and how `sure` that is; `held` (row, sentence) are the sentences that gave an attribute of the
    user: beside one, a few letters are no statement. A sentence begins with what it speaks of, so
    its first clause stands in each statement of it. Columns: row, kind, also, text, confidence,
    start, end, cue.
    """
    table = parts.filter(pl.col("kind").is_not_null(), pl.col("raw").str.len_chars() > 0)
    short = table.join(held, on=["row", "sentence"], how="semi")
    rest = pl.col("raw").str.count_matches(r"[\p{L}\p{N}]").sum().over("row", "sentence")
    short = short.filter(rest <= _BESIDE).select("row", "sentence").unique()
    table = table.join(short, on=["row", "sentence"], how="anti", maintain_order="left")
    shown = third_person(table["raw"], table["chinese"])
    return _joined(_opened(table.with_columns(shown=shown)))


def _opened(told: pl.DataFrame) -> pl.DataFrame:
    """Put the first clause of a sentence before those of another kind, too."""
    first = told.filter(pl.col("nth") == 0)
    kinds = told.select("row", "sentence", of="kind").unique(maintain_order=True)
    more = first.join(kinds, on=["row", "sentence"], how="left", maintain_order="left")
    more = more.filter(pl.col("of") != pl.col("kind"))
    return told.vstack(more.with_columns(kind="of", also=pl.lit(None, pl.String)).drop("of"))


def _joined(told: pl.DataFrame) -> pl.DataFrame:
    said = told.sort("row", "sentence", "nth").group_by(
        "row", "passage", "kind", "sentence", maintain_order=True
    ).agg(
        pl.col("also").drop_nulls().first(),
        pl.col("sure", "chinese").first(),
        pl.col("start").min(),
        pl.col("end").max(),
        pl.col("raw").str.join(" "),
        zh=pl.col("shown").str.join("，"),
        en=pl.col("shown").str.join(", "),
    )  # fmt: skip
    made = said.group_by("row", "passage", "kind", maintain_order=True).agg(
        pl.col("also").drop_nulls().first(),
        pl.col("sure").max(),
        pl.col("chinese").any(),
        zh=pl.col("zh").str.join("。"),
        en=pl.col("en").str.join(". "),
        wish=pl.col("raw").str.contains(_TO_ASSISTANT).any(),
        start=pl.col("start").min(),
        end=pl.col("end").max(),
    )  # fmt: skip
    english = pl.col("en").str.replace_all(", The user", ", the user", literal=True)
    text = pl.when("chinese").then("zh").otherwise(english)
    asked = (
        pl.when("chinese")
        .then(pl.format("用户希望：{}", text))
        .otherwise(pl.format("The user wants this: {}", text))
    )
    wish = pl.col("wish") & (pl.col("kind") == "preference")
    begun = text.str.contains("^(?:用户|The user)")
    return made.select(
        "row",
        "kind",
        "also",
        text=pl.when(wish & ~begun).then(asked).otherwise(text),
        confidence="sure",
        start="start",
        end="end",
        cue=pl.lit("fitted"),
    )
