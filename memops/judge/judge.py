"""A judge's say on pairs of statements whose scores leave open what they are.

The judge is a local model behind a function (`Models.judge`), asked both ways round. It is heard
within `judge.band` of a threshold and where the scores say what the rules do not, and stands below
the reading: what differs in a value, name, sign or quantifier is merged on nobody's word. Unless
the policy lets it decide it only withholds; what it would add is marked for review.
"""

from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.judgement import about_others, asserted, lossless, same
from memops.judge.opposing import opposes
from memops.judge.scorer import scores
from memops.policy import Policy
from memops.statements.readings import differences, read_all

SCORED = pl.Schema(
    {
        "duplicate_score": pl.Float64(),
        "conflict_score": pl.Float64(),
        "duplicate_at": pl.Float64(),
        "conflict_at": pl.Float64(),
        "lossless": pl.Boolean(),
        "about_others": pl.Boolean(),
    }
)
WORD = pl.Schema(
    {
        "contradiction": pl.Float64(),
        "entailment": pl.Float64(),
        "neutral": pl.Float64(),
        "word": pl.String(),
        "effect": pl.String(),
    }
)
"""What the judge says of a pair and what comes of it; null where it was not asked.

Probabilities are those of the weaker direction. Effects: withheld (a merge or supersession that
rules would make), decided (one that they would not), review (that, where it may not decide or a
merge would lose something).
"""
ASKED = "asked"
"""Where the context keeps what the judge was asked, round by round."""
_STEP = 200_000


def scored(pairs: pl.DataFrame, texts: pl.Series, policy: Policy) -> pl.DataFrame:
    """Return what the scorer makes of pairs (a, b: places in `texts`), with their thresholds."""
    if pairs.is_empty():
        return SCORED.to_frame()
    used, at = np.unique(pairs.select("a", "b").to_numpy(), return_inverse=True)
    said, at = read_all(texts.gather(used).to_list()), at.reshape(-1, 2)
    steps = (at[start : start + _STEP] for start in range(0, len(at), _STEP))
    found = (_scored(differences(said, some[:, 0], some[:, 1]), policy) for some in steps)
    return pl.concat(found)


def heard(pairs: pl.DataFrame, texts: pl.Series, ctx: Context) -> pl.DataFrame:
    """Return judged pairs as the judge leaves them: same and opposes, with SCORED and WORD.

    `pairs` are those of `conflicts.judged`. Where the policy names no judge they come back
    as they are.
    """
    judge = ctx.models.judge
    if judge is None:
        return pairs
    told = pl.concat([pairs, scored(pairs, texts, ctx.policy)], how="horizontal")
    open_ = told.with_row_index("nth").filter(_uncertain(ctx.policy))
    if open_.is_empty():
        return told.with_columns(pl.lit(None, kind).alias(name) for name, kind in WORD.items())
    sides = [texts.gather(open_[side].cast(pl.Int64)).to_list() for side in ("a", "b")]
    there = np.asarray(judge(list(zip(*sides, strict=True))))
    back = np.asarray(judge(list(zip(*reversed(sides), strict=True))))
    said = _words(np.minimum(there, back), ctx.policy.judge.confidence)
    answered = pl.concat([open_.select("nth"), said], how="horizontal")
    whole = told.with_row_index("nth").join(answered, on="nth", how="left", maintain_order="left")
    return _settled(whole.drop("nth"), ctx.policy.judge.decides)


def asked(pairs: pl.DataFrame, members: pl.DataFrame, ctx: Context) -> None:
    """Note in the context which records the judge was asked about, and what came of it."""
    if "word" not in pairs.columns:
        return
    ids = members.group_by("statement").agg(pl.col("id").sort())
    rows = pairs.filter(pl.col("contradiction").is_not_null())
    for side in ("a", "b"):
        own = ids.rename({"statement": side, "id": f"{side}_ids"})
        rows = rows.join(own, on=side, how="left", maintain_order="left")
    before: list[pl.DataFrame] = ctx.once(ASKED, list)
    before.append(rows.select("a_ids", "b_ids", *SCORED.names()[:2], *WORD))


