"""Reasons: the sentence of a reason's code and arguments, made where a person reads it and never read back.

`data/lexicons/reasons.toml` has the sentences by language, `memops/rules/<rule>.toml` those of one rule.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import polars as pl

from memops.language.keeping import toml
from memops.language.lexicon import lexicon

Args = Mapping[str, Any] | str | None
"""Arguments of a reason: as a table holds them (JSON), taken apart, or none."""

Reason = dict[str, Any]
"""A reason as files hold it: `reason` (its English sentence), `code` and, if any, `args`."""

BESIDE = Path(__file__).parent / "rules"
"""Where the sentences of one rule stand beside it."""


def sentence(code: str | None, args: Args = None, lang: str = "") -> str:
    """Return the reason as a sentence; a code that nobody gave a sentence stands for itself."""
    return brief(code, args, lang) + _said(_detail(_entry(code or "")), args, lang)


def brief(code: str | None, args: Args = None, lang: str = "") -> str:
    """Return the sentence without its detail."""
    return _said(_entry(code or ""), args, lang) or code or ""


def sentences(changes: pl.DataFrame, lang: str = "") -> pl.Series:
    """Return the reason of each change as a sentence."""
    said = [sentence(code, args, lang) for code, args in changes.select("code", "args").iter_rows()]
    return pl.Series("reason", said, dtype=pl.String)


def packed(code: str, args: Args = None) -> str:
    """Return a reason as one word or two: its code, and its arguments in JSON; `told` says it."""
    given = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False) if args else ""
    return f"{code} {given}".rstrip()


def told(text: str, lang: str = "") -> str:
    """Return a packed reason as a sentence; any other text is one already."""
    code, _, args = text.partition(" ")
    known = code in codes() and (not args or args.startswith("{"))
    return sentence(code, args or None, lang) if known else text


def unpacked(text: str) -> Reason:
    """Return a packed reason as files hold it."""
    code, _, args = text.partition(" ")
    return reason(code, args or None)


def reason(code: str | None, args: Args = None) -> Reason:
    """Return a reason as the files of a plan hold it: its English sentence, code and arguments."""
    said = opened(args)
    return {"reason": sentence(code, said), "code": code, **({"args": said} if said else {})}


def plain(text: str) -> Reason:
    """Return what has a sentence and no code as a reason."""
    return reason("plain.said", {"sentence": text})


def opened(args: Args) -> dict[str, Any]:
    """Return arguments taken apart."""
    return dict(json.loads(args)) if isinstance(args, str) else dict(args or {})


def named(code: str, lang: str = "") -> frozenset[str]:
    """Return the arguments that the sentence of a code names, detail included."""
    entry = _entry(code)
    parts = [
        part
        for one in (entry, _detail(entry))
        for part in Formatter().parse(one.get(_spoken(one, lang), ""))
    ]
    return frozenset(name for _, name, _, _ in parts if name)


@cache
def codes() -> tuple[str, ...]:
    """Return every code that has a sentence."""
    return tuple(f"{t}.{name}" for t, said in tables().items() if t != "detail" for name in said)


@cache
def tables() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the sentences by table, name and language, those that stand beside rules included."""
    found = dict(lexicon("reasons"))
    for path in sorted(BESIDE.glob("*.toml")):
        for table, said in toml(path).items():
            found[table] = {**found.get(table, {}), **said}
    return found


def _entry(code: str) -> Mapping[str, str]:
    table, _, name = code.partition(".")
    return tables().get(table, {}).get(name, {})


def _detail(entry: Mapping[str, str]) -> Mapping[str, str]:
    return tables()["detail"].get(entry.get("detail", ""), {})


def _spoken(entry: Mapping[str, str], lang: str) -> str:
    """The language asked for, or the first that a sentence is in."""
    return lang if lang in entry else next((name for name in entry if name != "detail"), "")


def _said(entry: Mapping[str, str], args: Args, lang: str) -> str:
    speaker = _Speaker(_spoken(entry, lang))
    try:
        return speaker.vformat(entry.get(speaker.lang, ""), (), opened(args))
    except (KeyError, ValueError):  # another memops' arguments
        return ""


class _Speaker(Formatter):
    """Fills a sentence of one language: `{name:word}` is a term of it, a list joined by commas."""

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def format_field(self, value: Any, spec: str) -> str:
        words = lexicon("report")[self.lang]
        terms = words.get("words", {}) if spec == "word" else {}
        items: Sequence[Any] = value if isinstance(value, list) else [value]
        return str(words["comma"]).join(str(terms.get(str(item), item)) for item in items)
