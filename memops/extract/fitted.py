"""Fitted: what the letters, the words and the form of a text say of it, weighed by fitted numbers.

Two linear models over the same features, one of what becomes of a text (extract, keep, tombstone),
one of the kind of fact that it tells, and one over what they say of a note and of its sentences,
which decides what becomes of it. Their weights stand in `data/lexicons/extract_fitted.toml`,
eight bits each; `tests/bench/fit_notes.py` makes them. Letters are hashed n-grams of one to three
characters, words those of one and two, weighed once more where they open or end a text, and what
words mean, the concepts of the vocabulary, is one in every language. A quotation is read as one
mark: what stands around it says what it is for. A text costs what its length costs. Where the
policy names an encoder for which weights are known (`data/lexicons/extract_encoders.toml`), its
vectors are weighed beside them.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from xxhash import xxh3_64_intdigest

from memops.context import Models
from memops.language.lexicon import lexicon
from memops.language.packed import unpacked
from memops.language.text import wordlist
from memops.language.vocabulary import meaning, words
from memops.progress import tracked

Numbers = npt.NDArray[np.float32]
Codes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Model = tuple[tuple[str, ...], Numbers, Numbers]
"""Classes, weights (a column a class) and biases."""
LETTERS, WORDS = 15, 16  # bits of the places of hashed letters and words
LONGEST_GRAM, LONGEST_PHRASE = 3, 2
_POWERS = np.cumprod(np.full(64, 0x100000001B3, np.uint64))  # of a place within a word
_CONCEPTS = 1 << 13  # places of hashed concepts
_READ = 2000  # characters of a text that tell what it is
_AT_ONCE, _CACHED = 20_000, 4000  # texts; those whose letters a processor's cache holds
_WORD, _PLACE, _FORM = 2.2, 1.5, 0.2  # weights beside letters of unit length
_OPENING, _ENDING = 5, 7  # words, and a mark, that say by their place how a text is meant
_FORMS = (
    r"\?\s*$", r"\?", r"(?:\.\.\.|…)\s*$", r'["「『]', ":", "=", r"\n", r"[–—-] ", "[0-9]",
    r"(?:^|[^A-Za-z0-9])[0-9]{4,8}(?:[^0-9]|$)", "[a-z,;] [A-Z][a-z]", "^[A-Z][a-z]+ [A-Z][a-z]",
    r"(?m)^\w{1,16}: ", r"^[^\p{L}\p{N}]+$", r"(?i)\b(?:i|my|me|we|our)\b|我", r"[\[【<>]", r"[|\t]",
    ",.*,.*,", "[.。].*[.。]", r"\p{Extended_Pictographic}", "^[a-z]",
    r"(?i)\b(?:he|she|they|him|her|his|their)\b|[他她]", r"(?i)[0-9]+ ?(?:am|pm|:[0-9]{2}|点|月|日|号)",
    "[A-Za-z][0-9]|[0-9][A-Za-z]", r"(?i)^(?:i|my|we|our)\b|^我", r"(?i)\b(?:you|your)\b|[你您]",
)  # fmt: skip
_VALUES = (
    r"(?i)\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|周[一二三四五六日末天]|星期", "@", "%|折",
    r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|[0-9一二三四五六七八九十]月",
    r"(?i)[0-9]:[0-9]{2}|[0-9] ?[ap]m\b|[0-9一二三四五六七八九十两]点", r"\bv?[0-9]+\.[0-9]",
    r"[0-9]{5}|[0-9]{3}[ -][0-9]{3}", r"(?:[0-9]+\.){3}[0-9]", r"://|/\w+/", r"\b[A-Z]{1,5}-?[0-9]",
    r"(?i)[£$€¥]|[0-9] ?(?:元|块|万|k\b|usd|eur|gbp)", "[A-Z][a-z]", "^[A-Z][a-z]+ (?:is|was)|^[A-Z][a-z]+'s",
    r"(?i)[0-9] ?(?:kg|g|ml|cm|mm|m|km|min|h|l|度|公斤|克|斤|米|分钟|小时|天|(?:day|week|hour|month|year)s?)\b",
    r"(?i)\b(?:every|each|always|never|must|only|don't|do not|no)\b|每|必须|一律|不要|别|不准|只能|先.*再",
    r"(?i)\b(?:is|are|was|were|am)\b", r"(?i)[a-z]ed\b", r"(?i)\b(?:will|going to|due|by)\b", "=|→|->",
    r"(?i)\b(?:so|because|since|after|when|if|until|unless|before)\b|因为|所以|结果|之后|以后|如果|除非|之前",
)  # fmt: skip
"""What a text names: days, times, numbers by their shape, amounts; and how it is put."""
_SIZES = (5, 8, 12, 18, 26, 40, 60, 90, 140)
WIDTH = (
    (1 << LETTERS) + (1 << WORDS) + _CONCEPTS + 3 * (len(_FORMS) + len(_VALUES) + 1 + len(_SIZES))
)
"""Features of a text, without a vector."""
_SHORT = 5  # which of these makes a Chinese text short; an English one, the next
_FOLDS = (
    ("[“”「」『』]", '"'), ("[‘’]", "'"),
    # What stands around a quotation says what it is; a name in quotation marks is none.
    (r"""(^|[^\p{L}])'[^\n]{12,}?'([^\p{L}]|$)""", '${1}"${2}'),
    (r"""(?s)"[^"]{12,}"|"[^"]*\p{Han}[^"]{6,}\"""", '"'),
)  # fmt: skip


class Beside(NamedTuple):
    """An encoder, and the models that weigh its vectors, too."""

    encode: Callable[[list[str]], Numbers]
    models: Mapping[str, Model]


def beside(models: Models) -> Beside | None:
    """Return the encoder that the policy names, if there are weights for it, known by its digest."""
    recipe = models.recipes.get("encoder", {})
    tables = lexicon("extract_encoders").get(str(recipe.get("weights")))
    encode, first = models.encode, str(recipe.get("instruction", ""))
    if encode is None or tables is None:
        return None
    known = {name: loaded(table) for name, table in tables.items()}
    both = {name: joined(_model(name), known[name]) for name in ("verdict", "kind")}
    return Beside(lambda texts: encode([first + text for text in texts]), {**known, **both})


def joined(letters: Model, vectors: Model) -> Model:
    """Return the model that adds up what two say of features and of a vector behind them."""
    classes, weights, bias = letters
    whole = np.vstack([weights[:WIDTH], vectors[1], weights[WIDTH:]])
    return classes, whole, bias + vectors[2]


class Features:
    """Features of texts, each text's made once: what is a note may be its only sentence, too.

    With an encoder beside, its vectors stand behind them.
    """

    def __init__(self, beside: Beside | None = None) -> None:
        self._at: dict[str, int] = {}
        self._made: Any = None
        self._beside = beside

    def of(self, texts: pl.Series) -> Any:
        """Return a sparse row a text (`features`)."""
        from scipy import sparse

        asked = texts.to_list()
        new = [text for text in dict.fromkeys(asked) if text not in self._at]
        self._at.update(zip(new, range(len(self._at), len(self._at) + len(new)), strict=True))
        if new or self._made is None:
            made = self._new(new)
            before = [] if self._made is None else [self._made]
            self._made = sparse.vstack([*before, made], format="csr")
        return self._made[[self._at[text] for text in asked]]

    def weighed(self, model: str, shown: Any) -> pl.DataFrame:
        """Return the probability of each class of a model, a row a text."""
        known = self._beside.models if self._beside else {}
        return weighed(known.get(model) or _model(model), shown)

    def _new(self, texts: list[str]) -> Any:
        from scipy import sparse

        made = features(pl.Series(texts, dtype=pl.String))
        if self._beside is None:
            return made
        vectors = self._beside.encode(texts or [""])[: len(texts)]
        return sparse.hstack([made, sparse.csr_matrix(vectors)], format="csr")


def features(texts: pl.Series) -> Any:
    """Return a sparse row a text: letters, words, concepts, forms."""
    from scipy import sparse

    parts = [
        _features(texts[at : at + _AT_ONCE])
        for at in tracked("weighing notes", range(0, max(len(texts), 1), _AT_ONCE))
    ]
    return sparse.vstack(parts, format="csr")


def _features(texts: pl.Series) -> Any:
    from scipy import sparse

    folded = texts.fill_null("").str.head(_READ).str.normalize("NFKC")
    for pattern, new in _FOLDS:
        folded = folded.str.replace_all(pattern, new)
    form = sparse.csr_matrix(_forms(folded) * np.float32(_FORM))
    return sparse.hstack([*_hashed(folded), _concepts(folded), form], format="csr")


def scores(model: str, texts: pl.Series) -> pl.DataFrame:
    """Return the probability of each class of a model, a row a text."""
    return weighed(_model(model), features(texts))


def weighed(model: Model, shown: Any) -> pl.DataFrame:
    """Return the same of features that were made before."""
    classes, weights, bias = model
    told = shown @ weights + bias
    told = np.exp(told - told.max(axis=1, keepdims=True, initial=-np.inf))
    # Rounded, so that no machine's last bit moves a text over a threshold.
    shares = (told / told.sum(axis=1, keepdims=True)).astype(np.float64)
    return pl.DataFrame(np.round(shares, 4), schema=list(classes))


@cache
def _model(name: str) -> Model:
    return loaded(lexicon("extract_fitted")[name])


def loaded(table: dict[str, Any]) -> Model:
    """Return classes, weights and biases of a model as it is stored."""
    small = np.frombuffer(unpacked(table["weights"]), np.int8)
    weights = small.reshape(-1, len(table["classes"])) * np.array(table["scale"], np.float32)
    return tuple(table["classes"]), weights.astype(np.float32), np.array(table["bias"], np.float32)


def _forms(texts: pl.Series) -> Numbers:
    text = pl.col("text")
    size = text.str.len_chars()
    patterns = [form.replace(r"\b", r"(?-u:\b)") for form in (*_FORMS, *_VALUES, r"\p{Han}")]
    said = pl.DataFrame({"text": texts}).select(
        *(text.str.contains(pattern).alias(f"form {n}") for n, pattern in enumerate(patterns)),
        *((size < most).alias(f"shorter than {most}") for most in _SIZES),
    )
    found = said.to_numpy().astype(np.float32)
    # A form may mean another thing in Chinese, and in a short text.
    han = found[:, [len(patterns) - 1]]
    short = np.where(han, found[:, [-len(_SIZES) + _SHORT]], found[:, [-len(_SIZES) + _SHORT + 1]])
    return np.hstack([found, found * han, found * short])


def _hashed(texts: pl.Series) -> Any:
    """Hashed n-grams of letters, each row of unit length, and of words, each of another."""
    from scipy import sparse

    parts = [_grammed(texts[at : at + _CACHED]) for at in range(0, max(len(texts), 1), _CACHED)]
    return [sparse.vstack(grams, format="csr") for grams in zip(*parts, strict=True)]


def _grammed(texts: pl.Series) -> Any:
    # How a text ends, a full stop or an exclamation mark, is a habit of its writer.
    bare = texts.str.to_lowercase().str.replace(r"[\s.。!~]+$", "")
    plain = bare.str.replace_all(r"\p{Nd}", "0").str.replace_all(r"\s+", " ")
    marked = "\x02" + plain + "\x03"
    rows = np.repeat(np.arange(len(marked)), marked.str.len_chars().to_numpy())
    codes = np.frombuffer("".join(marked).encode("utf-32-le"), np.uint32).astype(np.uint64)
    letters = _grams(codes, rows, LONGEST_GRAM, len(texts), LETTERS)
    return letters, sum(
        _grams(said, of, LONGEST_PHRASE, len(texts), WORDS) * np.float32(weight)
        for said, of, weight in _placed(*_words(codes, rows))
    )


def _concepts(texts: pl.Series) -> Any:
    """The concepts and classes of the words of each text, hashed: one in every language."""
    from scipy import sparse

    low = pl.col("text").str.to_lowercase()
    spaced = low.str.extract_all(r"[a-z]+(?:'[a-z]+)?")
    said = pl.DataFrame({"text": texts}).with_row_index("row").select(
        "row", word=pl.concat_list(spaced, low.str.extract_many(wordlist(_unspaced()), leftmost=True))
    )  # fmt: skip
    said = said.explode("word", empty_as_null=True).drop_nulls("word").unique()
    named = [(word, at) for word in said["word"].unique().to_list() for at in _named(word)]
    known = pl.DataFrame(named, {"word": pl.String, "at": pl.Int64}, orient="row")
    told = said.join(known, on="word").unique(["row", "at"])
    place = told["row"].to_numpy(), told["at"].to_numpy()
    weight = np.full(told.height, _FORM, np.float32)
    return sparse.csr_matrix((weight, place), (len(texts), _CONCEPTS))


@lru_cache(1 << 16)
def _named(word: str) -> tuple[int, ...]:
    """The hashed concepts and classes of a word."""
    return tuple(xxh3_64_intdigest(name.encode()) % _CONCEPTS for name in meaning(word) or ())


@cache
def _unspaced() -> list[str]:
    """The words of the vocabulary that stand in texts without spaces."""
    return sorted(word for word in words() if re.match(r"[\u4e00-\u9fff]", word))


def _words(codes: Codes, rows: Places) -> tuple[Codes, Places]:
    """Return a number for each word and the row of each: runs of letters, and any other sign alone."""
    signs = (codes < 128) & (codes != 0x27) & (codes != 0x30) & ~((codes > 0x60) & (codes < 0x7B))
    wide = ((codes >= 0x2000) & (codes < 0x2070)) | (codes >= 0x2E80)
    alone = signs | wide
    opens = alone.copy()
    opens[1:] |= alone[:-1] | (rows[1:] != rows[:-1])
    opens[:1] = True
    starts = np.flatnonzero(opens)
    within = np.arange(len(codes)) - starts[np.cumsum(opens) - 1]
    mixed = (codes + np.uint64(1)) * _POWERS[within % len(_POWERS)]
    mixed ^= mixed >> np.uint64(31)
    told = np.add.reduceat(mixed, starts) if len(starts) else mixed
    seen = codes[starts] != 0x20
    return told[seen], rows[starts][seen]


def _placed(words: Codes, rows: Places) -> tuple[tuple[Codes, Places, float], ...]:
    """The words of texts, and once more those that open and those that end each, with weights."""
    at = np.arange(len(rows))
    opens = at - np.searchsorted(rows, rows) < _OPENING
    ends = np.searchsorted(rows, rows, "right") - at <= _ENDING
    first, last = np.uint64(1), np.uint64(2)
    return (
        (words, rows, _WORD),
        (words[opens] + first, rows[opens], _PLACE),
        (words[ends] + last, rows[ends], _PLACE),
    )


def _grams(codes: Codes, rows: Places, longest: int, texts: int, bits: int) -> Any:
    """Counts of hashed n-grams, damped by their logarithm, each row of unit length."""
    from scipy import sparse

    cells = []
    for n in range(1, longest + 1):
        last = len(codes) - n + 1
        if last <= 0:
            continue
        whole = rows[:last] == rows[n - 1 :]
        mixed = np.full(last, n, np.uint64)
        for k in range(n):
            mixed = (mixed ^ codes[k : last + k]) * np.uint64(0x100000001B3)
            mixed ^= mixed >> np.uint64(29)
        bucket = (mixed * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
        cells.append((rows[:last][whole], bucket[whole].astype(np.int32)))
    at = np.concatenate([np.zeros(0, np.int64), *(row for row, _ in cells)])
    bucket = np.concatenate([np.zeros(0, np.int32), *(column for _, column in cells)])
    counts = np.ones(len(at), np.float32)
    table = sparse.csr_matrix((counts, (at, bucket)), (texts, 1 << bits))
    table.data = 1 + np.log(table.data)
    length = np.sqrt(
        np.bincount(np.repeat(np.arange(texts), np.diff(table.indptr)), table.data**2, texts)
    )
    table.data /= np.repeat(length, np.diff(table.indptr)).astype(np.float32)
    return table
