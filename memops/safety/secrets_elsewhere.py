"""Secrets elsewhere: what tells of a secret in another place than its text.

What one text tells is a secret is one in every other text; and a heading or label tells of the
values in the list under it, as "Tokens:" does of "- staging: 5f0c...".
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from memops.language.text import wordlist
from memops.policy.safety import Secrets
from memops.safety.looked import found, redacted
from memops.safety.masks import mask_of
from memops.safety.secrets_ends import STOPS, wherever
from memops.safety.secrets_labels import unlabelled
from memops.schema import SUBJECT

_POINT = r"^(?:[^:：\n]{1,40}[:：]\s*)?[*`]*([^\s*`]{8,128})[*`]*$"
"""A line that is a value, with or without its name."""
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
_MARKS = " *_`#:：-•"  # around a heading or a label
_LEAST = 10  # characters of a value that stands in two texts for no other reason


def told_by(records: pl.DataFrame, policy: Secrets) -> dict[str, str]:
    """Return the values that any of the records tells to be secrets, with their kinds."""
    held = records["text"].filter(redacted(records["text"], policy) != records["text"])
    beside = replace(policy, off=[*policy.off, *policy.documents])
    return known_from(held, records.filter(pl.col("block").is_not_null()), beside)


def known_from(held: pl.Series, placed: pl.DataFrame, policy: Secrets) -> dict[str, str]:
    """Return the secrets that texts with some hold, and those that a label in documents tells.

    What one of the texts calls the id of a thing, as of a folder or a sheet, is none.
    """
    label = pl.col("subject").str.split(SUBJECT).list.last()
    under = pl.concat([placed.select(label=label, text="text"), listed(placed["text"])])
    known = secrets_under(under, policy) | secret_values(held, policy)
    ids = of_things(pl.concat([held, placed["text"]]), known) if known else set()
    return {value: kind for value, kind in known.items() if value not in ids}


def of_things(texts: pl.Series, known: Mapping[str, str]) -> set[str]:
    """Return the known values of lines that name the token or key of a thing, which is its id."""
    values = list(known)
    held = texts.str.contains_any(wordlist(values)).fill_null(False)
    lines = texts.filter(held).str.split("\n").explode()
    named = lines.filter(unlabelled(lines) != lines)
    return {*named.str.extract_many(wordlist(values), overlapping=True).explode().drop_nulls()}


def mixed(values: pl.Series) -> pl.Series:
    """Return which values are long, and mixed of letters and digits, so that no word is meant."""
    long = values.str.len_chars() >= _LEAST
    return long & values.str.contains("[0-9]") & values.str.contains(r"\p{L}")


def secrets_under(lines: pl.DataFrame, policy: Secrets) -> dict[str, str]:
    """Return the values, with their kinds, that are secrets by the label over their line.

    `lines` have a `label`, a heading or what leads in a list, and a `text` of one line.
    """
    value, lead = pl.col("text").str.extract(_POINT), pl.col("label").str.strip_chars(_MARKS)
    rows = lines.select(lead=lead, value=value).filter(pl.col("value").str.contains("[0-9]"))
    rows = rows.drop_nulls().unique(maintain_order=True)
    said = rows.select(said=pl.format("{}: {}", "lead", "value"))["said"]
    hits = found(said, policy).join(rows.with_row_index("row"), on="row")
    whole = pl.col("end") - pl.col("start") == pl.col("value").str.len_chars()
    told = hits.filter(whole & (pl.col("start") == pl.col("lead").str.len_chars() + 2))
    return dict(told.select("value", "kind").sort("value", "kind").iter_rows())


def listed(texts: pl.Series) -> pl.DataFrame:
    """Return the points of lists inside of texts, each with the line that leads in its list."""
    rows: list[tuple[str, str]] = []
    for text in texts.filter(texts.str.contains(r"[:：][*_]*[ \t]*\n").fill_null(False)):
        label = ""
        for line in text.splitlines():
            bare = line.strip(" \t*_")
            if bare.endswith((":", "：")):
                label = bare
            elif label and (point := _ITEM.match(line)):
                rows.append((label, line[point.end() :].strip()))
            else:
                label = ""
    return pl.DataFrame(rows, {"label": pl.String, "text": pl.String}, orient="row")


def secret_values(texts: pl.Series, policy: Secrets) -> dict[str, str]:
    """Return the secrets of texts that are long and mixed enough to be known again, with their kinds."""
    hits = found(texts, policy)
    length = pl.col("end") - pl.col("start")
    value = pl.col("text").str.slice(pl.col("start"), length).str.strip_chars_end(STOPS)
    spans = hits.with_columns(text=texts.rename("text").gather(hits["row"]))
    told = spans.select(value=value, kind="kind")
    told = told.filter(mixed(told["value"]) & ~told["value"].str.contains(r"\s"))
    return dict(told.sort("value", "kind").iter_rows())


def masked_again(
    texts: pl.Series, known: Mapping[str, str], policy: Secrets
) -> tuple[pl.Series, pl.Series]:
    """Return texts with known secrets masked wherever they stand whole, and the kinds of each."""
    held = texts.str.extract_many(wordlist(list(known)), overlapping=True)
    rows = (held.list.len() > 0).arg_true()
    out: list[tuple[str | None, list[str]]] = []
    for text, values in zip(texts.gather(rows), held.gather(rows).list.unique(), strict=True):
        longest = sorted(values, key=lambda value: (-len(value), value))
        out.append(_without(text, longest, known, policy))
    made = texts.clone().scatter(rows, pl.Series([text for text, _ in out], dtype=pl.String))
    kinds: list[list[str]] = [[] for _ in range(texts.len())]
    for row, (_, told) in zip(rows, out, strict=True):
        kinds[row] = told
    return made, pl.Series("kinds", kinds, dtype=pl.List(pl.String))


def _without(
    text: str | None, values: list[str], known: Mapping[str, str], policy: Secrets
) -> tuple[str | None, list[str]]:
    kinds = set()
    for value in values:
        mask = mask_of(value, known[value], policy)
        said = mask.join(re.split(wherever(value, r"[\w-]"), text or ""))
        if said != text:
            kinds.add(known[value])
            text = said
    return text, sorted(kinds)
