"""Retention: which snapshots and undo copies stay, by their time, and what goes.

Never removed are the newest snapshots, the newest sound one, those dated in the future and those that a
run or plan needs. An undo copy goes when it is old and a sound snapshot is newer.
"""

import contextlib
import os
import shutil
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memops import files, locks
from memops.errors import Locked, MemopsError
from memops.policy import Keep, Policy
from memops.snapshot import Snapshot, lock_path, open_snapshot, store_id, verify
from memops.snapshot_draft import sweep
from memops.state.runs import Run, runs
from memops.state.seals import made_at
from memops.state.snapshot_chain import described, note_removed

_ENDED = ("verified", "rolled-back")


@dataclass(frozen=True)
class Aged:
    """One snapshot with its time and whether its records are to be believed."""

    taken: Snapshot
    at: datetime
    sound: bool


def prune(state: Path, policy: Policy, now: datetime, remove: bool = False) -> dict[str, Any]:
    """Return the snapshots and undo copies that are past their time, and remove them if asked."""
    said: dict[str, Any] = {name: [] for name in ("snapshots", "undo", "busy", "damaged")}
    said["removed"] = remove
    if remove:
        sweep(files.folder(state / "snapshots"))
    stores: dict[str, list[Aged]] = defaultdict(list)
    for path in sorted((state / "snapshots").glob("[!.]*")):
        try:
            taken = open_snapshot(path)
        except (MemopsError, OSError):
            said["damaged"].append(path.name)
            continue
        stores[store_id(taken.manifest["store"])].append(_aged(taken, policy))
    for own, aged in sorted(stores.items()):
        identity = aged[0].taken.manifest["store"]
        try:
            with locks.hold(lock_path(state, identity), 0.0):
                past, undo = expired(
                    aged, runs(state, identity), _needed(state, own, now), policy, now
                )
                for one in past if remove else []:
                    _removed(state, one.taken, now)
                for run in undo if remove else []:
                    run.forget_undo()
        except Locked:
            said["busy"].append(aged[0].taken.address)
            continue
        said["snapshots"] += [described(one.taken) for one in past]
        said["undo"] += [run.id for run in undo]
    return said


def expired(
    aged: list[Aged], ran: list[Run], needed: set[str], policy: Policy, now: datetime
) -> tuple[list[Aged], list[Run]]:
    """Return the snapshots of one store, and the runs' undo copies, that may go."""
    best = _newest_sound(aged)
    old = timedelta(days=policy.keep.undo_days)
    begun = {run: run.started for run in ran if best}
    past = (run for run, at in begun.items() if best and best.at > at and now - at > old)
    undo = [run for run in past if run.state in _ENDED]
    held = needed | {run.header["snapshot"] for run in ran if run not in undo}
    held |= {one.taken.id for one in [*kept(aged, policy.keep, now), *filter(None, [best])]}
    still = [run for run in undo if run.keeps_undo]
    return [one for one in aged if one.taken.id not in held], still


def kept(aged: list[Aged], keep: Keep, now: datetime) -> list[Aged]:
    """Return the snapshots that the windows keep, and those dated in the future."""
    newest = sorted(aged, key=lambda one: (one.at, one.taken.id), reverse=True)
    future = [one for one in newest if one.at > now]
    past = [one for one in newest if one.at <= now]
    stays = future + past[: keep.last]
    stays += [one for one in past if now - one.at <= timedelta(days=keep.within_days)]
    windows = (("%Y-%m-%d", keep.daily), ("%G-%V", 7 * keep.weekly), ("%Y-%m", 31 * keep.monthly))
    for name, days in windows:
        best: dict[str, Aged] = {}
        for one in past:
            if now - one.at <= timedelta(days=days):
                key = f"{one.at:{name}}"
                if not best.setdefault(key, one).sound and one.sound:
                    best[key] = one
        stays += best.values()
    return stays


def _newest_sound(aged: list[Aged]) -> Aged | None:
    """The newest snapshot that is sound and as it was sealed: it is read whole to know."""
    for one in sorted(aged, key=lambda one: (one.sound, one.at, one.taken.id), reverse=True):
        with contextlib.suppress(MemopsError):
            verify(one.taken)
            return one
    return None


def _aged(taken: Snapshot, policy: Policy) -> Aged:
    """A snapshot is sound that is not empty and did not shrink beyond belief since the last."""
    before = (taken.manifest.get("previous") or {}).get("rows", 0)
    rows = taken.manifest["rows"]
    at = datetime.fromisoformat(taken.manifest["taken_at"]).astimezone(UTC)
    return Aged(taken, at, rows > 0 and rows >= before * (1 - policy.limits.shrink))


def _needed(state: Path, own: str, now: datetime) -> set[str]:
    wanted = set()
    for path in (state / "plans").glob("*/plan.json"):
        with contextlib.suppress(MemopsError, KeyError, ValueError, OSError):
            header = files.read_json(path)
            made = made_at(path.parent)
            fresh = now - made <= timedelta(hours=header["expires_after_hours"])
            if fresh and store_id(header["store"]) == own:
                wanted.add(header["snapshot"])
    return wanted


def _removed(state: Path, taken: Snapshot, now: datetime) -> None:
    """Remove a snapshot; a crash half-way leaves a draft, which the next snapshot sweeps away."""
    note_removed(state, taken, "past its time", now)
    away = taken.path.with_name(f".{taken.id}.{os.getpid()}.draft")
    taken.path.rename(away)
    files.sync(away.parent)
    shutil.rmtree(away)
