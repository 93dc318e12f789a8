"""Hostile text: orders to a model that were stored as if they were memories.

Concepts, as data in `data/lexicons/hostile.toml`, add up to a score: a text speaks of a model's
instructions, of dropping them, of hiding that from somebody. Text is read as a model would read
it: in NFKC, without invisible characters, tag characters spelled out, spaced letters closed up,
base64 decoded. Filters of this kind do not stop an attacker who knows them (arXiv 2605.08442
measured 88 % success against them), so what is found is quarantined for a person and what is not
found still meets the guard.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import polars as pl

from memops.lexicon import lexicon
from memops.policy import Hostile
from memops.prefilter import possible
from memops.text import folded

_DEFAULT = Hostile()
_HIDDEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_TAGS = "[\U000e0020-\U000e007e]"
_PLAIN = r"^[\x00-\x7f\u4e00-\u9fff、。《》「」“”‘’…—]*$"  # what NFKC leaves as it is
_PASSAGE = 200
_BATCH = 16
_ALL = (1 << 64) - 1
_BASE64 = r"[A-Za-z0-9+/]{24,}={0,2}"
_MAIL = r"[a-z0-9._%+-]+@[a-z0-9.-]*[a-z0-9]"
_SPACED = r"(?-u:\b)[a-z0-9](?:[ ._*-][a-z0-9]){4,}(?-u:\b)"
_GAP = r"\]\{0,[1-9]\d"
_SCORE = {"row": pl.UInt32(), "score": pl.Float64(), "why": pl.String()}


@dataclass(frozen=True)
class Concept:
    """Something that hostile texts speak of; one without a reason speaks for a text."""

    name: str
    why: str
    weight: float
    patterns: tuple[str, ...]
    alone: bool

    @property
    def pattern(self) -> str:
        """All of its patterns as one; apart they are read faster."""
        return "|".join(self.patterns)


@dataclass(frozen=True)
class Frame:
    """Concepts that meet: of each group, as bits by the concepts' order, one is spoken of."""

    why: str
    weight: float
    groups: tuple[int, ...]


