"""Words of a report: what is shown of memory text, and the language around it."""

import difflib
import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from functools import cache
from typing import Any

import polars as pl

from memops.language.lexicon import lexicon
from memops.policy import Policy, described
from memops.policy.defaults import written
from memops.policy.safety import Secrets
from memops.reasons import brief, sentence, told
from memops.reports.sections import english
from memops.safety.known_secrets import NONE, KnownSecrets
from memops.safety.looked import take_for_clean
from memops.safety.masking import mapped, masked_value

Part = tuple[bool, str]
"""A stretch of text, and whether it differs from the other side."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200c"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d"  # within an emoji it joins
)
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_HEAP = re.compile(f"({_MARKS}{{4}}){_MARKS}+")  # more than a script stacks, over the lines around
_SURROGATE = re.compile("[\ud800-\udfff]")
_HAN = "\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"\s+|[{_HAN}]|[^\W{_HAN}]+|.", re.DOTALL)
_LONGEST = 20_000
_SIDE = 700  # characters of a side that are shown in parts
_MOST = 240
"""Tokens a side that are compared word by word; beyond, what differs is marked as one piece."""


FALLBACK = next(iter(lexicon("report")))
"""The language of the words that another one lacks: the first of `report.toml`."""


def languages() -> tuple[str, ...]:
    """Return the languages of reports."""
    return tuple(code for code, words in lexicon("report").items() if "language" in words)


class Speaker:
    """One language: `say("key", n=3)` is a sentence of it, `say.word("merge")` a term."""

    def __init__(self, lang: str) -> None:
        every = lexicon("report")
        usual = described(Policy())
        ours = {**every[FALLBACK], **english(), "settings": {n: ("", why) for n, _, why in usual}}
        self.lang, self.table = lang, {**ours, **every[lang]}
        self.usual = {name: written(value) for name, value, _ in usual}

    def __call__(self, key: str, **values: Any) -> str:
        """Return the text of that key with its values filled in."""
        said = {k: number(v) if isinstance(v, int) else v for k, v in values.items()}
        return str(self.table[key]).format(**said)

    def word(self, term: str, table: str = "words") -> str:
        """Return the term in this language, or as it is; `steps` and `fields` are tables too."""
        return str(self.table.get(table, {}).get(term, term))

    def named(self, term: str) -> str:
        """Return the term in this language and as a person types it, or once if they are one."""
        said = self.word(term)
        return term if said == term else f"{said} {term}"

    def setting(self, name: str) -> tuple[str, str]:
        """Return what a setting is called, "" for nothing but its name, and what it says."""
        label, said = self.table["settings"].get(name, ("", ""))
        return label, said

    def reason(self, why: Mapping[str, Any]) -> str:
        """Return a reason (code, and args where it has any) in this language."""
        return sentence(why["code"], why.get("args", {}), self.lang)

    def brief(self, why: Mapping[str, Any]) -> str:
        """Return a reason in this language without its detail."""
        return brief(why["code"], why.get("args", {}), self.lang)

    def told(self, text: str) -> str:
        """Return a packed reason in this language, or the text as it is."""
        return told(text, self.lang)


def number(value: int) -> str:
    """Return a count with its thousands set apart."""
    return f"{value:,}"


def fixed(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """Return a figure with that many decimals, or a dash for none."""
    if value is None:
        return "–"
    return f"{round(value, digits) + 0.0:{'+' if sign else ''}.{digits}f}"


def moment(text: str, zone: tzinfo | None) -> str:
    """Return an instant as a person writes it, in that zone or the machine's own; else the text."""
    try:
        return f"{datetime.fromisoformat(text).astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"
    except (ValueError, OverflowError):
        return text


def visible(text: str) -> str:
    """Return text whose control, bidirectional and zero-width characters are spelled out."""
    text = _HEAP.sub(r"\1⟨…⟩", text)
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def clean(value: Any, known: KnownSecrets = NONE) -> Any:
    """Return the same nested value with every string in it masked and made visible.

    Terms that the program has a word for are its own, and hold no secret.
    """
    terms = {term for table in lexicon("report").values() for term in table.get("words", ())}
    take_for_clean(pl.Series(sorted(terms)), Secrets())
    shown = masked_value(mapped(value, lambda text, _: _storable(text)), known=known)
    once = cache(visible)  # a text may stand on a page many times
    return mapped(shown, lambda text, _: once(text))


def as_it_was(before: str | None, after: str | None) -> str | None:
    """Return a text as it was; one of which only the secret goes is told apart, and not shown."""
    return before.replace("[redacted:", "[secret:") if before and before == after else before


def differences(before: str, after: str) -> tuple[list[Part], list[Part]]:
    """Return both texts in parts that are marked where they differ; a Han character is a word."""
    a, b = _TOKEN.findall(before), _TOKEN.findall(after)
    least = min(len(a), len(b))
    head = next((i for i in range(least) if a[i] != b[i]), least)
    tail = next((i for i in range(least - head) if a[-1 - i] != b[-1 - i]), least - head)
    mid_a, mid_b = a[head : len(a) - tail], b[head : len(b) - tail]
    left, right = [(True, mid_a)], [(True, mid_b)]
    if max(len(mid_a), len(mid_b)) <= _MOST:
        codes = difflib.SequenceMatcher(None, mid_a, mid_b, autojunk=False).get_opcodes()
        left = [(tag != "equal", mid_a[i:j]) for tag, i, j, _, _ in codes]
        right = [(tag != "equal", mid_b[i:j]) for tag, _, _, i, j in codes]
    first, last = (False, a[:head]), (False, a[len(a) - tail :])
    return _joined([first, *left, last]), _joined([first, *right, last])


def clipped(parts: list[Part]) -> list[Part]:
    """Return parts that are short enough to read: long stretches lose their middle."""
    if len(parts) == 1:
        return [(parts[0][0], _middle_out(parts[0][1], 420, 280))]
    out, most = list[Part](), _SIDE
    for nth, (differs, text) in enumerate(parts):
        head, tail = (220, 100) if differs else (80, 40) if nth else (40, 80)
        out.append((differs, _middle_out(text, head, tail)))
        most -= len(out[-1][1])
        if most <= 0 and nth + 1 < len(parts):
            return [*out, (False, " …")]
    return out


def clip(text: str, most: int) -> str:
    """Return the text, or its beginning and an ellipsis."""
    return text if len(text) <= most else text[:most].rstrip() + " …"


def _middle_out(text: str, head: int, tail: int) -> str:
    return text if len(text) <= head + tail + 3 else f"{text[:head]} … {text[-tail:]}"


def _joined(raw: list[tuple[bool, list[str]]]) -> list[Part]:
    """Stretches as text: empty ones gone, neighbours and blanks between two differences joined."""
    parts = [(differs, "".join(tokens)) for differs, tokens in raw if tokens]
    out: list[Part] = []
    for nth, (differs, text) in enumerate(parts):
        between = not differs and text.isspace() and 0 < nth < len(parts) - 1
        marked = differs or (between and parts[nth - 1][0] and parts[nth + 1][0])
        if out and out[-1][0] == marked:
            out[-1] = (marked, out[-1][1] + text)
        else:
            out.append((marked, text))
    return out


def _storable(text: str) -> str:
    """Lone surrogates spelled out, for no table holds them; a page shows but the beginning."""
    return _SURROGATE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text[:_LONGEST])
