"""Shapes of secrets: the lexicon's patterns, compiled, and the tests that a match must pass."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import polars as pl

from memops.language.lexicon import lexicon
from memops.policy import Secrets

MASK = r"\[redacted:[a-z0-9-]+(?: [^\]\s]{0,16})?\]"

_VALUE, _BEFORE = pl.col("value"), pl.col("before")


@dataclass(frozen=True)
class Shape:
    """One pattern: where it may stand (`any`, `when`), what it matches, and what must be true."""

    kind: str
    pattern: str
    any: tuple[str, ...]
    when: str
    plausible: pl.Expr


def shapes(policy: Secrets) -> tuple[Shape, ...]:
    """Return the shapes that the policy asks for; the first is the mask that redaction leaves."""
    return _compiled(tuple(sorted(policy.patterns.items())), frozenset(policy.off))


def staying(policy: Secrets) -> list[int]:
    """Return the places of the shapes of what may stay: masks, and kinds that are allowed."""
    kinds = [shape.kind for shape in shapes(policy)]
    return [0, *(n for n, k in enumerate(kinds) if policy.sensitivity.get(k) == "allowed")]


@cache
def _compiled(added: tuple[tuple[str, str], ...], off: frozenset[str]) -> tuple[Shape, ...]:
    words = lexicon("secrets")
    mask = {"kind": "mask", "any": ["[redacted:"], "secret": MASK, "check": "always"}
    own = [{"kind": kind, "secret": pattern, "when": pattern} for kind, pattern in added]
    return tuple(_shape(e) for e in (mask, *own, *words["pattern"]) if e["kind"] not in off)


def _shape(entry: dict[str, object]) -> Shape:
    cue, secret, after = (_ascii(str(entry.get(part, ""))) for part in ("cue", "secret", "after"))
    check = CHECKS[str(entry.get("check", "any"))]
    plausible = check() & ~_placeholder() if check is not _always else check()
    if unless := str(entry.get("unless", "")):
        plausible &= ~_BEFORE.str.contains(lexicon("secrets").get(unless, unless))
    any_ = entry.get("any", [])
    return Shape(
        kind=str(entry["kind"]),
        pattern=f"((?i:{cue}))({secret})({after})",
        any=tuple(any_) if isinstance(any_, list) else (),
        when=str(entry.get("when", "")),
        plausible=plausible,
    )


def _ascii(pattern: str) -> str:
    return pattern.replace(r"\b", r"(?-u:\b)")


def _placeholder() -> pl.Expr:
    return _VALUE.str.contains(lexicon("secrets")["placeholders"])


def _always() -> pl.Expr:
    return pl.lit(True)


def _any() -> pl.Expr:
    return pl.lit(True)


def _count(pattern: str) -> pl.Expr:
    return _VALUE.str.count_matches(pattern).cast(pl.Float64)


def _mixing() -> pl.Expr:
    """Runs of one class (lower, upper, digit) per character: 0.6 if random, 0.2 in names."""
    bare = _VALUE.str.replace_all("[^A-Za-z0-9]", "")
    runs = bare.str.count_matches("[a-z]+|[A-Z]+|[0-9]+").cast(pl.Float64)
    return runs / bare.str.len_chars().clip(1)


def _prefixed() -> pl.Expr:
    digits = _count("[0-9]")
    return (digits >= 1) & ((_mixing() >= 0.2) | (digits / _VALUE.str.len_chars() >= 0.4))


def _token() -> pl.Expr:
    hexes = _VALUE.str.contains("^[0-9a-fA-F]{24,}$")
    return _header() & ((_mixing() >= 0.2) | hexes)


def _header() -> pl.Expr:
    return (_count("[0-9]") >= 2) & (_count("[A-Za-z]") >= 2)


def _identifier() -> pl.Expr:
    uuid = "(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    return _VALUE.str.contains(lexicon("secrets")["id_values"]) | _VALUE.str.contains(uuid)


def _loose() -> pl.Expr:
    return _token() & ~_identifier()


def _hexed() -> pl.Expr:
    return (_count("[0-9]") >= 4) & ~_identifier() & ~_VALUE.str.contains(r"\.[a-z]{2,5}$")


def _mixed() -> pl.Expr:
    return (
        (_count("[0-9]") >= 2) & (_count("[a-z]") >= 2) & (_count("[A-Z]") >= 2)
        & (_mixing() >= 0.4) & ~_identifier()
    )  # fmt: skip


def _ordinary() -> pl.Expr:
    return _VALUE.str.contains(lexicon("secrets")["words"])


def _gibberish() -> pl.Expr:
    """Letters that no word has: five consonants running, or next to no vowel."""
    few = _count("(?i)[aeiouy]") / _VALUE.str.len_chars() < 0.15
    return _VALUE.str.contains("(?i)[bcdfghjklmnpqrstvwxz]{5}") | (
        few & (_VALUE.str.len_chars() >= 6)
    )


def _has_digit_or_sign() -> pl.Expr:
    letters = _VALUE.str.contains("[A-Za-z]")
    sign = _VALUE.str.contains(r"[!@#$%^&*+?~][!-~]|[a-z][A-Z].*[a-z][A-Z]")
    range_ = _VALUE.str.contains(r"^[0-9]+[-~/.:][0-9]+")
    return (
        (_VALUE.str.contains("[0-9]") & (letters | _VALUE.str.contains("^[0-9]{4,}$"))) | sign
    ) & ~range_


def _code() -> pl.Expr:
    name = r"^[A-Za-z_]*(?:pass|pwd|secret|token|key)[A-Za-z_]*$"
    return _VALUE.str.contains(
        rf"\(|^[a-z_]+(?:\.[a-z_]+)+$|^[a-z]+_[a-z_]+$|^[^A-Za-z0-9]+$|(?i){name}"
    )


def _phrase() -> pl.Expr:
    return _VALUE.str.contains("^[A-Za-z]+(?:-[A-Za-z]+){3,}$")


def _assigned() -> pl.Expr:
    tight = _BEFORE.str.contains(r"""[=]["'`]?$""") & _VALUE.str.contains("^[A-Za-z]{6,}$")
    likely = _has_digit_or_sign() | _gibberish() | _phrase() | tight
    return ~_ordinary() & ~_code() & likely


