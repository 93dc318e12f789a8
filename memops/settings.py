"""Settings: what `memops.toml` names (stores, their suites, the policy) and where state is kept."""

import os
import stat
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memops import policy as policies
from memops.errors import Corrupt, MemopsError
from memops.policy import Policy, overridden
from memops.schema import RECORDS

_STORE_KEYS = {"address", "suite", "schedule", "timezone"}
RUNNERS = ("plain", "threads", "processes", "dask")
_TABLES = (
    "policy",
    "stores",
    "state",
    "encoder",
    "query_instruction",
    "import",
    "flows",
    "runner",
    "monitor",
    "notify",
)


@dataclass(frozen=True)
class Configured:
    """One store of `memops.toml`."""

    name: str
    address: str
    suite: str | None = None
    schedule: str | None = None
    timezone: str | None = None


@dataclass(frozen=True)
class Flows:
    """How the flows are served."""

    schedule: str = "30 3 * * *"
    """For stores that name none; after the hour at which agents tidy up themselves."""
    timezone: str = "UTC"
    at_once: int = 1
    """Stores whose flows run at the same time; the others queue."""
    approval_minutes: float = 0.0
    """How long a plan beyond its limits waits for a person; 0 ends the night at once."""


@dataclass(frozen=True)
class Runner:
    """Where the heavy steps run: plain, threads, processes or dask."""

    kind: str = "plain"
    workers: int = 2
    address: str = ""
    """Of a Dask scheduler; empty starts a local cluster of `workers`."""
    part: int = 5000
    """Statements that one part holds; a store of fewer runs whole."""


@dataclass(frozen=True)
class Monitor:
    """What a monitor is told."""

    max_age_hours: float = 36.0
    """Age of a store's last good night from which `memops status` fails."""
    textfile: str = ""
    """File for Prometheus' textfile collector, written after each night."""


@dataclass(frozen=True)
class Notify:
    """Whom the Prefect server tells of flows that failed, crashed or wait for a person."""

    webhook: str = ""
    """An address that takes JSON: {"subject", "text"}."""
    email: str = ""
    """An Apprise address: mailtos://USER:PASSWORD@HOST?to=ADDRESS."""


@dataclass(frozen=True)
class Import:
    """One export of another program: its file, and which of its fields are our columns."""

    path: Path
    fields: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    at: str = ""


@dataclass(frozen=True)
class Settings:
    """What a command works with; `state` is the folder of snapshots, plans and runs."""

    state: Path
    policy: Policy = field(default_factory=Policy)
    stores: dict[str, Configured] = field(default_factory=dict)
    encoder: str = "lsa"
    instruction: str = ""
    """What stands before a query that a model encodes."""
    imports: dict[str, Import] = field(default_factory=dict)
    flows: Flows = field(default_factory=Flows)
    runner: Runner = field(default_factory=Runner)
    monitor: Monitor = field(default_factory=Monitor)
    notify: Notify = field(default_factory=Notify)
    path: Path | None = None
    """The file that they were read from."""

    def store(self, name: str) -> Configured:
        """Return the store of that name, or an unnamed one at that address."""
        return self.stores.get(name) or Configured(name="", address=name)


