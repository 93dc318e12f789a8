"""Masks: what stands in a text where a secret stood, and whether a text differs by masks alone."""

import re

import polars as pl

from memops.policy.safety import Secrets

MASK = r"\[redacted:[a-z0-9-]+(?: [^\]\s]{0,16})?\]"
_SHORT = 8
_VALUE = re.compile(rf"(?=\S*[0-9])\S{{{_SHORT},128}}")


def with_masks(texts: pl.Series, spans: pl.DataFrame, policy: Secrets) -> dict[int, str]:
    """Return the masked text of each row that has spans."""
    out: dict[int, str] = {}
    for (row,), part in spans.partition_by("row", as_dict=True, maintain_order=True).items():
        text, at, pieces = texts[row], 0, []
        for start, end, kind in part.select("start", "end", "kind").iter_rows():
            pieces += [text[at:start], mask_of(text[start:end], kind, policy)]
            at = end
        out[row] = "".join([*pieces, text[at:]])
    return out


def mask_of(secret: str, kind: str, policy: Secrets) -> str:
    """Return a secret's mask; its first and last characters show only of one four times as long.

    None show of a kind that is never to be stored.
    """
    keep = policy.keep if policy.sensitivity.get(kind, "masked") == "masked" else 0
    shown = f"{secret[:keep]}…{secret[-keep:]}"
    plain = not keep or len(secret) < 8 * keep or any(c.isspace() or c == "]" for c in shown)
    return f"[redacted:{kind}]" if plain else f"[redacted:{kind} {shown}]"


def only_masked(old: str, new: str) -> bool:
    """Return whether a text is another one of which nothing but values was masked.

    A value is a run of letters, digits and signs long enough to be a secret, a digit among them.
    What stands between two masks is looked for once, at its first place.
    """
    first, *rest = re.split(MASK, new)
    at = len(first)
    for nth, part in enumerate(rest, 1):
        end = old.find(part, at + _SHORT) if nth < len(rest) else len(old) - len(part)
        if (
            not _VALUE.fullmatch(old[at:end] if end > at else "")
            or old[end : end + len(part)] != part
        ):
            return False
        at = end + len(part)
    return bool(rest) and old.startswith(first)
