"""Verdicts as continuous integration reads them: JUnit XML, GitHub annotations, Markdown."""

import re
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from memops.evaluation.gate import Verdict

_HEAD = (
    "| measure | slice | queries | before | after | difference | interval | p | won | lost |",
    "|---|---|--:|--:|--:|--:|---|--:|--:|--:|",
)
_MOST = 50  # queries named in an annotation or a table


Places = Mapping[str, tuple[str, int]]
"""The file and line of queries, where a pull request then shows what is said of them."""


def written(verdict: Verdict, places: Places | None = None) -> dict[str, str]:
    """Return a verdict in every form, by its name."""
    told = {"junit": junit(verdict), "github": github(verdict, places)}
    return told | {"markdown": markdown(verdict)}


def junit(verdict: Verdict) -> str:
    """Return JUnit XML: one case for the gate, one for each query; those that are worse come first."""
    bad = verdict.verdict in ("fail", "inconclusive")
    whole = _case("verdict", "; ".join(verdict.reasons) if bad else "", verdict.verdict)
    # Queries that are worse fail only where the gate does: else they are told as skipped.
    kind = "failure" if verdict.verdict == "fail" else "skipped"
    lost = [
        _case(f"query {row['query_id']}", _worse(verdict, row), row["category"], kind)
        for row in verdict.lost.to_dicts()
    ]
    worse = set(verdict.lost["query_id"])
    lost += [_case(f"query {query}", "", "") for query in verdict.queries if query not in worse]
    failures = (bad + (kind == "failure") * len(worse), (kind == "skipped") * len(worse))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f'<testsuite name="memops gate" tests="{1 + len(lost)}" failures="{failures[0]}" '
        f'errors="0" skipped="{failures[1]}">\n'
        + "".join([whole, *lost])
        + "</testsuite>\n</testsuites>\n"
    )


def github(verdict: Verdict, places: Places | None = None) -> str:
    """Return workflow commands: an annotation for each reason, then for each query that is worse."""
    level = {"warn": "warning", "pass": "notice"}.get(verdict.verdict, "error")
    title = f"title=memops gate{_property(': ' + verdict.verdict)}"
    lines = [f"::{level} {title}::{_command(reason)}" for reason in verdict.reasons]
    if verdict.verdict != "pass":
        lines += [
            f"::{level} {_at(row['query_id'], places or {})}::{_command(_worse(verdict, row))}"
            for row in verdict.lost.head(_MOST).to_dicts()
        ]
    return "\n".join(lines) + "\n"


def markdown(verdict: Verdict) -> str:
    """Return the step summary: the verdict, its reasons, the measures, the queries that moved."""
    lines = [f"### Recall gate: {verdict.verdict}", ""]
    lines += [f"- {_cell(reason)}" for reason in verdict.reasons]
    if verdict.measures.height:
        lines += ["", *_HEAD, *map(_measure, verdict.measures.to_dicts())]
        # Where all queries agree nothing tells how much they vary; no loss is above 1.
        if 0 < verdict.detectable <= 1:
            loss = f"{verdict.detectable:.3f}"
            lines += ["", f"This suite shows a loss of {loss} with a power of 80 %."]
        lines += _robust(verdict)
    lines += _moved("Worse", verdict.lost) + _moved("Better", verdict.gained)
    return "\n".join(lines) + "\n"


def _robust(verdict: Verdict) -> list[str]:
    """How much hangs on one query, and where the first right answers went."""
    dropped, moves = verdict.dropped, verdict.moves
    said = []
    if dropped and abs(dropped["high"] - dropped["low"]) > 1e-9:
        said.append(
            f"Without any one query the difference is {dropped['low']:+.3f} to "
            f"{dropped['high']:+.3f}; `{_cell(dropped['query_id'])}` moves it most."
        )
    if any(moves.values()):
        said.append(
            f"First right answers: {moves['up']} higher, {moves['down']} lower, "
            f"{moves['in']} came in, {moves['out']} dropped out."
        )
    return [line for text in said for line in ("", text)]


def _case(name: str, message: str, text: str, kind: str = "failure") -> str:
    head = f'<testcase classname="memops.gate" name={quoteattr(_xml(name))}'
    if not message:
        return f"{head}/>\n"
    said = f"<{kind} message={quoteattr(_xml(message))}>{escape(_xml(text))}</{kind}>"
    return f"{head}>{said}</testcase>\n"


def _xml(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return re.sub(r"[\x00-\x08\x0b-\x1f]", " ", re.sub("[\ud800-\udfff\ufffe\uffff]", "", text))


def _worse(verdict: Verdict, row: Mapping[str, Any]) -> str:
    return f"{verdict.decided_by} {row['before']:.3f} before, {row['after']:.3f} now"


def _at(query: str, places: Places) -> str:
    title = f"title={_property(f'memops gate: query {query} is worse')}"
    if query not in places:
        return title
    path, line = places[query]
    return f"file={_property(path)},line={line},{title}"


def _property(text: str) -> str:
    return _command(text).replace(":", "%3A").replace(",", "%2C")


def _command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _measure(row: dict[str, object]) -> str:
    return (
        f"| {row['measure']} | {_cell(str(row['slice']))} | {row['queries']} "
        f"| {row['before']:.3f} | {row['after']:.3f} | {row['difference']:+.3f} "
        f"| {row['low']:+.3f} to {row['high']:+.3f} | {row['p']:.3f} "
        f"| {row['won']} | {row['lost']} |"
    )


def _moved(title: str, moved: pl.DataFrame) -> list[str]:
    if moved.is_empty():
        return []
    rows = [
        f"| {_cell(q)} | {_cell(c)} | {b:.3f} | {a:.3f} |"
        for q, c, b, a in moved.head(_MOST).rows()
    ]
    more = [f"and {moved.height - _MOST} more"] if moved.height > _MOST else []
    head = ["| query | category | before | after |", "|---|---|--:|--:|"]
    return ["", f"#### {title}: {moved.height}", "", *head, *rows, *more]
