"""Collecting: the memory roots of several XingheBot nodes, only read, as one; their sessions copied."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops.context import Context
from memops.errors import MemopsError, StoreNotFound
from memops.policy import Policy
from memops.reasons import sentences
from memops.rules.merge_contained import merge_contained
from memops.rules.merge_exact import merge_exact
from memops.rules.merge_near import merge_near
from memops.schema import RECORDS, empty
from memops.stores import standing
from memops.stores.markdown import files
from memops.stores.xinghebot import XingheBot


def collect(
    roots: Mapping[str, Path], into: Path | None, policy: Policy, now: datetime
) -> dict[str, Any]:
    """Copy the nodes' session summaries into one root; return counts and the duplicates found.

    `{nodes: {node: {records, sessions}}, copied: [path], already: n, duplicates: [pair]}`. A summary of
    the same name with other bytes is put beside it as `NAME@NODE.md`. Without `into` nothing is
    written.
    """
    records = gathered(roots)
    sessions = {node: _sessions(root) for node, root in roots.items()}
    copied, already = _copied(roots, sessions, into) if into else ([], 0)
    n = dict(records.group_by(_node("id")).len().iter_rows())
    nodes = {of: {"records": n.get(of, 0), "sessions": len(sessions[of])} for of in roots}
    pairs = across(records, Context(now=now, policy=policy))
    return {"nodes": nodes, "copied": copied, "already": already, "duplicates": pairs}


def gathered(roots: Mapping[str, Path]) -> pl.DataFrame:
    """Return the records of several roots as one table; the node leads id and origin."""
    tables = [
        standing(XingheBot(str(root))).read().with_columns(
            id=pl.lit(f"{node}/") + pl.col("id"), origin=pl.lit(f"{node}/") + pl.col("origin")
        )
        for node, root in roots.items()
    ]  # fmt: skip
    return pl.concat(tables).select(RECORDS.names()).sort("id") if tables else empty()


def across(records: pl.DataFrame, ctx: Context) -> list[dict[str, Any]]:
    """Return what says the same on two nodes: {id, same_as, reason}, wherever it stands there."""
    texts = records.with_columns(block=pl.lit(None, pl.String))
    plans = [rule(texts, ctx) for rule in (merge_exact, merge_contained, merge_near)]
    found = pl.concat(plans).filter(pl.col("superseded_by").is_not_null())
    pairs = found.select("id", sentences(found), same_as="superseded_by").unique("id", keep="first")
    return pairs.filter(_node("same_as") != _node("id")).sort("id").to_dicts()


def nodes(given: Sequence[str]) -> dict[str, Path]:
    """Return the roots by node of `NODE=ROOT` or `ROOT`, named after its project; raises MemopsError."""
    found: dict[str, Path] = {}
    for text in given:
        name, sep, place = text.partition("=")
        root = Path(place if sep else text).expanduser().absolute()
        node = name if sep else (root.parent.name if root.name == "memory" else root.name)
        if not node or "/" in node or node in found:
            raise MemopsError(f"{text!r}: no name of its own", "write NODE=ROOT for each")
        found[node] = root
    return found


def _node(column: str) -> pl.Expr:
    return pl.col(column).str.split("/").list.first()


def _sessions(root: Path) -> list[str]:
    walked = files.walk(root, XingheBot(str(root)).wanted)
    return [f.path for f in walked if not f.why and f.path.startswith("sessions/")]


def _copied(
    roots: Mapping[str, Path], sessions: Mapping[str, list[str]], into: Path
) -> tuple[list[str], int]:
    if not into.is_dir():
        hint = "make it first, or name a XingheBot memory root"
        raise StoreNotFound(f"{into} is no folder", hint)
    files.root_of(into)
    copied, already = [], 0
    for node, paths in sessions.items():
        if roots[node].resolve() == into.resolve():
            continue
        for path in paths:
            data, info = files.read(roots[node], path)
            if target := _free(into, path, node, data):
                files.put(into, target, data, 0o600, info.st_mtime_ns)
                copied.append(target)
            else:
                already += 1
    return copied, already


def _free(into: Path, path: str, node: str, data: bytes) -> str | None:
    """The path to copy to, or None where the summary is there already."""
    for target in (path, f"{path.removesuffix('.md')}@{node}.md"):
        there = into / target
        if not there.exists() and not there.is_symlink():
            return target
        if files.read(into, target)[0] == data:
            return None
    said = f"{into / path}: another summary of that name is there for {node}"
    raise MemopsError(said, "look at both")
