"""Scores: how probable it is that two statements are duplicates, or in conflict.

Two small models in plain sight. Short statements are judged by what the reading finds in them, a
logistic regression over the features below, with a hand-set share of similarity, larger where
nothing differs. Long statements, of which the reading covers less, are judged more and
more by similarity; notes of many sentences by similarity alone, since a revised note differs in
some value and is a revision all the same. The coefficients stand in `data/lexicons/pair_scorer.toml`;
`tests/bench/fit_pairs.py` makes them.
"""

from functools import cache
from typing import Any

import polars as pl

from memops.judge.judgement import flipped, told_apart
from memops.language.lexicon import lexicon

c = pl.col
Table = dict[str, dict[str, Any]]
"""Coefficients as they stand in `pair_scorer.toml`."""
_SIMILAR = 0.5 * c("atoms") + 0.5 * c("weighted")
_COVERED = 0.7 * c("atoms") + 0.3 * c("weighted")
_HELD = (_SIMILAR * (0.5 * c("atoms_in") + 0.5 * c("overlap"))).sqrt()


def scores(differences: pl.DataFrame, fitted: Table | None = None) -> pl.DataFrame:
    """Return duplicate_score and conflict_score, probabilities, for rows of features.

    Expects the columns of `statements.readings.differences` and of `judgement`: same,
    opposes, firm_a, firm_b. `fitted` are coefficients in place of those that are shipped.
    """
    shown = fitted or _table()
    read = differences.with_columns(_unhurt=unhurt())
    features = read.select(**FEATURES)
    regime = read.select(
        long=share("long", shown),
        similarly=share("similarly", shown),
        note=share("note", shown),
        similar=_SIMILAR,
        covered=_COVERED,
        unhurt="_unhurt",
        told_apart=told_apart() | c("opposes").is_not_null(),
        odd="odd",
        overlap="overlap",
        held=_HELD,
    )
    table = pl.concat(
        [features.rename({n: f"f:{n}" for n in features.columns}), regime], how="horizontal"
    )
    return table.select(
        duplicate_score=_logistic(_duplicate(shown)), conflict_score=_logistic(_conflict(shown))
    )


def unhurt() -> pl.Expr:
    """True when nothing in the two speaks against their being the same: no value, sign or name."""
    return (
        (c("odd") == 0) & (c("values_differ") == 0) & (c("opposed") == 0) & (c("alone") == 0)
        & (c("was_a") + c("was_b") == 0) & (c("numbered_differ") == 0)
        & (c("owner_a") + c("owner_b") == 0) & c("opposes").is_null()
    )  # fmt: skip


def share(name: str, fitted: Table | None = None) -> pl.Expr:
    """From 0 to 1 between two lengths in words; a Chinese character is 2/3 of a word."""
    between = (fitted or _table())[name]
    words = c("atoms_max") / (1 + 0.5 * c("han"))
    low, high = float(between["from"]), float(between["to"])
    return ((words - low) / (high - low)).clip(0, 1)


def _features() -> dict[str, pl.Expr]:
    return _counted() | _agreed() | _together()


def _counted() -> dict[str, pl.Expr]:
    """Columns as they are, as a share of the longer statement's words, or as yes or no."""
    plain = (
        "jaccard", "letters", "weighted", "overlap", "atoms", "atoms_in", "contained", "length", "order",
        "ordered", "head_in", "odd", "turned", "all_some", "mixed", "han",
    )  # fmt: skip
    shares = ("things_both", "qualifiers_one", "names_both", "names_one", "values_one")
    flags = (
        "persons_both", "persons_one", "qualifiers_both", "values_differ", "slots_differ", "slots_same",
        "opposed", "alone", "numbered_differ", "kinds_apart", "hypothetical_one", "quoted_one",
        "past_strong_any", "shift_strong_one", "shift_one",
    )  # fmt: skip
    made = {name: c(name) for name in plain}
    made |= {name: c(name) / (c("size_max") + 1) for name in shares}
    return made | {name: c(name) > 0 for name in flags}