def _said() -> pl.Expr:
    return ~_ordinary() & ~_code() & (_has_digit_or_sign() | _phrase() | _gibberish())


def _bare() -> pl.Expr:
    long = _VALUE.str.len_chars() >= 6
    digits = _VALUE.str.contains("^[0-9]{4,8}$") & _BEFORE.str.contains(
        r"(?:验证|动态|校验|提取|激活)码\s?$"
    )
    mixed = _VALUE.str.contains("[0-9]") & _VALUE.str.contains("[A-Za-z]")
    return ~_ordinary() & ((long & mixed & _has_digit_or_sign()) | digits | _gibberish())


def _url() -> pl.Expr:
    return ~_VALUE.str.contains(r"^(?:[0-9]{1,5}|\*+|\.+)$")


def _url_loose() -> pl.Expr:
    return ~_VALUE.str.contains(r"^[0-9]{1,5}(?:/|$)") & ~_BEFORE.str.contains(
        "(?i)https?://[^/]*$"
    )


def _seed() -> pl.Expr:
    return ~_VALUE.str.contains(
        r"\b(?:the|and|for|with|your|are|was|has|not|but|should|must|from|our|its)\b"
    )


def _card() -> pl.Expr:
    """Luhn's check digit (ISO/IEC 7812) and a length that the issuer uses."""
    digits = _VALUE.str.replace_all("[ -]", "")
    reverse = digits.str.reverse().str.pad_end(19, "0")
    total = pl.lit(0, pl.Int32)
    for at in range(19):
        digit = reverse.str.slice(at, 1).cast(pl.Int32, strict=False).fill_null(0)
        total = total + (digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4).cast(pl.Int32))
    length = digits.str.contains(
        "^(?:4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|(?:5|2[2-7]|35)[0-9]{14,15}|3[47][0-9]{13}|3[068][0-9]{12}|6[0-9]{15,18})$"
    )
    return length & (total % 10 == 0)


def _cn_id() -> pl.Expr:
    """GB 11643: the last character is the weighted sum of the others modulo 11."""
    total = pl.lit(0, pl.Int32)
    for at in range(17):
        digit = _VALUE.str.slice(at, 1).cast(pl.Int32, strict=False).fill_null(0)
        total = total + digit * (2 ** (17 - at) % 11)
    check = pl.lit("10X98765432").str.slice(total % 11, 1)
    return check == _VALUE.str.slice(17, 1).str.to_uppercase()


CHECKS: dict[str, Callable[[], pl.Expr]] = {
    "always": _always,
    "any": _any,
    "prefixed": _prefixed,
    "token": _token,
    "header": _header,
    "loose": _loose,
    "mixed": _mixed,
    "hexed": _hexed,
    "assigned": _assigned,
    "said": _said,
    "bare": _bare,
    "url": _url,
    "url-loose": _url_loose,
    "seed": _seed,
    "han-seed": _any,
    "card": _card,
    "cn-id": _cn_id,
}
"""Names that a pattern's `check` may give."""
