"""Verdicts: what becomes of each note, and why, and the records that come of it."""

import json
import uuid
from functools import cache

import polars as pl
import xxhash

from memops.context import Context
from memops.extract.fitted import beside
from memops.extract.noise import SURE
from memops.extract.reading import read
from memops.language.lexicon import lexicon
from memops.language.packs import scripts
from memops.language.text import normalised
from memops.plan import arguments
from memops.policy import Extract
from memops.safety.trust import by_anybody, by_machine
from memops.schema import DEFAULTS, LIVE, MODEL, RECORDS

TOLD = pl.Schema(
    {
        "note": pl.String(),
        "kind": pl.String(),
        "also": pl.String(),
        "text": pl.String(),
        "confidence": pl.Float64(),
        "start": pl.Int64(),
        "end": pl.Int64(),
    }
)
"""What notes that a model answered tell; one that tells nothing has a row without text."""

_SPACE = uuid.UUID("6b7a1f0e-3d0c-5f0a-9a53-0c1d8e2f4a77")  # namespace of extracted records' ids


def notes(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the notes that may be judged: live, raw, neither pinned nor core nor fresh."""
    return records.filter(
        LIVE,
        pl.col("kind") == "note",
        ~pl.col("pinned"),
        pl.col("tier") != "core",
        ~pl.col("id").is_in(list(ctx.fresh)),
    )


def judged_notes(records: pl.DataFrame, ctx: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the notes with `verdict` (extract, tombstone, demote), its reason and whether it is
    `surely` so, and what they tell.

    The second table holds candidates with the id, scope and times of their note.
    """
    rows = notes(records, ctx)
    ids = "\n".join(rows.select(pl.concat_str("id", "text", separator="\t")).to_series().to_list())
    key = ("extract", rows.height, xxhash.xxh3_128_hexdigest(ids.encode()))
    judged, told = ctx.once(key, lambda: _judge(rows, ctx))
    # The texts are the key: what a rule before has done to the other columns must show.
    said = judged.select("id", *(name for name in judged.columns if name not in rows.columns))
    return rows.join(said, on="id", how="left", maintain_order="left"), told


def extracted(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the records that the notes of a store come to, one for each fact of a scope.

    The id is made from scope, kind and what is said, so the same fact from three notes, or on
    three nights, is one record. Columns: those of a record, and derived_from (ids of its notes).
    What no person said stays the word of whatever machine or channel said it.
    """
    facts = _facts(records, ctx)
    policy = ctx.policy.extract
    ids = [
        str(uuid.uuid5(_SPACE, json.dumps(row, ensure_ascii=False)))
        for row in facts.select("scope", "kind", "same").iter_rows()
    ]
    weight = pl.col("kind").replace_strict(policy.importance, default=0.65, return_dtype=pl.Float64)
    made = facts.with_columns(
        id=pl.Series(ids, dtype=pl.String),
        # A kind that is only probable gives no standing: a checked attribute of the user does.
        tier=pl.when(pl.col("kind").is_in(policy.core) & pl.col("key").is_not_null())
        .then(pl.lit("core"))
        .otherwise(pl.lit("working")),
        importance=pl.when("kept")
        .then(pl.max_horizontal(weight, pl.lit(policy.remembered)))
        .otherwise(weight),
        pinned=pl.col("kind").is_in(policy.pinned) & pl.col("key").is_not_null(),
        source=pl.when("guessed")
        .then(pl.lit(MODEL))
        .when("foreign")
        .then("writer")
        .otherwise(pl.lit("extractor")),
        sensitivity=pl.lit("allowed"),
        form=pl.lit(DEFAULTS["form"]),
        role=pl.lit(DEFAULTS["role"]),
        origin=pl.format("note:{}", pl.col("derived_from").list.first()),
        tags=pl.concat_list(
            pl.lit("extracted"),
            pl.when("kept").then(pl.lit("remembered")).when("guessed").then(pl.lit(MODEL)),
            "also",
        ).list.drop_nulls(),
        extra=pl.lit("{}"),
    )
    blank = {n: pl.lit(None, dtype) for n, dtype in RECORDS.items() if n not in made.columns}
    return made.with_columns(**blank).select(*RECORDS.names(), "derived_from").sort("id")


def _facts(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """What notes tell, one row for each fact of a scope, with what its notes have in common."""
    _, told = judged_notes(records, ctx)
    same = pl.coalesce("key", normalised(pl.col("text")))
    writers = records.select(note="id", writer="source", foreign=by_machine() | by_anybody())
    told = told.join(writers, on="note", how="left", maintain_order="left")
    said = told.with_columns(same=same).sort("created_at", "note", "start", nulls_last=True)
    return said.group_by("scope", "kind", "same", maintain_order=True).agg(
        pl.col("key").first(),
        pl.col("text", "also").first(),
        pl.col("confidence").max(),
        pl.col("created_at").min(),
        pl.col("updated_at").max(),
        pl.col("accessed_at").max(),
        access_count=pl.col("uses").sum() + pl.col("note").n_unique() - 1,
        derived_from=pl.col("note").unique(maintain_order=True),
        kept=pl.col("kept").any(),
        guessed=(pl.col("cue") == MODEL).all(),
        foreign=pl.col("foreign").all(),
        writer=pl.col("writer").first(),
    )


def _judge(rows: pl.DataFrame, ctx: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
    found, parts, verdicts = read(_whole(rows, ctx), ctx.policy, beside(ctx.models))
    keyed = rows.with_row_index("row")
    if ctx.told is not None:
        found = _with_model(ctx.told, keyed, found)
    times = ("created_at", "updated_at", "accessed_at")
    notes = keyed.select("row", "scope", *times, note="id", uses="access_count")
    kept = pl.col("row").is_in(parts.filter("kept")["row"].unique().implode())
    told = found.join(notes, on="row", how="left", maintain_order="left").with_columns(kept=kept)
    return _verdict(keyed, told, verdicts, ctx.policy.extract), told


def _whole(rows: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """The notes, with the text that was said in the place of one that was cut off."""
    if ctx.whole is None:
        return rows
    full = ctx.whole.select("id", full="text")
    joined = rows.join(full, on="id", how="left", maintain_order="left")
    return joined.with_columns(text=pl.coalesce("full", "text")).drop("full")


def _with_model(told: pl.DataFrame, keyed: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Candidates, of the notes that a model answered those that its answer came to.

    An attribute of the user whose value was checked stays whatever a model says.
    """
    answered = told.join(keyed.select("row", note="id"), on="note", how="inner")
    stay = found.join(answered, on="row", how="anti", maintain_order="left")
    checked = found.filter(pl.col("key").is_not_null()).join(answered, on="row", how="semi")
    said = answered.filter(pl.col("text").is_not_null()).with_columns(
        key=pl.lit(None, pl.String), cue=pl.lit(MODEL)
    )
    both = pl.concat([stay, checked, said.select(found.columns)])
    return both.sort("row", "start", "key", nulls_last=True, maintain_order=True)


@cache
def _from_now() -> str:
    """The words that say "from now on", as an expression."""
    words = lexicon("concepts")["change"]["from_now"].split()
    spaced, wide = scripts(word.replace("_", " ") for word in words)
    return rf"(?i)\b(?:{'|'.join(spaced)})\b|{'|'.join(wide)}"


def _verdict(
    rows: pl.DataFrame, told: pl.DataFrame, verdicts: pl.DataFrame, policy: Extract
) -> pl.DataFrame:
    bar = pl.format("note.{}", pl.col("bars").list.first())
    kinds = told.group_by("row").agg(kinds=pl.col("kind").unique().sort())
    # What only the words of a note make noise is retired where the rest of it agrees, and what
    # they make an order where the rest tells no fact.
    sure = pl.col("noise").str.contains(SURE) | (pl.col("tombstone") >= policy.noise)
    sure |= pl.col("noise").str.starts_with("hostile.") & (pl.col("extract") <= policy.silent)
    noise = pl.col("noise").is_not_null() & sure
    share = pl.col("tombstone") / (1.0001 - pl.col("extract"))
    # A number may be worth keeping: what holds one goes only where it is surely junk.
    value = pl.col("text").str.contains(r"[0-9]")
    most = pl.when(value).then(policy.silent / 2).otherwise(policy.silent)
    least = pl.when(value).then(policy.surely).otherwise(policy.junk)
    # What only asks tells nothing, whatever it asks about; but what is asked for from now on lasts.
    lasting = pl.col("text").str.contains(_from_now())
    idle = ((pl.col("extract") <= most) | pl.col("mute")) & (share >= least) & ~lasting
    secret = pl.col("secret") & (pl.col("tombstone") >= policy.junk)
    junk = noise | secret | idle
    table = rows.join(verdicts, on="row", how="left", maintain_order="left").join(
        kinds, on="row", how="left", maintain_order="left"
    )
    telling = pl.when(pl.col("kinds").is_not_null())
    return table.with_columns(
        surely=pl.col("noise").str.contains(SURE).fill_null(False)
        | secret
        | (pl.col("tombstone") >= policy.surely),
        verdict=telling.then(pl.lit("extract"))
        .when(junk).then(pl.lit("tombstone"))
        .otherwise(pl.lit("demote")),
        args=telling.then(arguments(kinds=pl.col("kinds"))),
        code=telling.then(pl.lit("note.told"))
        .when(noise).then("noise")
        .when(secret).then(pl.lit("note.secret"))
        .when(junk).then(pl.coalesce(bar, pl.lit("note.small_talk")))
        .otherwise(pl.lit("note.unclear")),
    )  # fmt: skip
