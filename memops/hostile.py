"""Hostile text: orders to a model that were stored as if they were memories.

Signals, as data in `data/lexicons/hostile.toml`, add up to a score: some phrases stand alone
("ignore all previous instructions"), most are everyday words until several meet. Text is read as
a model would read it: in NFKC, without invisible characters, tag characters spelled out, base64
decoded. Filters of this kind do not stop an attacker who knows them (arXiv 2605.08442 measured
88 % success against them), so what is found is quarantined for a person and what is not found
still meets the guard.
"""

from functools import cache

import polars as pl

from memops.lexicon import lexicon
from memops.policy import Hostile
from memops.text import folded

_DEFAULT = Hostile()
_HIDDEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_TAGS = "[\U000e0020-\U000e007e]"
_PASSAGE = 200
_BASE64 = r"[A-Za-z0-9+/]{24,}={0,2}"


def injected(texts: pl.Series, policy: Hostile = _DEFAULT) -> pl.Series:
    """Return, for each text, why it is hostile, or null."""
    frame = texts.rename("raw").cast(pl.String).to_frame().with_row_index("row")
    return _reasons(frame, policy).rename(texts.name)


def _reasons(frame: pl.DataFrame, policy: Hostile) -> pl.Series:
    given = frame.filter(pl.col("raw").is_not_null())
    plain = pl.col("raw").str.contains(r"^[\x00-\x7f]*$")  # nothing to fold but case
    read = pl.concat(
        [
            given.filter(plain).with_columns(text=pl.col("raw").str.to_lowercase()),
            given.filter(~plain).with_columns(text=_readable(pl.col("raw"))),
        ]
    )
    scored = pl.concat([_scored(_passages(read.select("row", "text"))), *_smuggled(read)])
    worst = (
        scored.filter(pl.col("score") >= policy.threshold)
        .sort("score", descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select("row", "why")
    )
    banners = _banners(read, policy.repeats)
    found = pl.concat([worst, banners]).unique("row", keep="first", maintain_order=True)
    return frame.select("row").join(found, on="row", how="left", maintain_order="left")["why"]


def _readable(text: pl.Expr) -> pl.Expr:
    """The text as a model reads it: NFKC, lower case, invisible characters gone."""
    bare = text.str.replace_all(_HIDDEN, "")
    return folded(bare)


def _passages(read: pl.DataFrame) -> pl.DataFrame:
    """Long texts in overlapping passages, so that words a page apart do not add up."""
    short = pl.col("text").str.len_bytes() <= 2 * _PASSAGE
    halves = (
        read.filter(~short)
        .with_columns(pl.col("text").str.extract_all(rf"(?s).{{1,{_PASSAGE}}}"))
        .explode("text")
        .with_columns(then=pl.col("text").shift(-1).over("row"))
        .with_columns(pl.col("text") + pl.col("then").fill_null(""))
        .select(read.columns)
    )
    return pl.concat([read.filter(short), halves])


def _scored(read: pl.DataFrame) -> pl.DataFrame:
    """Score and heaviest signal of each text: row, score, why."""
    if read.is_empty():
        return pl.DataFrame(schema={"row": pl.UInt32(), "score": pl.Float64(), "why": pl.String()})
    words = _signals()
    points = [
        pl.col("text").str.contains("|".join(f"(?:{p})" for p in patterns)).alias(name)
        for name, _, _, patterns in words
    ]
    whole = pl.col("text").str.replace_all(r"([a-z0-9])\.([a-z0-9])", "$1·$2")
    hits = read.lazy().with_columns(whole).with_columns(points).collect()
    score = pl.sum_horizontal(
        pl.col(name).cast(pl.Float64) * weight for name, weight, _, _ in words
    )
    heaviest = sorted((w for w in words if w[1] > 0), key=lambda w: -w[1])
    why = pl.coalesce(pl.when(pl.col(name)).then(pl.lit(said)) for name, _, said, _ in heaviest)
    return hits.select("row", score=score, why=why)


@cache
def _signals() -> tuple[tuple[str, float, str, tuple[str, ...]], ...]:
    words = lexicon("hostile")
    parts = words["parts"]

    def whole(pattern: str) -> str:
        for name, part in parts.items():
            pattern = pattern.replace(f"%{name}%", part)
        return pattern.replace(r"\b", r"(?-u:\b)")

    signals = [
        (entry["name"], float(entry["weight"]), entry["why"], tuple(map(whole, entry["patterns"])))
        for entry in words["signal"]
    ]
    excuses = [
        (f"excuse {nth}", -float(entry["weight"]), "", tuple(map(whole, entry["patterns"])))
        for nth, entry in enumerate(words["excuse"])
    ]
    return (*signals, *excuses)


def _smuggled(read: pl.DataFrame) -> list[pl.DataFrame]:
    """Scores of what tag characters spell and of what base64 hides, each worth a hostile text."""
    flags = "\U0001f3f4[\U000e0020-\U000e007f]+"  # England, Scotland and Wales are written in tags
    tags = read.with_columns(text=pl.col("raw").str.replace_all(flags, "")).filter(
        pl.col("text").str.contains(f"{_TAGS}{{4,}}")
    )
    spelled = tags.select(
        "row", score=pl.lit(9.0), why=pl.lit("hides text in invisible characters")
    )
    coded = (
        read.filter(pl.col("raw").str.contains(_BASE64))
        .select("row", text=pl.col("raw").str.extract_all(_BASE64))
        .explode("text", empty_as_null=True)
        .with_columns(pl.col("text").str.strip_chars_end("="))
        .with_columns(pl.col("text").str.head(pl.col("text").str.len_bytes() // 4 * 4))
        .with_columns(
            pl.col("text").str.decode("base64", strict=False).map_batches(_utf8, pl.String)
        )
        .with_columns(_readable(pl.col("text")))
        .filter(pl.col("text").str.contains(r"^[\P{C}\n\r\t]+$"))
    )
    hidden = _scored(coded).with_columns(
        score=pl.col("score") + 1, why=pl.lit("hides orders in base64")
    )
    return [spelled, hidden]


def _utf8(coded: pl.Series) -> pl.Series:
    def text(raw: bytes | None) -> str | None:
        try:
            return raw.decode() if raw else None
        except UnicodeDecodeError:
            return None

    return pl.Series([text(raw) for raw in coded.to_list()], dtype=pl.String)


def _banners(read: pl.DataFrame, repeats: int) -> pl.DataFrame:
    """Known openings of internal prompts, and long prompts that a store holds over and over."""
    words = lexicon("hostile")["banners"]
    start = pl.col("text").str.strip_chars_start()
    known = start.str.contains(rf"^(?:{'|'.join(words['starts'])})")
    opening = start.str.head(60)
    again = (
        (pl.len().over(opening) >= repeats)
        & (start.str.len_chars() >= 40)
        & start.str.contains(words["prompts"])
    )
    return read.filter(known | again).select("row", why=pl.lit(words["why"]))