def _agreed() -> dict[str, pl.Expr]:
    """How far the two agree in what they are about, and what was judged of them."""
    least, size = pl.min_horizontal, c("size_max") + 1
    return {
        "about_both": least("about_a", "about_b") / size,
        "about_one": (c("about_a") - c("about_b")).abs() / size,
        "owner_both": least("owner_a", "owner_b") > 0,
        "owner_one": (c("owner_a") - c("owner_b")).abs() > 0,
        "current_both": least("current_a", "current_b") / size,
        "current_same": c("current_same").clip(0, 3),
        "anchors_same": c("anchors_same").clip(0, 3),
        "values_same": c("values_same").clip(0, 2),
        "was": (c("was_a") + c("was_b")) > 0,
        "swapped": c("swapped").clip(0, 2),
        "quantifier": (c("all_one") + c("none_one") + c("some_one") + c("only_one")).clip(0, 2),
        "modal": (c("must_one") + c("may_one")).clip(0, 1),
        "opposes": c("opposes").is_not_null() & c("firm_a") & c("firm_b"),
        "opposes_at_all": c("opposes").is_not_null(),
        "same": c("same"),
        "size": c("size_min").clip(0, 12),
    }


def _together() -> dict[str, pl.Expr]:
    """What speaks against their being the same, weighed by how much else they share."""
    deny = pl.max_horizontal(
        (c("negations_b") % 2) * (1 - c("wide_b") / (c("stated_b") + 0.01)),
        (c("negations_a") % 2) * (1 - c("wide_a") / (c("stated_a") + 0.01)),
    ) * c("odd")  # fmt: skip
    return {
        "odd_overlap": c("odd") * c("overlap"),
        "odd_atoms": c("odd") * c("atoms_in"),
        "turned_n": c("turned_n").clip(0, 4) * c("odd"),
        "flipped": flipped(),
        "denied": deny,
        "denied_weighted": deny * c("weighted"),
        "values_overlap": (c("values_differ") > 0) * c("overlap"),
        "shift_overlap": (c("shift_strong_one") > 0) * c("overlap"),
        "opposed_overlap": (c("opposed") > 0) * c("overlap"),
        "unhurt_similar": c("_unhurt") * _SIMILAR,
        "similar": _SIMILAR,
        "cover": pl.min_horizontal("contained", "length"),
    }


FEATURES = {name: value.cast(pl.Float64) for name, value in _features().items()}


@cache
def _table() -> Table:
    return lexicon("pair_scorer")


def _numbers(shown: Table, name: str) -> dict[str, float]:
    return {key: float(value) for key, value in shown[name].items() if key != "weights"}


def _linear(shown: Table, name: str) -> pl.Expr:
    fitted = shown[name]
    terms = [weight * c(f"f:{feature}") for feature, weight in fitted["weights"].items()]
    return pl.sum_horizontal(pl.lit(float(fitted["intercept"])), *terms)


def _duplicate(shown: Table) -> pl.Expr:
    hand = _numbers(shown, "duplicate")
    alike = hand["similar"] + hand["unhurt_similar"] * c("unhurt").cast(pl.Float64)
    short = _linear(shown, "duplicate") + alike * (c("similar") - hand["neutral"])
    hurt = hand["long_hurt"] * (~c("unhurt")).cast(pl.Float64) + hand["long_odd"] * c("odd")
    long = hand["long_similar"] * (c("covered") - hand["long_neutral"]) - hurt
    note = hand["long_similar"] * (c("held") - hand["note_neutral"])
    far = (1 - c("note")) * long + c("note") * note
    return (1 - c("similarly")) * short + c("similarly") * far


def _conflict(shown: Table) -> pl.Expr:
    hand = _numbers(shown, "conflict")
    alike = hand["long_overlap"] * (c("overlap") - hand["long_neutral"])
    return _linear(shown, "conflict") + alike * c("long") * c("told_apart").cast(pl.Float64)


def _logistic(z: pl.Expr) -> pl.Expr:
    return (1 / (1 + (-z).exp())).round(6)
