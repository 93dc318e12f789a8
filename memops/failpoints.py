"""Failpoints: faults on request at named steps, so that tests can show what each one leaves.

`MEMOPS_FAIL=SITE:N:KIND` strikes at the Nth passage of a site: `kill` (as kill -9), `enospc`,
`eio` or `raise`. Without it nothing happens.
"""

import errno
import os
import signal
from collections import Counter

SITES = (
    "file-write", "file-rename", "file-renamed",  # files.write
    "journal-write", "journal-sync", "journal-done",  # Journal.add
    "run-begun", "batch-write", "batch-written", "overlay-write", "overlay-written",  # apply
    "revert-batch", "reverted-batch", "overlay-restored",  # rollback
    "snapshot-copied", "snapshot-sealed",
    "purge-copied", "purge-swap", "purge-away",
    "sqlite-begun", "sqlite-changed", "sqlite-kept", "sqlite-committed", "sqlite-reverted",
    "sqlite-held", "sqlite-restored",  # restore
    "disk-write", "disk-rename", "disk-renamed",
    "carry-drafted", "carry-kept", "carry-linked", "carry-renamed", "carry-settled",
    "carry-dropped",
)  # fmt: skip
"""Every site, in the module that holds it."""

_ERRORS = {"enospc": errno.ENOSPC, "eio": errno.EIO}
_passed: Counter[str] = Counter()


class Struck(BaseException):
    """What `raise` raises: nothing but cleaning up runs after it."""


def failpoint(site: str) -> None:
    """Fail here if MEMOPS_FAIL says so; raises OSError or Struck, or ends the process."""
    asked = os.environ.get("MEMOPS_FAIL")
    if not asked or not asked.startswith(f"{site}:"):
        return
    _passed[asked] += 1
    _, nth, kind = asked.split(":")
    if _passed[asked] != int(nth):
        return
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "raise":
        raise Struck(asked)
    raise OSError(_ERRORS[kind], os.strerror(_ERRORS[kind]), site)


def forget() -> None:
    """Count passages from nought again."""
    _passed.clear()
