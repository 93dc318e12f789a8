"""Statements: sentences that say something lasting, put into the third person."""

import polars as pl

from memops.extract.grammar import expanded
from memops.extract.person import third_person

STRONG = (
    "lesson",
    "failure",
    "procedure",
    "relationship",
    "project_state",
    "preference",
)
_RANK = {kind: n for n, kind in enumerate((*STRONG, "fact"))}
_CONFIDENCE = {"remember": 0.9, "value": 0.7, "state": 0.75}
_OWN = ("health", "denial", "state")  # facts that tell by themselves
_SOME = 4  # residue from which they do
_APART = ("relationship",)  # kinds that part from a fact beside them
_WHOLE = ("lesson", "failure", "procedure")  # kinds that their sentence tells as a whole
_SAYS = ["row", "sentence", "part"]


def statements(parts: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Return one statement a sentence: the clauses that assert, and their most telling kind.

    `parts` are sorted-out clauses, `held` (row, sentence) the sentences that gave an entity:
    beside one, only clauses that tell by themselves are taken. What goes on about a person just
    named is a statement of its own about them. Columns: row, kind, text, confidence, start, end,
    cue.
    """
    beside = parts.select("row", "sentence").join(
        held.with_columns(beside=pl.lit(True)),
        on=["row", "sentence"],
        how="left",
        maintain_order="left",
    )["beside"]
    table = parts.with_columns(beside=beside.fill_null(False)).with_columns(_parted())
    ordered = (pl.col("kind") == "procedure").any().over("row", "sentence")
    usable = (
        pl.col("barred").is_null()
        | pl.col("kind").is_not_null()
        | (ordered & (pl.col("barred") == "request"))
    )
    own = pl.col("cue").is_in(_OWN) & (pl.col("residue") >= _SOME)
    telling = (pl.col("kind").is_in(STRONG) | own) & ~pl.col("secret")
    table = table.filter(usable, pl.col("raw").str.len_chars() > 0, telling | ~pl.col("beside"))
    told = table.filter(pl.col("kind").is_not_null().any().over(_SAYS))
    if told.is_empty():
        return _none()
    raw = told.select(_about()).to_series()
    return _joined(told.with_columns(shown=third_person(raw, told["chinese"])))


def _parted() -> list[pl.Expr]:
    """Number the statements of a sentence (`part`) and name whom a later one is about (`who`)."""
    named = pl.col("cue") == "bond"
    before = named.shift(1).cum_max().over("row", "sentence")
    goes_on = pl.col("aside") & ~named.fill_null(False) & before.fill_null(False)
    person = pl.col("text").str.extract(expanded("(?i)({rel}|{rel_en})"))
    who = pl.when(named.fill_null(False)).then(person).forward_fill().over("row", "sentence")
    apart = pl.col("kind").is_in(_APART) & ~pl.col("pointing")
    told = pl.when(pl.col("about_self") | apart).then("kind")
    whole = pl.col("kind").is_in(_WHOLE).any().over("row", "sentence")
    turns = ~whole & (told != told.shift(1).over("row", "sentence")).fill_null(False)
    return [
        (goes_on | turns).cast(pl.Int64).cum_sum().over("row", "sentence").alias("part"),
        pl.when(goes_on).then(who).alias("who"),
        pl.when(goes_on).then(pl.lit("fact")).otherwise("kind").alias("kind"),
        pl.when(goes_on).then(pl.lit("aside")).otherwise("cue").alias("cue"),
    ]


def _about() -> pl.Expr:
    """The clause, with a person instead of the pronoun that stands for one."""
    zh = pl.format("我的{}{}", "who", pl.col("raw").str.replace("^(?:他|她)们?", ""))
    en = pl.format("my {} {}", "who", pl.col("raw").str.replace(r"(?i)^(?:he|she|they)\s*", ""))
    named = pl.when("chinese").then(zh).otherwise(en.str.replace(" 's ", "'s "))
    return pl.when(pl.col("who").is_not_null()).then(named).otherwise("raw")


def _joined(told: pl.DataFrame) -> pl.DataFrame:
    rank = pl.col("kind").replace_strict(_RANK, default=99, return_dtype=pl.Int64)
    rank = pl.when(pl.col("cue") == "health").then(_RANK["project_state"]).otherwise(rank)
    told = told.with_columns(rank=rank).sort("row", "sentence", "part", "nth")
    best, shown = pl.col("rank").arg_min(), pl.col("shown")
    made = told.group_by(_SAYS, maintain_order=True).agg(
        pl.col("kind").get(best),
        pl.col("cue").get(best),
        wish=pl.col("wish").get(best),
        chinese=pl.col("chinese").first(),
        zh=shown.str.join("，"),
        en=shown.str.join(", "),
        start=pl.col("start").min(),
        end=pl.col("end").max(),
    )
    text = (
        pl.when("chinese")
        .then("zh")
        .otherwise(pl.col("en").str.replace_all(", The user", ", the user", literal=True))
    )
    begun = text.str.contains("^(?:用户|The user)")
    wished = (
        pl.when("chinese")
        .then(pl.format("用户希望：{}", text))
        .otherwise(pl.format("The user wants this: {}", text))
    )
    wish = pl.col("wish") & (pl.col("kind") == "preference") & ~begun
    return made.select(
        "row",
        "kind",
        text=pl.when(wish).then(wished).otherwise(text),
        confidence=pl.col("cue").replace_strict(_CONFIDENCE, default=0.8, return_dtype=pl.Float64),
        start="start",
        end="end",
        cue="cue",
    )


def _none() -> pl.DataFrame:
    return pl.DataFrame(
        schema={
            "row": pl.UInt32,
            "kind": pl.String,
            "text": pl.String,
            "confidence": pl.Float64,
            "start": pl.Int64,
            "end": pl.Int64,
            "cue": pl.String,
        }
    )
