"""Text: one normal form, one language test and one token table, shared by everything.

Tokens are NFKC and lower case: words of letters and digits; Han runs become overlapping bigrams
(a single Han character stands alone), because Chinese is written without spaces.
"""

from collections.abc import Iterable
from typing import Literal

import polars as pl

from memops.language.packs import scripted

_RUNS = r"\p{Han}+|[\p{L}\p{N}\p{M}&&\P{Han}]+"
_HAN = r"\p{Han}"
_CHANGED = "[^\x00-\x7f\u3001-\u3011\u4e00-\u9fff‘’“”—·]"
UNFOLDED = "[^\x00-\x7f\u3001-\u3011\u4e00-\u9fff‘’“”…—·！，．：；？（）～]"
"""Matches what folding may change, beside capitals."""
_FEW, _SHORT, _HEAD = 500, 10_000, 3


def folded(text: pl.Expr) -> pl.Expr:
    """Return text in NFKC and lower case (full width becomes half width)."""
    return in_form(text, "NFKC").str.to_lowercase()


_WIDE = {chr(0xFEE0 + n): chr(n) for n in range(0x21, 0x7F)} | {
    "。": ".", "、": ",", "‘": "'", "’": "'", "“": '"', "”": '"',
}  # fmt: skip


def in_form(text: pl.Expr, form: Literal["NFKC", "NFKD"]) -> pl.Expr:
    """Return text in a normal form; most texts hold nothing that either changes, and are left."""
    changed = pl.when(text.str.contains(_CHANGED)).then(text)
    return pl.coalesce(changed.str.normalize(form), text)


def spelling(text: pl.Expr) -> pl.Expr:
    """Return letters and digits alone: what texts of one form (`normalised`) share, sooner told."""
    return in_form(text, "NFKD").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")


def searchable(texts: pl.Series) -> pl.Series:
    """Return texts in which a folded word is found if one looks for ASCII whatever its case.

    Folds only those that hold more than ASCII, common Han and its punctuation: a tenth of the cost.
    """
    odd = texts.str.contains(UNFOLDED).fill_null(False)
    done = texts.filter(odd).to_frame("text").select(folded(pl.col("text"))).to_series()
    return texts.scatter(odd.arg_true(), done) if odd.any() else texts


def wordlist(words: Iterable[str]) -> pl.Series:
    """Return words as `contains_any` and `extract_many` look for them; an empty one is none.

    A bare list has no type when it is empty, and is refused; an empty word ends in a panic.
    """
    return pl.Series([[word for word in words if word]], dtype=pl.List(pl.String))


def sought(words: Iterable[str], texts: pl.Series) -> pl.Series:
    """Return as a `wordlist` those of words in small letters that may stand, whatever the case of ASCII, in texts.

    To make ready for thousands of words takes longer than to read a few texts, so few of them are.
    """
    if len(texts) > _FEW or sum(texts.str.len_bytes().drop_nulls()) > _SHORT:
        return wordlist(words)
    said = "\n".join(texts.drop_nulls()).encode().lower().decode()
    heads = {said[at : at + _HEAD] for at in range(len(said))}
    return wordlist(word for word in words if len(word) < _HEAD or word[:_HEAD] in heads)


def normalised(text: pl.Expr) -> pl.Expr:
    """Return the form under which two texts are exact duplicates.

    NFKC and case folded, Latin accents off; runs of anything that is neither letter nor digit
    become one space, or nothing beside a Han character; what is value inside or beside a number
    (sign, point, currency, per cent) stays.
    """
    kept = folded(_unaccented(text)).str.replace_all(r"([0-9])[,，]([0-9]{3})\b", "$1$2")
    spaced = kept.str.replace_all(r"(^|[^.])\.([0-9])", "$1\u0001$2")
    spaced = spaced.str.replace_all(r"(^|[^\p{L}\p{N}\s])[-−–]([0-9\u0001])", "$1\u0002$2")
    spaced = spaced.str.replace_all(r"(^|\s)[-−–]([0-9\u0001])", "$1\u0002$2")
    spaced = spaced.str.replace_all(r"[^\p{L}\p{N}\p{M}\u0001\u0002+#%$€£¥@/:]+", " ")
    spaced = spaced.str.replace_all(r"[/:@]+(\s|$)", " ").str.replace_all(r"\s+", " ")
    spaced = spaced.str.replace_all(r"(\p{Han}) ", "$1").str.replace_all(r" (\p{Han})", "$1")
    return spaced.str.strip_chars()


