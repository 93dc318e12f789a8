"""XingheBot's formats beside its notes: a project's key, MEMORY.md's head and size, markers."""

import hashlib
import json
import posixpath
import re
from datetime import UTC, datetime

LAYOUT = ("MEMORY.md", "daily", "index", "sessions")
HEAD = "# MEMORY"
RUNES = 1_000
"""Characters that MEMORY.md keeps at its next update."""

_STAMP = re.compile(r"^<!-- memory_md_update: .*-->\n?", re.MULTILINE)
_SCHEME = re.compile(r"^(?:https?|ssh|git)://")


def project_key(remote: str) -> str:
    """Return the name of a project's folder, from its Git remote; '' for one that has no host."""
    text = remote.strip().rstrip("/").removesuffix(".git")
    if "://" in text:
        if not _SCHEME.match(text):
            return ""
        text = _SCHEME.sub("", text).removeprefix("git@")
    elif text.startswith("git@"):
        text = text.removeprefix("git@")
    else:
        return ""
    return sanitized(text.replace(":", "/").replace("/", "_"))


def folder_key(path: str) -> str:
    """Return the name of a project's folder where there is no remote."""
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:8]
    return sanitized(f"{posixpath.basename(path.rstrip('/'))}_{digest}")


def sanitized(key: str) -> str:
    """Return a key as a folder's name: ASCII letters, digits, dot, underscore, hyphen."""
    return re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9._-]+", "_", key)).strip("._-")


def resolved(path: str) -> str:
    """Return a path below the memory root; raises ValueError with XingheBot's own words."""
    if not path.strip():
        raise ValueError("path is empty")
    if path.startswith(("/", "~")):
        raise ValueError("path must be relative to memory root")
    plain = posixpath.normpath(path)
    if plain == "." or plain.startswith(".."):
        raise ValueError("invalid relative path")
    if not plain.endswith(".md"):
        raise ValueError("only .md files are allowed")
    return plain


def headed(text: str) -> str:
    """Return what MEMORY.md becomes of a text: under its heading, which is matched exactly."""
    return text if text.startswith(HEAD) else f"{HEAD}\n\n{text}"


def stamped(text: str, run: str, at: datetime) -> str:
    """Return MEMORY.md with the stamp of an update under its heading, and no other stamp."""
    mark = f"<!-- memory_md_update: at={at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} source={run} -->"
    head, newline, rest = text.partition("\n")
    return f"{head}\n{mark}{newline}{_STAMP.sub('', rest)}".rstrip("\n")


def cut(text: str, runes: int = RUNES) -> str:
    """Return what is left of MEMORY.md at an update: whole lines, of so many characters at most."""
    if len(text) <= runes:
        return text
    head, newline, _ = text[:runes].rpartition("\n")
    return head if newline else text[:runes]


def flush_marker(run: str, size: int, at: datetime) -> tuple[str, str]:
    """Return name and content of the marker that tells a captured session from a new one."""
    said = {"mod_time": at.astimezone(UTC).isoformat().replace("+00:00", "Z"), "size": size}
    return f".session_capture_flush.{run}.json", json.dumps(said)
