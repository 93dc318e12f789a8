"""Commands on the model that judges pairs of statements."""

from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, to_copy
from memops.cli.output import emit, table


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--notes", is_flag=True, help="FILE holds labelled notes for `migrate --ask`.")
def judge_test(file: Path, notes: bool) -> None:
    """Run the judge that `[policy.judge]` names over the labelled pairs of FILE.

    Each line of FILE is {"a", "b", "label", "lang"?, "newer"?}; labels are duplicate, conflict and
    neither. With --notes it is {"note", "facts": [{"kind", "contains": [word]}], "lang"?}, and the
    model that reads notes is tested. Says how often each verdict is right, by language, and keeps
    it, so that the next plan knows what this model may decide unattended.
    """
    from memops.errors import MemopsError
    from memops.evaluation import judge_tests
    from memops.models.local import decider

    settings = in_force()
    if notes:
        from memops.evaluation import note_tests

        found = note_tests.tested(file, settings)
        emit(found, lambda: _text(found, settings.policy.unattended.lower))
        return
    pairs = judge_tests.labelled(file)
    judge = decider(settings.policy.judge, settings.state)
    if judge is None:
        hint = "set `[policy.judge]` endpoint and model, or model to the folder of a cross-encoder"
        raise MemopsError("no judge is configured", hint)
    counts, earned = judge_tests.tested(pairs, judge, settings.policy)
    kept = judge_tests.keep(settings.state, judge.recipe(), earned, file)
    said = {
        "pairs": len(pairs),
        "judge": judge.recipe(),
        "verdicts": counts.to_dicts(),
        "earned": earned.to_dicts(),
        "kept": str(kept),
    }
    emit(said, lambda: _text(said, settings.policy.unattended.lower))


def _text(said: dict[str, Any], needed: float) -> str:
    rows = [
        (
            row["verdict"], row["lang"], row["said"], row["right"], f"{row['precision']:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}", f"{row['recall']:.3f}",
        )
        for row in said["verdicts"]
    ]  # fmt: skip
    names = ["verdict", "language", "said", "right", "precision", "interval", "recall"]
    lines = [table(rows, names)]
    for row in said["earned"]:
        word = "may" if row["may"] else "may not yet"
        worst = f"lower bound {row['lower']:.3f}, needed {needed}"
        lines.append(
            f"{row['code']} {word} run unattended ({row['lang'] or 'never said'}: {worst})"
        )
    lines.append(to_copy("a plan says what waits: `memops plan STORE`"))
    return "\n".join(lines)
