"""Options that several commands have, and how a value that is given becomes one of theirs."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
JSON = "memops.json"
"""Where a context keeps whether `--json` was given."""


def flag(*names: str, help: str) -> Callable[[F], F]:
    """Return an option that is given or not."""
    return click.option(*names, is_flag=True, help=help)


def usual(name: str, value: Any, help: str, kind: Any = None) -> Callable[[F], F]:
    """Return an option with a value that it has by default, as its help says."""
    return click.option(name, type=kind, default=value, show_default=True, help=help)


def several(*names: str, help: str, metavar: str | None = None) -> Callable[[F], F]:
    """Return an option that may be given several times."""
    return click.option(*names, multiple=True, metavar=metavar, help=help)


class _Language(click.ParamType[str]):
    """A language of reports: one that has a pack with their words."""

    name = "language"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        from memops.reports.words import languages

        if value not in languages():
            self.fail(f"{value!r} is not one of {', '.join(languages())}", param, ctx)
        return value


def lang_option(what: str) -> Callable[[F], F]:
    """Return the option by which a page's language is chosen."""
    return usual("--lang", "en", what, _Language())


def with_formats(command: click.Command) -> None:
    """Give a command the options by which `emit` knows in which format to print, if it has none."""
    if all(param.name != "json" for param in command.params):
        about: dict[str, Any] = {"is_flag": True, "expose_value": False}
        about["callback"] = lambda ctx, param, value: ctx.meta.update({JSON: value})
        command.params.append(click.Option(["--json"], help="Print one JSON value.", **about))


def now_option(command: F) -> F:
    """Add `--now INSTANT`, which fixes the clock."""
    help = "Fix the clock, e.g. 2026-06-01T02:00:00Z."
    return click.option("--now", callback=_instant, help=help)(command)


def names_given(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Return the ids that a person gives as memops has them: one that holds a secret by its alias."""
    import polars as pl

    from memops.safety.masking import aliased

    ids = [value] if isinstance(value, str) else list(value or ())
    known = aliased(pl.Series(ids, dtype=pl.String)).to_list()
    return known[0] if isinstance(value, str) else tuple(known)


def _instant(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    from memops.state.sources import fixed

    return None if value is None else fixed(value)
