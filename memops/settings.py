"""Settings: what `memops.toml` names (stores, their suites, the policy) and where state is kept."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memops import policy as policies
from memops.errors import Corrupt, MemopsError
from memops.policy import Policy

_STORE_KEYS = {"address", "suite", "schedule"}


@dataclass(frozen=True)
class Configured:
    """One store of `memops.toml`."""

    name: str
    address: str
    suite: str | None = None
    schedule: str | None = None


@dataclass(frozen=True)
class Settings:
    """What a command works with; `state` is the folder of snapshots, plans and runs."""

    state: Path
    policy: Policy = field(default_factory=Policy)
    stores: dict[str, Configured] = field(default_factory=dict)
    encoder: str = "lsa"

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
        return Settings(state=(state or Path(".memops")).absolute())
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Corrupt(f"{path}: not valid TOML: {error}") from error
    unknown = sorted(table.keys() - {"policy", "stores", "state", "encoder"})
    if unknown:
        raise MemopsError(f"{path}: unknown table {unknown[0]!r}", "known: policy, stores, state, encoder")
    return Settings(
        state=(state or path.parent / table.get("state", ".memops")).absolute(),
        policy=policies.from_table(table.get("policy", {}), str(path)),
        stores={n: _store(n, t, path) for n, t in table.get("stores", {}).items()},
        encoder=str(table.get("encoder", "lsa")),
    )


def _store(name: str, table: Any, path: Path) -> Configured:
    if not isinstance(table, dict) or "address" not in table:
        raise MemopsError(f"{path}: stores.{name} needs an address", 'address = "clawseed:PATH"')
    unknown = sorted(table.keys() - _STORE_KEYS)
    if unknown:
        raise MemopsError(f"{path}: unknown setting stores.{name}.{unknown[0]}", f"known: {', '.join(sorted(_STORE_KEYS))}")
    return Configured(name=name, **{k: str(v) for k, v in table.items()})
