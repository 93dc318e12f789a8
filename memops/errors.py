"""Errors: one sentence that names the thing and the remedy, and the exit code that it ends with."""

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any


class MemopsError(Exception):
    """A failure that is the user's to mend; `hint` says how. What it quotes of a store has its secrets masked."""

    code = 2
    remedy = "see `memops COMMAND --help`"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self._message, self._hint = message, hint or self.remedy

    @property
    def message(self) -> str:
        """The sentence, with secrets masked."""
        return _masked(self._message)

    @message.setter
    def message(self, text: str) -> None:
        self._message = text

    @property
    def hint(self) -> str:
        """The next step, with secrets masked."""
        return _masked(self._hint)

    @hint.setter
    def hint(self, text: str) -> None:
        self._hint = text

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"


_masks: list[Callable[[str], str]] = []


def mask_with(mask: Callable[[str], str]) -> None:
    """Let errors be read through a function; `safety.secrets`, which this may not import, asks."""
    _masks.append(mask)
    _masked.cache_clear()


@lru_cache(64)  # an error is read several times, and a search costs nearly a tenth of a second
def _masked(text: str) -> str:
    for mask in _masks:
        text = mask(text)
    return text


class StoreNotFound(MemopsError):
    """The store is not there, or cannot be reached."""

    code = 10
    remedy = "check the store's address"


class Locked(MemopsError):
    """Another process holds what this one needs."""

    code = 11
    remedy = "try again when the other process is done"
    begun = True
    """False where another process is at the very same, so that nothing of it failed."""


class Unauthorised(MemopsError):
    """The store refused the credentials."""

    code = 12
    remedy = "check the token"


class Corrupt(MemopsError):
    """An input or artefact is damaged, truncated or not ours."""

    code = 20
    remedy = "mend the file, or use another copy"


class Incomplete(MemopsError):
    """A snapshot lacks part of its store and may not be planned from."""

    code = 21
    remedy = "take another snapshot"


class PlanRefused(MemopsError):
    """The plan is not the one that was made, or not for this store."""

    code = 22
    remedy = "plan again"


class GuardRefused(MemopsError):
    """The plan goes beyond what may happen without a person's approval."""

    code = 23
    remedy = "review it, then give --approve"

    def __init__(
        self, message: str, hint: str = "", limits: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(message, hint)
        self.limits = limits
        """The limits that it exceeds, as reasons."""


class Interrupted(MemopsError):
    """A run stopped half-way and can be resumed."""

    code = 24
    remedy = "go on with `memops resume RUN`"


class RollbackConflict(MemopsError):
    """Records changed after the run; the store's version was kept."""

    code = 25
    remedy = "look at what was kept with `memops records show STORE ID`"


class NoSpace(MemopsError):
    """No space is left, or the device failed."""

    code = 26
    remedy = "make room, then run the command again"


class GateFailed(MemopsError):
    """Recall is worse than the baseline allows."""

    code = 30
    remedy = "look at the report, or accept the new grades with --accept"


class GateInconclusive(MemopsError):
    """The grades cannot be compared with the baseline."""

    code = 31
    remedy = "grade with more questions"


class Finding(MemopsError):
    """An audit found what `--fail-on` names."""

    code = 32
    remedy = "look at the findings with `memops store audit STORE`"


class ReadBackFailed(MemopsError):
    """What a run wrote does not read as it should."""

    code = 33
    remedy = "look at the records with `memops records show STORE ID`, or take the run back"


class Bug(MemopsError):
    """Memops failed in a way that nobody foresaw."""

    code = 1


def told(error: BaseException) -> MemopsError:
    """Return an error as one that may be shown anywhere; of what is not memops' own, class and place alone."""
    if isinstance(error, MemopsError):
        return error
    if isinstance(error, OSError) and not isinstance(error, TimeoutError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return NoSpace(f"{where}{error.strerror}", "free space or mend the mode, then resume")
    name = type(error).__name__
    if isinstance(error, TimeoutError):
        said = f"it took longer than it may ({name})"
        return Interrupted(said, "`memops runs` shows what is open")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "memops" in f.filename]
    place = f" in {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    hint = "`memops nightly STORE` with MEMOPS_DEBUG=1 says more"
    return Bug(f"a bug in memops: {name}{place}", hint)


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a question for the known name that is written most like one, or what is said without."""
    import difflib

    near = difflib.get_close_matches(name, [*known], 1)
    return f"did you mean {near[0]!r}?" if near else otherwise


MILD = (0, 3, 4, 23, 31)
"""Codes of what is done, or waits for a person; any other is a failure."""


def gravest(codes: Iterable[int]) -> int:
    """Return the code that several stores end with: a bug, else a failure, else the highest."""
    return max(codes, key=lambda code: (code == Bug.code, code not in MILD, code), default=0)
