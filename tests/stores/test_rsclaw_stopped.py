"""The file of a stopped gateway: its lock, its backups, its mode, and purging."""

import json
import os
import stat
import subprocess
import sys

import pytest

from memops.errors import Locked
from memops.plan import delete, edit
from memops.schema import QUARANTINE, from_rows
from memops.stores import open_store
from tests.stores.rsclaw_file import BROKEN, DOCS, one, raw, states, work, write

from .restoring import put_back


@pytest.fixture
def store(tmp_path):
    return write(tmp_path / "memory.redb", broken=BROKEN)


@pytest.fixture
def gateway(store):
    """Another process that has the file open as redb does."""
    hold = (
        "import fcntl,sys,time; f=open(sys.argv[1],'r+b'); fcntl.flock(f,fcntl.LOCK_EX);"
        "print('held',flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", hold, str(store.path)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()


def test_a_running_gateway_is_read_and_never_written(store, gateway, tmp_path):
    whole = store.path.read_bytes()
    (tmp_path / "raw").mkdir()
    store.copy(tmp_path / "raw")
    change = work(store, edit(one(store, "a"), "promote", "x", tier="core"))
    for attempt in (
        lambda: store.write(change),
        lambda: store.revert([]),
        lambda: put_back(store, tmp_path / "raw"),
    ):
        with pytest.raises(Locked, match="is open in a running rsclaw gateway"):
            attempt()
    assert store.path.read_bytes() == whole
    gateway.kill()
    gateway.wait()
    assert states(store.write(change)) == {"a": "applied"}


def test_the_backup_is_jsonl_in_rsclaws_own_folder_and_private(tmp_path):
    store = write(tmp_path / "base/var/data/memory/memory.redb", broken=["torn"])
    for n in range(2):
        store.write(work(store, edit(one(store, "a"), "update", "x", importance=0.1 * (n + 1))))
    folder = tmp_path / "base/var/backups"
    assert sorted(p.name for p in folder.iterdir()) == [
        "memory-20260601-2.jsonl",
        "memory-20260601.jsonl",
    ]
    first = folder / "memory-20260601.jsonl"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    assert lines[:4] == DOCS and lines[4]["key"] == "torn"


def test_a_store_elsewhere_is_backed_up_beside_it(store):
    store.write(work(store, edit(one(store, "a"), "update", "x", importance=0.1)))
    assert [p.name for p in (store.path.parent / "backups").iterdir()] == ["memory-20260601.jsonl"]


def test_the_mode_of_the_file_is_kept_and_nothing_is_left_behind(store):
    os.chmod(store.path, 0o640)
    store.write(work(store, edit(one(store, "a"), "update", "x", importance=0.1)))
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o640
    assert sorted(p.name for p in store.path.parent.iterdir()) == ["backups", "memory.redb"]


def test_a_batch_that_changes_nothing_writes_nothing(store):
    before = store.path.stat().st_mtime_ns
    store.write(work(store, delete(from_rows([{"id": "ghost"}]), "x")))
    assert store.path.stat().st_mtime_ns == before
    assert [p.name for p in store.path.parent.iterdir()] == ["memory.redb"]


def test_a_link_to_the_file_stays_a_link(store, tmp_path):
    link = tmp_path / "link.redb"
    link.symlink_to(store.path)
    linked = open_store(f"rsclaw:{link}")
    linked.write(work(linked, edit(one(linked, "a"), "promote", "x", tier="core")))
    assert link.is_symlink() and one(store, "a")["tier"].to_list() == ["core"]
    assert linked.identity() == store.identity()


def test_what_is_purged_leaves_no_byte_behind(tmp_path):
    store = write(tmp_path / "base/var/data/memory/memory.redb", broken=["torn"])
    secret = DOCS[2]["text"]
    store.write(
        work(store, edit(one(store, "c"), "quarantine", "hidden", superseded_by=QUARANTINE))
    )
    store.write(work(store, edit(one(store, "a"), "update", "x", importance=0.1)))
    search = tmp_path / "base/var/data/search"
    search.mkdir()
    (search / "index.store").write_text(secret)
    (store.path.parent / "memory.redb.v2.bak").write_bytes(b"..." + secret.encode())
    (tmp_path / "base/var/data/other").write_text("not ours")
    before = raw(store)
    store.purge(["c", "ghost"])
    left = [p for p in (tmp_path / "base").rglob("*") if p.is_file()]
    assert not [p for p in left if secret.encode() in p.read_bytes()]
    assert sorted(p.name for p in left) == [
        "memory-20260601-2.jsonl", "memory-20260601.jsonl", "memory.redb", "other",
    ]  # fmt: skip
    assert raw(store) == before and one(store, "c").is_empty()


def test_a_running_gateway_is_not_purged(store, gateway):
    with pytest.raises(Locked):
        store.purge(["a"])
