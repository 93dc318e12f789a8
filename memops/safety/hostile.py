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
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from memops.language.keeping import thread_of
from memops.language.lexicon import lexicon
from memops.language.packs import codes, spaced
from memops.language.passages import pieces, read, spelled
from memops.language.prefilter import possible
from memops.policy.safety import Hostile
from memops.safety.looked import take_for_clean, unlooked

Masks = NDArray[np.uint64]
"""Concepts as bits, by their order in the lexicon, one number a text."""

_BANNERS = lexicon("hostile")["banners"]
SHAPED = ("hostile.invisible", "hostile.base64", _BANNERS["why"])
"""Reasons that lie in a text's shape, not in what its words add up to."""
WRAPPERS = "|".join(_BANNERS["wrappers"])
"""Tags that the agent's software puts around what it adds to a turn."""
_TAGS = rf"<(?:{WRAPPERS})>(?:\s*(?:\n|\z)|[^\n]*</(?:{WRAPPERS})>)"
_BLOCKS = "|".join([*_BANNERS["bracketed"], _TAGS])
_LINES = "|".join(_BANNERS["starts"])
_FOLLOWS = "|".join(_BANNERS["follows"])
PROMPTS = f"{_BLOCKS}|{_LINES}"
"""Openings of what the agent's software says, in lower case."""
_SENTENCES = [rf"{first}(?:\s+(?:{'|'.join(more)}))*" for first, *more in _BANNERS["whole"]]
_WHOLE = "|".join([*_SENTENCES, *_BANNERS["bracketed"]])
_STAMPS = r"(?im)^(?:current time:[^\n]*|\[message_id: [^\n]*\])$"
_ADDED = (
    rf"(?is)<(?:{WRAPPERS})>.*?</(?:{WRAPPERS})>\s*",
    r"(?s)\[Untrusted [^\]\n]*\]\nBEGIN_QUOTED_NOTES\n```text\n.*?\n```\nEND_QUOTED_NOTES\s*",
    rf"(?im)^(?:{_BLOCKS})[^\n]*(?:\n[^\n]+)*\s*",
    rf"(?im)^(?:{_LINES})[^\n]*(?:\n(?:{_FOLLOWS}|current time:|\[)[^\n]*)*\s*",
)
"""What the software adds to a turn: what its tags close in, notes that it quotes, paragraphs that
its marks in brackets begin, and lines that begin as its prompts do."""
_BEFORE = (
    *(f"<{tag}>[^<]*</{tag}>" for tag in _BANNERS["wrappers"]),
    r"\[Untrusted [^\]\n]*\]\r?\nBEGIN_QUOTED_NOTES\r?\n```text\r?\n(?:(?:[^`\n][^\n]*)?\n)*```\r?\nEND_QUOTED_NOTES",
    *(said for said, (_, *more) in zip(_SENTENCES, _BANNERS["whole"], strict=True) if more),
)
"""What the software puts before a message and is known to its last word: it escapes what it quotes
between tags, so that none stands there. One word alone is the agent's own answer."""
_MESSAGE = (
    r"(?:Conversation info|Sender) \(untrusted metadata\):"
    r"|\[(?:mon|tue|wed|thu|fri|sat|sun) \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,40}\]"
)
"""How a message begins that a channel brings: with its sender, or its day, time and zone."""
_ENVELOPE = (
    r"(?m)^(?:Conversation info|Sender) \(untrusted metadata\):\n```json\n(?:[^\n]*\n)*?```\s*"
)
"""What a channel tells of a message, in names, ids and times; a turn of nothing else has no words of its own."""
_DEFAULT = Hostile()
_BATCH = 16
_ALL = (1 << 64) - 1
_GAP = r"\]\{0,[1-9]\d"


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


