"""Settings: what `memops.toml` names: stores, their suites, the policy, where state is kept."""

import math
import os
import re
import shlex
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from memops.errors import GuardRefused, MemopsError, NoSpace, StoreNotFound, did_you_mean
from memops.policy import Policy, plain, ranges, sections
from memops.policy.checking import checked, line_of, loaded, named_in, tables

_WORD = re.compile(r"'[a-z]+:[^'\n]+'|(?<![\w'])[a-z]+:[^\s'`,;]+")
"""What may be the address of a store, in quotes where it has blanks."""


@dataclass(frozen=True)
class Configured(ranges.Section):
    """One store of `memops.toml`."""

    address: ranges.Located
    suite: ranges.Located | None = None
    schedule: ranges.Cron | None = None
    timezone: ranges.Zone | None = None


@dataclass(frozen=True)
class Flows(ranges.Section):
    """How the flows are served."""

    schedule: ranges.Cron = "30 3 * * *"
    """For stores that name none; after the hour at which agents tidy up themselves."""
    timezone: ranges.Zone = "UTC"
    at_once: ranges.AtLeastOne = 1
    """Stores whose flows run at the same time; the others queue."""
    approval_minutes: ranges.Minutes = 0.0
    """How long a plan beyond its limits can be approved; 0 is as long as any plan lives."""


@dataclass(frozen=True)
class Monitor(ranges.Section):
    """What a monitor is told."""

    max_age_hours: ranges.Hours = 36.0
    """Age of a store's last good night from which `memops status` fails."""
    textfile: ranges.Located = ""
    """File for Prometheus' textfile collector, written after each night."""


@dataclass(frozen=True)
class Notify(ranges.Section):
    """Whom nights tell that failed, wait for a person, or were done.

    `memops nightly` tells by itself; of served flows the Prefect server does, by webhook and e-mail.
    """

    webhook: ranges.Web = ""
    """An address that takes JSON: {"subject", "text"}."""
    email: ranges.Mail = ""
    """mailtos://USER:PASSWORD@HOST?to=ADDRESS, as Apprise has it."""
    command: str = ""
    """A program with its arguments; the text is its input, MEMOPS_SUBJECT the subject."""
    ping: ranges.Web = ""
    """Called after every round of nights, with /fail behind it when one failed (healthchecks)."""
    tell: list[Literal["nightly", "failed", "waiting"]] = field(
        default_factory=lambda: ["failed", "waiting"]
    )
    """Which nights are told of: all that were done, those that failed, what is asked anew."""
    digest_days: ranges.Days = 7.0
    """Days between digests of all stores; 0 is none."""


