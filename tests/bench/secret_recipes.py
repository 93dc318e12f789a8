"""Recipes of texts: what somebody told, each secret and each value like one as a shape.

`{{s:C7-d2}}` is a secret of a capitalised word of seven letters, a hyphen, two digits. A seed makes
values of that shape, so that no text that is kept holds one.
"""

import json
import random
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.secret_corpus import luhn, some

FOLDER = Path(__file__).parents[2] / "evals" / "secrets"

SLOT = re.compile(r"\{\{([so]):(.*?)\}\}", re.S)
_PART = re.compile(r"\\(.)|([wWCaAdxXbrhk])(\d+)|(.)", re.S)
_LOWER, _DIGITS, _HEX = "abcdefghijklmnopqrstuvwxyz", "0123456789", "0123456789abcdef"
_BASE64 = _LOWER + _LOWER.upper() + _DIGITS + "+/"


@dataclass(frozen=True)
class Text:
    """A text and the secrets in it, as places."""

    text: str
    spans: tuple[tuple[int, int], ...]
    lang: str


@cache
def words(group: str) -> list[str]:
    """Return the words that values are made of."""
    table = tomllib.loads((FOLDER / "made.toml").read_text(encoding="utf-8"))
    return str(table["made"][group]).split(";")


def made(of: str, rng: random.Random) -> str:
    """Return a value of a shape."""
    out = []
    for literal, kind, size, plain in _PART.findall(of):
        n = int(size or 0)
        if kind == "k":
            whole = _card(rng)
            return _sep(of).join(whole[at : at + 4] for at in range(0, 16, 4))
        out.append(_made(kind, n, rng) if kind else literal or plain)
    return "".join(out)


def _card(rng: random.Random) -> str:
    while len(whole := luhn(rng)) != 16:
        pass
    return whole


def _sep(of: str) -> str:
    return of[4:] if len(of) > 3 else ""


def _made(kind: str, n: int, rng: random.Random) -> str:
    alphabets = {"a": _LOWER, "A": _LOWER.upper(), "d": _DIGITS, "x": _HEX, "b": _BASE64[:62]}
    if kind in alphabets:
        return some(rng, alphabets[kind], n)
    if kind in "wWC":
        known = [w for w in words("words") + words("seeds") if len(w) == n and w.isascii()]
        word = rng.choice(known) if known else some(rng, "bdklmnrst", 1) + some(rng, "aeiou", n - 1)
        return {"w": word, "W": word.upper(), "C": word.capitalize()}[kind]
    if kind == "r":
        word = "".join(rng.choices(words("ruwords"), k=1 + n // 5))
        return (word * 2)[:n]
    return some(rng, words("han")[0], n)


def filled(told: str, lang: str, rng: random.Random) -> Text:
    """Return a recipe with values of its shapes."""
    out, spans, at, size = [], [], 0, 0
    for slot in SLOT.finditer(told):
        value = made(slot[2], rng)
        out += [told[at : slot.start()], value]
        size += slot.start() - at
        if slot[1] == "s":
            spans.append((size, size + len(value)))
        size += len(value)
        at = slot.end()
    return Text("".join([*out, told[at:]]), tuple(spans), lang)


def told(seed: int = 1) -> dict[str, list[Text]]:
    """Return what each writer told, filled."""
    return {path.stem.removeprefix("told_"): _read(path, seed) for path in sorted(FOLDER.glob("told_*.jsonl"))}  # fmt: skip


def _read(path: Path, seed: int) -> list[Text]:
    rng = random.Random(f"{path.stem} {seed}")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [filled(row["text"], row["lang"], rng) for row in rows]
