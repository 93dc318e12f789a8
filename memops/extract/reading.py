"""Reading: a column of notes into candidate records, and what became of every clause."""

import polars as pl

from memops.extract.clauses import clauses
from memops.extract.entities import entities, label
from memops.extract.kinds import sorted_out
from memops.extract.modality import judged
from memops.extract.noise import noise
from memops.extract.person import third_person
from memops.policy import Policy, Secrets
from memops.secrets import found as secrets_found

CANDIDATES = pl.Schema(
    {
        "row": pl.UInt32(), "kind": pl.String(), "key": pl.String(), "text": pl.String(), "confidence": pl.Float64(),
        "start": pl.Int64(), "end": pl.Int64(), "cue": pl.String(),
    }
)  # fmt: skip
_PERSONAL = ("identity-number", "phone")  # what a note may say of its own user
_STRONG = ("lesson", "failure", "procedure", "relationship", "project_state", "preference")
_MASK = "\u0004"
_HOST = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[A-Za-z0-9-]+://|@[A-Za-z0-9-]+\.[A-Za-z]"


def read(notes: pl.DataFrame, policy: Policy) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return candidates, clauses and verdicts of notes (a frame with text, and scope, source, tags if any).

    Candidates have the columns of CANDIDATES; clauses say for each clause why it was barred or
    which cue told; verdicts give for each row its noise (or null), whether it holds a secret, and
    how much is left unexplained.
    """
    texts = notes["text"].fill_null("").str.head(policy.extract.longest)
    why = noise(notes)
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
    parts = sorted_out(judged(parts)).with_row_index("unit")
    facts = _facts(parts, entities(parts.drop("unit")), policy)
    verdict = pl.DataFrame(
        {
            "row": pl.int_range(len(texts), dtype=pl.UInt32, eager=True),
            "noise": why,
            "secret": secret,
        }
    )
    return facts, parts, verdict.join(_left(parts), on="row", how="left", maintain_order="left")


def _without_secrets(texts: pl.Series, policy: Secrets) -> tuple[pl.Series, pl.Series]:
    """Texts with every character of a secret overwritten, and which had one; lengths stay."""
    spans = secrets_found(texts, policy).filter(~pl.col("kind").is_in(_PERSONAL))
    held = pl.Series("secret", [False]).new_from_index(0, len(texts))
    if spans.is_empty():
        return texts, held
    out = texts.to_list()
    for row, start, end in spans.select("row", "start", "end").iter_rows():
        out[row] = out[row][:start] + _MASK * (end - start) + out[row][end:]
    rows = pl.int_range(len(texts), dtype=pl.UInt32, eager=True)
    return pl.Series(out, dtype=pl.String), rows.is_in(spans["row"].unique().implode())


def _kept(parts: pl.DataFrame) -> pl.Series:
    """Which clauses somebody asked to remember: the rest of the sentence, or the next one where
    the request stands alone."""
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


def _facts(parts: pl.DataFrame, found: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    who = _entities(parts, found)
    held = who.select("row", "sentence").unique()
    rest = parts.join(who.select("unit").unique(), on="unit", how="anti").filter(
        pl.col("kind").is_not_null()
    )
    weak = ~pl.col("kind").is_in(_STRONG)
    beside = rest.join(held, on=["row", "sentence"], how="semi").filter(~weak, ~pl.col("secret"))
    alone = rest.join(held, on=["row", "sentence"], how="anti")
    told = pl.concat([alone, beside]).select("row", "sentence").unique()
    whole = _shareable(_statements(parts, told, held))
    return pl.concat([who.select(CANDIDATES.names()), whole]).sort(
        "row", "start", "key", nulls_last=True
    )


def _entities(parts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    labels = pl.DataFrame(
        [{"key": key, **label(key)} for key in found["key"].unique().sort()] or None,
        schema={"key": pl.String, "zh": pl.String, "en": pl.String},
    )
    zh = pl.format("用户的{}是{}", "zh", "shown")
    en = pl.format("The user's {} is {}", "en", "shown")
    return (
        found.join(parts, on="unit", how="left", maintain_order="left")
        .join(labels, on="key", how="left", maintain_order="left")
        .with_columns(
            text=pl.when("chinese").then(zh).otherwise(en),
            kind=pl.lit("entity"),
            key=pl.format("{}:{}", "key", "norm"),
            confidence=pl.lit(0.95),
            cue=pl.col("key"),
        )
        .unique(["row", "key"], keep="first", maintain_order=True)
    )  # fmt: skip


def _statements(parts: pl.DataFrame, told: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """One candidate a sentence: its clauses that assert something, and the most telling kind.

    Beside an entity only the clauses that tell by themselves are taken. Clauses that hold a
    secret are left out unless nothing else says where it belongs.
    """
    beside = pl.struct("row", "sentence").is_in(
        held.select(pl.struct("row", "sentence")).to_series().implode()
    )
    rank = pl.col("kind").replace_strict(
        {kind: n for n, kind in enumerate((*_STRONG, "fact"))}, default=99, return_dtype=pl.Int64
    )
    usable = pl.col("barred").is_null() | pl.col("kind").is_not_null()
    spoken = (
        parts.join(told, on=["row", "sentence"], how="semi")
        .filter(usable, pl.col("raw").str.len_chars() > 0, pl.col("kind").is_in(_STRONG) | ~beside)
        .with_columns(rank=rank, shown=third_person(pl.col("raw"), pl.col("chinese"), pl.lit(False)))
        .sort("row", "sentence", "nth")
    )  # fmt: skip
    best = pl.col("rank").arg_min()
    joint = (
        pl.when(pl.col("chinese").first())
        .then(pl.col("shown").str.join("，"))
        .otherwise(pl.col("shown").str.join(", "))
    )
    made = spoken.group_by("row", "sentence", maintain_order=True).agg(
        kind=pl.col("kind").get(best), cue=pl.col("cue").get(best), key=pl.lit(None, pl.String),
        text=joint, wish=pl.col("wish").get(best) & (pl.col("kind").get(best) == "preference"), chinese=pl.col("chinese").first(),
        raw=pl.col("raw").first(), start=pl.col("start").min(), end=pl.col("end").max(),
    )  # fmt: skip
    begun = pl.col("text").str.contains("^(?:用户|The user|the user)")
    wished = (
        pl.when("chinese")
        .then(pl.format("用户希望：{}", "text"))
        .otherwise(pl.format("The user wants this: {}", "text"))
    )
    return made.with_columns(
        text=pl.when(pl.col("wish") & ~begun).then(wished).otherwise("text"),
        confidence=pl.col("cue").replace_strict(
            {"remember": 0.9, "value": 0.7, "state": 0.75}, default=0.8, return_dtype=pl.Float64
        ),
    ).select(CANDIDATES.names())


def _shareable(candidates: pl.DataFrame) -> pl.DataFrame:
    """Statements without secrets: what stood beside a host stays, masked; the others go."""
    secret = pl.col("text").str.contains(_MASK)
    return candidates.filter(~secret | pl.col("text").str.contains(_HOST)).with_columns(
        pl.col("text").str.replace_all(f"{_MASK}+", "***")
    )


def _left(parts: pl.DataFrame) -> pl.DataFrame:
    """How much each row says that nothing explains, in rough characters."""
    words = pl.col("text").str.count_matches(r"[A-Za-z][A-Za-z']*|[0-9]+").cast(pl.Int64)
    size = pl.col("text").str.count_matches(r"\p{Han}").cast(pl.Int64) + 2 * words
    passing = pl.col("fleeting").any().over("row", "sentence") & ~pl.col("kept")
    open_ = pl.col("barred").is_null() & pl.col("kind").is_null() & ~passing
    return parts.group_by("row", maintain_order=True).agg(
        left=pl.when(open_).then(size).otherwise(0).sum(),
        bars=pl.col("barred").drop_nulls().unique(maintain_order=True),
        unsure=(pl.col("uncertain") & pl.col("barred").is_null()).any(),
        aside=(pl.col("other") & pl.col("tagged")).any(),
        value=(open_ & (pl.col("text").str.contains(r"[0-9]|[A-Za-z]+[_/.-][A-Za-z]+"))).any(),
    )
