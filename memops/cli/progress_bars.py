"""Progress on standard error: the steps of a command while it runs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from memops.progress import watched

if TYPE_CHECKING:
    from rich.progress import Progress


_WORTH = 0.1  # seconds from which a step is worth a line


@contextmanager
def steps_on_stderr(quiet: bool, verbose: bool) -> Iterator[None]:
    """Show the steps below on a terminal, or a line each with `verbose`; else nothing."""
    if quiet or not (verbose or sys.stderr.isatty()):
        yield
        return
    shown: Any = _Lines() if verbose else _Bars()
    try:
        with watched(shown.tell):
            yield
    finally:
        shown.close()


class _Lines:
    """A line for each step that has ended and took a while, with its count and rate."""

    def __init__(self) -> None:
        self.begun: dict[str, float] = {}

    def tell(self, title: str, done: int, total: int) -> None:
        begun = self.begun.setdefault(title, time.monotonic())
        if 0 <= done < total:
            return
        spent = time.monotonic() - self.begun.pop(title, begun)
        if spent >= _WORTH and done >= 0:
            rate = f", {total / spent:.3g} a second" if total > 1 else ""
            click.echo(f"{title}: {total} in {spent:.1f} s{rate}", err=True)

    def close(self) -> None:
        pass


class _Bars:
    """A bar for each step at work: how much, how long, how much longer; gone when it has ended."""

    def __init__(self) -> None:
        self.bars: Progress | None = None
        self.tasks: dict[str, Any] = {}
        self.begun: dict[str, float] = {}

    def tell(self, title: str, done: int, total: int) -> None:
        bars = self.bars or self._opened()
        if title not in self.tasks:
            self.tasks[title] = bars.add_task(title, total=total, rate="")
            self.begun[title] = time.monotonic()
        spent = time.monotonic() - self.begun[title]
        rate = f"{done / spent:.3g}/s" if done > 0 and spent else ""
        bars.update(self.tasks[title], completed=max(0, done), total=total, rate=rate)
        if done >= total or done < 0:
            bars.remove_task(self.tasks.pop(title))
            if not self.tasks:
                self.close()

    def close(self) -> None:
        if self.bars:
            self.bars.stop()
        self.bars, self.tasks = None, {}

    def _opened(self) -> "Progress":
        from rich import progress
        from rich.console import Console

        self.bars = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.bars.start()
        return self.bars
