"""Commands that grade recall and render reports; the benches."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, to_copy, typed
from memops.cli.options import PATH, flag, lang_option, now_option, usual
from memops.cli.output import as_document, counted, emit, say, table, wants_json
from memops.safety.display import shown

_SUITE = click.option("--suite", help="Folder of a suite, or its name below evals.")
_RUN = click.option(
    "--run", "run_file", type=PATH, help="Any retriever's results (TREC), no store."
)
_QRELS = click.option("--qrels", type=PATH, help="What is right, for --run (TREC).")
_THREE = """\b
Any retriever, in three commands: record a baseline, compare with it, tell CI.
  memops gate --run OLD.trec --qrels QRELS --baseline-run BASE.trec --accept
  memops gate --run NEW.trec --qrels QRELS --baseline-run BASE.trec
  memops gate --run NEW.trec --qrels QRELS --baseline-run BASE.trec \\
    --junit recall.xml --github
Lines of a run are `query Q0 document rank score tag`,
those of QRELS `query 0 document grade`.

"""
_RUNS = ("run", "qrels", "baseline-run")
_NAMED = 5  # queries that are named
_ENCODER = click.option(
    "--encoder", help="lsa, or the path or name of a sentence-transformers model."
)
_NO_COPY = "Keep no copy of STORE in the state folder."
_PASSING = click.option("--no-snapshot", "keep", flag_value=False, default=True, help=_NO_COPY)


@click.command()
@click.argument("store", required=False)
@_SUITE
@_RUN
@_QRELS
@_ENCODER
@_PASSING
@now_option
def grade(**how: Any) -> None:
    """Grade recall of STORE (or a snapshot) against a suite, or of any retriever's run."""
    from memops.evaluation import grading_steps

    if run := _run_of(how):
        from memops.evaluation import gate_runs

        of_run = gate_runs.graded(*run)
        told = {"grades": of_run.means(), "unanswered": gate_runs.unanswered(of_run)}
        rows = [(name, f"{value:.4f}") for name, value in of_run.means().items()]
        return emit(told, lambda: [table(rows, ["measure", "mean"]), *_unanswered(run[0], told)])
    graded = grading_steps.grade(grading_steps.Asked(settings=in_force(), **how))
    emit(graded, lambda: _grades_text(graded["grades"]))


@click.command(epilog=_THREE)
@click.argument("store", required=False)
@_SUITE
@_RUN
@_QRELS
@click.option("--baseline-run", type=PATH, help="The results that --run must not be worse than.")
@click.option("--measure", help="The measure that decides, as RR@10 [R@10; policy.gate.measure].")
@flag("--accept", help="Record these grades as the baseline.")
@click.option("--junit", type=PATH, help="Write JUnit XML here.")
@flag("--github", help="Print GitHub annotations, write the step summary.")
@_ENCODER
@_PASSING
@now_option
def gate(
    baseline_run: Path | None, measure: str | None, accept: bool, junit: Path | None, github: bool,
    **how: Any,
) -> int:  # fmt: skip
    """Compare STORE's grades with the suite's baseline: exit 30 when recall got worse.

    Exit 31 when there are too few queries to tell. Another measure than the one that decides only
    warns, with exit 0. With --run and --qrels, any retriever's results with those of
    --baseline-run, without a store.
    """
    from memops.evaluation import grading_steps
    from memops.evaluation.gate import EXITS

    settings = in_force()
    if run := _run_of(how):
        from memops.evaluation.gate_runs import gated

        said = gated(*run, baseline_run, grading_steps.deciding(settings.policy, measure), accept)
    else:
        said = grading_steps.gate(grading_steps.Asked(settings=settings, **how), accept, measure)
    if junit:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_text(said["junit"], encoding="utf-8")
    if github:
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(summary).open("a", encoding="utf-8") as out:
                out.write(said["markdown"])
        if not wants_json():
            say(said["github"], said)
    shown = {k: v for k, v in said.items() if k not in ("junit", "github", "markdown")}
    emit(shown, lambda: [_compared(said), *_gate_next(said)])
    return EXITS[said["verdict"]]


def _run_of(how: dict[str, Any]) -> tuple[Path, Path] | None:
    """The run and its judgements where they are all that is given; None for a store and a suite."""
    run, qrels = how.pop("run_file"), how.pop("qrels")
    if run and qrels and not (how["store"] or how["suite"]):
        return run, qrels
    if not (how["store"] and how["suite"]):
        said = "name STORE and --suite, or --run and --qrels"
        raise click.UsageError(said, click.get_current_context())
    return None


def _compared(said: dict[str, Any]) -> str:
    """The verdict; of a baseline that took another's place, each measure as it was and is."""
    if not said["replaced"]:
        return str(said["markdown"])
    rows = [
        (name, f"{was:.3f}", f"{now:.3f}", f"{now - was:+.3f}")
        for name, was in said["replaced"].items()
        if (now := said["grades"].get(name)) is not None
    ]
    return table(rows, ["measure", "before", "accepted", "difference"])


