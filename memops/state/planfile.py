"""Plan files: a plan on disk, for people and gates to review and for `apply` to carry out.

    plans/<id>/
      plan.json        what it was made from, its counts and limits, the digest of every line
      ops.jsonl        one change a line; reviewing is removing lines
      changes.parquet  the plan as a table
      refused.jsonl    what the guard withdrew, and why
    judged.jsonl     what a local model was asked about pairs, and what came of it; without texts
      made.json        the wall-clock time and the seal of this state folder (`memops.state.seals`) on
                       it and on plan.json, apart, so that the rest is the same for the same input

`apply` accepts any subset of the lines and refuses one that was changed, added or moved. Limits,
authority and expiry are those that were sealed.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.errors import PlanRefused
from memops.limits import excess
from memops.plan import meaning, nothing, tallied
from memops.policy import Policy
from memops.safety.masking import masked_table
from memops.schema import CHANGES
from memops.snapshot import Snapshot
from memops.state import plan_basis, seals
from memops.state.plan_lines import digest_of, kept_lines, lines_of
from memops.state.purge_plans import digests
from memops.stores import open_store

FORMAT = 5


@dataclass(frozen=True)
class PlanFile:
    """One plan's folder; `kept` are the sequence numbers that a reviewer left in."""

    path: Path
    header: dict[str, Any]
    changes: pl.DataFrame
    kept: list[int]

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    def plan(self) -> pl.DataFrame:
        """Return the changes that remain after review."""
        return self.changes[[seq - 1 for seq in self.kept]]

    def told(self) -> dict[str, Any]:
        """Return what a command prints of it: its changes (`ops`), and the records they change."""
        keys = ("ops", "by_rule", "by_op", "snapshot", "unattended", "exceeds", "refused")
        said = {"plan": self.id, "path": str(self.path), **{k: self.header[k] for k in keys}}
        return said | {"records": self.plan()["id"].n_unique()}

    def unattended(self) -> list[int]:
        """Return the sequence numbers of the lines that remain and may happen without a person."""
        may = self.changes["unattended"].fill_null(False)
        return [seq for seq in self.kept if may[seq - 1]]

    def ops(self) -> list[dict[str, Any]]:
        """Return the remaining lines of ops.jsonl."""
        return [*map(json.loads, self.lines())]

    def lines(self) -> list[str]:
        """Return them as they stand in the file."""
        lines = (self.path / "ops.jsonl").read_text(encoding="utf-8").split("\n")
        return [line for line in lines if line.strip()]

    def judged(self) -> list[dict[str, Any]]:
        """Return what a local model said of pairs; raises PlanRefused if it was changed since."""
        return self._listed("judged")

    def refused(self) -> list[dict[str, Any]]:
        """Return what the guard withdrew; raises PlanRefused if it was changed since."""
        return self._listed("refused")

    def _listed(self, name: str) -> list[dict[str, Any]]:
        """The lines of a file beside the plan whose digest is in its header."""
        if f"{name}_sha256" not in self.header:
            return []
        path = self.path / f"{name}.jsonl"
        data = path.read_bytes() if path.is_file() else b""
        made = (self.header[f"{name}_sha256"], digests(self.path).get(path.name))
        if files.digest(data) not in made:
            raise PlanRefused(f"{path}: changed after it was made")
        return [json.loads(line) for line in data.split(b"\n") if line]


@dataclass(frozen=True)
class Planned:
    """A plan that is to be written: from what it was made, by which rules and on whose word."""

    snapshot: Snapshot
    records: pl.DataFrame
    changes: pl.DataFrame
    refused: pl.DataFrame
    policy: Policy
    now: datetime
    rules: Sequence[str] = ()
    authority: str = "unattended"
    models: Mapping[str, Any] | None = None
    judged: Sequence[Mapping[str, Any]] = ()

    def header(self) -> dict[str, Any]:
        """Return what a plan's header says that no file of it tells."""
        mine = self.changes.filter("unattended") if self.authority != "person" else nothing()
        return {
            "format": FORMAT,
            "address": self.snapshot.address,
            "store": self.snapshot.manifest["store"],
            "snapshot": self.snapshot.id,
            "snapshot_sha256": self.snapshot.seal,
            "policy": asdict(self.policy),
            "policy_sha256": self.policy.digest(),
            "now": self.now.isoformat(),
            "rules": [*self.rules],
            "authority": self.authority,
            "refused": self.refused.height,
            "unattended": int(self.changes["unattended"].sum()),
            "exceeds": excess(mine, self.records, self.policy.limits),
            "expires_after_hours": self.policy.limits.plan_hours,
            "basis": plan_basis.sealed(self.changes, self.records, self.models),
        }


