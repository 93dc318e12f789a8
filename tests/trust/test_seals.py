"""Seals: a plan, its limits, its authority and its expiry are what this user made, or refused."""

import json
import os
import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memops import apply as applying
from memops import files
from memops.apply.recovery import unfinished
from memops.cli import run
from memops.state import planfile, seals
from tests.counts import few
from tests.sealing import forged, rewritten, sealed

from .test_fuzz import mutated

NOW = "2026-06-01T00:00:00Z"
CODES = {0, 2, 3, 10, 20, 21, 22, 23, 24, 32}
"""What a command about a plan may end with, all of it documented; 1 is a bug."""


@pytest.fixture
def planned(memops, twins):
    """A plan beyond its limits: 40 core facts of 80 step back."""
    path = memops.write("m.jsonl", [row | {"tier": "core"} for row in twins])
    made = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)
    assert made["exceeds"]
    return memops, path, Path(made["path"])


def limits(header, **changed):
    policy = json.loads(json.dumps(header["policy"]))
    policy["limits"] |= changed
    return {"policy": policy, "exceeds": []}


FORGERIES = {
    "authority": lambda header: {"authority": "person"},
    "limits": lambda header: limits(header, share=1.0, records=10**6),
    "expiry": lambda header: {"expires_after_hours": 10**6},
    "rules": lambda header: {"rules": ["nothing_at_all"]},
}


@pytest.mark.parametrize("what", sorted(FORGERIES))
def test_a_plan_whose_digests_were_all_mended_is_refused(planned, what):
    memops, path, folder = planned
    before = path.read_bytes()
    header = files.read_json(folder / "plan.json")
    copy = forged(folder, **FORGERIES[what](header))
    for words in (("apply", copy.name), ("apply", copy.name, "--approve"), ("review", copy.name)):
        said = memops(*words)
        assert memops.code == 22 and "not sealed" in said["message"]
    assert path.read_bytes() == before


def test_a_later_date_of_making_does_not_lengthen_a_plans_life(planned):
    memops, path, folder = planned
    sealed(folder, "2026-01-01T00:00:00+00:00")
    assert "expired" in memops("apply", folder.name, "--approve")["message"]
    made = files.read_json(folder / "made.json") | {"at": "2031-01-01T00:00:00+00:00"}
    files.write_json(folder / "made.json", made)
    assert "not sealed" in memops("apply", folder.name, "--approve")["message"]
    assert memops.code == 22


def test_a_plan_that_left_and_came_back_is_carried_out_and_one_of_another_folder_is_not(
    planned, tmp_path
):
    memops, path, folder = planned
    away = tmp_path / "away" / folder.name
    shutil.copytree(folder, away)
    shutil.rmtree(folder)
    other = tmp_path / "other"
    shutil.copytree(memops.state, other)
    (other / seals.KEY).unlink()
    run(["--state", str(other), "plan", f"jsonl:{path}", "--now", NOW])
    assert run(["--state", str(other), "apply", str(away), "--approve"]) == 22
    memops.capsys.readouterr()
    assert memops("apply", str(away), "--approve")["applied"] == 40


