"""Entity records that hold what is none: a wrong number, a machine's address, another's data."""

from functools import cache

import polars as pl

from memops.context import Context
from memops.extract.clauses import clauses
from memops.extract.forms import normal
from memops.extract.grammar import says
from memops.language.lexicon import lexicon
from memops.plan import arguments, edit
from memops.schema import LIVE

_SUBJECT = r"^(?:用户的?|The user's |User(?:'s)? )?"
_NUMBER = r"\+?[0-9][0-9 -]{5,20}[0-9]"
_MAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"


def revalidate_entities(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Sink and unpin entity records whose value fails its check or is somebody else's.

    Agents pin whatever looks like a number or an address. A value is checked by numbering plan,
    check digit and grammar; it is somebody else's when another live record of the scope gives it
    for a recipient, a relative or an order and none for the user. What is pinned is only
    proposed: the guard leaves it to a person.
    """
    held = _values(records.filter(LIVE, pl.col("kind") == "entity"))
    theirs = _theirs(records, held.filter(pl.col("norm").is_not_null()))
    judged = held.join(theirs, on=["scope", "norm"], how="left", maintain_order="left")
    wrong = judged.filter(pl.col("norm").is_null() | pl.col("others").is_not_null())
    wrong = wrong.filter(
        pl.col("pinned") | (pl.col("tier") != "peripheral") | (pl.col("importance") > 0.1)
    )
    invalid, sunk = pl.when(pl.col("norm").is_null()), pl.when(pl.col("tier") == "peripheral")
    low = pl.min_horizontal("importance", pl.lit(ctx.policy.extract.demoted))
    return edit(
        wrong,
        sunk.then(pl.lit("update")).otherwise(pl.lit("demote")),
        invalid.then(pl.lit("entity.invalid")).otherwise(pl.lit("entity.foreign")),
        invalid.then(arguments(attribute=pl.col("attribute"))),
        tier="peripheral", pinned=False, importance=low,
        evidence=pl.coalesce("others", pl.lit([], pl.List(pl.String))), risk="medium",
    )  # fmt: skip


@cache
def _labels() -> dict[str, str]:
    table = lexicon("extract_slots")["labels"]
    return {
        name: rf"(?i){_SUBJECT}(?:{'|'.join(words)}) ?(?:是|is|:|：) ?(?P<v>.+)$"
        for name, words in table.items()
    }


def _values(entities: pl.DataFrame) -> pl.DataFrame:
    """Entities with their attribute and the normal form of their value (null where it fails)."""
    text = pl.col("text").str.normalize("NFKC").str.strip_chars()
    found = entities.with_columns(
        text.str.extract_groups(pattern).struct.field("v").alias(f"label:{name}")
        for name, pattern in _labels().items()
    )
    attribute, value = pl.lit(None, pl.String), pl.lit(None, pl.String)
    for name in reversed(_labels()):
        attribute = (
            pl.when(pl.col(f"label:{name}").is_not_null()).then(pl.lit(name)).otherwise(attribute)
        )
        value = pl.coalesce(f"label:{name}", value)
    known = found.with_columns(attribute=attribute, value=value).drop_nulls("value")
    kinds = [("date" if kind == "birthday" else kind) for kind in known["attribute"]]
    forms = [normal(kind, value) for kind, value in zip(kinds, known["value"], strict=True)]
    return known.with_columns(norm=pl.Series([f[1] if f else None for f in forms], dtype=pl.String))


def _theirs(records: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Values (scope, norm) that other records give for others only, with those records' ids."""
    forms = (
        held.filter(pl.col("attribute").is_in(["phone", "email"])).select("scope", "norm").unique()
    )
    rest = records.filter(
        LIVE, pl.col("kind") != "entity", pl.col("text").str.contains(f"{_NUMBER}|{_MAIL}")
    )
    nothing = pl.DataFrame(
        schema={"scope": pl.String, "norm": pl.String, "others": pl.List(pl.String)}
    )
    if forms.is_empty() or rest.is_empty():
        return nothing
    keyed = rest.with_row_index("row").select("row", "id", "scope")
    parts = clauses(rest["text"], 20_000).with_columns(
        other=(says("other") | says("serial")) & ~says("own"),
        value=pl.col("text").str.extract_all(f"{_MAIL}|{_NUMBER}"),
    )
    parts = parts.with_columns(other=pl.col("other").any().over("row", "sentence"))
    said = (
        parts.explode("value", empty_as_null=True)
        .drop_nulls("value")
        .join(keyed, on="row", how="left", maintain_order="left")
    )
    keys = [normal("email" if "@" in value else "phone", value) for value in said["value"]]
    said = said.with_columns(norm=pl.Series([k[1] if k else None for k in keys], dtype=pl.String))
    return (
        said.drop_nulls("norm")
        .join(forms, on=["scope", "norm"], how="semi", maintain_order="left")
        .group_by("scope", "norm", maintain_order=True)
        .agg(others=pl.col("id").unique().sort(), all=pl.col("other").all())
        .filter("all")
        .drop("all")
    )
