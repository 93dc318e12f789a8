"""Clauses: notes cut into sentences and clauses, each with its place in the original.

Matching wants half-width text, quoting wants the original: every change made here replaces one
character by one, so an offset means the same in both.
"""

import polars as pl

from memops.extract.grammar import opening, says, trailing

_FULL = [chr(code) for code in range(0xFF01, 0xFF5F)] + list("\u3000“”‘’\u00a0\t\r")
_HALF = [chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)] + list(" \"\"''   ")
_KEPT = "\u0001"  # stands for a mark that ends nothing: the dot of 2.4, the question mark of a URL
_MANY = 100_000  # passages that a line may have
_FORMAT = r"[\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]"


_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_MARKS = (
    (r"([\p{L}\p{N})\]\"'])\.(\s)", "${1}。${2}"),
    (
        r"(?i)\b(e\.g|i\.e|mr|mrs|ms|dr|st|vs?|etc|no|approx|inc|ltd|prof|rev|sr|jr|dept|ca|cf|tel|ref)。",
        "${1}.",
    ),
    (r"([!?])([A-Za-z0-9)\]}/&=_'])", f"{_KEPT}${{2}}"),
    (r"([0-9]),([0-9]{3})", f"${{1}}{_KEPT}${{2}}"),
    (rf"(?i)({_MONTH}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?),( [0-9]{{4}})", f"${{1}}{_KEPT}${{2}}"),
    (
        r"(?i)^(\s*(?:no|nope|wrong(?: again)?|incorrect|not right|不对|错了|又错了))[。!] ?",
        "${1}, ",
    ),
    # A tag that asks for assent to an instruction makes no question of it.
    (
        r"(?i)((?:以后|今后|往后|每次|一律|统一|尽量|别再|不要再|always|never|keep|from now on|when you)"
        r"[^。!?\n]*(?:好吗|好不好|行吗|行不行|可以吗|, ?(?:ok|okay|k|alright|got it|deal)))\?",
        "${1}。",
    ),
    (r"(?i)(\S \S+ \S+) (and|but|so) (i|i'm|my|we|our|please)\b", "${1},${2} ${3}"),
)


def folded(texts: pl.Series) -> pl.Series:
    """Return texts with half-width letters, digits and punctuation, character for character."""
    return texts.str.replace_many(_FULL, _HALF).str.replace_all(_FORMAT, " ")


def clauses(texts: pl.Series, most: int, passage: int = 200) -> pl.DataFrame:
    """Return the clauses of a column of texts, in reading order.

    Columns: row, sentence (number within the row), passage (the line of its sentence, cut every
    `passage` characters; a table is one), nth (clause within the sentence), start and
    end (characters of the original), text (half-width, without what merely leads in), raw,
    asks (its sentence ends in a question mark), last (of its sentence), remember (somebody asked
    that it be kept) and apart (begins a sentence or follows a semicolon). At most `most` characters of a text are read.
    """
    table = pl.DataFrame({"raw": texts.fill_null("").str.head(most)}).with_row_index("row")
    table = table.with_columns(text=_marked(folded(table["raw"])))
    sentences = _cut(table, r"[^。!?\n]*[。!?\n]+|[^。!?\n]+", ["row", "raw"])
    sentences = sentences.with_columns(
        sentence=pl.int_range(pl.len()).over("row"),
        asks=pl.col("text").str.contains(r"\?[!?。\s]*$"),
        passage=_passage(passage),
    )
    keep = ["row", "raw", "sentence", "passage", "asks", "start"]
    parts = _cut(sentences, r"[^,;]*[,;]+|[^,;]+", keep)
    parts = parts.with_columns(
        start=pl.col("start") + pl.col("start_right"),
        nth=pl.int_range(pl.len()).over("row", "sentence"),
        apart=pl.col("text").shift(1).str.ends_with(";").fill_null(True),
    ).with_columns(
        apart=pl.col("apart") | (pl.col("nth") == 0),
        last=pl.col("nth") == pl.col("nth").max().over("row", "sentence"),
    )
    return _said(parts)


def _passage(most: int) -> pl.Expr:
    """Number the passages of each text: sentences of one line depend on each other."""
    table = pl.col("text").str.contains(r"[|\t]")
    within = table & table.shift(1).over("row").fill_null(False)
    ends = pl.col("text").str.contains("\n").shift(1).over("row").fill_null(True) & ~within
    line = ends.cast(pl.Int64).cum_sum()
    at = pl.col("start") - pl.col("start").min().over("row", line)
    return line * _MANY + at // most


def _marked(text: pl.Series) -> pl.Series:
    """End sentences where a full stop ends one; hide marks inside numbers, URLs and code."""
    for pattern, new in _MARKS:
        text = text.str.replace_all(pattern, new)
    return text


def _cut(table: pl.DataFrame, pattern: str, keep: list[str]) -> pl.DataFrame:
    """Cut the texts into the pieces that a pattern partitions them into, with their offsets."""
    order = table.with_row_index("unit")
    pieces = (
        order.select("unit", text=pl.col("text").str.extract_all(pattern))
        .explode("text", empty_as_null=True)
        .drop_nulls("text")
        .with_columns(size=pl.col("text").str.len_chars().cast(pl.Int64))
    )
    offset = (pl.col("size").cum_sum() - pl.col("size")).over("unit")
    return (
        pieces.with_columns(offset.alias("start_right" if "start" in keep else "start"))
        .join(order.select("unit", *keep), on="unit", how="left", maintain_order="left")
        .drop("unit", "size")
    )


def _said(parts: pl.DataFrame) -> pl.DataFrame:
    """Take off what only leads in; note what somebody asked to remember."""
    size = pl.col("text").str.len_chars().cast(pl.Int64)
    lead, keep = opening("lead"), opening("remember")
    bare = pl.col("text").str.replace(lead, "").str.replace(lead, "")
    parts = parts.with_columns(whole=pl.col("text"), remember=says("remember"))
    parts = parts.with_columns(text=bare).with_columns(
        remember=pl.col("remember") | pl.col("text").str.contains(keep)
    )
    parts = parts.with_columns(text=pl.col("text").str.replace(keep, ""))
    end = rf"(?i)(?:{trailing()}|[\s,;。!?.~…]+)+$"
    parts = parts.with_columns(start=pl.col("start") + pl.col("whole").str.len_chars() - size)
    parts = parts.with_columns(
        start=pl.col("start") + size - pl.col("text").str.strip_chars_start().str.len_chars(),
        text=pl.col("text").str.strip_chars_start().str.replace(end, ""),
    )
    parts = parts.with_columns(end=pl.col("start") + size)
    return parts.with_columns(
        raw=pl.col("raw").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
    ).drop("start_right", strict=False)
