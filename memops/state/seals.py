"""Seals: what this user made or decided in this state folder, told from what a file claims.

    seal.key      32 random bytes, 0600, made when they are first needed

A seal is an HMAC-SHA256 (RFC 2104) under that key of a JSON value and a word for what it is.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files
from memops.errors import Corrupt, PlanRefused
from memops.schema import instant

KEY = "seal.key"
_SIZE = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def seal(state: Path, what: str, value: Any) -> str:
    """Return the seal of a JSON value; makes the folder's key where there is none yet."""
    key = _read(state)
    if key is None:
        part = files.folder(state) / f".{KEY}.{os.getpid()}"
        files.write(part, secrets.token_bytes(_SIZE))
        with contextlib.suppress(FileExistsError):
            os.link(part, state / KEY)
        part.unlink(missing_ok=True)
        files.sync(state)
        key = _read(state)
    assert key is not None  # just made, and never removed by us
    return _hmac(key, what, value)


def holds(state: Path, what: str, value: Any, given: object) -> bool:
    """Return whether a seal is that of the value; false where there is no key."""
    key = _read(state)
    if key is None or not isinstance(given, str):
        return False
    return hmac.compare_digest(_hmac(key, what, value).encode(), given.encode("utf-8", "replace"))


def made_at(plan: Path) -> datetime:
    """Return when a plan was made, as its `made.json` says; raises PlanRefused or Corrupt."""
    path = plan / "made.json"
    at = instant(str(made(plan).get("at")))
    if at is None:
        raise PlanRefused(f"{path}: it does not say when the plan was made")
    return at


def made(plan: Path) -> dict[str, Any]:
    """Return what stands in a plan's `made.json`; raises PlanRefused or Corrupt."""
    path = plan / "made.json"
    if not path.is_file():
        raise PlanRefused(f"{path} is missing")
    return files.read_json(path)


def _hmac(key: bytes, what: str, value: Any) -> str:
    data = what.encode() + b"\0" + files.json_bytes(value)
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def _read(state: Path) -> bytes | None:
    """The key, None where there is none; raises Corrupt for what cannot be one."""
    path, hint = state / KEY, "put the key of this state folder back"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Corrupt(f"{path}: {error.strerror}", hint) from error
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Corrupt(f"{path} is no file", hint)
        if about.st_mode & _OTHERS or about.st_uid != os.geteuid():
            hint = f"remove it and plan again, or, if nobody read it: chmod 600 {path}"
            raise Corrupt(f"{path}: others than you may read it, so it seals nothing", hint)
        key = os.read(handle, _SIZE + 1)
    finally:
        os.close(handle)
    if len(key) != _SIZE:
        said = f"{path}: {about.st_size} bytes where a key has {_SIZE}"
        raise Corrupt(said, "put the key back, or remove it and plan again")
    return key
