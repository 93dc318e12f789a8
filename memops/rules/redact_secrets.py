"""Mask the secrets that records hold."""

import contextlib
import json
from dataclasses import replace

import polars as pl

from memops.context import Context
from memops.judge.places import placed, writable
from memops.language.text import wordlist
from memops.plan import arguments, edit
from memops.policy.safety import Secrets
from memops.safety.looked import found
from memops.safety.masking import masked_table
from memops.safety.secrets_elsewhere import known_from, masked_again
from memops.safety.secrets_issued import proven
from memops.safety.secrets_shapes import ISSUED
from memops.schema import AROUND, native, only

_COLUMNS = ("text", "key", "tags", "extra")


def redact_secrets(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Mask every key, password and identity number, also in records that are no longer live.

    A hidden record's secret is as easily stolen as a live one's. The reason names the kinds; no
    part of a secret leaves the record. It is marked as its kinds are by the policy, and no model
    is shown it any more; what its store says of it stands where that is stricter. What its agent
    writes anew is only read: an audit tells of it. Documents are
    full of names and numbers: there a record is masked for what something right beside it tells,
    not for what a sentence would tell in a row, or for a label over its line. What is known for a
    secret in one record is one in every other, though nothing tells so there.
    """
    policy, every = ctx.policy.secrets, records.filter(writable())
    records = only(every, ctx.changed)
    clean = masked_table(records.select(_COLUMNS), policy)
    clean = clean.with_columns(_own(records["extra"], clean["extra"]))
    new = {name: pl.col(f"new:{name}") for name in _COLUMNS}
    masked = {
        f"new:{name}": pl.when(clean[name].ne_missing(records[name])).then(clean[name])
        for name in _COLUMNS
    }
    touched = records.with_columns(**masked).filter(
        pl.any_horizontal(value.is_not_null() for value in new.values())
    )
    beside = replace(policy, off=[*policy.off, *policy.documents])
    touched = touched.with_columns(_kinds(touched, policy))
    inside = touched.with_columns(pl.when(placed()).then(pl.col("text", "key", "tags", "extra")))
    touched = touched.filter(~placed() | _kinds(inside, beside)["kinds"].is_not_null())
    touched = _with_known(every, touched, beside)
    known = pl.when(pl.col("kinds").is_not_null())
    shaped = pl.col("kinds").list.set_difference(list(ISSUED)).list.len() == 0
    shaped &= pl.col("proven").fill_null(False)
    code = (
        pl.when(shaped)
        .then(pl.lit("secret.issued"))
        .otherwise(known.then(pl.lit("secret.found")).otherwise(pl.lit("secret.native")))
    )
    never = [k for k, named in policy.sensitivity.items() if named == "never_store"]
    strict = (pl.col("kinds").list.set_intersection(never).list.len() > 0).fill_null(False)
    strict |= pl.col("sensitivity") == "never_store"
    marked = pl.when(strict).then(pl.lit("never_store")).otherwise(pl.lit("masked"))
    return edit(
        touched, "redact", code, known.then(arguments(kinds=pl.col("kinds"))), (),
        evidence=[], risk="low",
        sensitivity=pl.when(pl.col("sensitivity") != marked).then(marked), **new,
    )  # fmt: skip


def _with_known(records: pl.DataFrame, touched: pl.DataFrame, policy: Secrets) -> pl.DataFrame:
    """The records with secrets and those of which another place tells so, masked there, with kinds."""
    rest = records.join(touched, on="id", how="anti")
    known = known_from(touched["text"], rest.filter(placed()), policy)
    rest = rest.filter(pl.col("text").str.contains_any(wordlist(list(known))))
    every = pl.concat([touched, rest], how="diagonal")
    texts, kinds = masked_again(
        every.select(pl.coalesce("new:text", "text"))["new:text"], known, policy
    )
    both = pl.concat_list(pl.col("kinds").fill_null([]), kinds).list.unique().list.sort()
    masked = texts != every["text"]
    return every.with_columns(
        pl.when(masked).then(texts).alias("new:text"),
        kinds=pl.when(kinds.list.len() > 0).then(both).otherwise("kinds"),
    ).filter(masked.fill_null(False) | (pl.int_range(pl.len()) < touched.height))


def _own(extra: pl.Series, clean: pl.Series) -> pl.Series:
    """The native columns, masked where a secret stands in what is the record's own.

    No edit of a record changes the headings and comments over it; an audit tells of those.
    """
    rows = pl.DataFrame({"was": extra, "clean": clean})
    for nth in rows["was"].ne_missing(rows["clean"]).arg_true():
        was, masked = (_without_around(text) for text in rows.row(nth))
        if was == masked:
            clean = clean.scatter(nth, extra[nth])
    return clean


def _without_around(extra: str) -> object:
    with contextlib.suppress(ValueError):
        told = json.loads(extra)
        if isinstance(told, dict):
            return {name: value for name, value in told.items() if name not in AROUND}
    return extra


def _kinds(records: pl.DataFrame, policy: Secrets) -> pl.DataFrame:
    """The kinds of secret in the text, key, tags and line of each record, each read by itself.

    `proven` is whether each was made by an issuer beyond doubt.
    """
    rows = records.with_row_index("record")
    tags = rows.select("record", value="tags").explode("value", empty_as_null=True)
    around = [native(name) for name in ("prefix", "suffix")]
    said = [
        rows.select("record", value=value) for value in (*map(pl.col, ("text", "key")), *around)
    ]
    values = pl.concat([*said, tags]).drop_nulls()
    kinds = found(values["value"], policy)
    kinds = kinds.with_columns(values.select("record", "value")[kinds["row"]])
    sure = [
        proven(v[a:z], v[:a], v[z:])
        for v, a, z in kinds.select("value", "start", "end").iter_rows()
    ]
    by_record = (
        kinds.with_columns(sure=pl.Series(sure, dtype=pl.Boolean))
        .group_by("record")
        .agg(kinds=pl.col("kind").unique().sort(), proven=pl.col("sure").all())
    )
    joined = rows.select("record").join(by_record, on="record", how="left", maintain_order="left")
    return joined.select("kinds", "proven")
