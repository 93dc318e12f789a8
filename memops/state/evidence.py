"""Evidence: what judged changes say of each rule, and what a store's own people said of theirs.

`evals/changes/*.json` hold counts and who judged; those count whose readers built no rule and whose texts
were not used in building (`unseen`). Every answer of a person (`stores/<id>/refused.jsonl`) counts for that
store alone: accepted as right, rejected as harmful.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from memops import autonomy, files
from memops.errors import Corrupt
from memops.journal import Journal
from memops.language.lexicon import resource
from memops.policy import Policy
from memops.snapshot import store_folder
from memops.stores import family

FOLDER = "evals/changes"


@cache
def judged(folder: Path | None = None) -> tuple[Mapping[str, Any], ...]:
    """Return the records of judged changes, by file name; raises Corrupt for what is none."""
    return tuple(_record(path) for path in sorted((folder or resource(FOLDER)).glob("*.json")))


def counted(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the counts of the records that are evidence."""
    rows = [
        {name: row[name] for name in autonomy.EVIDENCE}
        for record in records
        if record["unseen"]
        for row in record["changes"]
    ]
    return pl.DataFrame(rows, schema=autonomy.EVIDENCE)


def answers(state: Path, identity: Mapping[str, str]) -> Journal:
    """Return the journal of what people answered to changes of a store, and what it could not take."""
    return Journal(store_folder(state, dict(identity)) / "refused.jsonl")


def answered(state: Path, identity: Mapping[str, str]) -> pl.DataFrame:
    """Return the counts of what people accepted and rejected in a store; the last answer holds."""
    told = (e for e in answers(state, identity).entries() if "why" not in e)
    last = {(e["rule"], e["id"], e["digest"]): e for e in told}
    kind = family(identity["kind"])
    said = (e for e in last.values() if (e["refused"] or e["accepted"]) and "why" not in e)
    rows = [
        {name: e[name] for name in autonomy.SHAPE}
        | {"family": kind, "right": int(e["accepted"]), "harmless": 0, "harmful": int(e["refused"])}
        for e in said
    ]
    return pl.DataFrame(rows, schema=autonomy.EVIDENCE)


def keep_judge(
    state: Path,
    recipe: Mapping[str, Any],
    pairs: str,
    rows: list[dict[str, Any]],
    right: float | None = None,
) -> Path:
    """Keep what a test found of a model, by its digest; a later test replaces it."""
    path = _judge_file(state, recipe)
    files.folder(path.parent)
    said = {"judge": dict(recipe), "pairs_sha256": pairs, "changes": rows, "right": right}
    files.write_json(path, said)
    return path


def right_of(state: Path, recipe: Mapping[str, Any], default: float) -> float:
    """Return how often a test found a model right about notes; `default` where none was made."""
    path = _judge_file(state, recipe)
    said = files.read_json(path).get("right") if path.is_file() else None
    return float(said) if isinstance(said, int | float) else default


def of_judges(state: Path, recipes: Iterable[Mapping[str, Any]], kind: str) -> pl.DataFrame:
    """Return the counts by which models have earned what comes of their word, in any family."""
    paths = [_judge_file(state, recipe) for recipe in recipes if "sha256" in recipe]
    said = [row for path in paths if path.is_file() for row in files.read_json(path)["changes"]]
    rows = [row | {"family": family(kind)} for row in said]
    return pl.DataFrame(rows, schema=autonomy.EVIDENCE)


def _judge_file(state: Path, recipe: Mapping[str, Any]) -> Path:
    return state / "judges" / f"{str(recipe['sha256'])[:32]}.json"


def standing(
    policy: Policy,
    state: Path,
    identity: Mapping[str, str] | None,
    judges: Iterable[Mapping[str, Any]] = (),
) -> pl.DataFrame:
    """Return where each shape stands, for a store with its own record or, without one, for all."""
    known = [counted(judged())]
    known += [answered(state, identity)] if identity else []
    known += [of_judges(state, judges, identity["kind"])] if identity else []
    mine = pl.col("family") == family(identity["kind"]) if identity else True
    return autonomy.standing(pl.concat(known).filter(mine), policy.unattended)


def marked(
    plan: pl.DataFrame,
    records: pl.DataFrame,
    policy: Policy,
    state: Path,
    identity: Mapping[str, str],
    judges: Iterable[Mapping[str, Any]] = (),
) -> pl.DataFrame:
    """Return a plan for a store of which each change says whether it may happen unattended."""
    known, kind = standing(policy, state, identity, judges), identity["kind"]
    said = autonomy.marked(plan, records, known, kind, family(kind), policy.unattended)
    return autonomy.settled(said, records)


def _record(path: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for row in said["changes"]:
            good = all(isinstance(row[n], str) for n in (*autonomy.SHAPE, "family"))
            if not good or any(type(row[n]) is not int for n in ("right", "harmless", "harmful")):
                raise ValueError(f"no counts of a shape: {row}")
        if not isinstance(said["unseen"], bool):
            raise ValueError("`unseen` is true or false")
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"{path}: no record of judged changes: {error}") from error
    return said
