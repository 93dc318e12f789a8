"""Output: one JSON value for machines, a table for people."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from memops.cli.options import JSON
from memops.documents.leads import width
from memops.safety.display import escaped, printed, shown

if TYPE_CHECKING:
    from memops.policy.safety import Secrets
    from memops.safety.known_secrets import KnownSecrets
    from memops.settings import Settings

SCHEMA_VERSION = 1
"""Of what `--json` prints: keys are added within one, and never renamed, dropped or retyped."""

_PIECE = r"[^\W\d_]{1,16}(?:[-_]?(?:[^\W\d_]{1,16}|\d{1,4})){0,3}"
_PLAIN = re.compile(rf"(?:[a-z]+:)?(?:[./~]|(?=[^./~]{{1,24}}(?:[./~]|$)){_PIECE}(?=[./~]|$))+")
"""A name, path or address of short words: no password or token looks so, nor a URL that holds one."""

_NAMED = 3  # records of a cause that are named


def wants_json() -> bool:
    """Return whether the command at work was called with `--json`."""
    return bool(click.get_current_context().meta.get(JSON))


Text = str | Sequence[str | None]
"""A text, or its lines, without those that are None."""


def emit(
    value: Any,
    text: Text | Callable[[], Text],
    versioned: bool = True,
    names: Iterable[object] | None = None,
) -> None:
    """Print a value as JSON where `--json` asks for it, else its text for people; never a secret.

    What is `versioned` names the version of the documented shapes; a table by names of the user's own
    does not. `names` are all that the value holds of other people's words, if known: in plain ones no
    secret need be sought.
    """
    plain = names is not None and all(_PLAIN.fullmatch(str(name)) for name in names)
    if not wants_json():
        made = text() if callable(text) else text
        lines = made if isinstance(made, str) else "\n".join(one for one in made if one is not None)
        return click.echo(lines) if plain else say(lines, value)
    if not plain:
        from memops.safety.masking import masked_value

        value = masked_value(value, _secrets(), _known())
    click.echo(as_document(value, versioned))


def as_document(value: Any, versioned: bool = True) -> str:
    """Return a value as JSON on one line, in which nothing is unseen and no instant but in ISO 8601."""
    told = _versioned(value) if versioned else value
    return escaped(json.dumps(told, ensure_ascii=False, default=_iso))


def _versioned(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"schema_version": SCHEMA_VERSION, **value}
    if isinstance(value, list | tuple):
        return [_versioned(one) if isinstance(one, Mapping) else one for one in value]
    return value


def _iso(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def say(text: str, value: Any = None, end: str = "\n") -> None:
    """Print a text for people, secrets masked, without colours on such lines; names in `value` can be copied."""
    from memops.safety.masking import masked_text

    plain = click.unstyle(text)
    clean = masked_text(plain, value, _secrets(), _known())
    lines = zip(*(one.split("\n") for one in (text, plain, clean)), strict=True)
    kept = "\n".join(styled if was == now else now for styled, was, now in lines)
    click.echo(printed(kept) + end, nl=False)


def _secrets() -> "Secrets":
    """What counts as a secret by the settings that the command was called with."""
    settings: Settings = click.get_current_context().find_root().obj
    return settings.policy.secrets


def _known() -> "KnownSecrets":
    """What stores under the state folder of the command once told to be secrets."""
    from memops.safety.known_secrets import remembered

    context, name = click.get_current_context().find_root(), "memops.known"
    if name not in context.meta:
        context.meta[name] = remembered(context.obj.state)
    known: KnownSecrets = context.meta[name]
    return known


def table(rows: Iterable[Sequence[Any]], head: Sequence[str]) -> str:
    """Return rows as columns that line up; Han characters count as two. On a terminal they are wrapped to
    fit, or each row stands as lines of its own; into a pipe goes one line a row.
    """
    cells = [[_cell(c) for c in row] for row in rows]
    gaps, room = 2 * (len(head) - 1), terminal_columns()
    if room and sum(_widest(head, cells)) + gaps > room:
        cells = [_masked(row) for row in cells]
        widths = narrowed(_widest(head, cells), _widest(head, cells, longest_word), room - gaps)
        if not widths:
            return "\n\n".join(fields(zip(head, row, strict=True)) for row in cells)
    else:
        widths = _widest(head, cells)
    lines = [*_lines(head, widths), _line(["-" * w for w in widths], widths)]
    return "\n".join([*lines, *(line for row in cells for line in _lines(row, widths))])


def listing(rows: Sequence[Sequence[Any]], head: Sequence[str], none: str) -> str:
    """Return rows as a table, or what is said where there is none."""
    return table(rows, head) if rows else none


def fields(rows: Iterable[tuple[str, Any]]) -> str:
    """Return names with their values beside them; a table in a value is told in one line."""
    told = [(name, _cell(_flat(value))) for name, value in rows]
    at, columns = max((width(name) for name, _ in told), default=0) + 2, terminal_columns()
    if not columns:
        return "\n".join(f"{name}{' ' * (at - width(name))}{text}".rstrip() for name, text in told)
    lines = [
        ("" if nth else name, part)
        for (name, _), text in zip(told, _masked([text for _, text in told]), strict=True)
        for nth, part in enumerate(wrapped(text, columns - at))
    ]
    return "\n".join(f"{name}{' ' * (at - width(name))}{part}".rstrip() for name, part in lines)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        apart = "; " if any(isinstance(v, list) for v in value.values()) else ", "
        return apart.join(f"{name} {_flat(inner)}" for name, inner in value.items())
    return ", ".join(map(_flat, value)) if isinstance(value, list | tuple) else str(value)


def counted(n: int, noun: str) -> str:
    """Return a count with its noun: 1 record, 2 records."""
    many = noun[:-1] + "ies" if noun.endswith("ry") else f"{noun}s"
    return f"{n} {noun}" if n == 1 else f"{n} {many}"


def waiting_text(n: int) -> str:
    """Return how many changes wait for a person."""
    return f"{counted(n, 'change')} {'waits' if n == 1 else 'wait'} for a person"


def skipped_text(
    whose: str, skipped: Sequence[Mapping[str, Any]], when: str = "for the next night to look at"
) -> list[str]:
    """Return why records were passed over, the commonest cause first, with a few ids."""
    by_cause: dict[str, list[str]] = {}
    for one in skipped:
        by_cause.setdefault(one["why"] or one["state"], []).append(shown(one["id"]))
    rows = [
        (len(ids), why, ", ".join(ids[:_NAMED]) + (" ..." if len(ids) > _NAMED else ""))
        for why, ids in sorted(by_cause.items(), key=lambda item: -len(item[1]))
    ]
    said = f"{whose}: {counted(len(skipped), 'record')} passed over, {when}"
    return [said, table(rows, ["records", "why", "which"])] if rows else []


def moment(value: Any) -> str:
    """Return an instant, or the ISO text of one, in UTC to the second; other values as text."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
    except (AttributeError, OverflowError, ValueError):
        return str(value)


