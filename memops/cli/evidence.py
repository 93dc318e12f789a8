"""Commands on judged changes: what rules earn their autonomy by."""

from pathlib import Path

import click

from memops.cli import in_force
from memops.cli.output import PATH, emit, table


@click.group()
def evidence() -> None:
    """Have changes judged, and count what readers said."""


@evidence.command("sheet")
@click.argument("plans", nargs=-1, required=True)
@click.option("-o", "--out", type=PATH, required=True, help="The sheet.")
@click.option("--most", default=100, show_default=True, help="Most changes of one shape.")
@click.option("--code", "codes", multiple=True, help="Only changes of this reason (repeatable).")
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
    emit(said, f"{text}\nlabel each {', '.join(label_sheets.LABELS)}: {out}")


@evidence.command("count")
@click.argument("sheets", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", type=PATH, required=True, help="The record.")
@click.option("--by", required=True, help="Who judged; no names of persons.")
@click.option("--texts", required=True, help="Whose texts they were.")
@click.option("--seen", is_flag=True, help="Readers built a rule, or texts were used in building.")
@click.option("--second", type=PATH, help="A second reader's sheet.")
@click.option("--second-by", default="", help="Who the second reader was.")
def evidence_count(
    sheets: tuple[Path, ...],
    out: Path,
    by: str,
    texts: str,
    seen: bool,
    second: Path | None,
    second_by: str,
) -> None:
    """Count the labels of SHEETS into a record: figures and who judged, no text."""
    from memops.commands import label_sheets as counting
    from memops.state.sources import clock

    said = counting.counts(sheets, by, texts, not seen, clock().date(), second, second_by)
    counting.keep(said, out)
    rows = [
        (r["family"], r["rule"], r["code"], *(r[label] for label in counting.LABELS))
        for r in said["changes"]
    ]
    head = ["stores", "rule", "code", *counting.LABELS]
    emit(said, f"{table(rows, head)}\n{out}")
