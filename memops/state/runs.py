"""Runs: what applying a plan leaves in the state folder, by which it is resumed, undone and judged.

    runs/<plan>-<n>/
      run.json         plan, store, what was kept of the plan, whether a person approved
      journal.jsonl    started, each batch with what became of its changes, verified, rolled back
      undo.jsonl       native records before and after, on disk before the commit that needs them
      overlay.parquet  the overlay as it was before
      seal.json        digests of journal and undo at the end, since they may only grow

A plan is planned until it has a run; a run is approved, applying, applied, verified (or
needs-attention), and rolling-back and rolled-back where it is taken back.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from memops import files, overlay
from memops.errors import Corrupt, MemopsError, PlanRefused
from memops.journal import Journal
from memops.snapshot import store_id
from memops.state import seals
from memops.stores import Undo

FORMAT = 4
_UNDO = ("undo.jsonl", "overlay.parquet")
_GROWING = ("journal.jsonl", "undo.jsonl")
_AT_ONCE = 200  # images of undo in one batch


@dataclass(frozen=True)
class Run:
    """One application of one plan."""

    path: Path

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def number(self) -> int:
        """Which of its plan's runs it is, from 1."""
        return int(self.path.name.rsplit("-", 1)[1])

    @property
    def header(self) -> dict[str, Any]:
        """What the run was started with."""
        said = files.read_sealed(self.path / "run.json")
        files.refuse_other(said, FORMAT, self.path / "run.json")
        return said

    @property
    def started(self) -> datetime:
        """When it was begun."""
        return datetime.fromisoformat(self.header["started"])

    def vouched(self, state: Path) -> bool:
        """Whether it was begun in this state folder as its header says, approval included."""
        said = self.header
        return seals.holds(state, "run", said | {"seal": None}, said.get("seal"))

    @property
    def journal(self) -> Journal:
        """What happened, in order."""
        return Journal(self.path / "journal.jsonl")

    @property
    def undo(self) -> Journal:
        """Pre-images and what they became."""
        return Journal(self.path / "undo.jsonl")

    @property
    def state(self) -> str:
        """The last state that the journal names; approved while it names none."""
        return str(self._last.get("state", "approved"))

    @property
    def backwards(self) -> bool:
        """Whether the run was being taken back when it was left last."""
        ways = [e["state"] for e in self._marks() if e["state"] in ("applying", "rolling-back")]
        return ways[-1:] == ["rolling-back"]

    @property
    def was_verified(self) -> bool:
        """Whether it came to its end, and read back as written, whatever came of it since."""
        return any(entry["state"] == "verified" for entry in self._marks())

    @property
    def wrong(self) -> list[str]:
        """Ids of the records that did not read as they should once they were written."""
        return list(self._last.get("wrong", ()))

    @property
    def failed(self) -> bool:
        """Whether a device failed it, so that it is half done unless it is gone on with or taken back."""
        return bool(self._last.get("device"))

    def answers(self) -> list[dict[str, Any]]:
        """Return what became of each change, batch by batch."""
        return [w for entry in self.journal.entries() for w in entry.get("batch", [])]

    def taken_back(self) -> frozenset[str]:
        """Return the ids of the records that are again as they were before the run."""
        alone = {id for entry in self.journal.entries() for id in entry.get("only", ())}
        whole = {w["id"] for w in self.answers()} if self.state == "rolled-back" else set()
        return frozenset(alone | whole)

    def passed_over(self) -> frozenset[str]:
        """Return the ids of the records that it left as they were, whatever the plan said."""
        last = {w["id"]: w["state"] for w in self.answers()}
        return frozenset(id for id, state in last.items() if state in ("stale", "refused"))

    def kept_back(self) -> frozenset[str]:
        """Return the ids of the records that a rollback could not take back when it last tried."""
        entries = self.journal.entries()
        said = {w["id"]: w["state"] for entry in entries for w in entry.get("reverted", ())}
        return frozenset(id for id, state in said.items() if state in ("stale", "refused"))

    def moved(self) -> dict[str, str]:
        """Return the ids that the run gave records, in a store where the text is the id."""
        return {w["id"]: w["new_id"] for w in self.answers() if w["new_id"]}

    @property
    def undoable(self) -> bool:
        """Whether the run's undo copy is still there."""
        return not any(e.get("undo") == "removed" for e in self.journal.entries())

    @property
    def keeps_undo(self) -> bool:
        """Whether any file is left of what is needed to take the run back."""
        return any((self.path / name).exists() for name in _UNDO)

    def forget_undo(self) -> None:
        """Remove the run's pre-images for good, in an order that a crash may cut anywhere."""
        if self.undoable:
            self.journal.add({"undo": "removed"})
        self.seal()
        for name in _UNDO:
            (self.path / name).unlink(missing_ok=True)
        files.sync(self.path)

    def seal(self) -> None:
        """Write down what journal and undo hold, now that the run has come to an end."""
        seals = {}
        for name in _GROWING if self.undoable else _GROWING[:1]:
            path = self.path / name
            data = path.read_bytes() if path.exists() else b""
            seals[name] = {"bytes": len(data), "sha256": files.digest(data)}
        files.write_sealed(self.path / "seal.json", seals)

    def refuse_without_undo(self) -> None:
        """Raise PlanRefused when the run's undo copy has been removed, Corrupt when some is missing."""
        entries, path = self.journal.entries(), self.undo.path
        if not self.undoable:
            said = f"the undo copy of run {self.id} was removed when it was past its time"
            raise PlanRefused(said, "restore a snapshot: memops restore SNAPSHOT")
        there = len(self.undo.entries())
        named = max((e.get("images", 0) for e in entries), default=0)
        lost = not path.exists()
        if lost or there < named:
            said = "is missing" if lost else f"holds {there} of the {named} that the journal names"
            back = f"go back to before the run with `memops restore {self.header['snapshot']}`"
            said = f"{path}: what is needed to take the run back {said}; nothing was taken back"
            raise Corrupt(said, f"put the file back, or {back}")

    def verify(self) -> None:
        """Raise Corrupt, naming the file, when the run's own records are not as they were left."""
        overlay.read(self.path / "overlay.parquet")
        kept = self.path / "seal.json"
        seals = files.read_sealed(kept) if kept.exists() else {}
        for name in _GROWING:
            path, said = self.path / name, seals.get(name)
            data = path.read_bytes()[: said["bytes"]] if said and path.exists() else b""
            if said and files.digest(data) != said["sha256"]:
                raise Corrupt(f"{path}: not as it was when the run ended", "restore a snapshot")
            Journal(path).entries()

    def _marks(self) -> list[dict[str, Any]]:
        """The entries of the journal that name a state."""
        return [entry for entry in self.journal.entries() if "state" in entry]

    @property
    def _last(self) -> dict[str, Any]:
        return (self._marks() or [{}])[-1]


