"""Reading: a column of notes into candidate records, and what became of every clause."""

import re
from functools import cache

import polars as pl

from memops.extract.clauses import clauses
from memops.extract.entities import entities, saying
from memops.extract.grammar import expanded
from memops.extract.kinds import HOST, sorted_out
from memops.extract.modality import judged
from memops.extract.noise import noise
from memops.extract.statements import statements
from memops.language.lexicon import lexicon
from memops.policy import Policy, Secrets
from memops.safety.secrets import found as secrets_found

CANDIDATES = pl.Schema(
    {
        "row": pl.UInt32(),
        "kind": pl.String(),
        "key": pl.String(),
        "text": pl.String(),
        "confidence": pl.Float64(),
        "start": pl.Int64(),
        "end": pl.Int64(),
        "cue": pl.String(),
    }
)
_PERSONAL = ("identity-number", "phone")  # what a note may say of its own user
# a mask of any kind but identity-number and phone
_REDACTED = r"\[redacted:(?:[a-hj-oq-z]|i[a-ce-z]|p[a-gi-z])[^\]\n]{0,80}\]"
_MASK = "\u0004"


def read(notes: pl.DataFrame, policy: Policy) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return candidates, clauses and verdicts of notes.

    `notes` has text, and scope, source and tags where they are known.

    Candidates have the columns of CANDIDATES; clauses say for each clause why it was barred or
    which cue told; verdicts give for each row its noise (or null), whether it holds a secret, and
    how much is left unexplained.
    """
    texts = notes["text"].fill_null("").str.head(policy.extract.longest)
    why = noise(notes.with_columns(texts.alias("text")), policy)
    masked, secret = _without_secrets(texts, policy.secrets)
    parts = clauses(
        pl.select(pl.when(why.is_null()).then(masked).otherwise(pl.lit(""))).to_series(),
        policy.extract.longest,
    )
    parts = parts.filter(pl.col("text").str.len_chars() <= policy.extract.clause)
    parts = parts.with_columns(secret=pl.col("text").str.contains(_MASK)).with_columns(
        kept=_kept(parts),
        chinese=pl.col("raw").str.contains(r"\p{Han}").any().over("row", "sentence"),
    )
    parts = parts.with_columns(residue=_residue())
    parts = sorted_out(judged(parts)).with_row_index("unit")
    facts = _facts(parts, entities(parts.drop("unit")))
    verdict = pl.DataFrame(
        {
            "row": pl.int_range(len(texts), dtype=pl.UInt32, eager=True),
            "noise": why,
            "secret": secret,
        }
    )
    return facts, parts, verdict.join(_left(parts), on="row", how="left", maintain_order="left")


def _without_secrets(texts: pl.Series, policy: Secrets) -> tuple[pl.Series, pl.Series]:
    """Texts with every character of a secret overwritten, and which had one; lengths stay.

    A secret that was masked before counts as one.
    """
    spans = secrets_found(texts, policy).filter(~pl.col("kind").is_in(_PERSONAL))
    out = texts.to_list()
    for row, start, end in spans.select("row", "start", "end").iter_rows():
        out[row] = out[row][:start] + _MASK * (end - start) + out[row][end:]
    before = texts.str.contains(_REDACTED)
    for row in before.arg_true():
        out[row] = re.sub(_REDACTED, lambda found: _MASK * len(found[0]), out[row])
    held = pl.int_range(len(texts), dtype=pl.UInt32, eager=True).is_in(
        spans["row"].unique().implode()
    )
    return pl.Series(out, dtype=pl.String), (held | before).alias("secret")


def _kept(parts: pl.DataFrame) -> pl.Series:
    """Which clauses somebody asked to remember: the rest of the sentence, or the next one where
    the request stands alone.
    """
    alone = (pl.col("text").str.len_chars() == 0).all().over("row", "sentence")
    asked = pl.col("remember").cum_max().over("row", "sentence") | pl.col("remember").any().over(
        "row", "sentence"
    )
    table = parts.with_columns(asked=asked, only=alone & asked)
    heads = table.group_by("row", "sentence", maintain_order=True).agg(
        pl.col("only").first(), pl.col("asked").first()
    )
    heads = heads.with_columns(after=pl.col("only").shift(1).over("row").fill_null(False))
    joined = table.join(
        heads.select("row", "sentence", "after"),
        on=["row", "sentence"],
        how="left",
        maintain_order="left",
    )
    return joined.select(pl.col("asked") | pl.col("after")).to_series()


def _facts(parts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    who = _entities(parts, found)
    spent = who.select("unit").unique()
    who = who.drop_nulls("norm")
    held = who.filter(pl.col("kind") == "entity").select("row", "sentence").unique()
    rest = statements(parts.join(spent, on="unit", how="anti", maintain_order="left"), held)
    said = _shareable(rest.with_columns(key=pl.lit(None, pl.String)).select(CANDIDATES.names()))
    return pl.concat([who.select(CANDIDATES.names()), said]).sort(
        "row", "start", "key", nulls_last=True
    )


def _entities(parts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    keys = found["key"].unique().sort()
    schema = {"key": pl.String, "zh": pl.String, "en": pl.String, "told": pl.String}
    sayings = pl.DataFrame([{"key": key, **saying(key)} for key in keys], schema=schema)
    words = pl.when("chinese").then("zh").otherwise("en")
    return (
        found.join(parts.drop("kind", "cue"), on="unit", how="left", maintain_order="left")
        .join(sayings, on="key", how="left", maintain_order="left")
        .with_columns(
            text=words.str.replace("{}", pl.col("shown"), literal=True),
            kind="told",
            key=pl.format("{}:{}", "key", "norm"),
            confidence=pl.lit(0.95),
            cue="key",
        )
        .unique(["row", "key"], keep="first", maintain_order=True)
    )


def _shareable(candidates: pl.DataFrame) -> pl.DataFrame:
    """Statements without secrets: what stood beside a host stays, masked; the others go."""
    secret = pl.col("text").str.contains(_MASK)
    return candidates.filter(~secret | pl.col("text").str.contains(HOST)).with_columns(
        pl.col("text").str.replace_all(f"{_MASK}+", "***")
    )


def _residue() -> pl.Expr:
    """How much a clause holds beside fillers, in rough characters; a Latin word counts two."""
    bare = pl.col("text").str.replace_all(_filler("zh"), "").str.replace_all(_filler("en"), "")
    words = bare.str.count_matches(r"[A-Za-z][A-Za-z']*|[0-9]+").cast(pl.Int64)
    return bare.str.count_matches(r"\p{Han}").cast(pl.Int64) + 2 * words


def _left(parts: pl.DataFrame) -> pl.DataFrame:
    """What each row says that nothing explains, and hints that it is not mere chatter."""
    passing = pl.col("fleeting") & ~pl.col("kept")
    open_ = (
        pl.col("barred").is_null()
        & pl.col("kind").is_null()
        & ~passing
        & ~(pl.col("urge") & ~pl.col("text").str.contains("[0-9]"))
        & ~pl.col("serial")
    )
    served = (pl.col("barred") == "request").any().over("row", "sentence")
    open_ &= ~(pl.col("other") & ~pl.col("own") & served.fill_null(False))
    return parts.group_by("row", maintain_order=True).agg(
        left=pl.when(open_).then("residue").otherwise(0).sum(),
        bars=pl.col("barred").drop_nulls().unique(maintain_order=True),
        unsure=((pl.col("uncertain") | pl.col("vague")) & pl.col("barred").is_null()).any(),
        aside=(pl.col("other") & pl.col("tagged")).any(),
        value=(open_ & (pl.col("text").str.contains(r"[0-9]|[A-Za-z]+[_/.-][A-Za-z]+"))).any(),
    )


@cache
def _filler(lang: str) -> str:
    words = "|".join(lexicon("extract")["filler"][lang])
    return f"(?:{words})" if lang == "zh" else expanded(rf"(?i)\b(?:{words})\b(?:'[a-z]+)?")