def read(config: Path | None, state: Path | None) -> Settings:
    """Return the settings of `config`, or of `memops.toml` in this folder if it is there.

    Raises MemopsError for unknown names, Corrupt for a file that is no TOML.
    """
    path = config or Path("memops.toml")
    if not path.exists():
        if config:
            raise MemopsError(f"{config}: no such file", "leave --config out to use the defaults")
        return Settings(state=_private((state or Path(".memops")).absolute()))
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path}: not valid TOML: {error}") from error
    unknown = sorted(table.keys() - {*_TABLES})
    if unknown:
        raise MemopsError(f"{path}: unknown table {unknown[0]!r}", f"known: {', '.join(_TABLES)}")
    for name in ("stores", "import"):
        if not isinstance(table.get(name, {}), dict):
            raise MemopsError(f"{path}: {name} must be a table", f"[{name}.NAME]")
    return Settings(
        state=_private((state or path.parent / table.get("state", ".memops")).absolute()),
        policy=policies.from_table(table.get("policy", {}), str(path)),
        stores={n: _store(n, t, path) for n, t in table.get("stores", {}).items()},
        encoder=str(table.get("encoder", "lsa")),
        instruction=str(table.get("query_instruction", "")),
        imports={n: _import(n, t, path) for n, t in table.get("import", {}).items()},
        flows=overridden(Flows(), table.get("flows", {}), str(path), "flows"),
        runner=_runner(table.get("runner", {}), path),
        monitor=overridden(Monitor(), table.get("monitor", {}), str(path), "monitor"),
        notify=overridden(Notify(), table.get("notify", {}), str(path), "notify"),
        path=path.absolute(),
    )


def _private(state: Path) -> Path:
    """Return the state folder; raises MemopsError for one that others own or may write to.

    Who can write there can put a plan in another's place.
    """
    try:
        folders = [state, *(p for p in state.iterdir() if p.is_dir())] if state.is_dir() else []
        for folder in folders:
            seen = folder.lstat() if folder != state else folder.stat()
            if seen.st_uid != os.geteuid():
                raise MemopsError(
                    f"{folder} belongs to user {seen.st_uid}, not to you",
                    "run as its owner, or give --state DIR",
                )
            if stat.S_IMODE(seen.st_mode) & 0o022 and not stat.S_ISLNK(seen.st_mode):
                raise MemopsError(f"{folder} may be written by others", f"chmod go-w {folder}")
    except PermissionError as error:
        raise MemopsError(
            f"{state} may not be read", "run as its owner, or give --state DIR"
        ) from error
    return state


def _runner(table: Any, path: Path) -> Runner:
    made: Runner = overridden(Runner(), table, str(path), "runner")
    if made.kind not in RUNNERS:
        raise MemopsError(
            f"{path}: runner.kind is no {made.kind!r}", f"known: {', '.join(RUNNERS)}"
        )
    return made


def _store(name: str, table: Any, path: Path) -> Configured:
    if not isinstance(table, dict) or "address" not in table:
        raise MemopsError(f"{path}: stores.{name} needs an address", 'address = "clawseed:PATH"')
    unknown = sorted(table.keys() - _STORE_KEYS)
    if unknown:
        raise MemopsError(
            f"{path}: unknown setting stores.{name}.{unknown[0]}",
            f"known: {', '.join(sorted(_STORE_KEYS))}",
        )
    return Configured(name=name, **{k: str(v) for k, v in table.items()})


def _import(name: str, table: Any, path: Path) -> Import:
    if not isinstance(table, dict) or not isinstance(table.get("path"), str):
        raise MemopsError(f"{path}: import.{name} needs a path", 'path = "export.json"')
    unknown = sorted(table.keys() - {"path", "fields", "defaults", "at"})
    if unknown:
        raise MemopsError(
            f"{path}: unknown setting import.{name}.{unknown[0]}",
            "known: path, fields, defaults, at",
        )
    fields, defaults = table.get("fields", {}), table.get("defaults", {})
    if not (isinstance(fields, dict) and isinstance(defaults, dict)):
        raise MemopsError(
            f"{path}: import.{name}: fields and defaults are tables", '{ text = "body" }'
        )
    for column in [*fields, *defaults]:
        if column not in RECORDS or column in ("extra", "origin"):
            known = ", ".join(c for c in RECORDS if c not in ("extra", "origin"))
            raise MemopsError(f"{path}: import.{name}: no column {column!r}", f"known: {known}")
    at = str(table.get("at", ""))
    return Import(path.parent / Path(table["path"]).expanduser(), dict(fields), dict(defaults), at)
