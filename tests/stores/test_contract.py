"""The contract of stores: one test over every adapter, with the engine that nights use."""

import shutil

import polars as pl
import pytest

from memops import apply as applying
from memops import overlay, snapshot
from memops.errors import MemopsError
from memops.guard import protect
from memops.plan import delete, diff, edit, outcome, put
from memops.policy import Limits, Policy
from memops.policy.hygiene import Floors
from memops.schema import QUARANTINE, RECORDS, TOMBSTONE, from_rows, live_counts
from memops.state import planfile, runs
from memops.stores import CAPABILITIES, STORES, Work, open_store

from .restoring import put_back
from .samples import BUILDERS, NOW, SAID, build

POLICY = Policy(limits=Limits(share=1.0), floors=Floors(default=0, kinds={}))
SHOWN = ["text", "kind", "scope", "tier", "pinned", "valid_to", "tags"]
KINDS = sorted(BUILDERS)


def test_every_kind_of_store_is_under_contract():
    missing = sorted(set(STORES) - set(BUILDERS))
    assert missing == [], f"give {missing} a builder in BUILDERS of tests/stores/samples.py"


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    return build(request.param, tmp_path)


def chosen(records, *words):
    """The records whose text holds one of the words."""
    return records.filter(pl.col("text").str.contains_any(list(words)))


def changes(records):
    """One of everything: merge, supersede, retire, quarantine, redact, sink, weigh, link, insert."""

    def ruled(step, rule):
        return step.with_columns(rule=pl.lit(rule), risk=pl.lit("low"))

    newer = chosen(records, "蓝色门")["id"][0]
    new = from_rows(
        [
            {
                "id": "5b0c1c9e-0000-5000-8000-000000000001",
                "kind": "preference",
                "text": "用户喜欢绿茶",
                "created_at": NOW,
                "scope": records["scope"][0],
            }
        ]
    )
    blue = chosen(records, "blue door")
    return pl.concat(
        [
            ruled(edit(blue, "merge", "x", superseded_by=newer, evidence=[newer]), "merge_near"),
            ruled(
                edit(
                    chosen(records, "Marek"),
                    "tombstone",
                    "x",
                    superseded_by=TOMBSTONE,
                    valid_to=NOW,
                ),
                "retire_old",
            ),
            ruled(
                edit(chosen(records, "灰度"), "quarantine", "x", superseded_by=QUARANTINE),
                "quarantine_injected",
            ),
            ruled(
                edit(
                    chosen(records, "room 12"),
                    "update",
                    "x",
                    text=pl.lit("The reading group meets in ***"),
                ),
                "redact_secrets",
            ),
            ruled(
                edit(chosen(records, "麻薯"), "demote", "x", tier="peripheral", importance=0.125),
                "demote_faded",
            ),
            ruled(
                edit(
                    chosen(records, "Ines"), "update", "x", valid_to=NOW, tags=["werkstatt", "车间"]
                ),
                "note",
            ),
            ruled(delete(chosen(records, "羽毛球"), "x"), "delete_retired"),
            ruled(put(new, "x", derived_from=[blue["id"][0]]), "extract_notes"),
        ]
    )


def planned(store, state, made=changes, policy=POLICY):
    taken = snapshot.take(store, state, NOW, policy)
    before = taken.records()
    allowed, refused = protect(made(before), before, policy)
    assert refused.is_empty(), refused.to_dicts()
    plan = planfile.Planned(taken, before, allowed, refused, policy, NOW)
    return planfile.save(state, plan, NOW), before


def retired(*words):
    """What retires the records whose text holds one of the words."""

    def made(records):
        step = edit(chosen(records, *words), "tombstone", "x", superseded_by=TOMBSTONE)
        return step.with_columns(rule=pl.lit("retire_old"), risk=pl.lit("low"))

    return made


def joined(store, state):
    return overlay.joined(
        store.read(), overlay.read(snapshot.overlay_path(state, store.identity()))
    )


def said(records):
    """What a person would see of the records, whatever their ids."""
    hidden = pl.col("superseded_by").is_not_null()
    return records.select(*SHOWN, hidden).sort("text").to_dicts()


def test_a_copy_reads_as_the_store_does_and_reading_changes_nothing(store, tmp_path):
    first, second = store.read(), store.read()
    (tmp_path / "raw").mkdir()
    store.copy(tmp_path / "raw")
    assert first.schema == RECORDS
    assert diff(first, second).is_empty()
    assert diff(first, store.load(tmp_path / "raw")).is_empty()
    assert set(SAID) <= set(first["text"])
    assert diff(store.project(first), first).is_empty()


