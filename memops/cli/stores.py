"""Commands on stores and snapshots."""

from datetime import datetime
from typing import Any

import click

from memops.cli import at
from memops.cli.output import counted, emit, json_option, now_option, table


@click.command()
@click.argument("store")
@click.option("--accept-shrink", is_flag=True, help="Believe a store that lost many records.")
@now_option
@json_option
@click.pass_context
def snapshot(
    ctx: click.Context, store: str, accept_shrink: bool, now: datetime | None, as_json: bool
) -> None:
    """Take a snapshot of STORE: its records, and the bytes to restore it."""
    from memops import steps

    said = steps.take_snapshot(store, at(ctx), now, accept_shrink)
    kinds = [(k, n) for k, n in said["counts"]["kind"].items()]
    emit(
        said,
        as_json,
        lambda: "\n".join(
            [
                f"{said['snapshot']}: {said['rows']} records, {said['live']} live",
                table(kinds, ["kind", "live"]),
                said["path"],
            ]
        ),
    )


@click.command()
@click.argument("snapshot", required=False)
@click.option("--read-data", is_flag=True, help="Kept for habit: data is always read.")
@json_option
@click.pass_context
def check(ctx: click.Context, snapshot: str | None, read_data: bool, as_json: bool) -> None:
    """Verify SNAPSHOT, or all: every file's hash, that its records read, and what came before."""
    from memops.commands import keeping

    said = keeping.check_snapshot(snapshot, at(ctx)) if snapshot else keeping.check_all(at(ctx))
    what = said["snapshot"] if snapshot else counted(said["snapshots"], "snapshot")
    sealed = f"{what}: {said['files']} files and {said['rows']} records are as they were sealed"
    rows = [(s["snapshot"], s["rows"], s["store"]) for s in said.get("checked", [])]
    listed = [table(rows, ["snapshot", "records", "store"])] if rows else []
    emit(said, as_json, "\n".join([*listed, sealed]))


@click.command()
@click.option("--remove", is_flag=True, help="Remove them; without it they are only listed.")
@json_option
@click.pass_context
def prune(ctx: click.Context, remove: bool, as_json: bool) -> None:
    """List the snapshots and undo copies that are past their time ([policy.keep]), or remove them.

    Every night does this with --remove. The newest sound snapshot of a store never goes.
    """
    from memops.commands import keeping

    said = keeping.prune(at(ctx), remove=remove)
    rows = [(s["snapshot"], s["taken_at"][:16], s["rows"]) for s in said["snapshots"]]
    rows += [(f"undo of {run}", "", "") for run in said["undo"]]
    done = "removed" if remove else "would be removed; give --remove"
    emit(
        said,
        as_json,
        lambda: table(rows, [done, "taken", "records"]) if rows else "nothing is past its time",
    )


@click.command()
@click.argument("snapshot")
@click.option("--to", help="Restore into this store instead.")
@json_option
@click.pass_context
def restore(ctx: click.Context, snapshot: str, to: str | None, as_json: bool) -> None:
    """Make a store exactly what SNAPSHOT holds; its present state is snapshotted first."""
    from memops.commands import keeping

    said = keeping.restore_snapshot(snapshot, at(ctx), to)
    emit(
        said,
        as_json,
        f"restored {said['restored']} to {said['to']}"
        + (f"; before it: {said['before']}" if said["before"] else ""),
    )


@click.command()
@click.argument("a")
@click.argument("b")
@json_option
@click.pass_context
def diff(ctx: click.Context, a: str, b: str, as_json: bool) -> None:
    """Say what differs between snapshots (or stores) A and B."""
    from memops.commands import keeping

    said = keeping.compare(a, b, at(ctx))
    counts = [(k, len(said[k]), ", ".join(said[k][:3])) for k in ("added", "changed", "removed")]
    emit(said, as_json, lambda: table(counts, ["records", "count", "the first"]))


@click.command()
@json_option
def stores(as_json: bool) -> None:
    """Show what each kind of store can do, and what is missing for it on this machine."""
    from memops.commands.doctor import missing
    from memops.stores import CAPABILITIES, STORES, kind_class

    matrix: dict[str, dict[str, Any]] = {}
    for kind in STORES:
        can = kind_class(kind).capabilities
        matrix[kind] = {c: c in can for c in CAPABILITIES} | {"missing": missing(kind)}
    rows: list[list[Any]] = [
        [k, *("yes" if can[c] else "-" for c in CAPABILITIES)] for k, can in matrix.items()
    ]
    lacks = [f"{kind}: {said}" for kind, can in matrix.items() for said in can["missing"]]
    here = ["", "On this machine:", *(lacks or ["nothing is missing"])]
    emit(matrix, as_json, lambda: "\n".join([table(rows, ["kind", *CAPABILITIES]), *here]))


@click.command()
@click.argument("store")
@click.argument("ids", nargs=-1, required=True)
@json_option
@click.pass_context
def purge(ctx: click.Context, store: str, ids: tuple[str, ...], as_json: bool) -> None:
    """Forget records of STORE for good: in the store, its snapshots, plans and runs. No undo."""
    from memops.commands import purging

    said = purging.purge(store, list(ids), at(ctx))
    left = [
        f"{len(said[name])} {about}: {', '.join(said[name][:5])}"
        for name, about in _LEFT.items()
        if said[name]
    ]
    emit(
        said,
        as_json,
        lambda: "\n".join(
            [
                f"{said['removed']} records purged",
                table(sorted(said["places"].items()), ["place", "removed"]),
                *left,
            ]
        ),
    )


_LEFT = {
    "same_text": "other records of the store say the same; name them to purge them, too",
    "elsewhere": "files that memops keeps of other stores hold the text",
}
