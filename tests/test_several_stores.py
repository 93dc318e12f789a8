"""Several stores at a time: what their nights leave is what nights one after the other leave."""

import os
import signal
from pathlib import Path

import pytest

from memops.nights import several
from memops.settings import Settings
from memops.stores import open_store
from tests.bench.night import NOW, records

STORES = ("one", "two", "three")


@pytest.fixture
def stores(memops):
    """Three stores, of which one cannot be read."""
    for seed, name in enumerate(STORES):
        memops.write(f"{name}.jsonl", records(30, seed))
    (memops.folder / "three.jsonl").write_text("no record\n")
    return [f"jsonl:{memops.folder / name}.jsonl" for name in STORES]


def left(names):
    return [Path(name.partition(":")[2]).read_bytes() for name in names]


@pytest.mark.slow
def test_nights_beside_each_other_leave_what_nights_one_by_one_leave(memops, stores):
    before = left(stores)
    plain = memops("nightly", *stores, "--approve", "--now", NOW.isoformat())
    after, code = left(stores), memops.code
    for name, data in zip(stores, before, strict=True):
        Path(name.partition(":")[2]).write_bytes(data)
    memops.state = memops.folder / "other"
    beside = memops("nightly", *stores, "--approve", "--now", NOW.isoformat(), "--jobs", "2")
    assert left(stores) == after != before and memops.code == code == 20
    told = [[(n["store"], n["code"], n.get("ops"), n.get("error")) for n in all_] for all_ in (plain, beside)]  # fmt: skip
    assert told[0] == told[1]


class _Fatal(Settings):
    """Settings that kill the process which unpacks them, as long as a file stands."""

    def __reduce__(self):
        return _died, (str(self.state),)


def _died(state):
    mark = Path(state, "mark")
    if mark.exists():
        mark.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return Settings(state=Path(state))


@pytest.mark.slow
def test_nights_whose_process_was_killed_are_done_again(memops, stores):
    memops.state.mkdir()
    (memops.state / "mark").touch()
    done = several.nights(stores[:2], _Fatal(state=memops.state), NOW, 2, approve=True)
    assert [n["code"] for n in done] == [0, 0] and all(n["applied"] for n in done)
    assert not (memops.state / "mark").exists()
    again = several.nights(stores[:2], Settings(state=memops.state), NOW, 1, approve=True)
    assert [n["ops"] for n in again] == [0, 0]


def test_one_store_needs_no_process(memops, stores, monkeypatch):
    monkeypatch.setattr("memops.nights.several.workers", None)
    (done,) = several.nights(stores[:1], Settings(state=memops.state), NOW, 4, approve=True)
    assert done["applied"] and open_store(stores[0]).read().height
