"""Power cuts: what the disk may hold at any moment of a run, of which resume or rollback is exact.

The system calls of a run are recorded with their bytes. An image of a moment has what was synced
until then; of what was not, any part may be there (ALICE, Pillai et al. 2014): each write to a file
by itself, and of the names in a folder the first few changes.
"""

import random
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .checker import Tally
from .scene import Scene
from .test_kill import judged
from .test_order import pytestmark, traced  # noqa: F401 (skips where strace may not trace)

CALLS = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,ftruncate,unlink,unlinkat,mkdir,link"


@dataclass
class Inode:
    """A file's bytes as they are, as they were synced last, and what was done since."""

    synced: bytes = b""
    pending: list = field(default_factory=list)  # (offset, bytes), or (size, None) for a cut

    def now(self):
        return replayed(self.synced, self.pending)


def replayed(data, writes):
    """Return bytes after writes; what lies between what was written is nought."""
    made = bytearray(data)
    for at, new in writes:
        if new is None:
            made = made[:at] + bytes(max(0, at - len(made)))
        else:
            made += bytes(max(0, at - len(made)))
            made[at : at + len(new)] = new
    return bytes(made)


class Disk:
    """Files below some folders: names that lead to inodes, and what of both is on the platter."""

    def __init__(self, *roots):
        self.roots = [str(r) for r in roots]
        self.names, self.opened = {}, {}
        for root in roots:
            for path in sorted(Path(root).rglob("*")):
                self.names[str(path)] = None if path.is_dir() else Inode(path.read_bytes())
        self.kept = dict(self.names)
        self.moves = []  # (folder, change of names) that no sync of the folder has put on disk

    def mine(self, path):
        return any(path.startswith(root + "/") for root in self.roots)

    def change(self, path, inode, gone=None):
        """Give an inode a name, or take one away."""
        if inode is not False:
            self.names[path] = inode
        for name in [gone, path if inode is False else None]:
            self.names.pop(name, None)
        self.moves.append((str(Path(path).parent), path, inode, gone))

    def did(self, call, paths, data, numbers, flags):
        """Carry out one recorded call."""
        path = paths[0] if paths else ""
        if call == "openat":
            self._open(path, numbers[-1], flags)
        elif call in ("fsync", "fdatasync") and (self.mine(path) or path in self.roots):
            self._sync(path)
        elif self.mine(path) and call in ("write", "pwrite64", "ftruncate"):
            self._write(call, path, data, numbers)
        elif self.mine(path):
            self._name(call, paths)

    def _open(self, path, handle, flags):
        if "O_CREAT" in flags and self.mine(path) and path not in self.names:
            self.change(path, Inode())
        self.opened[handle] = None if "O_APPEND" in flags else 0
        if "O_TRUNC" in flags and self.mine(path):
            self.names[path].pending.append((0, None))

    def _sync(self, path):
        inode = self.names.get(path)
        if isinstance(inode, Inode):
            inode.synced, inode.pending = inode.now(), []
        else:
            self._sync_names(path)

    def _write(self, call, path, data, numbers):
        inode, at = self.names[path], self.opened.get(numbers[0])
        if call == "pwrite64":
            inode.pending.append((numbers[-2], data))
        elif call == "ftruncate":
            inode.pending.append((numbers[-2], None))
        else:
            inode.pending.append((len(inode.now()) if at is None else at, data))
            if at is not None:
                self.opened[numbers[0]] = at + len(data)

    def _name(self, call, paths):
        if call.startswith("rename"):
            self.change(paths[1], self.names[paths[0]], gone=paths[0])
        elif call == "link":
            self.change(paths[1], self.names[paths[0]])
        elif call.startswith("unlink"):
            self.change(paths[0], False)
        elif call == "mkdir":
            self.change(paths[0], None)

    def _sync_names(self, folder):
        mine = [m for m in self.moves if m[0] == folder]
        self.moves = [m for m in self.moves if m[0] != folder]
        for move in mine:
            _moved(self.kept, move)

    def image(self, rng):
        """Return what may be on the disk if the power fails now: bytes by path, None for folders."""
        names, moves = dict(self.kept), list(self.moves)
        for folder in sorted({m[0] for m in moves}):
            mine = [m for m in moves if m[0] == folder]
            for move in mine[: rng.randrange(len(mine) + 1)]:
                _moved(names, move)
        held = {}
        for path, inode in names.items():
            if isinstance(inode, Inode):
                some = [w for w in inode.pending if rng.random() < 0.5]
                held[path] = replayed(inode.synced, _torn(some, rng))
            else:
                held[path] = None
        return {p: d for p, d in held.items() if _reached(p, held, self.roots)}


def _moved(names, move):
    _, path, inode, gone = move
    if inode is False:
        names.pop(path, None)
    else:
        names[path] = inode
    names.pop(gone, None)


