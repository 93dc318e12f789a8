"""Explanations: what two statements share, where they differ, and what follows from it."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from memops.judge.conflicts import features
from memops.judge.decision import likely
from memops.language.vocabulary import CONTENT
from memops.reasons import Reason, named, reason
from memops.statements.reading import Reading, read_many
from memops.verdicts import CONFLICT, PART, SAME

_SHOWN = ("owner", "attributes", "circumstances", "values", "open", "left")
_LIKELY = {
    SAME: "pair.likely_same",
    PART: "pair.likely_part",
    CONFLICT: "pair.likely_conflict",
}
_SIGNALS = ("contained", "weighted", "overlap", "sign_differs", "values_differ", "opposites")


def explain(a: str, b: str) -> dict[str, Any]:
    """Return what is read in each text, the signals, the scores, the judgement and a sentence."""
    return explained([(a, b)])[0]


def explained(
    pairs: Sequence[tuple[str, str]], said_on: Sequence[tuple[str | None, str | None]] = ()
) -> list[dict[str, Any]]:
    """Return for each pair what `explain` does, all read at once.

    `said_on` gives for each pair the days or months on which its texts were said, for `change`.
    """
    if not pairs:
        return []
    rows = features([{"a": a, "b": b} for a, b in pairs])
    judged = pl.concat([rows, likely(rows)], how="horizontal")
    times = said_on or [(None, None)] * len(pairs)
    read = read_many([text for pair in pairs for text in pair])
    sides = zip(judged.iter_rows(named=True), read[::2], read[1::2], times, strict=True)
    return [_told(row, one, two, on) for row, one, two, on in sides]


def _told(
    judged: dict[str, Any], one: Reading, two: Reading, on: tuple[str | None, str | None]
) -> dict[str, Any]:
    why = _because(judged, one, two)
    return {
        "a": _seen(one),
        "b": _seen(two),
        "signals": {name: round(float(judged[name]), 4) for name in _SIGNALS},
        **{name: judged[name] for name in ("duplicate_score", "conflict_score")},
        "same": judged["same"],
        "opposes": judged["opposes"],
        "likely": _probably(judged),
        "chances": {name: judged[f"chance_{name}"] for name in _LIKELY},
        "holds_now": {"a": judged["firm_a"], "b": judged["firm_b"]},
        "newer": judged["newer"],
        "sentence": why["reason"],
        "because": why,
        "change": _change(judged, one, two, on),
    }


def _seen(reading: Reading) -> dict[str, list[str]]:
    sets = {name: sorted(_plain(item) for item in reading.sets[name]) for name in _SHOWN}
    marks = sorted(name for name in _MARKED if reading.marks[name])
    return {name: items for name, items in sets.items() if items} | (
        {"cues": marks} if marks else {}
    )


_MARKED = (
    "negations",
    "change",
    "past_strong",
    "hypothetical",
    "quoted",
    "todo",
    "question",
    "event",
)


def _because(judged: dict[str, Any], one: Reading, two: Reading) -> Reason:
    """Whether they are the same or in conflict, of what, and what each says."""
    about = ", ".join(sorted(_plain(i) for i in one.sets["about"] & two.sets["about"]))
    of = {"about": about or "one thing"}
    if judged["same"]:
        return reason("pair.same", of)
    if judged["opposes"] is None:
        likely = _probably(judged)
        return reason(_LIKELY[likely] if likely else "pair.apart")
    only = [
        ", ".join(map(_plain, sorted(_held(x) - _held(y)))) or "something else"
        for x, y in ((one, two), (two, one))
    ]
    code = f"pair.{judged['opposes']}"
    args = of | dict(zip("ab", only, strict=True))
    return reason(code, {name: args[name] for name in named(code)})


def _probably(judged: dict[str, Any]) -> str | None:
    """What weights find of a pair of which the rules say nothing."""
    return next((name for name in _LIKELY if judged[f"likely_{name}"]), None)


def _change(
    judged: dict[str, Any], one: Reading, two: Reading, on: tuple[str | None, str | None]
) -> str | None:
    """From what to what: "editor: helix (2026-03) -> zed (2026-09)", where the two conflict."""
    if judged["same"] or judged["opposes"] is None:
        return None
    sides = []
    for own, other, when in ((one, two, on[0]), (two, one, on[1])):
        only = (_held(own) - _held(other), own.sets["stated"] - other.sets["stated"])
        values = next(filter(None, only), frozenset())
        told = ", ".join(sorted(map(_plain, values))) or _said_of(own)
        sides.append(f"{told} ({when})" if when else told)
    about = ", ".join(sorted(_plain(i) for i in one.sets["about"] & two.sets["about"]))
    return f"{about or 'one thing'}: {sides[0]} -> {sides[1]}"


def _held(reading: Reading) -> frozenset[str]:
    """The values that a text gives, without what it says was."""
    return reading.sets["current"] - reading.sets["left"]


def _said_of(reading: Reading) -> str:
    """What stands for a value where only the sign differs: the words, denied or not."""
    words = " ".join(t.surface for t in reading.tokens if t.kind in CONTENT or t.kind == "negation")
    return f"“{words}”"


def _plain(item: str) -> str:
    return item.split("=", 1)[-1].removeprefix("w:").removeprefix("h:").replace("_", " ")