def injected(texts: pl.Series, policy: Hostile = _DEFAULT, personas: bool = True) -> pl.Series:
    """Return, for each text, the reason's code of why it is hostile, or null.

    Without `personas`, that a text tells a model who it is makes it no prompt: owners write such.
    """
    frame = texts.rename("raw").cast(pl.String).to_frame()
    once = (
        frame.filter(pl.col("raw").is_not_null()).group_by("raw", maintain_order=True).len("times")
    )
    as_read = read(once.with_row_index("row"))
    invisible = spelled(as_read).with_columns(why=pl.lit("hostile.invisible"))
    new = as_read.filter(unlooked(as_read["raw"], policy))
    none = new.select("row", score=pl.lit(0.0), why=pl.lit("")).clear()
    scored = _scored(pieces(new), policy) if new.height else none
    take_for_clean(new.filter(~pl.col("row").is_in(scored["row"].implode()))["raw"], policy)
    worst = scored.sort("score", descending=True, maintain_order=True).select("row", "why")
    banners = _banners(as_read, policy.repeats, personas)  # what is known says more than a score
    found = pl.concat([invisible, banners, worst])
    first = found.unique("row", keep="first", maintain_order=True)
    whys = as_read.select("row", "raw").join(first, on="row").select("raw", "why")
    return frame.join(whys, on="raw", how="left", maintain_order="left")["why"].rename(texts.name)


def prompt_alone() -> pl.Expr:
    """Return whether a text is a prompt of the agent's software, from its first word to its last."""
    return _said().str.contains(rf"(?i)^(?:{_WHOLE})\z")


def prompt_again(repeats: int) -> pl.Expr:
    """Return whether a text has stood before, and stands so often as no person writes one.

    The first of them stays in any case: it tells what the others said.
    """
    said = _said()
    first = pl.col("id").sort_by("created_at").first().over(said)
    return (pl.len().over(said) >= repeats) & (pl.col("id") != first)


def _said() -> pl.Expr:
    """A text without what its channel and the clock add to it."""
    bare = pl.col("text").str.replace_all(_ENVELOPE, "").str.replace_all(_STAMPS, "")
    return bare.str.strip_chars()


def unwrapped() -> pl.Expr:
    """Return a text without what the agent's software put before the message that a channel brought."""
    before = rf"(?i)^\s*(?:(?:{'|'.join(_BEFORE)})[ \t]*\r?\n\s*)+({_MESSAGE})"
    return pl.col("text").str.replace(before, "$1")


def wordless() -> pl.Expr:
    """Return whether a text is nothing but what the software, or the channel of a message, added."""
    bare = pl.col("text")
    for added in (*_ADDED, _ENVELOPE):
        bare = bare.str.replace_all(added, "")
    return bare.str.strip_chars() == ""


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
    if texts.is_empty():
        return pl.Series(dtype=pl.UInt64)
    said = read(texts.rename("raw").to_frame().with_row_index("row"))["text"]
    return pl.Series(_fitting(said, _possible(said).to_numpy(), range(len(concepts()))))


def met(frame: Frame, masks: Masks) -> NDArray[np.bool_]:
    """Return whether a frame holds of texts that speak of these concepts."""
    held: NDArray[np.bool_] = np.all([masks & np.uint64(group) for group in frame.groups], axis=0)
    return held


def _patterns(entry: dict[str, list[str]]) -> tuple[str, ...]:
    """The words as patterns; those with a counted gap apart, since they make automata large."""
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for name in (*codes(), "re"):
        bare = name == "re" or not spaced(name)
        for part in entry.get(name, []):
            kinds.setdefault((bare, bool(re.search(_GAP, part))), []).append(part)
    joined = [
        ("|".join(f"(?:{part})" for part in parts), bare) for (bare, _), parts in kinds.items()
    ]
    made = (every if bare else rf"\b(?:{every})\b" for every, bare in joined)
    return tuple(one.replace(r"\b", r"(?-u:\b)") for one in made)


def _scored(pieces: pl.DataFrame, policy: Hostile) -> pl.DataFrame:
    """Score and heaviest frame of each passage that reaches its bar: row, score, why.

    The concepts that decide most are looked at first: few passages can still reach it without
    them. That an order is hidden in base64 is worth a point.
    """
    left, masks = pieces, _possible(pieces["text"]).to_numpy()
    order = sorted(range(len(concepts())), key=_reach, reverse=True)
    for start in range(0, len(order), _BATCH):
        left, masks = _hopeful(left, masks, policy)
        masks = _fitting(left["text"], masks, order[start : start + _BATCH])
    more, coded = left["more"].to_numpy(), left["coded"].to_numpy()
    both = _joined(masks, more)
    score = _score(both) + coded
    ends = np.roll(more, 1) & ~more  # the last piece belongs to the passage before
    sure = np.flatnonzero((score >= _bar(left, policy)) & ~ends)
    found = left[sure].select("row", "coded", score=score[sure], why=_why(both[sure]))
    hides = pl.lit("hostile.base64")
    return found.select("row", "score", why=pl.when("coded").then(hides).otherwise("why"))