def cut(text: str, room: int) -> str:
    """Return a text on one line in so many columns, cut with an ellipsis; Han counts two."""
    line = shown(text)
    if width(line) <= room:
        return line
    if (context := click.get_current_context(silent=True)) and context.find_root().obj:
        line = _known().text(line, _secrets())  # a part of one is not known again
    kept = line[:room]
    while width(kept) > room - 1:
        kept = kept[:-1]
    return f"{kept}…"


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _widest(
    head: Sequence[str], rows: Sequence[Sequence[str]], size: Callable[[str], int] = width
) -> list[int]:
    return [max(size(row[i]) for row in [head, *rows]) for i in range(len(head))]


def _masked(cells: Sequence[str]) -> list[str]:
    """Cells of which those that may be broken hold no secret, which no later look would recognise."""
    from memops.safety.masking import masked_text

    broken = [i for i, cell in enumerate(cells) if longest_word(cell) < width(cell)]
    said = "\n".join(cells[i] for i in broken)
    clean = masked_text(said, None, _secrets(), _known()).split("\n")
    new = dict(zip(broken, clean, strict=False))
    return [new.get(i, cell) for i, cell in enumerate(cells)]


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """One row, on as many lines as its longest cell needs."""
    parts = [wrapped(cell, room) for cell, room in zip(cells, widths, strict=True)]
    return [_line(line, widths) for line in zip_longest(*parts, fillvalue="")]


def _line(cells: Sequence[Any], widths: Sequence[int]) -> str:
    padded = [str(c) + " " * (w - width(str(c))) for c, w in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


_WORDS = re.compile(
    r"\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+"
)
"""Blanks, single characters of scripts that break anywhere, and words."""


def terminal_columns() -> int:
    """Return how wide the terminal is that is printed to; 0 where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def longest_word(text: str) -> int:
    """Return the columns below which a text cannot be wrapped: what is copied is never broken."""
    return max((width(word) for word in _WORDS.findall(text) if not word.isspace()), default=0)


def wrapped(text: str, room: int) -> list[str]:
    """Return a text as lines of so many columns; a word that is wider stands alone."""
    if width(text) <= room:
        return [text]
    lines, line = list[str](), ""
    for word in _WORDS.findall(text):
        if line and not word.isspace() and width(line) + width(word) > room:
            lines.append(line.rstrip())
            line = ""
        line += "" if word.isspace() and not line else word
    return [*lines, line.rstrip()]


def narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths, the widest made narrower until they fit, none below its `least`; nothing where they cannot."""
    if sum(least) > room:
        return []
    now = list(widths)
    while sum(now) > room:
        widest = max((i for i in range(len(now)) if now[i] > least[i]), key=lambda i: now[i])
        now[widest] -= 1
    return now
