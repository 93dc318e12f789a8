"""Chatter: greetings, acknowledgements, signs of life and tool noise, which are no memories."""

import re
from functools import cache

import polars as pl

from memops.language.lexicon import lexicon
from memops.language.text import folded

_GAP = r"[\s\p{P}\p{S}]"


def chatter(texts: pl.Series) -> pl.Series:
    """Return, for each text, the reason's code for the kind of chatter that it is, or null.

    A text is chatter only if nothing is left of it beside such phrases: "ok, thanks" is, "ok, the
    release is on Friday" is not.
    """
    said = texts.rename("text").cast(pl.String).to_frame().with_columns(said=_bare(pl.col("text")))
    words, families = lexicon("chatter"), _families()
    anything = "|".join(phrases for _, phrases, _ in families)
    whole = rf"^{_GAP}*(?:{anything})+$"
    line = pl.col("said")
    worth = line.str.contains(words["keep"])
    small = (pl.col("text").str.len_chars() > 0) & (line.str.len_chars() <= words["longest"])
    nothing = line.str.contains(rf"^{_GAP}*$")
    runs = [
        pl.when(line.str.contains(rf"^{_GAP}*(?:{phrases})")).then(pl.lit(why))
        for why, phrases, _ in families
    ]
    lines = [
        pl.when(line.str.contains(rf"^{_GAP}*(?:{opening})") & ~worth).then(pl.lit(why))
        for why, _, opening in families
        if opening
    ]
    said = said.with_columns(begins=pl.coalesce(runs))
    opens = said["begins"].is_not_null().arg_true()
    only = pl.repeat(False, said.height, eager=True)
    only = only.scatter(opens, said["said"].gather(opens).str.contains(whole))
    found = (
        pl.when(nothing).then(pl.lit("chatter.signs"))
        .when(only).then("begins")
        .otherwise(pl.coalesce(lines))
    )  # fmt: skip
    return said.select(pl.when(small).then(found)).to_series().rename(texts.name)


@cache
def _families() -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (f"chatter.{name}", _apart(family["phrases"]), "|".join(family.get("lines", ())))
        for name, family in lexicon("chatter").items()
        if isinstance(family, dict)
    )


def _apart(phrases: list[str]) -> str:
    """Phrases, and what must stand after one: a gap, which Chinese does without."""
    close = [phrase for phrase in phrases if re.search("[\u4e00-\u9fff]", phrase)]
    spaced = "|".join(phrase for phrase in phrases if phrase not in close)
    ways = [rf"(?:{spaced})(?:{_GAP}+|$)"] if spaced else []
    return "|".join([*ways, *([rf"(?:{'|'.join(close)}){_GAP}*"] if close else [])])


def _bare(text: pl.Expr) -> pl.Expr:
    """The text folded, without list mark, time, bracketed kind, trailing tags and source, emoji."""
    line = folded(text.str.strip_chars())
    for lead in (
        r"^[-*+•>]\s+",
        r"^\d{4}-\d\d-\d\d[t ][\d:.]+(?:z|[+-]\d\d:?\d\d)?\s+",
        r"^\d{1,2}:\d\d(?::\d\d)?\s+",
        r"^\[[a-z]{2,12}\]\s+",
    ):
        line = line.str.replace(lead, "")
    line = line.str.replace(r"\s*\(source=[^)\n]*\)\s*$", "").str.replace(
        r"(?:\s+#[^\s#]+)+\s*$", ""
    )
    return line.str.replace_all(
        r"[\p{So}\u{1f3fb}-\u{1f3ff}\u{fe0f}\u{200d}]", " "
    ).str.strip_chars()
