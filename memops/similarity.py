"""Similarity: which statements are worth comparing, found without comparing all with all.

A statement is a text that stands in a scope, however many records repeat it. Its terms are the
tokens of `memops.text` and the concepts behind them, so that wordings and languages meet. Pairs
come from one sparse product over the rarer terms and carry the three signals: Jaccard on tokens,
cosine of TF-IDF vectors of terms, and BM25 normalised by what a statement scores against itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.lexicon import lexicon
from memops.policy import Conflicts
from memops.schema import LIVE
from memops.text import folded, tokens
from memops.vocabulary import words

K1, B = 1.2, 0.75
CHUNK = 4096


@dataclass(frozen=True)
class Statements:
    """`table`: statement (its number), scope, text; `members`: id and statement, one row a record."""

    table: pl.DataFrame
    members: pl.DataFrame


def statements(records: pl.DataFrame, ctx: Context) -> Statements:
    """Return the distinct statements of the live records; equal texts of a scope are one."""
    return ctx.once(("statements", _digest(records)), lambda: _statements(records))


def candidates(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the pairs of statements worth comparing: a, b (a < b), jaccard, cosine, bm25.

    For each statement the nearest `candidates.nearest` by cosine that reach `candidates.cosine`
    and hold a share `candidates.shared` of the shorter one's terms, all but `candidates.apart`;
    nothing crosses scopes.
    """
    return ctx.once(
        ("candidates", _digest(records)), lambda: _candidates(statements(records, ctx), ctx)
    )


def combined(weights: Conflicts) -> pl.Expr:
    """Return the seed's similarity, by default 0.4 Jaccard + 0.4 cosine + 0.2 BM25."""
    parts = (getattr(weights, name) * pl.col(name) for name in ("jaccard", "cosine", "bm25"))
    return pl.sum_horizontal(*parts)


def _digest(records: pl.DataFrame) -> int:
    live = records.filter(LIVE)
    return (
        int(live.select(pl.struct("id", "scope", "text").hash(7).sum()).item() or 0) ^ live.height
    )


def _statements(records: pl.DataFrame) -> Statements:
    live = records.filter(LIVE & (pl.col("text").str.strip_chars().str.len_chars() > 0))
    form = (
        folded(pl.col("text"))
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
        .str.strip_chars_end(".。!！")
    )
    held = live.select("id", "scope", "text", _form=form)
    table = (
        held.group_by("scope", "_form").agg(pl.col("text").sort_by("id").first())
        .sort("scope", "_form").with_row_index("statement")
    )  # fmt: skip
    members = held.join(table.select("scope", "_form", "statement"), on=["scope", "_form"]).select(
        "id", "statement"
    )
    return Statements(table.select("statement", "scope", "text"), members.sort("statement", "id"))


def _candidates(said: Statements, ctx: Context) -> pl.DataFrame:
    limits = ctx.policy.candidates
    n = said.table.height
    if n < 2:
        return _empty()
    terms = term_table(said.table)
    rows, cols = terms["statement"].to_numpy(), terms["term"].to_numpy()
    width = int(cols.max()) + 1 if len(cols) else 1
    binary = _matrix(np.ones(len(rows), np.float32), rows, cols, n, width)
    held = np.bincount(cols, minlength=width)
    inverse = np.log1p(n / (1.0 + held)).astype(np.float32)
    weighted = _unit(_matrix(inverse[cols], rows, cols, n, width))
    near = _nearest(weighted, held, n, limits.nearest, limits.cosine, limits.common)
    if near.is_empty():
        return _empty()
    size = np.asarray(binary.sum(axis=1)).ravel()
    a, b = near["a"].to_numpy(), near["b"].to_numpy()
    both, least = _dot(binary, binary, a, b), np.minimum(size[a], size[b])
    enough = (both >= limits.shared * least) & (both >= least - limits.apart)
    near, a, b = near.filter(pl.Series(enough)), a[enough], b[enough]
    return near.with_columns(
        jaccard=pl.Series(_jaccard(binary, a, b), dtype=pl.Float64),
        cosine=pl.Series(np.clip(_dot(weighted, weighted, a, b), 0, 1), dtype=pl.Float64),
        bm25=pl.Series(_bm25(binary, held, n, a, b), dtype=pl.Float64),
    ).sort("a", "b")


