"""The logbook: a JSON line for every step of a night, for those who collect logs; no memory text.

<state>/log.jsonl   at, night, store, step, event (done or failed), seconds, counts, flow_run
"""

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files

_COUNTS = ("rows", "live", "ops", "applied", "refused", "code")
_NAMES = ("snapshot", "plan", "run", "verdict", "state", "error")


def note(
    state: Path,
    at: datetime,
    night: str,
    store: str,
    step: str,
    seconds: float,
    said: Mapping[str, Any],
) -> None:
    """Append a line; of what a step returned only its counts and the names of what it made."""
    line = {
        "at": at.isoformat(timespec="milliseconds"),
        "night": night,
        "store": store,
        "step": step,
        "event": "failed" if "error" in said else "done",
        "seconds": round(seconds, 3),
        **{key: said[key] for key in _COUNTS if isinstance(said.get(key), int)},
        **{key: said[key] for key in _NAMES if isinstance(said.get(key), str)},
    }
    if flow_run := os.environ.get("PREFECT__FLOW_RUN_ID"):
        line["flow_run"] = flow_run
    data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
    path = files.folder(state) / "log.jsonl"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "ab") as log:
        log.write(data)
