"""Secrets elsewhere: what one text tells is a secret is one in every other text, too."""

import re
from collections.abc import Mapping

import polars as pl

from memops.language.text import wordlist
from memops.policy import Secrets
from memops.safety.looked import found
from memops.safety.secrets import mask_of

_LEAST = 10  # characters of a value that stands in two texts for no other reason


def secret_values(texts: pl.Series, policy: Secrets) -> dict[str, str]:
    """Return the secrets of texts that are long and mixed enough to be known again, with their kinds."""
    hits = found(texts, policy)
    length = pl.col("end") - pl.col("start")
    value = pl.col("text").str.slice(pl.col("start"), length).str.strip_chars_end("?!")
    spans = hits.with_columns(text=texts.rename("text").gather(hits["row"]))
    told = spans.select("kind", value=value)
    long, said = pl.col("value").str.len_chars() >= _LEAST, pl.col("value")
    mixed = said.str.contains("[0-9]") & said.str.contains(r"\p{L}") & ~said.str.contains(r"\s")
    return dict(told.filter(long & mixed).select("value", "kind").sort("value", "kind").iter_rows())


def masked_again(
    texts: pl.Series, known: Mapping[str, str], policy: Secrets
) -> tuple[pl.Series, pl.Series]:
    """Return texts with known secrets masked wherever they stand whole, and the kinds of each."""
    out: list[tuple[str | None, list[str]]] = []
    held = texts.str.extract_many(wordlist(list(known)), overlapping=True)
    for text, values in zip(texts, held.list.unique().to_list(), strict=True):
        longest = sorted(values or [], key=lambda value: (-len(value), value))
        out.append(_without(text, longest, known, policy))
    made = pl.Series(texts.name, [text for text, _ in out], dtype=pl.String)
    return made, pl.Series("kinds", [kinds for _, kinds in out], dtype=pl.List(pl.String))


def _without(
    text: str | None, values: list[str], known: Mapping[str, str], policy: Secrets
) -> tuple[str | None, list[str]]:
    kinds = set()
    for value in values:
        mask = mask_of(value, known[value], policy)
        whole = rf"(?<![\w-]){re.escape(value)}(?![\w-])"
        said = mask.join(re.split(whole, text or ""))
        if said != text:
            kinds.add(known[value])
            text = said
    return text, sorted(kinds)
