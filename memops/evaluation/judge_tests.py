"""Tests of a judge: how often each of its verdicts is right on labelled pairs, by language.

It earns what it may decide as rules do (`memops.autonomy`): counts are kept by the digest of the model
and its prompt, and the language in which a verdict does worst counts.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from memops import autonomy, files
from memops.errors import Corrupt, MemopsError
from memops.files import json_lines
from memops.judge.conflicts import features
from memops.models.local import decider
from memops.policy import Policy
from memops.settings import Settings
from memops.state import evidence
from memops.verdicts import AGAINST, BOTH_HOLD, SAME, UNSURE, Decider, Pair, Side

LABELS = {
    "duplicate": "same", "conflict": "replaces", "contradiction": "replaces",
    "supersession": "replaces", "neither": "both_hold", "not_duplicate": "not_same",
}  # fmt: skip
"""What a judge should say of a pair with each label."""
SHAPES = {
    "same": ("merge_near", "merge", "merge.judged"),
    "replaces": ("supersede_conflicting", "supersede", "conflict.judged"),
}
"""The changes that come of each verdict."""


def labelled(path: Path) -> list[dict[str, Any]]:
    """Return the pairs {a, b, label} of a file of JSON lines; raises Corrupt for what is none."""
    return rows_of(path, _pair, "labelled pair", f"write a, b and a label: {', '.join(LABELS)}")


def rows_of(
    path: Path, read: Callable[[Any], dict[str, Any]], what: str, hint: str
) -> list[dict[str, Any]]:
    """Return what `read` makes of each line of a file of JSON lines; raises Corrupt where it fails."""
    rows = []
    for where, row in json_lines(path, hint):
        try:
            rows.append(read(row))
        except (ValueError, TypeError, KeyError) as error:
            raise Corrupt(f"{where}: no {what}", hint) from error
    return rows


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    texts = all(isinstance(row[name], str) and row[name] for name in ("a", "b"))
    if not texts or row["label"] not in LABELS:
        raise ValueError(row)
    return row


def test(path: Path, settings: Settings) -> dict[str, Any]:
    """Test the judge of pairs, keep what it earned, and return what a command prints."""
    pairs, policy = labelled(path), settings.policy
    judge = decider(policy.judge, settings.state)
    if judge is None:
        hint = "set `[policy.judge]` endpoint and model, or model to the folder of a cross-encoder"
        raise MemopsError("no judge is configured", hint)
    counts, earned = tested(pairs, judge, policy)
    about = {"pairs": len(pairs), "judge": judge.recipe()}
    return about | told(path, settings, judge.recipe(), counts, earned)


def tested(
    pairs: Sequence[Mapping[str, Any]], judge: Decider, policy: Policy
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how each verdict does in each language, and what it may therefore decide.

    The first has verdict, lang, said (pairs), right, precision, low, high, recall; what is unsure, or a
    veto stands above, is not counted. The second has the shape of change, its counts in the worst
    language, low and `may`.
    """
    if not pairs:
        raise MemopsError("no labelled pairs", "name a file of JSON lines: a, b, label")
    said = judge([Pair(Side(row["a"]), Side(row["b"])) for row in pairs])
    vetoes = features([dict(row) for row in pairs]).select(
        same=pl.col("veto_same").is_not_null(), replaces=pl.col("veto_conflict").is_not_null()
    )
    told = [
        (word.verdict, LABELS[row["label"]], row.get("newer"), row.get("lang") or "all")
        for word, row in zip(said, pairs, strict=True)
    ]
    schema = dict.fromkeys(("said", "gold", "newer", "lang"), pl.String)
    rows = pl.DataFrame(told, schema, orient="row").hstack(vetoes)
    known = rows.with_columns(verdict=_verdict(), right=_right())
    stopped = pl.any_horizontal(*((pl.col("verdict") == v) & pl.col(v) for v in SHAPES))
    counts = counted(known.with_columns(stopped=stopped), policy)
    return counts, earned(counts, policy)


def _verdict() -> pl.Expr:
    words = {SAME: "same", BOTH_HOLD: "both_hold", **dict.fromkeys(AGAINST, "replaces")}
    return pl.col("said").replace_strict(words, default=UNSURE)


def _right() -> pl.Expr:
    """True of what the label says too: of a replacement also which side is the newer, if known."""
    turned = (pl.col("said").str.extract("^([ab])_replaces") != pl.col("newer")).fill_null(False)
    agrees = (pl.col("gold") == _verdict()) & ~turned
    return agrees | ((pl.col("gold") == "not_same") & (_verdict() != "same"))


def counted(known: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Return how often each verdict was said and right in each language, of rows a verdict."""
    wanted = known.group_by("lang", verdict="gold").agg(wanted=pl.len())
    told = known.filter(~pl.col("stopped") & (pl.col("verdict") != UNSURE))
    counts = told.group_by("verdict", "lang").agg(said=pl.len(), right=pl.col("right").sum())
    both = counts.join(wanted, on=["verdict", "lang"], how="left").sort("verdict", "lang")
    right, wrong = both["right"].to_numpy(), (both["said"] - both["right"]).to_numpy()
    low, high = autonomy.interval(right, wrong, policy.unattended.confidence)
    return both.with_columns(
        precision=pl.col("right") / pl.col("said"),
        low=pl.Series(low, dtype=pl.Float64),
        high=pl.Series(high, dtype=pl.Float64),
        recall=(pl.col("right") / pl.col("wanted")).fill_null(0.0),
    ).drop("wanted")


def earned(
    counts: pl.DataFrame, policy: Policy, shapes: Mapping[str, tuple[str, str, str]] = SHAPES
) -> pl.DataFrame:
    """Return of each shape the counts in the language where its verdict does worst, and `may`."""
    limits = policy.unattended
    rows = []
    for verdict, (rule, intent, code) in shapes.items():
        worst = counts.filter(verdict=verdict).sort("low", "lang")
        first = worst.select("said", "right", "low", "lang").rows()[:1] or [(0, 0, 0.0, "")]
        said, right, low, lang = first[0]
        may = said >= limits.changes and low >= limits.lower
        rows.append((verdict, rule, intent, code, lang, right, said - right, low, may))
    names = ("verdict", *autonomy.SHAPE, "lang", "right", "harmful", "lower", "may")
    return pl.DataFrame(rows, schema=names, orient="row")


def told(
    labels: Path, settings: Settings, recipe: Mapping[str, Any], counts: pl.DataFrame,
    earned: pl.DataFrame, right: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Keep what a test found, so that plans know what the model may decide; returns the figures."""
    rows = earned.select(*autonomy.SHAPE, "right", "harmful", harmless=0).to_dicts()
    kept = evidence.keep_judge(settings.state, recipe, files.sha256(labels), rows, right)
    return {"verdicts": counts.to_dicts(), "earned": earned.to_dicts(), "kept": str(kept)}
