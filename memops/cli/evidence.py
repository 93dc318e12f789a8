"""Commands on judged changes: what rules earn their autonomy by."""

from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, to_copy
from memops.cli.options import FILE, PATH, flag, several, usual
from memops.cli.output import emit, table


@click.group()
def evidence() -> None:
    """Have changes judged, and count what readers said."""


@evidence.command("sheet")
@click.argument("plans", nargs=-1, required=True)
@click.option("-o", "--out", type=PATH, required=True, help="The sheet.")
@usual("--most", 100, "Most changes of one shape.")
@several("--code", "codes", help="Only changes of this reason (repeatable).")
def evidence_sheet(plans: tuple[str, ...], out: Path, most: int, codes: tuple[str, ...]) -> None:
    """Write changes of PLANS in their place, for a reader to label.

    It holds memory text, secrets included: it is for the reader's eyes, not for a repository.
    """
    from memops import files
    from memops.commands import label_sheets

    rows = label_sheets.sheet(plans, in_force().state, most, codes)
    files.write(out, label_sheets.written(rows))
    shapes = rows.group_by("family", "rule", "code", maintain_order=True).len()
    said = {"sheet": str(out), "changes": rows.height}
    text = table(shapes.rows(), ["stores", "rule", "code", "changes"])
    emit(said, [text, f"label each {', '.join(label_sheets.LABELS)}: {out}"])


@evidence.command("count")
@click.argument("sheets", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", type=PATH, required=True, help="The record.")
@click.option("--by", required=True, help="Who judged; no names of persons.")
@click.option("--texts", required=True, help="Whose texts they were.")
@flag("--seen", help="Readers built a rule, or texts were used in building.")
@click.option("--second", type=PATH, help="A second reader's sheet.")
@click.option("--second-by", default="", help="Who the second reader was.")
def evidence_count(
    sheets: tuple[Path, ...],
    out: Path,
    seen: bool,
    second: Path | None,
    second_by: str,
    **whose: str,
) -> None:
    """Count the labels of SHEETS into a record: figures and who judged, no text."""
    from memops import files
    from memops.commands import label_sheets as counting
    from memops.state.sources import clock

    other = (second, second_by) if second else None
    said: dict[str, Any] = {"judged": clock().date().isoformat(), **whose, "unseen": not seen}
    said |= counting.counts(sheets, other)
    files.write_json(out, said)
    rows = [
        (r["family"], r["rule"], r["code"], *(r[label] for label in counting.LABELS))
        for r in said["changes"]
    ]
    emit(said, [table(rows, ["stores", "rule", "code", *counting.LABELS]), str(out)])


@click.command()
@click.argument("file", type=FILE)
@flag("--notes", help="FILE holds labelled notes for `migrate --ask`.")
def judge_test(file: Path, notes: bool) -> None:
    """Run the judge that `[policy.judge]` names over the labelled pairs of FILE.

    Each line of FILE is {"a", "b", "label", "lang"?, "newer"?}; labels are duplicate, conflict and
    neither. With --notes it is {"note", "facts": [{"kind", "contains": [word]}], "lang"?}, and the
    model that reads notes is tested. Says how often each verdict is right, by language, and keeps
    it, so that the next plan knows what this model may decide unattended.
    """
    from memops.evaluation import judge_tests, note_tests

    settings = in_force()
    said = (note_tests.test if notes else judge_tests.test)(file, settings)
    emit(said, lambda: _text(said, settings.policy.unattended.lower))


def _text(said: dict[str, Any], needed: float) -> list[str]:
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
        worst = f"{row['lang'] or 'never said'}: lower bound {row['lower']:.3f}, needed {needed}"
        lines += [f"{row['code']} {word} run unattended ({worst})"]
    return [*lines, to_copy("a plan says what waits: `memops plan STORE`")]
