"""Runs: any retriever's results graded and gated by TREC's files, without a store.

RUN     query Q0 document rank score tag     as trec_eval reads it: scores decide, not ranks
QRELS   query 0 document grade
"""

import contextlib
import math
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.errors import Corrupt, GateInconclusive, MemopsError, StoreNotFound
from memops.evaluation import gate
from memops.evaluation.gate_output import written
from memops.evaluation.grading import PER_QUERY, Grades
from memops.measures import grades
from memops.policy import Policy
from memops.search.collection import RUN

USUAL = ("R@5", "R@10", "Success@1", "RR@10", "nDCG@10")
_RUN, _JUDGED = "query Q0 document rank score tag", "query 0 document grade"
_BLANK = " \t\r\f\v"  # no other space parts columns: an id may hold one
_SCORED = pl.Schema(
    {"query_id": pl.String(), "doc_id": pl.String(), "score": pl.Float64(), "nth": pl.Int64()}
)
_QRELS = pl.Schema({"query_id": pl.String(), "doc_id": pl.String(), "grade": pl.Int64()})


def graded(run: Path, qrels: Path, measures: Sequence[str] = USUAL) -> Grades:
    """Return the grades of a run; a judged query that it does not answer has the value 0.

    Raises StoreNotFound for a file that is not there, and Corrupt, with the line, for what is not TREC's.
    """
    found, golden = read_run(run), read_qrels(qrels)
    if not found["query_id"].is_in(golden["query_id"].implode()).any():
        asked, said = golden["query_id"][0], found["query_id"][0]
        hint = f"use the same ids: {said!r} is of the run, {asked!r} of the judgements"
        raise Corrupt(f"{run}: answers no query that {qrels} judges", hint)
    kept = golden.with_columns(avoid=False, unit=pl.lit(None, pl.String))
    values = grades(found, kept, measures)
    values = values.with_columns(retriever=pl.lit("run"), category=pl.lit("judged"))
    lacking = [pl.lit(None, PER_QUERY[n]).alias(n) for n in PER_QUERY if n not in values.columns]
    asked = {"suite": files.sha256(qrels), "settings": [*measures]}
    per_query = values.with_columns(lacking).select(PER_QUERY.names())
    return Grades(qrels.name, "run", per_query, asked, found["doc_id"].n_unique(), run=found)


def gated(
    run: Path, qrels: Path, before: Path | None, policy: Policy, accept: bool = False
) -> dict[str, Any]:
    """Compare a run with an earlier one, or record it in that one's place; raises GateInconclusive for none."""
    measures = dict.fromkeys((*USUAL, policy.gate.measure))
    now = graded(run, qrels, [*measures])
    if before is None or not (accept or before.is_file()):
        paths = (run, qrels, before or "BASELINE.trec")
        named = zip(("run", "qrels", "baseline-run"), paths, strict=True)
        of = " ".join(f"--{name} {shlex.quote(str(path))}" for name, path in named)
        lacking = f"; there is no {before}" if before else ""
        hint = f"record it as the baseline: memops gate {of} --accept"
        raise GateInconclusive(f"{run}: nothing to compare with{lacking}", hint)
    replaced = None
    if accept:
        with contextlib.suppress(MemopsError):  # of a file that is no run nothing is told
            replaced = graded(before, qrels, [*measures]).means()
        files.write(before, run.read_bytes())
    earlier = graded(before, qrels, [*measures])
    _refuse_cut_short(before, run, set(unanswered(earlier)) - set(unanswered(now)))
    verdict = gate.judge(earlier, now, policy)
    about: dict[str, Any] = {"run": str(run), "qrels": str(qrels), "baseline_run": str(before)}
    about |= {"accepted": str(before) if accept else None, "replaced": replaced}
    about |= {"unanswered": unanswered(now), "unjudged": unjudged(now), **verdict.to_json()}
    return about | {"grades": now.means(), **written(verdict)}


