"""Failpoints, by which tests see what each fault leaves: MEMOPS_FAIL=SITE:N:KIND strikes at the Nth passage."""

import errno
import os
import signal
from collections import Counter

_ERRORS = {"enospc": errno.ENOSPC, "eio": errno.EIO}
passed: Counter[str] = Counter()
"""How often each site was passed that is asked to fail."""


class Struck(BaseException):
    """What `raise` raises: nothing but cleaning up runs after it."""


def failpoint(site: str) -> None:
    """Fail here if MEMOPS_FAIL says so; raises OSError or Struck, or ends the process."""
    asked = os.environ.get("MEMOPS_FAIL")
    if not asked or not asked.startswith(f"{site}:"):
        return
    passed[asked] += 1
    _, nth, kind = asked.split(":")
    if passed[asked] != int(nth):
        return
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "raise":
        raise Struck(asked)
    raise OSError(_ERRORS[kind], os.strerror(_ERRORS[kind]), site)
