"""The demonstration: two polluted sample stores, a night on each, and what came of it."""

import importlib.util
import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files, settings
from memops.errors import MemopsError
from memops.language.lexicon import resource
from memops.nights.night import curate
from memops.state.sources import clock

_MARK = ".memops-demo"
"""A file that tells a demonstration's folder from any other, since what is in it goes."""


def run(into: Path, now: datetime | None = None) -> list[dict[str, Any]]:
    """Make the sample stores in a folder as they stand `now`, and do the night of each, approved; returns the nights.

    Raises MemopsError for a folder that holds anything but an earlier demonstration, which is made
    anew.
    """
    if into.is_dir() and any(into.iterdir()) and not (into / _MARK).is_file():
        raise MemopsError(f"{into} holds something else", "give an empty folder with --into")
    samples = _script()
    files.write(files.folder(into) / _MARK, b"")
    for name in ("state", "clawseed", "openclaw"):  # what is known of the old stores goes, too
        shutil.rmtree(into / name, ignore_errors=True)
    at = (now or clock()).replace(microsecond=0)
    samples.build(into, now=at)
    lines = ['state = "state"']
    for kind in ("clawseed", "openclaw"):
        address = json.dumps(f"{kind}:{(into / kind).absolute()}", ensure_ascii=False)
        lines += [f"[stores.{kind}]", f"address = {address}", f'suite = "sample/{kind}"']
    files.write(into / "memops.toml", "\n".join([*lines, ""]).encode())
    own = settings.read(into / "memops.toml", None)
    return [curate(kind, own, at, approve=True) for kind in own.stores]


def text(night: dict[str, Any]) -> str:
    """Return what a person reads of a night: rows, changes by rule, recall, and where the rest is."""
    rows = night["rows"]
    lines = [
        f"{night['store']}: {rows['before']} records, {rows['live_before']} live before and "
        f"{rows.get('live_after', rows['live_before'])} after; {night.get('applied', 0)} changed"
    ]
    for rule, ops in night["by_rule"].items():
        counted = ", ".join(f"{op} {n}" for op, n in ops.items())
        lines.append(f"  {rule:<22} {counted}")
    if asked := night["ops"] - night["unattended"]:
        left = f"{asked} of {night['ops']} changes, which a night of your own leaves to `memops review`"
        lines.append(f"  {'approved':<22} {left}")
    recall = night.get("recall", [])
    lines += [f"  {m['measure']:<22} {m['before']:.3f} -> {m['after']:.3f}" for m in recall]
    lines.append(f"  {'recall':<22} {night.get('verdict', 'not graded: no suite')}")
    if "error" in night:
        lines += [f"  {'read-back':<22} {night['error']}", f"  {'':<22} {night['hint']}"]
    if night.get("run"):
        state = Path(night["path"]).parents[1]
        lines.append(f"  {'undo':<22} memops --state {state} rollback {night['run']}")
    return "\n".join([*lines, f"  {'report':<22} {night['report']}"])


def _script() -> Any:
    script = resource("data/make_samples.py")
    spec = importlib.util.spec_from_file_location("memops_samples", script)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
