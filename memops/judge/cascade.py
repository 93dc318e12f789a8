"""The cascade: what the rules leave open goes to the decider that the policy names.

A decider stands below the vetoes. It is asked about what rules would do as well, and withholds
what it speaks against; what it would add is marked for review, unless the policy lets it decide
(`judge.decides`).
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import Statements
from memops.judge.places import file
from memops.judge.posterior import Tally, accuracy, answered, posterior, tallied
from memops.policy.models import Judge
from memops.schema import LIVE
from memops.verdicts import (
    A_REPLACES_B,
    AGAINST,
    B_REPLACES_A,
    SAME,
    UNSURE,
    Decider,
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

The probability is the decider's own, else what all answers together make of one that adds.

Effects: withheld (a merge or supersession that rules would make), decided (one that they leave
open), vetoed (that, where a difference forbids it), doubted (that, where other answers speak
against it or one alone does not weigh enough), review (that, where it may not decide).
"""
ASKED = "asked"
"""Where the context keeps what a decider was asked, round by round."""
TALLY = "tally"
"""Where it keeps by which answers it is measured."""


def heard(
    pairs: pl.DataFrame, said: Statements, records: pl.DataFrame, ctx: Context
) -> pl.DataFrame:
    """Return judged pairs as the decider leaves them: same and opposes, with SAID.

    `pairs` are those of `conflicts.judged`. Where the policy names no decider they come back as
    they are.
    """
    judge, policy = ctx.models.judge, ctx.policy.judge
    if judge is None:
        return pairs
    told = _left_open(pairs).with_row_index("nth")
    first = told.sort("rank", -pl.col("score"), "a", "b").head(policy.asked)
    sides = _sides(first, said, records)
    settled = consulted(first, sides, said.table["text"], judge, policy, ctx.once(TALLY, dict))
    rest = told.join(settled.select("nth"), on="nth", how="anti")
    return pl.concat([settled, rest], how="diagonal").sort("nth").drop("nth", "open")


def consulted(
    told: pl.DataFrame,
    sides: Mapping[int, Side],
    texts: pl.Series,
    judge: Decider,
    policy: Judge,
    before: Tally,
) -> pl.DataFrame:
    """Return pairs with what a decider, which is asked about each of them, says and settles.

    `texts` are those of all statements, `before` what it answered in earlier rounds.
    """
    pairs = list(told.select("a", "b").iter_rows())
    answers = judge([Pair(sides[a], sides[b]) for a, b in pairs])
    given = {name: [getattr(row, name) for row in answers] for name in Verdict._fields}
    found = pl.DataFrame(given, {name: SAID[name] for name in Verdict._fields})
    known = pl.concat([told, found], how="horizontal").with_columns(
        when_a=pl.Series([sides[a].when for a, _ in pairs], dtype=pl.String),
        when_b=pl.Series([sides[b].when for _, b in pairs], dtype=pl.String),
        decider=pl.lit(judge.name),
    )
    tally = tallied(known, [(sides[a].text, sides[b].text) for a, b in pairs], before)
    chances = posterior(known, texts, accuracy(tally), policy.sure).rename("chance_{}".format)
    whole = pl.concat([known, chances], how="horizontal")
    return _settled(whole, policy).drop("when_a", "when_b", *chances.columns)


_LATER = {A_REPLACES_B: "a", B_REPLACES_A: "b"}


def _left_open(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs with `open`: true of those for which rules do nothing, or that they do not judge."""
    firm, ruled = pl.col("firm_a") & pl.col("firm_b"), pl.col("ruled")
    settled = ruled & firm & (pl.col("same") != pl.col("opposes").is_not_null())
    return pairs.with_columns(
        same=pl.col("same") & ruled,
        opposes=pl.when("ruled").then("opposes"),
        open=~settled,
    )


def _sides(pairs: pl.DataFrame, said: Statements, records: pl.DataFrame) -> dict[int, Side]:
    """What a decider is told of each statement: its text as it was said last, and its place."""
    used = pl.concat([pairs["a"], pairs["b"].rename("a")]).unique()
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
            where=pl.coalesce(file(), "source"),
        )
    )  # fmt: skip
    return {statement: Side(*rest) for statement, *rest in rows.iter_rows()}


def _settled(told: pl.DataFrame, policy: Judge) -> pl.DataFrame:
    """Withhold what the decider speaks against; add what it says and all answers bear out.

    Both take a probability of at least `sure`: that what rules would do is wrong, or that the answer
    is right. One who may not decide withholds by its answer alone.
    """
    verdict, said, sure = pl.col("verdict"), answered(), pl.lit(policy.sure)
    ruled, same, conflict = ~pl.col("open"), pl.col("chance_same"), pl.col("chance_conflict")
    merged, opposed = ruled & pl.col("same"), ruled & pl.col("opposes").is_not_null()
    if policy.decides:
        denied = (merged & (1 - same >= sure)) | (opposed & (1 - conflict >= sure))
    else:
        denied = (merged & (verdict != SAME)) | (opposed & ~verdict.is_in(AGAINST))
    one, clash = (~ruled & (said == name).fill_null(False) for name in ("same", "conflict"))
    vetoed = (one & pl.col("veto_same").is_not_null()) | (
        clash & pl.col("veto_conflict").is_not_null()
    )
    chance = pl.when(one).then(same).when(clash).then(conflict)
    told = told.with_columns(
        effect=pl.when(denied & (verdict != UNSURE)).then(pl.lit("withheld"))
        .when(vetoed).then(pl.lit("vetoed"))
        .when(chance < sure).then(pl.lit("doubted"))
        .when(chance >= sure).then(pl.lit("decided" if policy.decides else "review")),
        probability=pl.coalesce("probability", chance).round(4),
        later=pl.when(one | clash).then(verdict.replace_strict(_LATER, default=None, return_dtype=pl.String)),
        _one=one, _clash=clash,
    )  # fmt: skip
    withheld, decided = (
        pl.col("effect").eq_missing(pl.lit(word)) for word in ("withheld", "decided")
    )
    one, clash = decided & pl.col("_one"), decided & pl.col("_clash")
    return told.with_columns(
        same=one | (pl.col("same") & ~withheld & ~clash),
        opposes=pl.when(clash).then(pl.lit("judged")).when(~withheld & ~one).then("opposes"),
        firm_a=pl.col("firm_a") | decided,
        firm_b=pl.col("firm_b") | decided,
    ).drop("_one", "_clash")


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