def said_to(ctx: Context) -> list[dict[str, Any]]:
    """Return what the judge said in the life of the context, one row a pair of statements.

    Its records (`a`, `b`), scores, probabilities, word and effect, and the digest of the model; of
    a pair that was asked about in several rounds the first.
    """
    rounds: list[pl.DataFrame] = ctx.cache.get(ASKED, [])
    if not rounds:
        return []
    first = [pl.col(f"{side}_ids").list.first() for side in ("a", "b")]
    keyed = pl.concat(rounds).with_columns(a=first[0], b=first[1])
    rows = keyed.unique(["a", "b"], keep="first", maintain_order=True).sort("a", "b")
    said = rows.select(*WORD, *SCORED.names()[:2], a="a_ids", b="b_ids").to_dicts()
    return [{**row, "model": ctx.models.recipes.get("judge", {}).get("sha256")} for row in said]


def _scored(found: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    read = found.with_columns(
        same=same(), opposes=opposes(), firm_a=asserted("a"), firm_b=asserted("b")
    )
    zh = pl.col("han") > 0
    at = [
        pl.when(zh).then(pl.lit(limit.zh)).otherwise(pl.lit(limit.en)).alias(f"{name}_at")
        for name, limit in (("duplicate", policy.duplicates), ("conflict", policy.conflicts))
    ]
    rest = read.select(*at, lossless=lossless(), about_others=about_others())
    return pl.concat([scores(read), rest], how="horizontal").select(SCORED.names())


def _uncertain(policy: Policy) -> pl.Expr:
    """True for what is asserted on both sides and lies near a threshold, or above it unruled."""
    over = {n: pl.col(f"{n}_score") - pl.col(f"{n}_at") for n in ("duplicate", "conflict")}
    near = (distance.abs() <= policy.judge.band for distance in over.values())
    unruled = ~pl.col("same") & pl.col("opposes").is_null()
    beyond = (unruled & (distance >= 0) for distance in over.values())
    return pl.col("firm_a") & pl.col("firm_b") & pl.any_horizontal(*near, *beyond)


def _words(said: Any, least: float) -> pl.DataFrame:
    """Probabilities of the weaker direction, and the word that is sure enough, if one is."""
    names = WORD.names()[:3]
    table = pl.DataFrame({name: said[:, n] for n, name in enumerate(names)})
    sure = [pl.when(pl.col(name) >= least).then(pl.lit(name)) for name in names]
    return table.with_columns(word=pl.coalesce(sure))


def _settled(told: pl.DataFrame, decides: bool) -> pl.DataFrame:
    """Withhold what the judge speaks against, and add what it speaks for, or mark it."""
    word, against = pl.col("word"), pl.col("opposes").is_not_null() & ~pl.col("same")
    merged = pl.col("same") & pl.col("opposes").is_null()
    doubted = (merged & word.is_in(["contradiction", "neutral"])) | (
        against & word.is_in(["entailment", "neutral"])
    )
    doubted = doubted.fill_null(False)
    silent = ~pl.col("same") & pl.col("opposes").is_null()
    one = (silent & (word == "entailment")).fill_null(False)
    clash = (silent & (word == "contradiction") & ~pl.col("about_others")).fill_null(False)
    merges, parts = (one & pl.col("lossless"), clash) if decides else (pl.lit(False),) * 2
    effect = (
        pl.when(doubted).then(pl.lit("withheld"))
        .when(merges | parts).then(pl.lit("decided"))
        .when(one | clash).then(pl.lit("review"))
    )  # fmt: skip
    return told.with_columns(
        effect=effect,
        same=(pl.col("same") & ~doubted) | merges,
        opposes=pl.when(parts).then(pl.lit("judged")).when(~doubted).then("opposes"),
    )