def test_some_records_read_as_they_do_among_all(store, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    store.copy(raw)
    records = store.read()
    for ids in ([], records["id"][::2].to_list(), [records["id"][-1], "nobody"]):
        some = records.filter(pl.col("id").is_in(ids))
        assert store.read(ids).equals(some)
        assert store.load(raw, ids).equals(some)


def test_identity_is_the_store_s_and_needs_no_inode(store, tmp_path):
    identity = store.identity()
    assert {"kind", "path"} <= identity.keys()
    assert open_store(store.address).identity() == identity


def test_capabilities_are_declared(store):
    assert store.capabilities <= set(CAPABILITIES)
    assert store.holds <= set(RECORDS)
    assert {"id", "text"} <= store.holds
    assert store.paths and store.family in ("rows", "documents")


def test_a_copy_onto_itself_is_refused(store, tmp_path):
    before = store.read()
    for folder in {path.parent for path in tmp_path.rglob("*") if path.is_file()}:
        with pytest.raises(MemopsError, match="is not empty"):
            store.copy(folder)
    assert diff(store.read(), before).is_empty()


def test_what_is_applied_is_what_the_outcome_says_and_rollback_takes_it_all_back(store, tmp_path):
    state = tmp_path / "state"
    plan, before = planned(store, state)
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert done["skipped"] == []
    assert (done["applied"], done["state"]) == (8, "verified")
    after = outcome(before, plan.plan())
    assert said(joined(store, state)) == said(after)
    again = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert (again["applied"], again["skipped"]) == (0, [])
    back = applying.rollback(runs.find_run(done["run"], state), state)
    assert back["skipped"] == []
    assert diff(joined(store, state), before).is_empty()
    if store.kind in ("openclaw", "xinghebot", "jsonl"):
        (tmp_path / "now").mkdir()
        store.copy(tmp_path / "now")
        raw = state / "snapshots" / plan.header["snapshot"] / "raw"
        assert files_of(tmp_path / "now") == files_of(raw)


def test_the_guard_is_told_how_many_live_records_there_are(store, tmp_path):
    state = tmp_path / "state"
    hidden, _ = planned(store, state, retired("Marek", "灰度", "Ines"))
    assert applying.apply(hidden, state, NOW, approve=True, as_of=NOW)["applied"] == 3
    assert_counted(store, chosen(store.read(), "麻薯", "羽毛球"))


def assert_counted(store, losing):
    """Retiring records, a store tells the check of all that are live of their scopes and kinds."""
    told, live = [], live_counts(store.read())
    step = edit(losing, "tombstone", "x", superseded_by=TOMBSTONE)

    def check(_, counts):
        told.append(counts)
        return dict.fromkeys(step["id"], "guard.floor")

    for batch in store.batches(step):
        work = Work(batch, losing, NOW, check, keep=lambda undo: None)
        assert {answer.state for answer in store.write(work)} == {"refused"}
    for counts in told:
        assert counts.join(losing, on=["scope", "kind"], how="semi").height
        assert counts.rows() == live.join(counts, on=["scope", "kind"], how="semi").rows()
    assert told


def test_the_last_loss_above_a_floor_is_made_and_the_next_refused(store, tmp_path):
    state = tmp_path / "state"
    hidden, before = planned(store, state, retired("Marek", "灰度", "Ines"))
    assert applying.apply(hidden, state, NOW, approve=True, as_of=NOW)["applied"] == 3
    kind = chosen(before, "麻薯")["kind"][0]
    most = int(live_counts(store.read()).filter(kind=kind)["live"].sum())
    floors = Floors(default=0, kinds={kind: most - 1})
    policy = Policy(limits=Limits(share=1.0), floors=floors)
    plans = [planned(store, state, retired(word), policy)[0] for word in ("麻薯", "羽毛球")]
    done = [applying.apply(plan, state, NOW, approve=True, as_of=NOW) for plan in plans]
    assert [said["applied"] for said in done] == [1, 0]
    assert [skip["state"] for skip in done[1]["skipped"]] == ["refused"]


def files_of(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and p.suffix in (".md", ".jsonl") and "files.json" not in p.name
    }


def test_a_changed_record_is_skipped_and_the_others_are_not(store, tmp_path):
    state = tmp_path / "state"
    plan, before = planned(store, state)
    other = plan.plan().filter(pl.col("id") == chosen(before, "Marek")["id"][0])
    fresh = snapshot.take(store, state, NOW, POLICY)
    text = edit(
        chosen(before, "Marek"), "update", "x", text=pl.lit("Marek takes the night shift in June")
    )
    named = text.with_columns(rule=pl.lit("redact_x"))
    asked = planfile.Planned(fresh, before, named, text.clear(), POLICY, NOW, authority="person")
    first = planfile.save(state, asked, NOW)
    assert applying.apply(first, state, NOW, approve=True, as_of=NOW)["applied"] == 1
    assert other.height == 1
    done = applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    assert [s["state"] for s in done["skipped"]] == ["stale"]
    assert done["applied"] == 7
    live = joined(store, state).filter(pl.col("superseded_by").is_null())
    assert "Marek takes the night shift in June" in live["text"].to_list()


def test_a_snapshot_restores_the_store_whatever_happened_since(store, tmp_path):
    state = tmp_path / "state"
    plan, before = planned(store, state)
    applying.apply(plan, state, NOW, approve=True, as_of=NOW)
    raw = state / "snapshots" / plan.header["snapshot"] / "raw"
    put_back(store, raw)
    assert diff(store.read(), store.load(raw)).is_empty()


def test_a_store_that_is_gone_is_not_found(store, tmp_path):
    path = store.address.split(":", 1)[1]
    moved = tmp_path / "gone"
    shutil.move(path, moved)
    with pytest.raises(MemopsError) as error:
        open_store(store.address).read()
    assert error.value.code == 10
