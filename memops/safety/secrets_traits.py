"""Traits of what a shape of secrets matched: what its characters tell, without what it stands beside.

What no sentence has is told by classes of characters: digits among letters, signs inside, cases
that change, letters that no word has. And what is no secret has a make of its own: a number with
its unit, a path, a date, a name in code, what is said of a password ("required").
"""

import polars as pl

from memops.language.keeping import own_thread
from memops.language.lexicon import lexicon
from memops.safety.secrets_labels import expanded, listed

VALUE, SIZE = pl.col("value"), pl.col("size")
_KEPT = 10


def has(pattern: str) -> pl.Expr:
    """Return whether the value holds a match of a pattern (Rust's syntax)."""
    return VALUE.str.contains(pattern)


def count(pattern: str) -> pl.Expr:
    """Return how often the value matches a pattern."""
    return VALUE.str.count_matches(pattern).cast(pl.Float64)


def with_traits(hits: pl.DataFrame, asked: set[str]) -> pl.DataFrame:
    """Return matches with a column for each trait asked for; each is read once, for all checks."""
    groups = (_characters() | _kinds(), _compounds(), _made())
    for group in reversed(groups):
        of = (trait.meta.root_names() for name, trait in group.items() if name in asked)
        asked = asked.union(*of)
    out = hits.with_columns(size=VALUE.str.len_chars())
    for group in groups:
        named = [*group.items()]
        parts = [
            own_thread("traits", *group, at).submit(out.select_seq, **dict(some))
            for at in range(0, len(named), _KEPT)
            if (some := [one for one in named[at : at + _KEPT] if one[0] in asked])
        ]
        out = out.with_columns(column for part in parts for column in part.result())
    return out


def _characters() -> dict[str, pl.Expr]:
    return {
        "digit": has("[0-9]"),
        "digits": count("[0-9]"),
        "letters": count(r"\p{L}"),
        "upper": has(r"\p{Lu}"),
        "lower": has(r"\p{Ll}"),
        "mixing": _mixing(),
        "gibberish": _gibberish(),
        "spaced": has(r"\s"),
    }