def _gate_next(said: dict[str, Any]) -> list[str]:
    if "run" in said:
        more = _unanswered(said["run"], said)
        of = " ".join(f"--{n} {shlex.quote(said[n.replace('-', '_')])}" for n in _RUNS)
        look = "which queries it lost stands above, and in the file that --junit names"
    else:
        more, store = [], shlex.quote(click.get_current_context().params["store"])
        of = f"{store} --suite {shlex.quote(said['suite'])}"
        look = f"what runs changed, and how to take one back: {typed()} runs"
    again = f"{typed()} gate {of}"
    if said["accepted"]:
        return [*more, f"recorded as the baseline: {said['accepted']}"]
    if said["verdict"] == "inconclusive":
        few = "too few queries to tell; more of them show smaller losses"
        look = few if said["measures"] else "until then nothing can be compared"
    elif said["verdict"] != "fail":
        return [*more, *_warned(said, again)]
    return [*more, look, f"if it is to be the new baseline: {again} --accept"]


def _warned(said: dict[str, Any], again: str) -> list[str]:
    """Of a warning: which measure decides, and the line by which the one that fell most does."""
    from memops.measures import measure as known

    if said["verdict"] != "warn":
        return []
    whole = (row for row in said["measures"] if row["slice"] == "all")
    other = min(whole, key=lambda row: known(row["measure"]).sign * row["difference"])
    lines = [f"{said['decided_by']} decides, so this is a warning and ends with 0"]
    if other["measure"] != said["decided_by"]:
        lines.append(f"to let {other['measure']} decide: {again} --measure {other['measure']}")
    return lines


def _unanswered(run: object, said: dict[str, Any]) -> list[str]:
    """The judged queries of which a run says nothing, and those that it answers unjudged."""
    told = (
        (said["unanswered"], "{run} says nothing of {many}, counted as 0: {named}", "judged query"),
        (said.get("unjudged"), "{run} answers {many}, which count for nothing: {named}", "unjudged query"),
    )  # fmt: skip
    return [
        what.format(
            run=run,
            many=counted(len(ids), one),
            named=", ".join(map(shown, ids[:_NAMED])) + (" ..." if len(ids) > _NAMED else ""),
        )
        for ids, what, one in told
        if ids
    ]


@click.command()
@click.argument("subject")
@click.option("-o", "--output", type=PATH, help="Where to write the page.")
@lang_option("Of the words.")
@usual("--zone", "UTC", "Of the times: a name, or local.")
def report(subject: str, output: Path | None, lang: str, zone: str) -> None:
    """Render the report of a run, a plan or a snapshot (SUBJECT) as one HTML page."""
    from memops.reports import reporting

    path = reporting.report(subject, in_force(), output, lang, zone)
    emit({"path": str(path)}, str(path))


@click.group()
def bench() -> None:
    """Run memops on labelled data; prints JSON lines."""


@bench.command("pairs")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@flag("--json-lines", "as_lines", help="Kept for habit: it always does.")
def bench_pairs_command(file: Path, as_lines: bool) -> None:
    """Judge each pair {id, a, b} of FILE as a night would: duplicate, conflict, which is newer."""
    from memops.evaluation.bench import in_scopes, judge_pairs, read_pairs
    from memops.models.local import local_models

    policy, state = in_force().policy, in_force().state
    pairs = read_pairs(file)
    _lines(judge_pairs(pairs, policy, local_models(policy, state, in_scopes(pairs))))


@bench.command("recall")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@usual("--retriever", "hybrid", "How to search.", click.Choice(["bm25", "dense", "rrf", "hybrid"]))
@usual("--embedder", "lsa", "lsa, or the path or name of a model.")
@usual("--k", 10, "Results a query.")
def bench_recall_command(folder: Path, retriever: str, embedder: str, k: int) -> None:
    """Search the corpus of FOLDER for each of its queries; one line a result."""
    from memops.evaluation.bench import recall_run

    _lines(recall_run(folder, retriever, embedder, k, in_force().state / "vectors"))


def _lines(rows: Any) -> None:
    for row in rows:
        sys.stdout.write(as_document(row, versioned=False) + "\n")


def _grades_text(grades: dict[str, Any]) -> str:
    """A retriever a row, and how the judged one stands to each other one."""
    if not grades["aggregates"]:
        return to_copy("the suite asks nothing yet: see `memops recall suite review SUITE`")
    names = list(next(iter(grades["aggregates"].values())))
    costs = grades["latency_ms"]
    rows = [
        (name, *(f"{means[n]:.4f}" for n in names), f"{costs[name]:.2f}")
        for name, means in grades["aggregates"].items()
    ]
    against = [
        (
            row["against"], row["measure"], f"{row['difference']:+.4f}",
            f"{row['low']:+.4f} to {row['high']:+.4f}", f"{row['p']:.3f}",
            f"{row['won']}/{row['tied']}/{row['lost']}",
        )
        for row in grades["compared"]
    ]  # fmt: skip
    head = ["measure", "difference", "interval", "p", "won/tied/lost"]
    tables = [table(rows, ["retriever", *names, "ms"])]
    if against:
        tables.append(table(against, [f"{grades['retriever']} against", *head]))
    return "\n\n".join(tables)