def term_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return (statement, term) of a table of statements; a term counts in one scope only."""
    found = tokens(table["text"], unigrams=True).select(statement="row", token="token")
    found = found.filter(
        (pl.col("token").str.len_chars() > 1)
        | ~pl.col("token").str.contains(r"\p{Han}")
        | pl.col("token").is_in(_single())
    )
    known = pl.DataFrame(
        {
            "token": list(words()),
            "concept": [concept for concept, _ in words().values()],
            "kind": [kind for _, kind in words().values()],
        },
        schema={"token": pl.String, "concept": pl.String, "kind": pl.String},
    )
    mapped = found.join(known, on="token", how="left")
    plural = mapped.filter(pl.col("concept").is_null() & pl.col("token").str.ends_with("s"))
    stripped = plural.select("statement", token=pl.col("token").str.strip_chars_end("s")).join(
        known, on="token"
    )
    meant = pl.concat(
        [
            mapped.select("statement", term=pl.coalesce("concept", "token"), kind="kind"),
            stripped.select("statement", term="concept", kind="kind"),
        ]
    ).filter(
        ~pl.col("kind").is_in(["function", "negation", "quantifier", "change"]).fill_null(False)
    )
    wider = meant.join(_wider(), on="term").select("statement", term="above", kind="kind")
    meant = pl.concat([meant, wider])
    scoped = (
        meant.join(table.select("statement", "scope"), on="statement")
        .select("statement", "scope", "term")
        .unique()
    )
    ids = scoped.select("scope", "term").unique().sort("scope", "term").with_row_index("number")
    return (
        scoped.join(ids, on=["scope", "term"])
        .select("statement", term="number")
        .sort("statement", "term")
    )


def _wider() -> pl.DataFrame:
    """Concepts with what they are a kind of, and with the pair of opposites that they are in."""
    conflict = lexicon("conflict")
    above = [(low, high) for high, below in conflict["kind_of"].items() for low in below]
    for n, pair in enumerate(conflict["opposites"]["alone"]):
        names = pair.replace("|", " ").split()
        names += [low for low, high in above if high in names]
        above += [(name, f"pair {n}") for name in names]
    return pl.DataFrame(
        sorted(set(above)), schema={"term": pl.String, "above": pl.String}, orient="row"
    )


def _single() -> list[str]:
    """Chinese words of one character that mean something by themselves."""
    return sorted(
        w
        for w, (_, kind) in words().items()
        if len(w) == 1 and kind in ("thing", "single", "multi")
    )


def _empty() -> pl.DataFrame:
    kinds = {
        "a": pl.UInt32,
        "b": pl.UInt32,
        "jaccard": pl.Float64,
        "cosine": pl.Float64,
        "bm25": pl.Float64,
    }
    return pl.DataFrame(schema=kinds)


def _matrix(data: Any, rows: Any, cols: Any, n: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((data, (rows, cols)), shape=(n, width))


def _unit(matrix: Any) -> Any:
    from scipy.sparse import diags

    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (diags(1.0 / np.maximum(norms, 1e-12)) @ matrix).tocsr().astype(np.float32)


def _nearest(weighted: Any, held: Any, n: int, k: int, least: float, common: float) -> pl.DataFrame:
    """Pairs by cosine over terms that at most a share `common` of the statements hold."""
    rare = held <= max(64.0, common * n)
    narrow = weighted[:, np.flatnonzero(rare)]
    other = narrow.T.tocsr()
    parts = []
    for start in range(0, n, CHUNK):
        product = (narrow[start : start + CHUNK] @ other).tocoo()
        keep = (product.data >= least) & (product.row + start != product.col)
        parts.append(
            _rows(product, keep, start)
            .with_columns(s=pl.col("s").round(6))
            .sort("x", "s", "y", descending=[False, True, False]).group_by("x", maintain_order=True).head(k)
        )  # fmt: skip
    both = pl.concat(parts)
    return (
        both.select(a=pl.min_horizontal("x", "y"), b=pl.max_horizontal("x", "y"))
        .unique()
        .sort("a", "b")
    )


def _rows(product: Any, keep: Any, start: int) -> pl.DataFrame:
    x, y = (product.row[keep] + start).astype(np.uint32), product.col[keep].astype(np.uint32)
    return pl.DataFrame({"x": x, "y": y, "s": product.data[keep]})


def _dot(left: Any, right: Any, a: Any, b: Any) -> Any:
    return np.asarray(left[a].multiply(right[b]).sum(axis=1)).ravel()


def _jaccard(binary: Any, a: Any, b: Any) -> Any:
    size = np.asarray(binary.sum(axis=1)).ravel()
    both = _dot(binary, binary, a, b)
    return both / np.maximum(size[a] + size[b] - both, 1)


def _bm25(binary: Any, held: Any, n: int, a: Any, b: Any) -> Any:
    """BM25 of each for the other over BM25 for itself, the mean of both directions."""
    from scipy.sparse import diags

    size = np.asarray(binary.sum(axis=1)).ravel()
    length = K1 * (1 - B + B * size / max(size.mean(), 1e-9))
    inverse = np.log(1 + (n - held + 0.5) / (held + 0.5))
    scored = (diags((K1 + 1) / (1 + length)) @ binary @ diags(inverse)).tocsr()
    own = np.maximum(np.asarray(scored.multiply(binary).sum(axis=1)).ravel(), 1e-9)
    return np.minimum(
        (_dot(binary, scored, a, b) / own[b] + _dot(binary, scored, b, a) / own[a]) / 2, 1
    )
