"""Containment: which texts stand whole in a fuller one, sentence by sentence, whatever the language.

An agent that learns more of a thing writes it down again with what it has learned. The older
text then says nothing that the fuller one does not say in the same words.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from memops.context import Context
from memops.language.text import normalised, spelling
from memops.schema import only
from memops.values import sign
from memops.values.algebra import ONE, ONLY

_ENDS = r"[.!?;](?:\s|$)|[。！？；\r\n]"
_ASIDE = r"[(（]([^()（）]*)[)）]"
_PAUSE = r"[,，]\s*"
_MANY = 20  # texts that share a beginning; what more of them open with is a form, no repetition


def contained(texts: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return which texts (id, scope, text) stand whole in a fuller one of their scope: id, keeper.

    Every sentence of the one is a sentence of the keeper, or begins one and is followed there by
    a comma, unless it says that this is all; what one of them says in brackets counts as a sentence by
    itself. Of several keepers
    the longest is named, of equals the first id; it is contained in none itself. Work grows with
    the number of texts: each is compared with those that share its rarest beginning, of which
    there are at most 20.
    """
    roughly = texts.with_columns(
        begins=ctx.formed(_beginnings, texts["text"], _beginnings(spelling))
    )
    roughly = roughly.explode("begins", empty_as_null=True).drop_nulls("begins")
    shared = roughly.filter(pl.len().over("scope", "begins") > 1)
    texts = only(texts, shared["id"])
    begins = ctx.formed(contained, texts["text"], _beginnings(normalised))
    begun = texts.select("id", "scope", begins=begins).explode("begins", empty_as_null=True)
    begun = begun.filter(pl.col("begins") != "")
    shared = begun.filter(pl.len().over("scope", "begins") > 1)
    often = shared.with_columns(held=pl.len().over("scope", "begins")).filter(
        pl.col("held") <= _MANY
    )
    rarest = often.sort("held", "begins").unique("id", keep="first", maintain_order=True)
    pairs = rarest.select("id", "scope", "begins").join(
        often.select("scope", "begins", keeper="id"), on=["scope", "begins"]
    )
    known = texts.select("id", "text", size=pl.col("text").str.len_chars())
    pairs = (
        pairs.filter(pl.col("id") != pl.col("keeper"))
        .join(known, on="id")
        .join(known.rename({"id": "keeper", "text": "fuller", "size": "most"}), on="keeper")
        .filter(pl.col("size") < pl.col("most"))
    )
    read = _read(pl.concat([pairs["text"], pairs["fuller"]]).unique().sort().to_list())
    holds = [
        read[text].all <= (read[fuller].all if _closed(text) else read[fuller].begun)
        for text, fuller in pairs.select("text", "fuller").iter_rows()
    ]
    held = pairs.filter(pl.Series(holds, dtype=pl.Boolean))
    best = held.sort("most", "keeper", descending=[True, False]).unique("id", maintain_order=True)
    return best.join(best.select("id"), left_on="keeper", right_on="id", how="anti").select(
        "id", "keeper"
    ).sort("id")  # fmt: skip


@lru_cache(10_000)
def _closed(text: str) -> bool:
    """Whether a sentence says that what it names is all: only, nobody but, exactly."""
    return any(not _LIMITS.isdisjoint(sign(part).ops) for part in re.split(_ENDS, text) if part)


_LIMITS = frozenset({ONE, ONLY})


class _Parts(NamedTuple):
    """What a text says: its sentences and brackets, and all that one of them begins with."""

    all: frozenset[str]
    begun: frozenset[str]


def _beginnings(form: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """The first clauses of the sentences of a text in a form, each once."""
    bare = pl.col("text").str.replace_all(_ASIDE, " ")
    cut = bare.str.replace_all(_ENDS, "\u0001").str.split("\u0001")
    first = form(pl.element().str.replace(f"{_PAUSE}[\\s\\S]*$", ""))
    said = pl.element().str.strip_chars() != ""
    return cut.list.eval(first.filter(said)).list.unique(maintain_order=True)


def _read(texts: list[str]) -> dict[str, _Parts]:
    """What each text says, all read at once."""
    rows = [(n, k, begun) for n, text in enumerate(texts) for k, begun in enumerate(_cut(text))]
    begun = [(n, k, ", ".join(of[: i + 1])) for n, k, of in rows for i in range(len(of))]
    spelt = pl.Series("text", [said for _, _, said in begun], pl.String).to_frame()
    forms = spelt.select(normalised(pl.col("text"))).to_series().to_list()
    every: list[dict[int, str]] = [{} for _ in texts]
    begins: list[set[str]] = [set() for _ in texts]
    for (n, k, _), form in zip(begun, forms, strict=True):
        if form:
            every[n][k] = form  # the last of a sentence is all of it
            begins[n].add(form)
    return {
        text: _Parts(frozenset(every[n].values()), frozenset(begins[n]))
        for n, text in enumerate(texts)
    }


def _cut(text: str) -> list[list[str]]:
    """The sentences of a text, and of what it says in brackets, each by its commas."""
    said = [re.sub(_ASIDE, " ", text), *re.findall(_ASIDE, text)]
    return [re.split(_PAUSE, sentence) for part in said for sentence in re.split(_ENDS, part)]