def _kinds() -> dict[str, pl.Expr]:
    """What a value is besides a secret."""
    words = lexicon("secrets")
    return {
        "placeholder": has(words["placeholders"])
        | has(words["expression"])
        | (has(words["constant"]) & has(expanded("(?i)@{password}|@{token}|@{weak}"))),
        "ordinary": has(rf"(?i)^(?:{listed('states')})(?:[-/][a-z]+){{0,2}}$")
        | has(words["terms"]),
        "dated": has(words["dated"]),
        "measure": has(words["measure"]),
        "number": has("^[0-9]{4,20}$"),
        "year": has("^(?:19|20)[0-9]{2}$"),
        "place": has(words["place"]),
        "snake": has(words["snake"]),
        "label": has(words["label"]),
        "wordy": has(words["wordy"]),
        "coded_name": has(words["coded_name"]),
        "named": has(words["named"]),
        "phrase": has(r"^\p{L}+(?:[-_.]\p{L}+){3,}$")
        & ~has(rf"(?i)[-_.](?:{listed('little')})[-_.]"),
        "spelt_out": has("^[a-z]{2,}[-_][a-z]{3,}[-_]") & ~has(words["key_values"]),
        "identifier": has(words["id_values"])
        | has("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    }


def _compounds() -> dict[str, pl.Expr]:
    """What is made of other traits."""
    letter, little = pl.col("letters") > 0, rf"(?i)\b(?:{listed('little')})\b"
    cased = has(r"\p{Ll}\p{Lu}.*\p{Ll}\p{Lu}|\p{Ll}[_.]\p{Lu}")
    sign = has(r"[!@#$%^&*+?~=]\S|[\p{L}0-9][!#$%^&*+~]$")
    number = (pl.col("measure") | has("^[0-9]{1,3}$")) & ~pl.col("number")
    speaks = pl.col("spaced") & has(little)
    return {
        "not_said": speaks | number | pl.col("ordinary") | pl.col("place") | pl.col("label"),
        "lettered": (letter & (pl.col("digit") | sign))
        | cased | pl.col("gibberish") | pl.col("phrase"),
        "composed": SIZE.is_between(8, 64) & pl.col("digit") & (pl.col("letters") >= 2)
        & has(r"[!$%^&*?~+@#]") & ~has(r"[\[\]{}()<>|\\/]"),
        "signed": (has(r"\p{L}[!$^&*~#]\S*\p{L}") & pl.col("upper") & has(r"\p{Ll}{2}"))
        | has(r"\p{Lu}\p{Ll}{2,}\+\p{Lu}\p{Ll}{2,}"),
        "strings": _strings(),
    }  # fmt: skip


def _made() -> dict[str, pl.Expr]:
    """`random`: by a generator; `dressed`: by a person, of words, signs, capitals and numbers."""
    ascii_letters = count("[A-Za-z]") >= 2
    mixed = (pl.col("mixing") >= 0.2) | (pl.col("digits") / SIZE >= 0.3)
    joined = has(r"\p{L}{3,}[._-]") & has(r"\p{L}[0-9]\p{L}|(?:^|\D)[0-9]{2,}(?:\D|$)")
    joined &= has(r"\p{Ll}{2}")
    joined |= has(r"\p{Lu}\p{Ll}{2,}[._-]\p{Lu}\p{Ll}{2,}[0-9]")
    cased = pl.col("upper") & pl.col("lower") & pl.col("digit") & ~has("[._-]")
    made = pl.col("composed") | pl.col("signed") | joined | (cased & (pl.col("mixing") >= 0.25))
    return {
        "no_value": pl.col("not_said") | pl.col("snake"),
        "random": ((pl.col("digits") >= 2) & ascii_letters & mixed)
        | (has("[0-9a-fA-F]{24,}") & ascii_letters) | pl.col("strings"),
        "dressed": SIZE.is_between(6, 64) & made & ~pl.col("named")
        & ~has(r"[()\[\]{}<>|\\/=]"),
    }  # fmt: skip


def _mixing() -> pl.Expr:
    """Runs of one class (lower, upper, digit, a capitalised word) per character: random 0.5, names 0.2."""
    bare = VALUE.str.replace_all("[^A-Za-z0-9]", "")
    runs = bare.str.count_matches("[A-Z]?[a-z]+|[A-Z]+|[0-9]+").cast(pl.Float64)
    return runs / bare.str.len_chars().clip(1)


def _gibberish() -> pl.Expr:
    """Letters that no word has: five consonants running, or next to no vowel."""
    few = count("(?i)[aeiouyáéíóúäöüàèâêô]") / SIZE < 0.15
    return has("(?i)[bcdfghjklmnpqrstvwxz]{5}") | (few & (SIZE >= 6) & has("^[A-Za-z0-9]+$"))


def _strings() -> pl.Expr:
    """Letters that are no word: two dozen running, or cases that change within, or no vowels."""
    cased = has("[a-z][A-Z]+[a-z]+[A-Z]") & (pl.col("mixing") >= 0.4)
    unsaid = pl.col("gibberish") & (SIZE >= 10) & has("[A-Za-z]")
    return has("[A-Za-z]{24,}") | (cased & (SIZE >= 12)) | unsaid


def seed_words() -> pl.Expr:
    """Return whether none of the value's words is one that sentences are held together by."""
    return ~has(rf"\b(?:{listed('little')}|{listed('linking')})\b")


def states_first() -> pl.Expr:
    """Return whether the value begins with what is said of a password."""
    return has(rf"(?i)^(?:{listed('states')})\b")


def card() -> pl.Expr:
    """Return whether Luhn's check digit (ISO/IEC 7812) is right, and the length an issuer's."""
    digits = VALUE.str.replace_all("[ -]", "")
    reverse = digits.str.reverse().str.pad_end(19, "0")
    total = pl.lit(0, pl.Int32)
    for at in range(19):
        digit = reverse.str.slice(at, 1).cast(pl.Int32, strict=False).fill_null(0)
        total = total + (digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4).cast(pl.Int32))
    length = digits.str.contains(
        "^(?:4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|(?:5|2[2-7]|35)[0-9]{14,15}|3[47][0-9]{13}|3[068][0-9]{12}|6[0-9]{15,18})$"
    )
    given = digits.str.split("").list.n_unique() > 4  # with "", so no number made for tests
    return length & (total % 10 == 0) & given


def identity_number() -> pl.Expr:
    """Return whether the last character is the weighted sum of the others modulo 11 (GB 11643)."""
    total = pl.lit(0, pl.Int32)
    for at in range(17):
        digit = VALUE.str.slice(at, 1).cast(pl.Int32, strict=False).fill_null(0)
        total = total + digit * (2 ** (17 - at) % 11)
    check = pl.lit("10X98765432").str.slice(total % 11, 1)
    return check == VALUE.str.slice(17, 1).str.to_uppercase()
