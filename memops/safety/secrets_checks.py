"""Checks of secrets: whether what a shape matched is a secret, by its traits and by what it stands beside.

Each check is an expression over the traits of a match (`secrets_traits`), the text `before` and what
is `following`. A pattern's `check` names one: a function of `secrets_passwords`, `secrets_keys` or
`secrets_numbers`, or one of those below.
"""

from collections.abc import Callable, Sequence

import polars as pl

from memops.language.keeping import own_thread
from memops.safety import secrets_keys, secrets_numbers, secrets_passwords
from memops.safety.secrets_around import identified
from memops.safety.secrets_traits import card, identity_number, seed_words, with_traits

_TOLD = (
    "said",
    "near",
    "token",
    "next",
    "bare",
    "paired",
    "code",
    "confided-number",
    "fitted",
)
"""Checks of what a label farther off tells."""


def plausible(hits: pl.DataFrame, checks: Sequence[str]) -> pl.DataFrame:
    """Return the matches that pass the check of their shape; `checks` names each shape's."""
    if hits.is_empty():
        return hits
    check = pl.Series("check", checks, dtype=pl.String).gather(hits["nth"])
    tests = {name: _check(name) for name in check.unique()}
    asked = {trait for test in tests.values() for trait in test.meta.root_names()}
    parts = with_traits(hits, asked).with_columns(check).partition_by(
        "check", as_dict=True, maintain_order=True
    )  # fmt: skip
    passed = [
        own_thread("check", name).submit(part.filter, tests[name])
        for (name,), part in parts.items()
    ]
    return pl.concat(one.result() for one in passed).select(hits.columns)


def _check(name: str) -> pl.Expr:
    if name == "always":
        return CHECKS[name]()
    plain = CHECKS[name]() & ~pl.col("placeholder")
    return plain & ~identified() if name in _TOLD else plain


def _always() -> pl.Expr:
    return pl.lit(True)


CHECKS: dict[str, Callable[[], pl.Expr]] = {
    "always": _always,
    "any": _always,
    "card": card,
    "cn-id": identity_number,
    "seed": seed_words,
} | {
    name.replace("_", "-"): check
    for module in (secrets_passwords, secrets_keys, secrets_numbers)
    for name, check in vars(module).items()
    if getattr(check, "__module__", "") == module.__name__
}
