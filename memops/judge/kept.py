"""Kept pairs: what was judged of a store's pairs, kept, so that another threshold is only a filter.

Judging reads every statement; the result, ids and numbers without any text, is kept in the state
folder under the digest of the statements, the policy and what memops knows of words, and used
again until one of them changes.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memops import __version__, files
from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.cascade import SAID
from memops.judge.conflicts import compared, judged
from memops.judge.decision import DUPLICATE, conflict, likely
from memops.language import packs
from memops.language.lexicon import lexicon
from memops.schema import LIVE
from memops.statements.readings import read_all

_FORMAT = "8"
_SCORED = pl.Schema(dict.fromkeys(("duplicate_score", "conflict_score"), pl.Float64()))
_STEP = 200_000
_LEXICONS = ("concepts", "conflict")
_KEPT = 16  # judgements kept, the latest used; a store's own is made anew when it changes


def known_pairs(records: pl.DataFrame, ctx: Context, folder: Path) -> pl.DataFrame:
    """Return the judged pairs of a store's statements, from the folder if they are known.

    Columns: a_id, b_id (the first record that says each), jaccard, cosine, bm25, score, conflict,
    duplicate (bool), opposes, conflict_score, duplicate_score (probabilities), verdict and effect
    (of a decider, else null).
    """
    path = files.folder(folder) / f"{_digest(records, ctx)}.parquet"
    if path.exists():
        path.touch()
        return pl.read_parquet(path.read_bytes())
    found = _scored(records, ctx)
    found.write_parquet(path)
    _forget(folder, _KEPT)
    return found


def chosen(pairs: pl.DataFrame, what: str, least: float = 0.0) -> pl.DataFrame:
    """Return the pairs that are judged conflict or duplicate and at least so similar."""
    return pairs.filter(pl.col(what) & (pl.col("score") >= least)).sort(
        "score", "a_id", "b_id", descending=[True, False, False]
    )


def borderline(pairs: pl.DataFrame, what: str, count: int) -> pl.DataFrame:
    """Return the pairs whose probability lies nearest to a half, on either side of it.

    Those come first on which a judge said otherwise than the rules.
    """
    distance = (pl.col(f"{what}_score") - 0.5).abs()
    return pairs.sort(pl.col("effect").is_null(), distance, "a_id", "b_id").head(count)


def _forget(folder: Path, kept: int) -> None:
    """Remove all but the judgements that were used last."""
    used = sorted((path.stat().st_mtime_ns, path) for path in folder.glob("*.parquet"))
    for _, path in used[: max(0, len(used) - kept)]:
        path.unlink(missing_ok=True)


def _scored(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    pairs, said = judged(records, ctx), statements(records, ctx)
    first = said.members.group_by("statement").agg(pl.col("id").min())
    named = (
        pairs.join(first.rename({"statement": "a", "id": "a_id"}), on="a")
        .join(first.rename({"statement": "b", "id": "b_id"}), on="b")
        .sort("a", "b")
    )
    told = named.with_columns(conflict=conflict(ctx.policy), duplicate=DUPLICATE)
    found = _scores(told, said.table["text"])
    told = pl.concat([told, found], how="horizontal")
    if "verdict" not in told.columns:
        told = told.with_columns(pl.lit(None, kind).alias(n) for n, kind in SAID.items())
    return told.select(
        "a_id", "b_id", "jaccard", "cosine", "bm25", "score", "conflict", "duplicate", "opposes",
        "conflict_score", "duplicate_score", "verdict", "effect",
    )  # fmt: skip


def _scores(pairs: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """How probable each verdict is of pairs (a, b: places in `texts`)."""
    if pairs.is_empty():
        return _SCORED.to_frame()
    used, at = np.unique(pairs.select("a", "b").to_numpy(), return_inverse=True)
    said, at = read_all(texts.gather(used).to_list()), at.reshape(-1, 2)
    steps = (at[start : start + _STEP] for start in range(0, len(at), _STEP))
    read = (compared(said, s[:, 0], s[:, 1], np.zeros(len(s), bool)) for s in steps)
    return pl.concat(likely(found).select(_SCORED.names()) for found in read)


def _digest(records: pl.DataFrame, ctx: Context) -> str:
    """The SHA-256 of what the judgement depends on."""
    live = records.filter(LIVE).select("id", "scope", "text").sort("id")
    policy: dict[str, Any] = {
        name: asdict(getattr(ctx.policy, name))
        for name in ("candidates", "dense", "conflicts", "judge")
    }
    known = {name: lexicon(name) for name in _LEXICONS} | {
        "packs": [packs.whole(code) for code in packs.codes()]
    }
    hashed = hashlib.sha256(f"{_FORMAT} {__version__}".encode())
    hashed.update(json.dumps([policy, known], sort_keys=True).encode())
    hashed.update(json.dumps(ctx.models.recipes, sort_keys=True).encode())
    hashed.update(live.write_ipc(None).getvalue())
    return hashed.hexdigest()[:32]