@dataclass(frozen=True)
class Import(ranges.Section):
    """One export of another program: its file, and which of its fields are our columns."""

    path: Path
    fields: dict[ranges.Column, str] = field(default_factory=dict)
    defaults: dict[ranges.Column, Any] = field(default_factory=dict)
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
    monitor: Monitor = field(default_factory=Monitor)
    notify: Notify = field(default_factory=Notify)
    path: Path | None = None
    """The file that they were read from."""

    def typed(self) -> str:
        """Return what a person types before a command, from any folder."""
        given = {"config": self.path, "state": self.state}
        named = [f"--{name} {shlex.quote(str(path))}" for name, path in given.items() if path]
        return " ".join(["memops", *named])

    def hint(self, error: MemopsError) -> str:
        """Return an error's next step, with the line of the settings that says where a lost store is, or its limit."""
        if isinstance(error, GuardRefused):
            return "\n".join([error.hint, *self.raising(error.limits)])
        if not isinstance(error, StoreNotFound) or not self.path:
            return self.by_name(error.hint)
        paths = {name: store.address.partition(":")[2] for name, store in self.stores.items()}
        where = {name: Path(path).expanduser().absolute() for name, path in paths.items()}
        gone = [n for n, path in where.items() if str(path) in error.message and _gone(path)]
        if not gone:
            return error.hint
        name = max(gone, key=lambda name: len(str(where[name])))
        line = line_of(loaded(self.path)[1], ("stores", name, "address"))
        back = f"{self.typed()} restore SNAPSHOT"
        return (
            f"edit {self.path.name} line {line}, the address of {name}\n"
            f"or, if it is lost, bring back what memops keeps of it: {back}\n"
            f"{self.typed()} snapshot check lists what there is"
        )

    def raising(self, limits: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return what to write, and where, so that nights may do as much as exceeded these limits."""
        wanted: dict[str, float] = {}
        for limit in limits:
            name, args = limit["code"].removeprefix("limit.").removesuffix("_window"), limit["args"]
            much = args["touched"] + args.get("past", 0)
            much = much if name == "records" else math.ceil(100 * much / args["all"]) / 100
            wanted[name] = max(much, wanted.get(name, 0))
        table, text = loaded(self.path) if self.path else ({}, "")
        where = self.path.name if self.path else "memops.toml"
        at = {name: line_of(text, ("policy", "limits", name)) for name in wanted}
        named = "limits" in table.get("policy", {})
        return [
            f"or let nights do so much: {name} = {much:g} in [policy.limits] of {where}"
            f"{f' line {at[name]}' if named else ''} (now {getattr(self.policy.limits, name):g})"
            for name, much in wanted.items()
        ]

    def by_name(self, text: str) -> str:
        """Return lines to copy in which the stores of these settings stand by name, not by address."""
        known = {place: shlex.quote(name) for place, name in self.places.items()}
        return _WORD.sub(lambda word: known.get(self.place(word[0].strip("'")), word[0]), text)

    def called(self, name: str) -> str:
        """Return the name of the store that a person means by a name or an address of it."""
        return name if name in self.stores else self.places.get(self.place(name), name)

    @cached_property
    def places(self) -> dict[str, str]:
        """The stores by where they are."""
        return {self.place(name): name for name in self.stores}

    def place(self, name: str) -> str:
        """Return where the store of a name or address is, however it is written."""
        address = self.stores[name].address if name in self.stores else name
        kind, _, path = address.partition(":")
        return address if "://" in path else f"{kind}:{Path(path).expanduser().resolve()}"

    def store(self, name: str) -> Configured:
        """Return the store of that name or address; raises StoreNotFound for a name that is none."""
        if name not in self.stores and ":" not in name:
            known = f"; memops.toml names {', '.join(self.stores)}" if self.stores else ""
            shape = did_you_mean(
                name, self.stores, "write KIND:PATH, or name the store in memops.toml"
            )
            raise StoreNotFound(f"no store is called {name!r}{known}", shape)
        return self.stores.get(self.called(name)) or Configured(address=name)


def read(config: Path | None, state: Path | None) -> Settings:
    """Return the settings of `config`, or of a `memops.toml` here; raises MemopsError that names wrong ones by line."""
    path = config or Path("memops.toml")
    if not path.exists():
        if config:
            raise MemopsError(f"{config}: no such file", "leave --config out to use the defaults")
        return Settings(state=private((state or usual()).absolute()))
    table, text = loaded(path)
    said = _simple(table) or checked(shape(table), table, str(path), (), text)
    if "policy" in said:
        said["policy"] = Policy(**said["policy"])
    folder, imports = path.parent, said.pop("import", {}).items()
    kept = folder / said.pop("state", ".memops")
    return Settings(
        state=private((state or kept).absolute()),
        instruction=said.pop("query_instruction", ""),
        imports={n: replace(i, path=folder / i.path.expanduser()) for n, i in imports},
        path=path.absolute(),
        **said,
    )


def _simple(table: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings of a table that says where stores are and a policy's numbers, without the checker's 0.1 s."""
    stores, policy = table.get("stores", {}), plain(table.get("policy", {}))
    known = not table.keys() - {"stores", "state", "policy"}
    if not known or policy is None or not isinstance(stores, dict):
        return None
    texts = [table.get("state", "")]
    for row in stores.values():
        if not isinstance(row, dict) or {*row} not in ({"address"}, {"address", "suite"}):
            return None
        texts += row.values()
    fit = all(n.isascii() and ranges.NAME.fullmatch(n) and len(n) < 64 for n in stores)
    if not fit or not all(isinstance(text, str) and text.isprintable() for text in texts):
        return None
    made = {"stores": {n: Configured(**row) for n, row in stores.items()}, "policy": policy}
    return {name: made.get(name, value) for name, value in table.items()}


def _gone(path: Path) -> bool:
    """Whether nothing stands there; what may not be looked at is not gone."""
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False


_TABLES: dict[str, Any] = {
    "policy": Policy, "stores": dict[ranges.Name, Configured], "state": ranges.Located, "encoder": str,
    "query_instruction": str, "import": dict[str, Import], "flows": Flows,
    "monitor": Monitor, "notify": Notify,
}  # fmt: skip


def shape(table: Mapping[str, Any] | None = None) -> Any:
    """Return the type of a settings file, or of one that says this."""
    if table is None:
        return tables(**_TABLES)
    policy = {"policy": sections(table["policy"])} if "policy" in table else {}
    return named_in(table, _TABLES | policy)


def usual() -> Path:
    """Return the state folder where nothing names one: .memops if it stands here, else one per user (XDG)."""
    if Path(".memops").exists():
        return Path(".memops")
    home = os.environ.get("XDG_STATE_HOME", "")
    kept = Path(home) if Path(home).is_absolute() else Path("~/.local/state").expanduser()
    return kept / "memops"


def private(state: Path) -> Path:
    """Return the state folder; raises MemopsError for one that others own or may write to, and so put plans in."""
    if state.exists() and not state.is_dir():
        raise NoSpace(f"{state} is a file, and no state folder", "give --state DIR")
    hint = "run as its owner, or give --state DIR"
    try:
        folders = [state, *(p for p in state.iterdir() if p.is_dir())] if state.is_dir() else []
        for folder in folders:
            seen = folder.lstat() if folder != state else folder.stat()
            if seen.st_uid != os.geteuid():
                raise MemopsError(f"{folder} belongs to user {seen.st_uid}, not to you", hint)
            if stat.S_IMODE(seen.st_mode) & 0o022 and not stat.S_ISLNK(seen.st_mode):
                raise MemopsError(f"{folder} may be written by others", f"chmod go-w {folder}")
    except PermissionError as error:
        raise MemopsError(f"{state} may not be read", hint) from error
    return state
