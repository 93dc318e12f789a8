"""Credentials: from the environment or from a private file that it names, and in nothing of ours."""

import os
import stat
from pathlib import Path

from memops.errors import MemopsError


def credential(variable: str) -> str:
    """Return what VARIABLE holds, or the file that VARIABLE_FILE names; empty where neither is.

    Raises MemopsError for a file that others may read and for what no header may hold.
    """
    token = os.environ.get(variable, "")
    name = os.environ.get(f"{variable}_FILE", "")
    if not token and name:
        path = Path(name).expanduser()
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & 0o077:
                raise MemopsError(f"{path}: others may read the token", f"chmod 600 {path}")
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise MemopsError(f"{path}: the token cannot be read") from error
    if not token.isascii() or not token.isprintable():
        raise MemopsError("the token has characters that no header may have", f"check {variable}")
    return token