def _torn(writes, rng):
    """Of the last write perhaps only the beginning, by sectors, is there."""
    if writes and writes[-1][1] and rng.random() < 0.3:
        at, data = writes[-1]
        return [*writes[:-1], (at, data[: 512 * rng.randrange(1 + len(data) // 512)])]
    return writes


def _reached(path, held, roots):
    parent = str(Path(path).parent)
    return parent in roots or (parent in held and _reached(parent, held, roots))


def recorded(scene):
    """Return the calls of a whole run: (call, paths, bytes, numbers, flags)."""
    scene.reset()
    code, trace = traced(scene, "-e", f"trace={CALLS}", "-xx", "-s", "4000000")
    if code != 0:
        raise AssertionError(f"the run ended with {code}")
    return [found for line in trace if (found := _call(line))]


def _call(line):
    found = re.match(r"\d+ +(\w+)\((.*)\) += (\d+)", line)
    if not found:
        return None
    call, given, result = found[1], found[2], int(found[3])
    handles = [_plain(p) for p in re.findall(r"\d<([^>]*)>", given)]
    strings = [bytes.fromhex(s.replace("\\x", "")) for s in re.findall(r'"((?:\\x\w\w)*)"', given)]
    numbers = [
        int(n)
        for n in re.findall(r"(?<![\w\\<])(\d+)(?![\w>])", re.sub(r'"[^"]*"|<[^>]*>', "", given))
    ]
    if call in ("write", "pwrite64"):
        return call, handles[:1], strings[0][:result], [*numbers, result], ""
    if call in ("fsync", "fdatasync", "ftruncate"):
        return call, handles[:1], b"", [*numbers, result], ""
    return call, [s.decode() for s in strings], b"", [result], given


def _plain(path):
    return bytes.fromhex(path.replace("\\x", "")).decode() if path.startswith("\\x") else path


def power_cuts(scene, count, seed):
    """Cut the power at random moments of a run, then go on or take it back, and judge."""
    calls, rng, tally = recorded(scene), random.Random(seed), Tally()
    moments = sorted(rng.randrange(1, len(calls) + 1) for _ in range(count))
    scene.reset()
    disk, at = Disk(scene.store_path, scene.state), 0
    for nth, moment in enumerate(moments):
        for call in calls[at:moment]:
            disk.did(*call)
        at = moment
        _put(disk.image(rng), disk.roots)
        verb = ("resume", "rollback")[nth % 2]
        where = f"power cut after call {moment} of {len(calls)}, seed {seed}, then {verb}"
        tally.runs, tally.delivered = (
            tally.runs + 1,
            tally.delivered + bool(disk.moves or _loose(disk)),
        )
        try:
            done = getattr(scene, verb)()
        except Exception as error:
            tally.failures.append(f"{where}: {type(error).__name__}: {error}")
            continue
        tally.failures += [f"{where}: {what}" for what in judged(scene, verb, done, [])]
    return tally


def _loose(disk):
    return any(isinstance(i, Inode) and i.pending for i in disk.names.values())


def _put(image, roots):
    for root in roots:
        shutil.rmtree(root, ignore_errors=True)
        Path(root).mkdir(mode=0o700)
    for path, data in sorted(image.items()):
        if path.endswith("-shm"):
            continue
        if data is None:
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
        else:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(path).write_bytes(data)
            Path(path).chmod(0o600)


def test_what_a_power_cut_leaves_ends_exactly(tmp_path):
    tally = power_cuts(Scene("clawseed", tmp_path, 12), 8, seed=1)
    assert tally.failures == []
    assert tally.delivered >= 4


def test_the_disk_forgets_what_was_not_synced(tmp_path):
    (tmp_path / "d").mkdir()
    disk, new = Disk(tmp_path / "d"), f"{tmp_path}/d/n"
    disk.did("openat", [new], b"", [5], "O_WRONLY|O_CREAT|O_APPEND")
    disk.did("write", [new], b"one", [5, 3, 3], "")
    images = [disk.image(random.Random(n)) for n in range(60)]
    assert {} in images and {new: b""} in images and {new: b"one"} in images
    disk.did("fsync", [new], b"", [5, 0], "")
    disk.did("fsync", [f"{tmp_path}/d"], b"", [6, 0], "")
    disk.did("write", [new], b"two", [5, 3, 3], "")
    images = [disk.image(random.Random(n)) for n in range(60)]
    assert {i[new] for i in images} == {b"one", b"onetwo"}


@pytest.mark.slow
def test_a_thousand_power_cuts(tmp_path):
    tally = power_cuts(Scene("clawseed", tmp_path, 12), 1000, seed=2)
    assert tally.failures == []
    assert tally.delivered >= 500
