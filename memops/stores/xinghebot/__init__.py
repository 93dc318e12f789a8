"""XingheBot: a memory root of MEMORY.md, daily notes and captured sessions, without any index.

Its own locks guard its files and its appends give up after five seconds, so each is held only
from reading to renaming. Time stamps are kept: they are its ranking.
"""

import os
import re
import time
from datetime import UTC, datetime
from typing import Any, ClassVar

from memops.stores import Usual
from memops.stores.lockfile import LockFile
from memops.stores.markdown import MarkdownStore
from memops.stores.markdown.entries import Grammar
from memops.stores.xinghebot.grammar import DAILY, KIND_NAMES, XingheBotGrammar

UNDATED = "memops/"
"""Where moved records go, by kind: files that no day names."""

_NATIVE = {kind: name for name, kind in KIND_NAMES.items() if name in ("pref", "note")}


class XingheBot(MarkdownStore):
    """The memory of one XingheBot project."""

    kind: ClassVar[str] = "xinghebot"
    paths: ClassVar[tuple[str, ...]] = ("MEMORY_ROOT",)
    grammar: ClassVar[Grammar] = XingheBotGrammar()
    marks: ClassVar[tuple[str, ...]] = ("MEMORY.md", "daily", "sessions")
    usual: ClassVar[Usual] = ("", ("~/.xinghebot/workspace/*/memory",), "")

    def wanted(self, path: str) -> bool:
        """Every Markdown file below the root, as its own scan has it; the index folder aside."""
        return not path.startswith("index/")

    def planned(self, record: dict[str, Any]) -> tuple[str, str, str] | None:
        """A line of the daily grammar, in the file of the UTC day that the record is from."""
        made: datetime | None = record.get("created_at")
        kind, origin = record.get("kind") or "note", record.get("origin") or ""
        undated = origin.partition("#")[0] if origin.startswith(UNDATED) else ""
        if made is None and not undated:
            return None
        stamp = f"{made.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} " if made else ""
        tags = "".join(" #" + re.sub(r"[\s#]+", "-", tag) for tag in record.get("tags") or [])
        return (
            undated or f"daily/{stamp[:10]}.md",
            f"- {stamp}[{_NATIVE.get(kind, kind)}] ",
            f"{tags} (source=memops)",
        )

    def locks(self, path: str) -> list[LockFile]:
        """Both locks of the daily notes, or the one of MEMORY.md."""
        if path == "MEMORY.md":
            return [self._lock(".memory_md.lock")]
        if DAILY.match(path):
            return [self._lock(".daily_summary.lock"), self._lock(".daily.lock")]
        return []

    def _lock(self, name: str) -> LockFile:
        form = f"pid={os.getpid()} time=%Y-%m-%dT%H:%M:%SZ\n"
        path, pid = self.path / "index" / name, r"pid=(\d+)"
        return LockFile(path, lambda: time.strftime(form, time.gmtime()), stale=300, pid=pid)
