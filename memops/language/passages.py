"""Passages: texts as a model reads them, in pieces short enough that words in one belong together.

A model reads NFKC without invisible characters, closes up spaced letters and decodes base64. A
short text is one piece; a long one is cut where sentences end, and two pieces that follow each
other are one passage, so that words a page apart do not add up.
"""

import polars as pl

from memops.language.text import folded

SHORT = 400  # bytes of a text that is one passage
_PIECE = r"(?s).{80,200}?(?:[.!?;]\s+|[。！？；\n]+)|.{1,200}"
_ONE = pl.lit(1, pl.UInt32)
_HIDDEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_TAGS = "[\U000e0020-\U000e007e]"
_PLAIN = r"^[\x00-\x7f\u4e00-\u9fff、。《》「」“”‘’…—]*$"  # what NFKC leaves as it is
_BASE64 = r"[A-Za-z0-9+/]{24,}={0,2}"
_MAIL = r"[a-z0-9._%+-]+@[a-z0-9.-]*[a-z0-9]"
_SPACED = r"(?-u:\b)[a-z0-9](?:[ ._*-][a-z0-9]){4,}(?-u:\b)"


def read(frame: pl.DataFrame) -> pl.DataFrame:
    """Add to `raw` its `text`: NFKC, lower case, invisible characters gone; by the first column."""
    plain = pl.col("raw").str.contains(_PLAIN)
    bare = folded(pl.col("raw").str.replace_all(_HIDDEN, ""))
    texts = pl.concat(
        [
            frame.filter(plain).with_columns(text=pl.col("raw").str.to_lowercase()),
            frame.filter(~plain).with_columns(text=bare),
        ]
    ).sort(frame.columns[0])
    mail = pl.col("text").str.replace_all(_MAIL, "x@x.x")  # its words say nothing
    return texts.with_columns(
        pl.when(pl.col("text").str.contains("@", literal=True)).then(mail).otherwise("text")
    )


def pieces(texts: pl.DataFrame) -> pl.DataFrame:
    """Return what texts (row, raw, text) say and hide: row, text, coded (in base64), more, of.

    Where there is `more`, the piece and the next one are a passage; elsewhere it is one alone.
    `of` is how many passages the text has.
    """
    short, text = pl.col("text").str.len_bytes() <= SHORT, pl.col("text")
    cut = (
        texts.lazy().select("row", "text")
        .filter(~short)
        .with_columns(text.str.extract_all(_PIECE))
        .explode("text")
        .with_columns(
            more=(pl.col("row") == pl.col("row").shift(-1)).fill_null(False),
            of=(pl.len().over("row") - 1).clip(1),
        )
    )  # fmt: skip
    spaced = (
        texts.lazy().select("row", "text")
        .filter(text.str.contains(_SPACED))
        .with_columns(text.str.replace_all(r"(?-u:\b)([a-z0-9])[ ._*-]", "$1"), more=False, of=_ONE)
    )  # fmt: skip
    whole = texts.lazy().select("row", "text", more=False, of=_ONE).filter(short)
    shown = pl.concat(pl.collect_all([whole, cut, spaced], engine="in-memory"))
    hidden = _decoded(texts).with_columns(more=False, of=_ONE)
    return pl.concat([part.with_columns(coded=pl.lit(part is hidden)) for part in (shown, hidden)])


def spelled(texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of texts with words in tag characters, which no reader sees: row."""
    flags = "\U0001f3f4[\U000e0020-\U000e007f]+"  # England, Scotland and Wales are written in tags
    raw = pl.col("raw")
    tags = texts.filter(raw.str.contains(f"{_TAGS}{{4}}")).filter(
        raw.str.replace_all(flags, "").str.contains(f"{_TAGS}{{4}}")
    )
    return tags.select("row")


def _decoded(texts: pl.DataFrame) -> pl.DataFrame:
    """What base64 hides: row, text."""
    text = pl.col("text")
    return (
        texts.filter(pl.col("raw").str.contains(_BASE64))
        .select("row", text=pl.col("raw").str.extract_all(_BASE64))
        .explode("text", empty_as_null=True)
        .with_columns(text.str.strip_chars_end("="))
        .with_columns(text.str.head(text.str.len_bytes() // 4 * 4))
        .with_columns(text.str.decode("base64", strict=False).map_batches(_utf8, pl.String))
        .with_columns(folded(text.str.replace_all(_HIDDEN, "")))
        .filter(text.str.contains(r"^[\P{C}\n\r\t]+$"))
    )


def _utf8(coded: pl.Series) -> pl.Series:
    def text(raw: bytes | None) -> str | None:
        try:
            return raw.decode() if raw else None
        except UnicodeDecodeError:
            return None

    return pl.Series([text(raw) for raw in coded.to_list()], dtype=pl.String)
