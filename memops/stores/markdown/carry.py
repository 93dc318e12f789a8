"""Carry: replace a file that others append to, without losing a line of theirs.

A rename alone loses what a writer that had the file open writes into the old one. So: watch the
file until it holds still, build the new one beside it, keep a link to the old one, rename, then
follow the old one until nobody has it open and carry over what arrived in it. Whoever overwrote
it, or still has it open after the grace, gets it back, and the change is not made: the agent's
version stands. The link's name tells what a crash left behind, and `leavings.recover` finishes.
"""

import contextlib
import os
import stat
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from memops.failpoints import failpoint
from memops.reasons import packed
from memops.stores.markdown.carry_files import (
    FLAGS,
    append,
    grown,
    joined,
    lines,
    opened,
    read_fd,
    settled,
    still,
    write,
)
from memops.stores.markdown.carry_leavings import drafted, linked
from memops.stores.open_files import writers

Build = Callable[[bytes | None], bytes | None]
"""Given what the file holds (None if absent), the new bytes, or None to leave it alone."""


@dataclass(frozen=True)
class Pace:
    """How long to watch, in seconds."""

    recent: float = 2.0  # a file written this long ago holds still
    still: float = 0.05  # any other is watched this long; if it changes, it is being written
    grace: float = 0.05  # how long the old file is followed at least (trust: 50 ms)
    limit: float = 2.0  # and at most
    tries: int = 3


def replace(
    folder: int,
    name: str,
    build: Build,
    keep: Callable[[], None] = lambda: None,
    pace: Pace = Pace(),
    locked: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
) -> str:
    """Put what `build` makes of a file in its place; returns why it could not be, or ''.

    `keep` is called once that is certain.
    """
    for _ in range(pace.tries):
        if not still(folder, name, pace.recent, pace.still):
            continue
        with locked():
            attempt = _attempt(folder, name, build, keep)
        if attempt is not None:
            return attempt if isinstance(attempt, str) else attempt.settle(pace)
    return "skip.being_written"


@dataclass
class _Swap:
    """A file whose new version stands and whose old one is followed for a while."""

    folder: int
    name: str
    link: str
    old: int
    data: bytes
    new: bytes
    carried: bytes = b""
    quiet_since: float = 0.0

    def settle(self, pace: Pace) -> str:
        try:
            done = self._followed(pace)
            failpoint("carry-settled")
            return done
        finally:
            os.close(self.old)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.link, dir_fd=self.folder)
            os.fsync(self.folder)

    def _followed(self, pace: Pace) -> str:
        started = self.quiet_since = time.monotonic()
        while True:
            ripe = time.monotonic() - self.quiet_since >= pace.grace
            # Asked before reading: once nobody has the old file open, nothing can be added to it.
            holders = writers(self.old) if ripe else []
            now = read_fd(self.old)
            self._carry(now)
            since = time.monotonic()
            if ripe and not holders and since - self.quiet_since >= pace.grace:
                if not now.startswith(self.data):
                    return self._given_back(pace, "skip.written_over")
                if (verdict := self._judged()) is not None:
                    return verdict
            if since - started > pace.limit:
                held = packed("skip.held", {"process": holders[0]}) if holders else ""
                return self._given_back(pace, held or "skip.being_written")
            time.sleep(0.005)

    def _carry(self, now: bytes) -> None:
        """Append to the new file what the old one was given since."""
        tail = now[len(self.data) :] if now.startswith(self.data) else b""
        if len(tail) > len(self.carried) and tail.startswith(self.carried):
            append(self.folder, self.name, tail[len(self.carried) :])
            self.carried, self.quiet_since = tail, time.monotonic()

    def _judged(self) -> str | None:
        """Say how it ended, or add again what a writer of whole files has dropped."""
        live, busy = settled(self.folder, self.name)
        if live is None:
            return "skip.removed"
        missing = lines(self.carried) - lines(live)
        if live.startswith(self.new) and not missing:
            return ""  # whoever has it open adds to it
        if busy:
            return None
        if missing:
            append(self.folder, self.name, joined(missing))
            self.quiet_since = time.monotonic()
            return None
        return "skip.written_over_kept"

    def _given_back(self, pace: Pace, why: str) -> str:
        """Make the old file the live one again, with what only the new one was given."""
        with opened(self.folder, self.name) as new:
            os.replace(self.link, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            self._brought_over(new, pace)
        return why

    def _brought_over(self, new: int, pace: Pace) -> None:
        """Add to the live file again what only the new one was given; none is left behind."""
        known, brought = lines(self.new + self.carried), Counter[bytes]()
        end = time.monotonic() + pace.grace
        last = end + pace.limit
        while True:
            holders = writers(new)
            brought += lines(read_fd(new)) - known - brought
            live, busy = settled(self.folder, self.name)
            lost = brought - lines(live or b"")
            late = time.monotonic() > last
            if lost and live is not None and (late or not busy):
                append(self.folder, self.name, joined(lost))
                end = time.monotonic() + pace.grace
            elif not holders and not lost and time.monotonic() >= end:
                return
            if late or live is None:
                return
            time.sleep(0.005)


def _attempt(folder: int, name: str, build: Build, keep: Callable[[], None]) -> _Swap | str | None:
    """Return the swap, or why there is none, or None when the file changed meanwhile."""
    old = os.open(name, os.O_RDONLY | FLAGS, dir_fd=folder)
    swap, mine = None, [new := drafted(name)]
    try:
        was = os.fstat(old)
        if pids := writers(old):
            return packed("skip.open", {"process": pids[0]})
        data = read_fd(old)
        made = build(data)
        if made is None or made == data:
            return ""
        write(folder, new, made, stat.S_IMODE(was.st_mode), was)
        os.utime(new, ns=(was.st_atime_ns, was.st_mtime_ns), dir_fd=folder)
        failpoint("carry-drafted")
        keep()
        failpoint("carry-kept")
        link = linked(name, data)
        if not grown(folder, name, was, len(data)):
            return None
        os.link(name, link, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        mine.append(link)
        failpoint("carry-linked")
        if not grown(folder, name, was, len(data)) or writers(old):
            return None
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
        mine.clear()  # from here on the link is all that leads to what is written to the old file
        failpoint("carry-renamed")
        os.fsync(folder)
        swap = _Swap(folder, name, link, old, data, made)
        return swap
    finally:
        if swap is None:
            os.close(old)
            for left in mine:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(left, dir_fd=folder)
