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
from memops.policy import Candidates, Conflicts
from memops.schema import LIVE
from memops.text import folded, tokens
from memops.vocabulary import words

K1, B = 1.2, 0.75
CHUNK = 4096
PAIRS = pl.Schema(
    {"a": pl.UInt32(), "b": pl.UInt32()}
    | dict.fromkeys(("jaccard", "cosine", "bm25"), pl.Float64())
)
"""Pairs of statements, a < b, with their signals."""


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
    if said.table.height < 2:
        return nothing()
    terms = term_table(said.table)
    return near(said.table, terms, said.table.height, terms.height, ctx.policy.candidates)


def near(
    table: pl.DataFrame,
    terms: pl.DataFrame,
    whole: int,
    whole_terms: int,
    limits: Candidates,
    rows: tuple[int, int] | None = None,
) -> pl.DataFrame:
    """Return the pairs of some scopes' statements that are worth comparing, with their signals.

    `table` and `terms` are those of whole scopes; `whole` statements with `whole_terms` terms are
    in the store. With `rows` only neighbours of these places of the table are looked for.
    """
    n = table.height
    if n < 2 or terms.is_empty():
        return nothing()
    place = table["statement"].to_numpy()
    at = np.searchsorted(place, terms["statement"].to_numpy())
    cols = terms["term"].to_numpy()
    width = int(cols.max()) + 1
    binary = _matrix(np.ones(len(at), np.float32), at, cols, n, width)
    held = np.bincount(cols, minlength=width)
    inverse = np.log1p(whole / (1.0 + held)).astype(np.float32)
    weighted = _unit(_matrix(inverse[cols], at, cols, n, width))
    rare = held <= max(64.0, limits.common * whole)
    found = _nearest(weighted, rare, rows or (0, n), limits.nearest, limits.cosine)
    if found.is_empty():
        return nothing()
    size = np.asarray(binary.sum(axis=1)).ravel()
    a, b = found["a"].to_numpy(), found["b"].to_numpy()
    both, least = _dot(binary, binary, a, b), np.minimum(size[a], size[b])
    enough = (both >= limits.shared * least) & (both >= least - limits.apart)
    a, b = a[enough], b[enough]
    signals = {
        "a": place[a],
        "b": place[b],
        "jaccard": _jaccard(binary, a, b),
        "cosine": np.clip(_dot(weighted, weighted, a, b), 0, 1),
        "bm25": _bm25(binary, held, whole, whole_terms / whole, a, b),
    }
    return pl.DataFrame(signals, schema_overrides=dict(PAIRS)).sort("a", "b")


def term_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return (statement, term) of a table of statements; a term counts in one scope only."""
    found = tokens(table["text"], unigrams=True)
    found = found.select(statement=table["statement"].gather(found["row"]), token="token")
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


def nothing() -> pl.DataFrame:
    """Return no pair."""
    return PAIRS.to_frame()


def _matrix(data: Any, rows: Any, cols: Any, n: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((data, (rows, cols)), shape=(n, width))


def _unit(matrix: Any) -> Any:
    from scipy.sparse import diags

    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (diags(1.0 / np.maximum(norms, 1e-12)) @ matrix).tocsr().astype(np.float32)


def _nearest(weighted: Any, rare: Any, rows: tuple[int, int], k: int, least: float) -> pl.DataFrame:
    """Pairs of the rows from..to with any other, by cosine over the terms that are rare."""
    narrow = weighted[:, np.flatnonzero(rare)]
    other = narrow.T.tocsr()
    parts = []
    for start in range(*rows, CHUNK):
        product = (narrow[start : min(start + CHUNK, rows[1])] @ other).tocoo()
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


def _bm25(binary: Any, held: Any, n: int, mean: float, a: Any, b: Any) -> Any:
    """BM25 of each for the other over BM25 for itself, the mean of both directions."""
    from scipy.sparse import diags

    size = np.asarray(binary.sum(axis=1)).ravel()
    length = K1 * (1 - B + B * size / max(mean, 1e-9))
    inverse = np.log(1 + (n - held + 0.5) / (held + 0.5))
    scored = (diags((K1 + 1) / (1 + length)) @ binary @ diags(inverse)).tocsr()
    own = np.maximum(np.asarray(scored.multiply(binary).sum(axis=1)).ravel(), 1e-9)
    return np.minimum(
        (_dot(binary, scored, a, b) / own[b] + _dot(binary, scored, b, a) / own[a]) / 2, 1
    )