def injected(texts: pl.Series, policy: Hostile = _DEFAULT) -> pl.Series:
    """Return, for each text, why it is hostile, or null."""
    frame = texts.rename("raw").cast(pl.String).to_frame()
    once = (
        frame.filter(pl.col("raw").is_not_null()).group_by("raw", maintain_order=True).len("times")
    )
    read = _read(once.with_row_index("row"))
    scored = pl.concat([_scored(_passages(read), policy.threshold), _spelled(read)])
    worst = (
        scored.filter(pl.col("score") >= policy.threshold)
        .sort("score", descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select("row", "why")
    )
    banners = _banners(read, policy.repeats)
    found = pl.concat([worst, banners]).unique("row", keep="first", maintain_order=True)
    whys = read.select("row", "raw").join(found, on="row").select("raw", "why")
    return frame.join(whys, on="raw", how="left", maintain_order="left")["why"].rename(texts.name)


@cache
def concepts() -> tuple[Concept, ...]:
    """Return the lexicon's concepts, each with a few patterns for all of its words."""
    entries = lexicon("hostile")["concept"]
    return tuple(
        Concept(c["name"], c["why"], float(c["weight"]), _patterns(c), c.get("alone", False))
        for c in entries
    )


@cache
def frames() -> tuple[Frame, ...]:
    """Return the lexicon's frames."""
    bits = {concept.name: 1 << nth for nth, concept in enumerate(concepts())}
    return tuple(
        Frame(f["why"], float(f["weight"]), tuple(sum(bits[n] for n in group) for group in f["of"]))
        for f in lexicon("hostile")["frame"]
    )


def spoken(texts: pl.Series) -> pl.Series:
    """Return the concepts that each text speaks of, as bits by their order in `concepts`."""
    read = _read(texts.rename("raw").to_frame().with_row_index("row"))["text"]
    return _fitting(read, _possible(read), range(len(concepts())))


def met(frame: Frame, mask: pl.Expr) -> pl.Expr:
    """Return whether a frame holds of texts that speak of these concepts."""
    return pl.all_horizontal((mask & pl.lit(group, pl.UInt64)) > 0 for group in frame.groups)


def _patterns(entry: dict[str, list[str]]) -> tuple[str, ...]:
    """The words as patterns; those with a counted gap apart, since they make automata large."""
    words = {False: entry.get("en", []), True: [*entry.get("zh", []), *entry.get("re", [])]}
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for bare, parts in words.items():
        for part in parts:
            kinds.setdefault((bare, bool(re.search(_GAP, part))), []).append(part)
    joined = [
        ("|".join(f"(?:{part})" for part in parts), bare) for (bare, _), parts in kinds.items()
    ]
    made = (every if bare else rf"\b(?:{every})\b" for every, bare in joined)
    return tuple(one.replace(r"\b", r"(?-u:\b)") for one in made)


def _read(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `text`, as a model reads it: NFKC, lower case, invisible characters gone."""
    plain = pl.col("raw").str.contains(_PLAIN)
    bare = folded(pl.col("raw").str.replace_all(_HIDDEN, ""))
    read = pl.concat(
        [
            frame.filter(plain).with_columns(text=pl.col("raw").str.to_lowercase()),
            frame.filter(~plain).with_columns(text=bare),
        ]
    ).sort(frame.columns[0])
    mail = pl.col("text").str.replace_all(_MAIL, "x@x.x")  # its words say nothing
    return read.with_columns(
        pl.when(pl.col("text").str.contains("@", literal=True)).then(mail).otherwise("text")
    )


def _passages(read: pl.DataFrame) -> pl.DataFrame:
    """Long texts in overlapping passages, so that words a page apart do not add up."""
    short = pl.col("text").str.len_bytes() <= 2 * _PASSAGE
    text = pl.col("text")
    halves = (
        read.lazy().select("row", "text")
        .filter(~short)
        .with_columns(text.str.extract_all(rf"(?s).{{1,{_PASSAGE}}}"))
        .explode("text")
        .with_columns(next=text.shift(-1).over("row"), first=pl.col("row").is_first_distinct())
        .filter(pl.col("next").is_not_null() | pl.col("first"))
        .select("row", text=pl.concat_str("text", "next", ignore_nulls=True))
    )  # fmt: skip
    spaced = (
        read.lazy().select("row", "text")
        .filter(text.str.contains(_SPACED))
        .with_columns(text.str.replace_all(r"(?-u:\b)([a-z0-9])[ ._*-]", "$1"))
    )  # fmt: skip
    whole = read.lazy().select("row", "text").filter(short)
    shown = pl.concat(pl.collect_all([whole, halves, spaced]))
    return pl.concat(
        [
            shown.with_columns(coded=pl.lit(False)),
            _decoded(read).with_columns(coded=pl.lit(True)),
        ]
    )


def _decoded(read: pl.DataFrame) -> pl.DataFrame:
    """What base64 hides: row, text."""
    text = pl.col("text")
    return (
        read.filter(pl.col("raw").str.contains(_BASE64))
        .select("row", text=pl.col("raw").str.extract_all(_BASE64))
        .explode("text", empty_as_null=True)
        .with_columns(text.str.strip_chars_end("="))
        .with_columns(text.str.head(text.str.len_bytes() // 4 * 4))
        .with_columns(text.str.decode("base64", strict=False).map_batches(_utf8, pl.String))
        .with_columns(folded(text.str.replace_all(_HIDDEN, "")))
        .filter(text.str.contains(r"^[\P{C}\n\r\t]+$"))
    )


def _scored(passages: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Score and heaviest frame of each passage that reaches the threshold: row, score, why.

    The concepts that decide most are looked at first: few passages can still reach it without
    them. That an order is hidden in base64 is worth a point.
    """
    mask, hidden = pl.col("mask"), pl.col("coded").cast(pl.Float64)
    left = passages.with_columns(mask=_possible(passages["text"]))
    order = sorted(range(len(concepts())), key=_reach, reverse=True)
    for start in range(0, len(order), _BATCH):
        left = left.filter(_score(mask, only_for=True) + hidden >= threshold)
        checked = order[start : start + _BATCH]
        left = left.with_columns(mask=_fitting(left["text"], left["mask"], checked))
    sure = left.with_columns(score=_score(mask) + hidden).filter(pl.col("score") >= threshold)
    why = pl.when("coded").then(pl.lit("hides orders in base64")).otherwise(_why(mask))
    return sure.select("row", "score", why=why)


def _reach(nth: int) -> float:
    """How many points hang on a concept: its own, and its share of the frames that name it."""
    named = [(f, group) for f in frames() for group in f.groups if group >> nth & 1]
    shares = sum(frame.weight / group.bit_count() for frame, group in named)
    return max(concepts()[nth].weight, 0.0) + shares


def _score(mask: pl.Expr, only_for: bool = False) -> pl.Expr:
    """The points of texts by their concepts; the most they can be where those are only possible."""
    said = [
        ((mask & pl.lit(1 << nth, pl.UInt64)) > 0, concept.weight)
        for nth, concept in enumerate(concepts())
        if concept.weight > 0 or not only_for
    ]
    held = [(met(frame, mask), frame.weight) for frame in frames() if frame.weight > 0]
    whole = pl.sum_horizontal(fits.cast(pl.Float64) * weight for fits, weight in [*said, *held])
    return whole.round(6)  # the order in which threads add up shows in the last places


def _why(mask: pl.Expr) -> pl.Expr:
    """The reason: the heaviest frame that holds, else the heaviest concept spoken of."""
    held = sorted(frames(), key=lambda frame: -frame.weight)
    said = sorted(enumerate(concepts()), key=lambda known: -known[1].weight)
    return pl.coalesce(
        *(pl.when(met(f, mask)).then(pl.lit(f.why)) for f in held if f.weight > 0),
        *(
            pl.when((mask & pl.lit(1 << nth, pl.UInt64)) > 0).then(pl.lit(c.why))
            for nth, c in said
            if c.why
        ),
    )


def _possible(texts: pl.Series) -> pl.Series:
    """The concepts that each text may speak of; what speaks for a text is looked for at the end."""
    return possible(texts, [one.pattern if one.weight >= 0 else "" for one in concepts()])


def _fitting(texts: pl.Series, may: pl.Series, checked: Sequence[int]) -> pl.Series:
    """The concepts that each text may speak of, without those checked whose pattern does not fit."""
    frame = pl.DataFrame({"at": pl.arange(len(texts), eager=True), "text": texts, "mask": may})
    rest = _ALL - sum(1 << nth for nth in checked)
    hits = [frame.select("at", mask=pl.col("mask") & pl.lit(rest, pl.UInt64))]
    for nth in checked:
        bit = pl.lit(1 << nth, pl.UInt64)
        some = frame.filter((pl.col("mask") & bit) > 0)
        if some.height:
            fits = some.filter(
                pl.any_horizontal(
                    pl.col("text").str.contains(one) for one in concepts()[nth].patterns
                )
            )
            hits.append(fits.select("at", mask=bit))
    masks = pl.concat(hits).group_by("at").agg(pl.col("mask").sum())
    return frame.join(masks, on="at", how="left", maintain_order="left")["mask_right"]


def _spelled(read: pl.DataFrame) -> pl.DataFrame:
    """Scores of texts with words in tag characters, which no reader sees: row, score, why."""
    flags = "\U0001f3f4[\U000e0020-\U000e007f]+"  # England, Scotland and Wales are written in tags
    raw = pl.col("raw")
    tags = read.filter(raw.str.contains(f"{_TAGS}{{4}}")).filter(
        raw.str.replace_all(flags, "").str.contains(f"{_TAGS}{{4}}")
    )
    return tags.select("row", score=pl.lit(9.0), why=pl.lit("hides text in invisible characters"))


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
        (pl.col("times").sum().over(opening) >= repeats)
        & (start.str.len_chars() >= 40)
        & start.str.contains(words["prompts"])
    )
    return read.filter(known | again).select("row", why=pl.lit(words["why"]))
