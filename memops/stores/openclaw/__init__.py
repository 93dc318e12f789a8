"""OpenClaw: a workspace of MEMORY.md, USER.md and memory/**/*.md; its databases are never written.

Three generations write the same files and differ in where they keep their index and their
promotion lock; `generation` tells them apart by what stands in the home folder.
"""

import contextlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any, ClassVar

from memops.errors import MemopsError
from memops.files import digest
from memops.stores import Usual
from memops.stores.lockfile import LockFile
from memops.stores.markdown import MarkdownStore
from memops.stores.markdown.entries import Grammar
from memops.stores.openclaw.grammar import INSERTED, OpenClawGrammar
from memops.stores.openclaw.provenance import rows
from memops.stores.sqlite import reader
from memops.stores.sqlite.values import text_of

_SKIPPED = (".openclaw-repair",)


class OpenClaw(MarkdownStore):
    """The workspace of one OpenClaw agent."""

    kind: ClassVar[str] = "openclaw"
    grammar: ClassVar[Grammar] = OpenClawGrammar()
    marks: ClassVar[tuple[str, ...]] = ("MEMORY.md", "USER.md", "memory", "SOUL.md", "IDENTITY.md")
    usual: ClassVar[Usual] = ("", ("~/.openclaw/workspace", "~/.openclaw/workspace-*"), "")

    def wanted(self, path: str) -> bool:
        """Root files in exact case, `users/*/USER.md` and everything below memory/."""
        if any(part in _SKIPPED for part in path.split("/")):
            return False
        return path in ("MEMORY.md", "USER.md", "DREAMS.md", "users/") or bool(
            re.match(r"^(?:memory/|users/[^/]+/(?:USER\.md)?$)", path)
        )

    def reads(self, path: str) -> bool:
        """DREAMS.md is a diary that no search reads."""
        return path != "DREAMS.md"

    def copy(self, into: Path) -> dict[str, Any]:
        """The notes name the generation and the files whose trust an edit would cost."""
        return super().copy(into) | {
            "generation": generation(self.path),
            "provenance": [row.path for row in rows(home(self.path), self.path)],
        }

    def planned(self, record: dict[str, Any]) -> tuple[str, str, str] | None:
        """A bullet in an undated file of its kind, led by the day that it is from."""
        made = record.get("created_at")
        day = f"{made:%Y-%m-%d}: " if made is not None else ""
        return f"{INSERTED}{record.get('kind') or 'note'}.md", f"- {day}", ""

    def locks(self, path: str) -> list[LockFile]:
        """Its promotion lock, which guards MEMORY.md only; under 20 s."""
        return _promotion_locks(self.path) if path == "MEMORY.md" else []


def home(workspace: Path) -> Path:
    """Return OpenClaw's home folder: the one named, the workspace's own, or the user's."""
    if named := os.environ.get("OPENCLAW_STATE_DIR"):
        return Path(named).expanduser()
    own = workspace.resolve().parent
    known = own.name == ".openclaw" or (own / "openclaw.json").exists()
    return own if known else Path.home() / ".openclaw"


def generation(workspace: Path) -> str:
    """Return A (to mid 2026), B (2026.7) or C (since 2026.9), or 'unknown'.

    B and C keep an agent database, told apart by the version in its schema_meta; A an index of
    its own.
    """
    base = home(workspace)
    databases = sorted(base.glob("agents/*/agent/openclaw-agent.sqlite"))
    if databases:
        return "B" if all(_schema_version(path) <= 1 for path in databases) else "C"
    return "A" if any(base.glob("memory/*.sqlite")) else "unknown"


def _schema_version(path: Path) -> int:
    """The version that a database of the agent's says it has; 1 where it says none."""
    query = "SELECT schema_version FROM schema_meta ORDER BY 1 DESC LIMIT 1"
    with contextlib.suppress(MemopsError, TypeError, ValueError), reader(path) as db:
        return int(text_of(db.execute(query).fetchone()[0]))
    return 1


def _promotion_locks(workspace: Path) -> list[LockFile]:
    base, real = home(workspace), str(workspace.resolve())
    which = generation(workspace)
    old = LockFile(
        workspace / "memory" / ".dreams" / "short-term-promotion.lock",
        lambda: f"{os.getpid()}:{int(time.time() * 1000)}",
        stale=60,
        pid=r"^(\d+):",
    )
    name = f"memory-promotion-{digest(real)}.lock"
    new = LockFile(base / "locks" / name, _lock_text, stale=3600, pid=r'"pid":\s*(\d+)')
    both = [new] * (which == "C" or new.path.parent.is_dir())
    return both + [old] * (which in "AB" or old.path.parent.is_dir())


def _lock_text() -> str:
    made = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    said: dict[str, Any] = {"pid": os.getpid(), "createdAt": made}
    with contextlib.suppress(OSError, IndexError):
        stat = Path("/proc/self/stat").read_text(encoding="ascii")
        said["starttime"] = int(stat.rpartition(")")[2].split()[19])
    return json.dumps(said)
