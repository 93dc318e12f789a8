"""Kill -9 at any file operation of a restore or a prune: nothing is lost, the next one finishes."""

from datetime import UTC, datetime, timedelta

import pytest

from memops import apply as applying
from memops import snapshot
from memops.policy import Policy
from memops.state import planfile
from memops.stores import open_store
from tests.stores.clawseed_db import dump

from .operations import Stored, killed, may_trace, operations
from .scene import sound

KINDS = ("clawseed", "openclaw")


class Restoring(Stored):
    """A store after a night and a day, and the snapshot of before."""

    def __init__(self, kind, folder):
        super().__init__(kind, folder)
        self.run("snapshot", self.address)
        ids = self.store.read()["id"].sort().to_list()
        self.run("pin", self.address, ids[0])
        self.run("forget", self.address, ids[1], ids[2])
        self.lived(7)
        first = min(p.name for p in (self.state / "snapshots").iterdir())
        self.argv = ("restore", first)
        self.old = self.content(), self.beside()
        self.keep()
        self.run(*self.argv)
        self.new = self.content(), self.beside()
        self.reset()
        if self.old[0] == self.new[0] or self.old[1] == self.new[1]:
            raise AssertionError("there is nothing to restore")

    def judged(self):
        now, said = (self.content(), self.beside()), []
        if now[0] != self.old[0] and not self._kept():
            said.append("the store changed before what it was had been kept")
        if self.kind == "clawseed" and now[0] not in (self.old[0], self.new[0]):
            said.append("the database is neither as it was nor restored")
        said += self._strange(now[0])
        if now not in (self.old, self.new):
            code, night = self.ended("nightly", self.address)
            if code != 24 or self.argv[1] not in night[0]["hint"]:
                said.append(f"a night on a store that is half restored ended with {code}")
        self.run(*self.argv)
        if (self.content(), self.beside()) != self.new:
            said.append("restoring again does not end as an undisturbed restore")
        said += [f"{name} is left" for name in self.left()]
        self.run("check")
        code, _ = self.ended("nightly", self.address, "--now", "2026-06-02T12:00:00Z")
        if code not in (0, 3):
            said.append(f"the next night ended with {code}")
        if self.kind == "clawseed" and (odd := sound(self.db)):
            said.append(odd)
        return said

    def _strange(self, now):
        """Files that hold neither what was there nor what is to be."""
        if self.kind == "clawseed":
            return []
        fair = {
            path: {self.old[0].get(path, (b"",))[0], self.new[0].get(path, (b"",))[0]}
            for path in now
        }
        return [
            f"{path} is neither as it was nor restored"
            for path in now
            if now[path][0] not in fair[path]
        ]

    def _kept(self):
        """Tell whether a snapshot holds just what the store held before."""
        want = open_store(self.address).load if self.kind == "clawseed" else None
        for path in (self.state / "snapshots").glob("[!.]*"):
            taken = snapshot.open_snapshot(path)
            snapshot.verify(taken)
            if want and dump(path / "raw" / "brain.db", "&immutable=1") == self.old[0]:
                return True
            files = {
                str(p.relative_to(path / "raw" / "files")): p.read_bytes()
                for p in (path / "raw" / "files").rglob("*.md")
            }
            if not want and files == {p: data for p, (data, *_) in self.old[0].items()}:
                return True
        return False


class Pruning(Stored):
    """A store with a year of snapshots and runs behind it, and what may go of them."""

    argv = ("prune", "--remove")

    def __init__(self, kind, folder):
        super().__init__(kind, folder)
        now = datetime.now(UTC)
        for n, days in enumerate((401, 400, 399, 200, 199, 90, 60, 40, 20, 2), 1):
            at = now - timedelta(days=days)
            self.lived(n)
            taken = snapshot.take(open_store(self.address), self.state, at, Policy(), "", True)
            if n in (5, 7):
                made = self.run("plan", taken.id, "--now", at.isoformat())
                found = planfile.load(made["plan"], self.state)
                applying.apply(found, self.state, at, approve=True, as_of=at)
        self.before = self.standing()
        self.store_before = self.content()
        self.keep()
        self.run(*self.argv)
        self.want = self.standing()
        gone = self.before.keys() - self.want.keys()
        if not {name.split("/")[0] for name in gone} >= {"snapshots", "runs"}:
            raise AssertionError("there is nothing to prune")
        self.reset()

    def standing(self):
        """Every file of a snapshot, and every one by which a run is taken back."""
        kept = [*self.state.glob("snapshots/**/*"), *self.state.glob("runs/*/undo.jsonl")]
        kept += self.state.glob("runs/*/overlay.parquet")
        return {str(p.relative_to(self.state)): p.read_bytes() for p in kept if p.is_file()}

    def judged(self):
        now, said = self.standing(), []
        whole = {name: data for name, data in now.items() if not name.startswith("snapshots/.")}
        said += [f"{name} changed" for name in whole if self.before.get(name) != whole[name]]
        said += [f"{name} went" for name in self.want.keys() - whole.keys()]
        self.run("check")
        self.run(*self.argv)
        if self.standing() != self.want:
            said.append("pruning again does not leave what an undisturbed prune leaves")
        said += [f"{name} is left" for name in self.left()]
        self.run("check")
        if self.content() != self.store_before:
            said.append("the store changed")
        return said


pytestmark = pytest.mark.skipif(not may_trace(), reason="strace is not there, or may not trace")
SCENES = [(what, kind) for what in (Restoring, Pruning) for kind in KINDS]


@pytest.fixture(scope="module", params=SCENES, ids=lambda p: f"{p[0].__name__}-{p[1]}")
def scene(request, tmp_path_factory):
    what, kind = request.param
    return what(kind, tmp_path_factory.mktemp(f"{what.__name__}-{kind}"))


def test_what_was_killed_is_finished_by_the_next(scene):
    every = operations(scene)
    tally = killed(scene, every[5 :: len(every) // 3])
    assert tally.failures == []
    assert tally.delivered == tally.runs >= 3


@pytest.mark.slow
def test_killed_at_every_file_operation_it_is_finished_by_the_next(scene):
    every = operations(scene)
    tally = killed(scene, every)
    assert tally.failures == []
    assert tally.delivered >= len(every) - 2
