"""Purging of plans: what a purge makes of one, and which of its files it made anew.

    plans/<id>/forgotten.json   digests of the files that lost lines to a purge

A plan without a run goes whole; one that was carried out loses its lines, and is not carried out again.
"""

from collections import Counter
from contextlib import suppress
from pathlib import Path

import polars as pl

from memops import files
from memops.errors import Corrupt, PlanRefused
from memops.state.purge_files import Purge

_FILE = "forgotten.json"


def digests(plan: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a plan that a purge made anew; raises Corrupt."""
    path = plan / _FILE
    return dict(files.read_sealed(path)["files"]) if path.is_file() else {}


def refuse_forgotten(plan: Path) -> None:
    """Raise PlanRefused for a plan that lost lines to a purge."""
    if (plan / _FILE).is_file():
        said = f"a record of plan {plan.name} was purged, so it is not carried out any more"
        raise PlanRefused(said, "plan again, or take its run back: memops rollback RUN")


def in_plan(task: Purge, path: Path, has_run: bool) -> Counter[str]:
    """Take the records out of a plan that was carried out; remove any other that names them."""
    changes = _changes(path)
    if changes is None:
        return _gone(task, path) if task.terms.files(path) else Counter()
    hit = task.terms.named(changes, "id") | task.terms.held(changes)
    linked = hit | task.terms.named(changes, "evidence", "derived_from", "superseded_by")
    if not has_run and (linked.any() or task.terms.files(path)):
        return _gone(task, path)
    said = Counter({"plan lines": int(hit.sum())}) if hit.any() else Counter[str]()
    if hit.any():
        _blank(task, path, changes, hit)
    _take_out(task, path)
    page = path / "report.html"
    if page.is_file() and (linked.any() or task.terms.begins_in(page.read_bytes())):
        task.remove(page)
        said["reports"] = 1
    for name in ("night.json", "grades.json"):
        if (path / name).is_file() and task.terms.in_file(path / name):
            task.remove(path / name)
    return said


def _gone(task: Purge, path: Path) -> Counter[str]:
    task.remove(path)
    return Counter({"plans": 1})


def _changes(path: Path) -> pl.DataFrame | None:
    """The changes of a plan; None for what cannot be read as one."""
    with suppress(OSError, Corrupt):
        return files.unpacked((path / "changes.parquet").read_bytes(), str(path))
    return None


def _blank(task: Purge, path: Path, changes: pl.DataFrame, hit: pl.Series) -> None:
    """Empty the rows, whose places number the lines, and take out the lines."""
    seqs = {at + 1 for at in hit.arg_true()}
    kept = pl.when(~hit)
    said = ("action", "rule", "risk")
    blank = changes.with_columns(
        kept.then(pl.col(name)).alias(name) for name in changes.columns if name not in said
    ).with_columns(id=kept.then("id").otherwise(pl.lit("memops:forgotten")))
    _write(task, path, "changes.parquet", files.packed(blank))
    lines = (path / "ops.jsonl").read_bytes().splitlines(keepends=True)
    left = (line for line in lines if files.json_object(line).get("seq") not in seqs)
    task.write(path / "ops.jsonl", b"".join(left))


def _take_out(task: Purge, path: Path) -> None:
    """Take out what the guard withdrew and what a model was asked about the records."""
    for name in ("refused.jsonl", "judged.jsonl", "ops.jsonl"):
        data = (path / name).read_bytes() if (path / name).is_file() else b""
        lines = data.splitlines(keepends=True)
        kept = b"".join(x for x in lines if not _names(x, task) and not task.terms.in_bytes(x))
        if kept != data:
            _write(task, path, name, kept)


def _names(line: bytes, task: Purge) -> bool:
    values = files.json_object(line).values()
    said = [item for v in values for item in (v if isinstance(v, list) else [v])]
    return any(isinstance(item, str) and item in task.terms.ids for item in said)


def _write(task: Purge, path: Path, name: str, data: bytes) -> None:
    """Give a file of a plan new contents, whose digest is known before it has them."""
    if task.dry:
        return
    known: dict[str, str] = {}
    with suppress(Corrupt):
        known = digests(path)
    files.write_sealed(path / _FILE, {"files": known | {name: files.digest(data)}})
    files.write(path / name, data)