def runs(state: Path, identity: dict[str, str] | None = None) -> list[Run]:
    """Return every run, or those of a store, newest first."""
    found = [Run(p.parent) for p in (state / "runs").glob("*/run.json")]
    if identity:
        found = [r for r in found if store_id(r.header["store"]) == store_id(identity)]
    return sorted(found, key=lambda r: (r.header["started"], r.id), reverse=True)


def find_run(name: str, state: Path) -> Run:
    """Return a run by name, or how its alone begins; raises MemopsError."""
    for path in (Path(name), files.entry(state / "runs", name)):
        _refuse_headless(path)
        if (path / "run.json").is_file():
            return Run(path)
    raise MemopsError(f"no run {name!r} in {state / 'runs'}", "list them with `memops runs`")


def runs_of(plan: str, state: Path) -> list[Run]:
    """Return the runs of a plan, in their order."""
    found = [Run(p.parent) for p in (state / "runs").glob(f"{plan}-*/run.json")]
    return sorted(found, key=lambda run: run.number)


def latest_run(plan: str, state: Path) -> Run | None:
    """Return the last run of a plan, or None when it has none; raises Corrupt for half a run."""
    folders = (state / "runs").glob(f"{plan}-*")
    for path in (found := sorted(folders, key=lambda p: int(p.name.rsplit("-", 1)[1]))):
        _refuse_headless(path)
    begun = [path for path in found if (path / "run.json").is_file()]
    return Run(begun[-1]) if begun else None


def _headless(state: Path) -> list[Path]:
    """Folders of runs that wrote, and of which nobody knows any more what they were."""
    written = sorted((state / "runs").glob("*/journal.jsonl"))
    return [p.parent for p in written if not p.with_name("run.json").is_file()]


def _refuse_headless(path: Path) -> None:
    if path in _headless(path.parent.parent):
        said = f"{path / 'run.json'} is missing: the run can be neither finished nor taken back"
        hint = "put the file back, or restore the snapshot that its plan was made from"
        raise Corrupt(said, hint)


def listed(state: Path) -> list[dict[str, Any]]:
    """Return {run, plan, state, started, store} of runs and of plans without one, newest first."""
    found = [
        {"run": run.id, "plan": said["plan"], "state": run.state, "started": said["started"],
         "store": said["address"]}
        for run in runs(state)
        for said in [run.header]
    ]  # fmt: skip
    begun = {row["plan"] for row in found}
    lost = {path.name.rsplit("-", 1)[0]: path.name for path in _headless(state)}
    for path in sorted((state / "plans").glob("*/plan.json")):
        if path.parent.name not in begun:
            run, made = lost.get(path.parent.name), seals.made_at(path.parent).isoformat()
            said = {"run": run, "plan": path.parent.name, "state": "damaged" if run else "planned"}
            found.append(said | {"started": made, "store": files.read_json(path).get("address")})
    return sorted(found, key=lambda row: (row["started"], row["plan"]), reverse=True)


def batches_of_undo(run: Run) -> Iterable[list[Undo]]:
    """Yield undo newest first: for each record, or field of one, the first pre-image and the last post-image.

    What one file of lines lost comes back at once: then no line is where the run left it.
    """
    whole: dict[tuple[str, str], Undo] = {}
    for entry in run.undo.entries():
        key, last = (entry["id"], entry["where"]), Undo(**entry)
        if first := whole.get(key):
            last = Undo(*key, _over(first.before, last.before), _over(last.after, first.after))
        whole[key] = last
    last_first = sorted(reversed(list(whole.values())), key=lambda u: u.where)
    for _where, undone in groupby(last_first, key=lambda u: u.where):
        there = list(undone)
        size = len(there) if "file" in (there[0].before or there[0].after or {}) else _AT_ONCE
        yield from (there[at : at + size] for at in range(0, len(there), size))


def _over(upper: Any, lower: Any) -> Any:
    """The one image, and of the other what fields it has besides."""
    return {**lower, **upper} if isinstance(upper, dict) and isinstance(lower, dict) else upper
