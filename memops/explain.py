"""Explanations: what two statements share, where they differ, and what follows from it."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from memops.conflicts import features
from memops.judgement import newer
from memops.reading import Reading, read
from memops.scorer import scores

_SENTENCES = {
    "value": "both speak of {about}; one says {a}, the other {b}",
    "replaced": "one says that it replaces what the other says of {about}: {a} / {b}",
    "changed": "one says that {about} changed: {a} / {b}",
    "opposite": "they say opposites of {about}",
    "denied": "one denies what the other says of {about}",
    "excluded": "what they say excludes each other",
}
_SHOWN = ("owner", "attributes", "circumstances", "values", "open", "was", "becomes")
_SIGNALS = (
    "jaccard",
    "atoms",
    "weighted",
    "overlap",
    "odd",
    "values_differ",
    "opposed",
    "was_a",
    "was_b",
)


def explain(a: str, b: str) -> dict[str, Any]:
    """Return what is read in each text, the signals, the scores, the judgement and a sentence."""
    return explained([(a, b)])[0]


def explained(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return for each pair what `explain` does, all read at once."""
    if not pairs:
        return []
    rows = features([{"a": a, "b": b} for a, b in pairs]).with_columns(newer=newer())
    judged = pl.concat([rows, scores(rows)], how="horizontal")
    return [
        _told(row, read(a), read(b))
        for row, (a, b) in zip(judged.iter_rows(named=True), pairs, strict=True)
    ]


def _told(judged: dict[str, Any], one: Reading, two: Reading) -> dict[str, Any]:
    return {
        "a": _seen(one),
        "b": _seen(two),
        "signals": {name: round(float(judged[name]), 4) for name in _SIGNALS},
        **{name: judged[name] for name in ("duplicate_score", "conflict_score")},
        "same": judged["same"],
        "opposes": judged["opposes"],
        "holds_now": {"a": judged["firm_a"], "b": judged["firm_b"]},
        "newer": judged["newer"],
        "sentence": _sentence(judged, one, two),
    }


def _seen(reading: Reading) -> dict[str, list[str]]:
    sets = {name: sorted(_plain(item) for item in reading.sets[name]) for name in _SHOWN}
    marks = sorted(name for name in _MARKED if reading.marks[name])
    return {name: items for name, items in sets.items() if items} | (
        {"cues": marks} if marks else {}
    )


_MARKED = (
    "negations",
    "shift_strong",
    "past_strong",
    "hypothetical",
    "quoted",
    "todo",
    "question",
    "event",
)


def _sentence(judged: dict[str, Any], one: Reading, two: Reading) -> str:
    about = (
        ", ".join(sorted(_plain(i) for i in one.sets["about"] & two.sets["about"])) or "one thing"
    )
    if judged["same"]:
        return f"both say the same of {about}"
    if judged["opposes"] is None:
        return "neither the same nor in conflict, as far as their words tell"
    left, right = (
        one.sets["current"] - two.sets["current"],
        two.sets["current"] - one.sets["current"],
    )
    told = {
        side: ", ".join(sorted(map(_plain, only))) or "something else"
        for side, only in (("a", left), ("b", right))
    }
    return _SENTENCES[judged["opposes"]].format(about=about, **told)


def _plain(item: str) -> str:
    return item.split("=", 1)[-1].removeprefix("w:").removeprefix("h:").replace("_", " ")
