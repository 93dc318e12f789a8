"""The cascade: what the rules leave open goes to the decider that the policy names.

A decider stands below the vetoes. Unless the policy lets it decide (`judge.decides`) it is asked
what the rules would do as well, and only withholds; what it would add is marked for review.
"""

from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge import consensus
from memops.judge.candidates.similarity import Statements
from memops.policy.models import Judge
from memops.schema import LIVE
from memops.verdicts import (
    A_REPLACES_B,
    B_REPLACES_A,
    BOTH_HOLD,
    CONFLICT,
    SAME,
    TURNED,
    UNSURE,
    Pair,
    Side,
    Verdict,
)

SAID = pl.Schema(
    {
        "verdict": pl.String(),
        "probability": pl.Float64(),
        "decider": pl.String(),
        "effect": pl.String(),
    }
)
"""What a decider says of a pair and what comes of it; null where it was not asked.

Effects: withheld (a merge or supersession that rules would make), decided (one that they leave
open), vetoed (that, where a difference forbids it), doubted (that, where other answers speak
against it or one alone does not weigh enough), review (that, where it may not decide).
"""
ASKED = "asked"
"""Where the context keeps what a decider was asked, round by round."""
TALLY = "tally"
"""Where it keeps by which answers it is measured."""
_AGAINST = (CONFLICT, A_REPLACES_B, B_REPLACES_A)


def heard(
    pairs: pl.DataFrame, said: Statements, records: pl.DataFrame, ctx: Context
) -> pl.DataFrame:
    """Return judged pairs as the decider leaves them: same and opposes, with SAID.

    `pairs` are those of `conflicts.judged`. Where the policy names no decider they come back as
    they are.
    """
    judge = ctx.models.judge
    if judge is None:
        return pairs
    told = pairs.with_row_index("nth")
    policy = ctx.policy.judge
    open_ = told.filter(_open() | pl.lit(not policy.decides))
    open_ = open_.sort("score", "a", "b", descending=[True, False, False]).head(policy.asked)
    sides = _sides(open_, said, records)
    answers = judge([Pair(sides[a], sides[b]) for a, b in open_.select("a", "b").iter_rows()])
    given = {name: [getattr(row, name) for row in answers] for name in Verdict._fields}
    found = pl.DataFrame(given, {name: SAID[name] for name in Verdict._fields})
    times = {name: [sides[n].when for n in open_[name]] for name in ("a", "b")}
    known = pl.concat([open_, found], how="horizontal").with_columns(
        when_a=pl.Series(times["a"], dtype=pl.String), when_b=pl.Series(times["b"], dtype=pl.String)
    )
    texts = [(sides[a].text, sides[b].text) for a, b in open_.select("a", "b").iter_rows()]
    tally = _tallied(known, texts, ctx.once(TALLY, dict))
    settled = _settled(known.with_columns(decider=pl.lit(judge.name)), policy, _accuracy(tally))
    rest = told.join(settled.select("nth"), on="nth", how="anti")
    return pl.concat([settled, rest], how="diagonal").sort("nth").drop("nth", "when_a", "when_b")


def _open() -> pl.Expr:
    return ~pl.col("same") & pl.col("opposes").is_null()


def _sides(pairs: pl.DataFrame, said: Statements, records: pl.DataFrame) -> dict[int, Side]:
    """What a decider is told of each statement: its text as it was said last, and its place."""
    used = pl.concat([pairs["a"], pairs["b"].rename("a")]).unique()
    place = pl.col("origin").str.replace(r"#\d+$", "")
    at = pl.coalesce("valid_from", "created_at")
    rows = (
        said.members.filter(pl.col("statement").is_in(used.implode()))
        .join(records.filter(LIVE), on="id")
        .sort("statement", at, "id", nulls_last=False)
        .group_by("statement", maintain_order=True)
        .last()
        .select(
            "statement",
            "text",
            about=pl.coalesce("subject", "key"),
            when=at.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
            where=pl.coalesce(place, "source"),
        )
    )  # fmt: skip
    return {statement: Side(*rest) for statement, *rest in rows.iter_rows()}


def _settled(told: pl.DataFrame, policy: Judge, accuracy: float) -> pl.DataFrame:
    """Withhold what the decider speaks against; add what its answers together speak for."""
    verdict = pl.col("verdict")
    known = verdict != UNSURE
    merged = pl.col("same") & pl.col("opposes").is_null()
    against = pl.col("opposes").is_not_null() & ~pl.col("same")
    doubted = pl.lit(not policy.decides) & known & (
        (merged & (verdict != SAME)) | (against & ~verdict.is_in(_AGAINST))
    )  # fmt: skip
    told = told.with_columns(
        _one=_open() & (verdict == SAME), _clash=_open() & verdict.is_in(_AGAINST)
    )
    told = told.with_columns(_agreed(told, policy.sure, accuracy))
    vetoed = (pl.col("_one") & pl.col("veto_same").is_not_null()) | (
        pl.col("_clash") & pl.col("veto_conflict").is_not_null()
    )
    may = pl.lit(policy.decides) & ~vetoed & pl.col("_agreed")
    new = pl.col("_one") | pl.col("_clash")
    effect = (
        pl.when(doubted).then(pl.lit("withheld"))
        .when(vetoed).then(pl.lit("vetoed"))
        .when(new & may).then(pl.lit("decided"))
        .when(new & ~pl.col("_agreed")).then(pl.lit("doubted"))
        .when(new).then(pl.lit("review"))
    )  # fmt: skip
    side = {A_REPLACES_B: "a", B_REPLACES_A: "b"}
    later = verdict.replace_strict(side, default=None, return_dtype=pl.String)
    return told.with_columns(
        effect=effect,
        later=pl.when(new).then(later),
        same=(pl.col("same") & ~doubted) | (pl.col("_one") & may),
        opposes=pl.when(pl.col("_clash") & may)
        .then(pl.lit("judged"))
        .when(~doubted)
        .then("opposes"),
        firm_a=pl.col("firm_a") | (effect == "decided").fill_null(False),
        firm_b=pl.col("firm_b") | (effect == "decided").fill_null(False),
    ).drop("_one", "_clash", "_agreed")


