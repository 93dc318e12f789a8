"""Purging: after it, no file of the store or of memops holds a byte of the text."""

import html
import json
import shutil

import polars as pl
import pytest

from memops.stores import open_store
from tests.stores.samples import build

GONE = ("Rosa prefers tea to coffee", "用户的猫叫麻薯")
KEPT = "Ines runs the print workshop"
KINDS = ["jsonl", "clawseed", "openclaw", "rsclaw"]
KINDS += [pytest.param(kind, marks=pytest.mark.slow) for kind in ("parquet", "xinghebot")]


def spelled(text):
    """The ways in which a file may write it."""
    ways = {text, html.escape(text), json.dumps(text)[1:-1]}
    return [w.encode(c) for w in ways for c in ("utf-8", "utf-16-le", "gb18030")]


def holding(folder, text):
    """Files that hold a text, Parquet files read as tables since they are compressed."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data += json.dumps(
                pl.read_parquet(path).to_dicts(), default=str, ensure_ascii=False
            ).encode()
        if any(way in data for way in spelled(text)):
            found.append(str(path.relative_to(folder)))
    return found


def ids_of(store, *texts):
    records = store.read()
    return records.filter(pl.col("text").is_in(texts))["id"].to_list()


def a_night(memops, address):
    """Two snapshots, a plan that is carried out, a report of each."""
    taken = memops("snapshot", address)
    done = memops("nightly", address, "--approve")
    memops("report", taken["snapshot"])
    return taken, done


@pytest.mark.parametrize("kind", KINDS)
def test_no_file_of_the_store_or_the_state_holds_a_purged_text(memops, tmp_path, kind):
    home = tmp_path / "home"
    home.mkdir()
    store = build(kind, home)
    a_night(memops, store.address)
    assert memops.code == 0, memops.err
    before = open_store(store.address).read()
    assert all(holding(tmp_path, text) for text in (*GONE, KEPT))
    assert holding(memops.state, GONE[0])
    said = memops("purge", store.address, *ids_of(store, *GONE))
    assert memops.code == 0, memops.err
    assert said["removed"] == 2 and said["places"]["store"] == 2
    assert (said["same_text"], said["elsewhere"]) == ([], [])
    assert [holding(tmp_path, text) for text in GONE] == [[], []]
    left = open_store(store.address).read()
    assert sorted(left["text"]) == sorted(t for t in before["text"] if t not in GONE)
    memops("nightly", store.address)
    assert memops.code == 0, memops.err


def test_a_record_that_only_the_overlay_still_has_is_forgotten(memops, tmp_path):
    store = build("openclaw", tmp_path)
    key = ids_of(store, GONE[0])
    memops("forget", store.address, *key)
    assert memops.code == 0, memops.err
    assert holding(tmp_path / "ws", GONE[0]) == []
    assert memops("purge", store.address, *key)["removed"] == 1
    assert holding(tmp_path, GONE[0]) == []


def test_what_says_the_same_is_named_and_other_stores_keep_theirs(memops, tmp_path):
    row = {"kind": "fact", "created_at": "2026-01-01T00:00:00Z"}
    rows = [row | {"id": n, "text": t} for n, t in [("a", "a"), ("b", "a"), ("c", "banana")]]
    mine, theirs = (f"jsonl:{memops.write(name, rows)}" for name in ("mine.jsonl", "theirs.jsonl"))
    own, other = (memops("snapshot", address)["snapshot"] for address in (mine, theirs))
    kept = {
        p: p.read_bytes() for p in (memops.state / "snapshots" / other).rglob("*") if p.is_file()
    }
    said = memops("purge", mine, "a")
    assert said["same_text"] == ["b"]
    assert said["elsewhere"] and all(other in p or theirs_of(p) for p in said["elsewhere"])
    assert {p: p.read_bytes() for p in kept} == kept
    assert not (memops.state / "snapshots" / own).exists()
    assert memops("check", other)["ok"]


def theirs_of(path):
    return path.startswith("stores/") or path == "purges.jsonl"


def test_a_purge_that_was_cut_off_is_finished_by_the_next(memops, tmp_path, monkeypatch):
    store = build("clawseed", tmp_path)
    a_night(memops, store.address)
    key = ids_of(store, GONE[1])
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", fails)
        memops("purge", store.address, *key)
    assert memops.code != 0
    assert ids_of(store, GONE[1]) == [] and holding(memops.state, GONE[1])
    assert memops("purge", store.address, *key)["removed"] == 0
    assert memops.code == 0
    assert holding(tmp_path, GONE[1]) == []


def fails(*args, **kwargs):
    raise OSError(5, "Input/output error")


def test_an_unknown_id_purges_nothing(memops, tmp_path):
    store = build("jsonl", tmp_path)
    before = (tmp_path / "m.jsonl").read_bytes()
    said = memops("purge", store.address, "r01", "nobody")
    assert (memops.code, said["message"]) == (2, f"{store.address}: no record 'nobody'")
    assert (tmp_path / "m.jsonl").read_bytes() == before