def _bar(pieces: pl.DataFrame, policy: Hostile) -> NDArray[np.float64]:
    """The points that make a passage hostile: of many passages one looks so by chance."""
    bar: NDArray[np.float64] = policy.threshold + policy.longer * np.log2(pieces["of"].to_numpy())
    return bar


def _joined(masks: Masks, more: NDArray[np.bool_]) -> Masks:
    """What the passage that begins with each piece speaks of."""
    return np.where(more, masks | np.roll(masks, -1), masks)


def _hopeful(pieces: pl.DataFrame, masks: Masks, policy: Hostile) -> tuple[pl.DataFrame, Masks]:
    """The pieces, and their masks, of passages that may still reach their bar."""
    more = pieces["more"].to_numpy()
    most = _score(_joined(masks, more), only_for=True) + pieces["coded"].to_numpy()
    hope = most >= _bar(pieces, policy)
    kept = np.flatnonzero(hope | (np.roll(hope, 1) & np.roll(more, 1)))
    return pieces.with_columns(more=more & hope)[kept], masks[kept]


def _reach(nth: int) -> float:
    """How many points hang on a concept: its own, and its share of the frames that name it."""
    named = [(f, group) for f in frames() for group in f.groups if group >> nth & 1]
    shares = sum(frame.weight / group.bit_count() for frame, group in named)
    return max(concepts()[nth].weight, 0.0) + shares


def _score(masks: Masks, only_for: bool = False) -> NDArray[np.float64]:
    """The points of texts by their concepts; the most they can be where those are only possible."""
    points = np.zeros(len(masks))
    for nth, concept in enumerate(concepts()):
        if concept.weight > 0 or (concept.weight < 0 and not only_for):
            points[masks & np.uint64(1 << nth) > 0] += concept.weight
    for frame in frames():
        if frame.weight > 0:
            points[met(frame, masks)] += frame.weight
    return points.round(6)


def _why(masks: Masks) -> pl.Series:
    """The reason: a concept that needs no other, else the heaviest frame, else concept."""
    held = [(1, f.weight, f.why, met(f, masks)) for f in frames() if f.weight > 0]
    said = [
        (2 if c.alone else 0, c.weight, c.why, masks & np.uint64(1 << nth) > 0)
        for nth, c in enumerate(concepts())
        if c.why
    ]
    whys = np.full(len(masks), None, dtype=object)
    for *_, why, fits in sorted(said + held, key=lambda reason: reason[:2]):
        whys[fits] = why  # the weightiest is the last to write
    return pl.Series(whys, dtype=pl.String)


def _possible(texts: pl.Series) -> pl.Series:
    """The concepts that each text may speak of; what speaks for a text is looked for at the end."""
    return possible(texts, [one.pattern if one.weight >= 0 else "" for one in concepts()])


def _fitting(texts: pl.Series, may: Masks, checked: Sequence[int]) -> Masks:
    """The concepts that each text may speak of, without those checked whose pattern does not fit."""
    masks, asked = may.copy(), list[tuple[int, Any, list[Future[pl.Series]]]]()
    for nth in checked:
        at = np.flatnonzero(masks & np.uint64(1 << nth))
        if len(at):
            fits = (
                thread_of(p).submit(texts[at].str.contains, p) for p in concepts()[nth].patterns
            )
            asked.append((nth, at, [*fits]))
    for nth, at, told in asked:
        missed = ~reduce(or_, (fit.result() for fit in told)).fill_null(True)
        masks[at[missed.to_numpy()]] &= np.uint64(_ALL - (1 << nth))
    return masks


def _banners(texts: pl.DataFrame, repeats: int, personas: bool) -> pl.DataFrame:
    """Known openings of internal prompts, and long prompts that a store holds over and over."""
    start = pl.col("text").str.strip_chars_start()
    openings = "|".join([PROMPTS, *(_BANNERS["personas"] if personas else [])])
    known = start.str.contains(f"^(?:{openings})")
    opening = start.str.head(60)
    again = (
        (pl.col("times").sum().over(opening) >= repeats)
        & (start.str.len_chars() >= 40)
        & start.str.contains(_BANNERS["prompts"])
    )
    return texts.filter(known | again).select("row", why=pl.lit(_BANNERS["why"]))