def test_any_lines_that_are_left_of_a_plan_still_stand_under_its_seal(planned):
    memops, _, folder = planned
    lines = (folder / "ops.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for seed in range(20):
        kept = sorted(Random(seed).sample(range(len(lines)), seed * 2))
        text = "".join(lines[nth] for nth in kept)
        (folder / "ops.jsonl").write_text(text, encoding="utf-8")
        assert planfile.load(folder.name, memops.state).kept == [nth + 1 for nth in kept]


def test_a_run_that_claims_an_approval_is_not_gone_on_with(planned, monkeypatch):
    memops, path, folder = planned
    copy = sealed(
        forged(folder, policy=limits(files.read_json(folder / "plan.json"), share=1.0)["policy"])
    )
    with monkeypatch.context() as patched:
        patched.setattr(applying, "failpoint", _stop)
        memops("apply", copy.name)
    (cut,) = unfinished(memops.state)
    rewritten(cut.path / "run.json", approved=True)
    said = memops("resume", cut.id)
    assert memops.code == 22 and "run.json" in said["message"]
    assert said["hint"] == f"take the run back: memops rollback {cut.id}"
    assert memops("rollback", cut.id)["state"] == "rolled-back"


def _stop(site):
    if site == "run-begun":
        raise Killed


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""


def test_the_key_is_made_once_private_and_apart_from_plans(planned):
    memops, path, folder = planned
    key = memops.state / seals.KEY
    held = key.read_bytes()
    assert len(held) == 32 and key.stat().st_mode & 0o777 == 0o600
    memops("plan", f"jsonl:{path}", "--now", NOW)
    assert key.read_bytes() == held
    found = [p for p in memops.state.rglob("*") if p.is_file() and p != key]
    assert not any(held in p.read_bytes() or held.hex() in p.read_text("latin-1") for p in found)


KEYS = {
    "short": lambda key: key.write_bytes(b"x" * 31),
    "long": lambda key: key.write_bytes(b"x" * 33),
    "empty": lambda key: key.write_bytes(b""),
    "readable": lambda key: key.chmod(0o640),
    "a folder": lambda key: (key.unlink(), key.mkdir()),
    "a link": lambda key: (key.rename(key.with_name("k")), key.symlink_to("k")),
    "a pipe": lambda key: (key.unlink(), os.mkfifo(key)),
}


@pytest.mark.parametrize("how", sorted(KEYS))
def test_a_key_that_is_none_is_named_and_nothing_is_written(planned, how):
    memops, path, folder = planned
    before, key = path.read_bytes(), memops.state / seals.KEY
    KEYS[how](key)
    for words in (("apply", folder.name, "--approve"), ("plan", f"jsonl:{path}", "--now", NOW)):
        said = memops(*words)
        assert memops.code == 20 and str(key) in said["message"]
    assert path.read_bytes() == before


def test_without_its_key_a_plan_is_made_again(planned):
    memops, path, folder = planned
    (memops.state / seals.KEY).unlink()
    assert memops("apply", folder.name, "--approve")["hint"] == "plan again"
    assert memops.code == 22
    again = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)
    assert memops("apply", again["plan"], "--approve")["applied"] == 40


FILES = (
    "plan.json",
    "made.json",
    "ops.jsonl",
    "refused.jsonl",
    "changes.parquet",
    "../../seal.key",
)
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", FILES)
def test_garbage_in_the_files_of_a_plan_ends_with_a_documented_code(planned, name, capsys):
    memops, path, folder = planned
    rows = [{"action": "edit", "id": "00a", "rule": "x", "reason": "so", "op": "update", "seq": 1}]
    files.write(folder / "refused.jsonl", b"".join(json.dumps(r).encode() + b"\n" for r in rows))
    target, store = folder / name, path.read_bytes()
    whole = target.read_bytes()
    held = json.loads(whole) if name.endswith(".json") else None

    @few(10, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def spoil(data):
        if held is not None and data.draw(st.booleans()):
            field = data.draw(st.sampled_from(sorted(held)))
            spoiled = files.json_bytes(held | {field: data.draw(odd)})
        elif data.draw(st.booleans()):
            spoiled = mutated(Random(data.draw(st.integers(0, 10**6))), whole)
        else:
            spoiled = data.draw(st.binary(max_size=60) | odd.map(files.json_bytes))
        target.write_bytes(spoiled)
        for words in (
            ["apply", folder.name],
            ["explain", folder.name, "1"],
            ["report", folder.name],
            ["review", folder.name],
            ["runs"],
            ["status"],
        ):
            assert run(["--state", str(memops.state), *words, "--json"]) in CODES, (words, spoiled)
        capsys.readouterr()
        assert path.read_bytes() == store

    spoil()