def save(state: Path, planned: Planned, made: datetime) -> PlanFile:
    """Write a plan's folder and return it; the same plan gets the same folder."""
    secrets, store = planned.policy.secrets, open_store(planned.snapshot.address)
    changes, refused = (masked_table(t, secrets) for t in (planned.changes, planned.refused))
    changes = changes.with_columns(pl.col("unattended").fill_null(True))
    planned = replace(planned, changes=changes, refused=refused)
    lines = list(lines_of(changes, planned.records, store))
    held = _held(planned, lines, lines_of(refused, planned.records, store))
    sums = {
        f"{Path(name).stem}_sha256": files.digest(data)
        for name, data in held.items()
        if name != "ops.jsonl"  # of which lines may be taken out
    }
    header = planned.header() | _counted(lines, meaning(changes, planned.records)) | sums
    path = files.folder(state / "plans" / plan_id(header))
    at = made.isoformat()
    sealed = seals.seal(state, "plan", {"plan": header, "at": at})
    held["made.json"] = files.json_bytes({"at": at, "seal": sealed})
    files.write_all(path, held)
    files.write_json(path / "plan.json", header)
    return PlanFile(path, header, changes, list(range(1, len(lines) + 1)))


def _held(planned: Planned, lines: Iterable[str], refused: Iterable[str]) -> dict[str, bytes]:
    """The files of a plan, by name."""
    held = {
        "changes.parquet": files.packed(planned.changes.cast(CHANGES)),
        "ops.jsonl": _together(lines),
        "refused.jsonl": _together(refused),
    }
    if planned.judged:
        rows = (json.dumps(row, ensure_ascii=False) for row in planned.judged)
        held["judged.jsonl"] = _together(rows)
    return held


def _counted(lines: list[str], changes: pl.DataFrame) -> dict[str, Any]:
    return {
        "ops": len(lines),
        "by_rule": tallied(changes.select("rule", "op").sort("rule", "op"), "rule", "op"),
        "by_op": dict(changes["op"].value_counts(sort=False).sort("op").iter_rows()),
        "lines": [digest_of(line) for line in lines],
    }


def load(name: str | Path, state: Path) -> PlanFile:
    """Return a plan by name or path; raises PlanRefused for one that is not as it was made."""
    places = (Path(name), files.entry(state / "plans", str(name)))
    path = next((p for p in places if (p / "plan.json").is_file()), None)
    if path is None:
        said = f"no plan {str(name)!r} in {state / 'plans'}"
        raise PlanRefused(said, "make one with `memops plan STORE`")
    header = files.read_json(path / "plan.json")
    if "lines" not in header:
        raise PlanRefused(f"{path / 'plan.json'}: not a memops plan")
    files.refuse_other(header, FORMAT, path / "plan.json")
    as_made = files.json_bytes(header) == (path / "plan.json").read_bytes()
    if plan_id(header) != path.name or not as_made:
        raise PlanRefused(f"{path / 'plan.json'}: the plan was changed after it was made")
    made = seals.made(path)
    if not seals.holds(state, "plan", {"plan": header, "at": made.get("at")}, made.get("seal")):
        raise PlanRefused(f"{path / 'made.json'}: the plan is not sealed as it was made in {state}")
    table = path / "changes.parquet"
    if not table.is_file():
        raise PlanRefused(f"{table} is missing")
    data = table.read_bytes()
    if files.digest(data) not in (header["changes_sha256"], digests(path).get(table.name)):
        raise PlanRefused(f"{table}: the plan was changed after it was made")
    changes = files.unpacked(data, str(table))
    return PlanFile(path, header, changes, kept_lines(path / "ops.jsonl", header["lines"]))


def refuse_expired(plan: PlanFile, clock: datetime, as_of: datetime | None = None) -> None:
    """Raise PlanRefused when the plan is older than its header allows, by the clock or as of an instant (`--now`)."""
    at = datetime.fromisoformat(plan.header["now"]) if as_of else seals.made_at(plan.path)
    age, most = (as_of or clock) - at, timedelta(hours=plan.header["expires_after_hours"])
    if abs(age) > most:
        said = "has expired" if age > most else "so is of the future"
        made = f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
        hint = f"plan again: memops plan {shlex.quote(plan.header['address'])}"
        raise PlanRefused(f"plan {plan.id} was made at {made} and {said}", hint)


def has_expired(plan: PlanFile, clock: datetime) -> bool:
    """Return whether a plan is older than its header allows."""
    return clock - seals.made_at(plan.path) > timedelta(hours=plan.header["expires_after_hours"])


def plan_id(header: dict[str, Any]) -> str:
    """Return the digest of a header, which names its plan."""
    return files.digest(json.dumps(header, ensure_ascii=False, sort_keys=True))[:16]


def _together(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