def wording(text: pl.Expr) -> pl.Expr:
    """Return a text as anybody writes it again: without emphasis, its own spacing, width and closing mark.

    Accents, signs and marks inside stay, since they tell values, names and code apart; so does a
    question mark. The first letter, which any sentence lifts, is small.
    """
    plain = text
    for pair in (r"\*\*", r"__", r"\*", r"_", "`"):
        plain = plain.str.replace_all(rf"(^|[^A-Za-z0-9]){pair}(\S(?:[^\n]*?\S)?){pair}", "$1$2")
    plain = plain.str.normalize("NFC").str.replace_many(list(_WIDE), list(_WIDE.values()))
    plain = plain.str.replace_all(r"\s+", " ").str.replace_all(r"(\p{Han}) | (\p{Han})", "$1$2")
    plain = plain.str.strip_chars().str.replace(r"[.!,;]+$", "").str.strip_chars()
    return plain.map_batches(_begun_small, pl.String)


def _begun_small(texts: pl.Series) -> pl.Series:
    return texts.str.head(1).str.to_lowercase() + texts.str.slice(1)


def _unaccented(text: pl.Expr) -> pl.Expr:
    return in_form(text, "NFKD").str.replace_all("[\u0300-\u036f]", "")


def language(text: pl.Expr) -> pl.Expr:
    """Return the language of the script that most letters are of, or mixed."""
    home, wide = (pl.lit(scripted(script)) for script in ("latin", "han"))
    han = text.str.count_matches(_HAN).cast(pl.Float64)
    latin = text.str.count_matches(r"[\p{L}&&\P{Han}]+").cast(pl.Float64)
    return (
        pl.when(han == 0).then(home)
        .when(latin == 0).then(wide)
        .when(latin > han).then(home)
        .when(han >= 2 * latin).then(wide)
        .otherwise(pl.lit("mixed"))
    )  # fmt: skip


def tokens(texts: pl.Series, unigrams: bool = False) -> pl.DataFrame:
    """Return the token table (row u32, nth u32, token) of a column of texts, in reading order.

    `row` is the position in the column. With `unigrams`, Han runs give their single characters
    beside the bigrams, as retrieval wants and duplicate detection does not.
    """
    runs = (
        texts.rename("text").to_frame().with_row_index("row")
        .select("row", run=folded(pl.col("text").fill_null("")).str.extract_all(_RUNS))
        .explode("run", empty_as_null=True).drop_nulls("run").with_row_index("at")
        .with_columns(
            size=pl.when(pl.col("run").str.contains(r"^\p{Han}")).then(pl.col("run").str.len_chars()).otherwise(0)
        )
    )  # fmt: skip
    words = runs.filter(pl.col("size") <= 1).select("row", "at", i=pl.lit(0, pl.Int64), token="run")
    han = runs.filter(pl.col("size") > 1)
    pairs = _grams(han, 2)
    parts = [words, pairs, _grams(han, 1)] if unigrams else [words, pairs]
    return (
        pl.concat(parts).sort("at", "i", "token")
        .select("row", nth=pl.int_range(pl.len(), dtype=pl.UInt32).over("row"), token="token")
    )  # fmt: skip


def _grams(han: pl.DataFrame, n: int) -> pl.DataFrame:
    return (
        han.with_columns(i=pl.int_ranges(0, pl.col("size").cast(pl.Int64) - (n - 1)))
        .explode("i")
        .select("row", "at", "i", token=pl.col("run").str.slice(pl.col("i"), n))
    )