def _refuse_cut_short(before: Path, run: Path, silent: set[str]) -> None:
    """Refuse a baseline that says nothing of queries which the run answers: it could pass any run."""
    if not silent:
        return
    named = ", ".join(sorted(silent)[:3]) + (" ..." if len(silent) > 3 else "")
    said = f"{before}: says nothing of {len(silent)} judged queries that {run} answers: {named}"
    hint = "give a baseline that is whole, or record the new run as one with --accept"
    raise GateInconclusive(said, hint)


def unjudged(grades: Grades) -> list[str]:
    """Return the queries that a run answers and nobody judged, which nothing compares."""
    answered = grades.run["query_id"].unique(maintain_order=True)
    return answered.filter(~answered.is_in(grades.per_query["query_id"].implode())).to_list()


def unanswered(grades: Grades) -> list[str]:
    """Return the judged queries of which a run says nothing, which count as 0."""
    asked = grades.per_query["query_id"].unique(maintain_order=True)
    return asked.filter(~asked.is_in(grades.run["query_id"].implode())).to_list()


def read_run(path: Path) -> pl.DataFrame:
    """Return a run, ranked by its scores, equal ones by the document's name, the last first."""
    rows = [(c[0], c[2], _number(c[4], path, nth), nth) for nth, c in _lines(path, _RUN)]
    table = pl.DataFrame(rows, schema=_SCORED, orient="row")
    _refuse_twice(table, path)
    ranked = table.sort("query_id", "score", "doc_id", descending=[False, True, True])
    rank = pl.int_range(1, pl.len() + 1).over("query_id")
    return ranked.with_columns(rank=rank).select(RUN.names()).cast(RUN)


def read_qrels(path: Path) -> pl.DataFrame:
    """Return judgements: query_id, doc_id, grade."""
    rows = [(c[0], c[2], _whole(c[3], path, nth), nth) for nth, c in _lines(path, _JUDGED)]
    table = pl.DataFrame(rows, schema={**_QRELS, "nth": pl.Int64()}, orient="row")
    _refuse_twice(table, path)
    right = table.drop("nth").filter(pl.col("grade") > 0)
    if right.is_empty():
        raise Corrupt(f"{path}: no document has a grade above 0, so no query can be graded")
    return right


def _lines(path: Path, columns: str) -> list[tuple[int, list[str]]]:
    """The lines of a file with their numbers, each of these columns."""
    wanted = f"each line is `{columns}`, with blanks between"
    most = len(columns.split())
    if not path.is_file():
        raise StoreNotFound(f"{path}: no such file", wanted)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path}: not UTF-8") from error
    bare = enumerate((line.strip(_BLANK) for line in text.split("\n")), 1)
    lines = [(nth, re.split(f"[{_BLANK}]+", line)) for nth, line in bare if line]
    for nth, cells in lines:
        if len(cells) != most:
            raise Corrupt(f"{path}: line {nth} has {len(cells)} columns, not {most}", wanted)
    if not lines:
        raise Corrupt(f"{path}: no line is in it", wanted)
    return lines


def _number(cell: str, path: Path, nth: int) -> float:
    with contextlib.suppress(ValueError):
        if math.isfinite(value := float(cell)):
            return value
    raise Corrupt(f"{path}: line {nth}: {cell!r} is no number")


def _whole(cell: str, path: Path, nth: int) -> int:
    """A grade; half of one would count as none."""
    if (grade := _number(cell, path, nth)) != int(grade):
        raise Corrupt(f"{path}: line {nth}: grade {cell!r} is no whole number")
    return int(grade)


def _refuse_twice(table: pl.DataFrame, path: Path) -> None:
    twice = table.filter(~pl.struct("query_id", "doc_id").is_first_distinct())
    if twice.height:
        query, doc, nth = twice.select("query_id", "doc_id", "nth").row(0)
        raise Corrupt(f"{path}: line {nth}: {doc!r} comes twice for query {query!r}")