def _agreed(told: pl.DataFrame, sure: float, accuracy: float) -> pl.Series:
    """Whether all answers together bear out what was said of each pair."""
    classes = told.select(
        pl.when(pl.col("verdict") == SAME).then(consensus.SAME)
        .when(pl.col("verdict").is_in(_AGAINST)).then(consensus.CONFLICT)
        .when(pl.col("verdict") == BOTH_HOLD).then(consensus.HOLD).otherwise(-1)
    ).to_series().to_numpy()  # fmt: skip
    cast = consensus.votes(classes, told["probability"].fill_null(accuracy).to_numpy())
    for name, what in (("veto_same", consensus.SAME), ("veto_conflict", consensus.CONFLICT)):
        consensus.forbid(cast, told[name].is_not_null().to_numpy(), what)
    pairs = list(told.select("a", "b").iter_rows())
    found = consensus.agreed(pairs, cast, sure)
    ends = [(found.of[a], found.of[b]) for a, b in pairs]
    ends = [
        (b, a) if newer == "a" else (a, b) for (a, b), newer in zip(ends, _newer(told), strict=True)
    ]
    gone = consensus.replaced(
        [end for end, what in zip(ends, classes, strict=True) if what == consensus.CONFLICT],
        found.conflict,
    )
    one = np.array([old == new for old, new in ends], bool)
    clash = np.array(
        [(min(end), max(end)) in found.conflict and gone.get(end[0], 0) >= sure for end in ends],
        bool,
    )
    borne = (one & (classes == consensus.SAME)) | (clash & (classes == consensus.CONFLICT))
    return pl.Series("_agreed", borne, pl.Boolean)


def _newer(told: pl.DataFrame) -> list[str]:
    """Which side is the newer, by what was said of it, else by time."""
    side = {A_REPLACES_B: "a", B_REPLACES_A: "b"}
    said = pl.col("verdict").replace_strict(side, default=None, return_dtype=pl.String)
    by_time = pl.when(pl.col("when_a") > pl.col("when_b")).then(pl.lit("a")).otherwise(pl.lit("b"))
    return told.select(pl.coalesce(said, by_time)).to_series().to_list()


Tally = dict[tuple[str, str], tuple[bool, bool, bool]]
"""For each pair of texts that was answered: an order that time denies; and of those that cannot be
the same, that it is one, and that it was called the same."""


def _tallied(told: pl.DataFrame, texts: list[tuple[str, str]], before: Tally) -> Tally:
    """Add the answers of a round to those of the rounds before it, each pair once."""
    verdict, apart = pl.col("verdict"), pl.col("veto_same").is_not_null()
    newer = (
        pl.when(pl.col("when_a") > pl.col("when_b")).then(pl.lit(A_REPLACES_B))
        .when(pl.col("when_b") > pl.col("when_a")).then(pl.lit(B_REPLACES_A))
    )  # fmt: skip
    contrary = verdict.is_in([*TURNED]) & (verdict != newer).fill_null(False)
    rows = told.select(verdict != UNSURE, _0=contrary, _1=apart, _2=apart & (verdict == SAME))
    for pair, (answered, *marks) in zip(texts, rows.iter_rows(), strict=True):
        if answered:
            before[pair] = (marks[0], marks[1], marks[2])
    return before


def _accuracy(tally: Tally) -> float:
    """How often the decider is right, from answers that show themselves to be wrong.

    Of wrong answers one in four calls the newer of two statements the older, where a time says
    which is newer, and of pairs that a value, sign or number tells apart one in four calls them
    the same. The worse of the two rates counts.
    """
    contrary, apart, same = (sum(marks[n] for marks in tally.values()) for n in range(3))
    rates = (consensus.share(contrary, len(tally)), consensus.share(same, apart))
    return max(1 - 4 * max(rates), consensus.LEAST)


def asked(pairs: pl.DataFrame, members: pl.DataFrame, ctx: Context) -> None:
    """Note in the context which records a decider was asked about, and what came of it."""
    if "verdict" not in pairs.columns:
        return
    ids = members.group_by("statement").agg(pl.col("id").sort())
    rows = pairs.filter(pl.col("verdict").is_not_null())
    for side in ("a", "b"):
        own = ids.rename({"statement": side, "id": f"{side}_ids"})
        rows = rows.join(own, on=side, how="left", maintain_order="left")
    before: list[pl.DataFrame] = ctx.once(ASKED, list)
    before.append(rows.select("a_ids", "b_ids", "score", *SAID))


def said_to(ctx: Context) -> list[dict[str, Any]]:
    """Return what a decider said in the life of the context, one row a pair of statements.

    Its records (`a`, `b`), similarity, verdict, probability and effect, and the digest of the
    model; of a pair that was asked about in several rounds the first.
    """
    rounds: list[pl.DataFrame] = ctx.cache.get(ASKED, [])
    if not rounds:
        return []
    first = [pl.col(f"{side}_ids").list.first() for side in ("a", "b")]
    keyed = pl.concat(rounds).with_columns(a=first[0], b=first[1])
    rows = keyed.unique(["a", "b"], keep="first", maintain_order=True).sort("a", "b")
    said = rows.select(*SAID, "score", a="a_ids", b="b_ids").to_dicts()
    return [{**row, "model": ctx.models.recipes.get("judge", {}).get("sha256")} for row in said]
