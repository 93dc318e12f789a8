"""Commands on stores and snapshots."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, nothing_in, typed
from memops.cli.options import PATH, flag, names_given, now_option
from memops.cli.output import counted, cut, emit, listing, say, table, wants_json
from memops.safety.display import shown


@click.command()
@click.argument("store")
@flag("--accept-shrink", help="Believe a store that lost many records, or is another.")
@now_option
def snapshot(store: str, accept_shrink: bool, now: datetime | None) -> None:
    """Take a snapshot of STORE: its records, and the bytes to restore it."""
    from memops import steps

    said = steps.take_snapshot(store, in_force(), now, accept_shrink)
    many = f"{said['snapshot']}: {counted(said['rows'], 'record')}, {said['live']} live"
    kinds = said["counts"]["kind"].items()
    emit(said, lambda: [many, table(kinds, ["kind", "live"]), said["path"]])


@click.command()
@click.argument("snapshot", required=False)
def check(snapshot: str | None) -> None:
    """Verify SNAPSHOT, or all: every file's hash, that its records read, and what came before."""
    from memops.commands import snapshots

    settings = in_force()
    one, every = snapshots.check_snapshot, snapshots.check_all
    said = one(snapshot, settings) if snapshot else every(settings)
    what = said["snapshot"] if snapshot else counted(said["snapshots"], "snapshot")
    sealed = f"{what}: {said['files']} files and {said['rows']} records are as they were sealed"
    rows = [(s["snapshot"], s["rows"], s["store"]) for s in said.get("checked", [])]
    listed = table(rows, ["snapshot", "records", "store"]) if rows else None
    emit(said, [listed, sealed] if rows or snapshot else nothing_in("no snapshot"))


@click.command()
@flag("--remove", help="Remove them; without it they are only listed.")
def prune(remove: bool) -> None:
    """List the snapshots and undo copies that are past their time ([policy.keep]), or remove them.

    Every night does this with --remove. The newest sound snapshot of a store never goes.
    """
    from memops.commands import snapshots

    said = snapshots.prune(in_force(), remove=remove)
    rows = [(s["snapshot"], s["taken_at"][:16], s["rows"]) for s in said["snapshots"]]
    rows += [(f"undo of {run}", "", "") for run in said["undo"]]
    done = "removed" if remove else "would be removed; give --remove"
    emit(said, lambda: listing(rows, [done, "taken", "records"], "nothing is past its time"))


@click.command()
@click.argument("snapshot")
@click.option("--to", help="Restore into this store instead.")
def restore(snapshot: str, to: str | None) -> None:
    """Make a store exactly what SNAPSHOT holds; its present state is snapshotted first."""
    from memops.commands import snapshots
    from memops.stores import family

    said = snapshots.restore_snapshot(snapshot, in_force(), to)
    undo = f"; undo: {typed()} restore {said['before']}" if said["before"] else ""
    lines = [f"restored {said['restored']} to {said['to']}{undo}"]
    for path, n in said["kept"].items():
        lines += [f"{shown(path)} was written meanwhile; kept: {counted(n, 'line')}"]
    if family(said["to"].partition(":")[0]) == "documents":
        lines += ["files of instructions are read, not kept: bring back your own"]
    lines += ["what runs had done since may be done again; to refuse it, take a run back: rollback"]
    emit(said, lines)


@click.command()
@click.argument("a")
@click.argument("b")
def diff(a: str, b: str) -> None:
    """Say what differs between snapshots (or stores) A and B."""
    from memops.commands import snapshots

    said = snapshots.compare(a, b, in_force())
    counts = [(k, len(said[k]), ", ".join(said[k][:3])) for k in ("added", "changed", "removed")]
    emit(said, lambda: table(counts, ["records", "count", "the first"]))


@click.command()
def stores() -> None:
    """Show what each kind of store can do, and what is missing for it on this machine."""
    from memops.commands.doctor import missing
    from memops.schema import STORES
    from memops.stores import CAPABILITIES, kind_class

    matrix: dict[str, dict[str, Any]] = {}
    for kind in STORES:
        can = kind_class(kind).capabilities
        matrix[kind] = {c: c in can for c in CAPABILITIES} | {"missing": missing(kind)}
    rows = [[k, *("yes" if can[c] else "-" for c in CAPABILITIES)] for k, can in matrix.items()]
    lacks = [f"{kind}: {said}" for kind, can in matrix.items() for said in can["missing"]]
    here = ["", "On this machine:", *(lacks or ["nothing is missing"])]
    emit(matrix, [table(rows, ["kind", *CAPABILITIES]), *here], versioned=False)


@click.command()
@click.argument("store")
@click.argument("ids", nargs=-1, required=True, callback=names_given)
@flag("--absorbed", help="Purge what was merged into them or replaced by them, too.")
@flag("--dry-run", help="Show what would go, and change nothing.")
@flag("--yes", help="Do not ask.")
def purge(store: str, ids: tuple[str, ...], absorbed: bool, dry_run: bool, yes: bool) -> int:
    """Forget records of STORE for good: in the store, its snapshots, plans and runs. No undo.

    On a terminal it shows what would go and asks. Exit code 3 tells that the text is still in a
    file that memops wrote, or in another record, or that a record stays which was merged into one
    of them or replaced by it: the next plan proposes to show it again, --absorbed purges it, too.
    """
    from memops.commands import purging

    if not (dry_run or yes or wants_json()) and sys.stdin.isatty() and sys.stdout.isatty():
        shown = purging.purge(store, ids, in_force(), dry_run=True, absorbed=absorbed)
        say("\n".join(_purged_text(shown)), shown)
        click.confirm("\nForget this for good?", abort=True)
    said = purging.purge(store, ids, in_force(), dry_run, absorbed)
    emit(said, lambda: _purged_text(said))
    return 3 if not dry_run and any(said[name] for name in _LEFT) else 0


def _purged_text(said: dict[str, Any]) -> list[str]:
    what = "would be purged; nothing was changed" if said["dry_run"] else "purged"
    head = f"{counted(said['removed'], 'record')} {what}"
    rows = [(place, n, _PLACES[place]) for place, n in said["places"].items()]
    lines = [head, table(rows, ["place", "count", "what becomes of it"])] if rows else [head]
    for name, about in _LEFT.items():
        shown = [cut(item, 100) for item in said[name][:5]]
        many = f"{counted(len(said[name]), about[0])} {about[1]}"
        lines += [f"{many}: {', '.join(shown)}"] if shown else []
    fresh = f"snapshot {said['snapshot']} was taken in the place of those removed"
    return [*lines, fresh] if said["snapshot"] else lines


_PLACES = {
    "store": "the record goes, with every trace in the store's own files",
    "archive": "what a run deleted goes",
    "snapshots": "made anew without the record; the rest can still be restored",
    "snapshots removed": "cannot be made anew without it, so it goes whole",
    "journal entries": "go; the rest of the run can still be taken back",
    "undo": "its undo goes; the rest of the run can still be taken back",
    "plan lines": "go; the plan can still be read",
    "plans": "not carried out yet and name the record, so they go; plan again",
    "reports": "go; `memops report` makes them anew",
    "answers": "what a model said of it goes",
    "repairs": "its row goes from the undo of a repair",
    "suite lines": "golden queries and proposals made of it go",
    "remnants": "left by a process that was killed; go",
}
_LEFT = {
    "same_text": ("record", "of the store still says it; name it to purge it, too"),
    "absorbed": (
        "record",
        "merged into it or replaced by it: the next plan proposes to show it again, "
        "--absorbed purges it, too",
    ),
    "elsewhere": ("file", "that memops wrote still holds the text"),
}


@click.command("import")
@click.argument("name")
@click.option("--to", required=True, help="The store to add to; a new jsonl:FILE is made.")
@flag("--plan-only", help="Stop after the plan.")
@now_option
def import_(name: str, to: str, plan_only: bool, now: datetime | None) -> int:
    """Add the export that [import.NAME] of memops.toml describes to a store."""
    from memops.commands.importing import import_records

    said = import_records(name, to, in_force(), now, plan_only)
    counts = [(n, said[n]) for n in ("read", "ops", "applied", "already")]
    odd = [(f"entry {p['entry']} passed over", p["why"]) for p in said["passed_over"]]
    emit(said, lambda: table([*counts, *odd], ["import", name]))
    return int(said.get("code", 0)) or (3 if odd else 0)


globals()["import"] = import_  # a command is found by its name, which is no name in Python


@click.command()
@click.argument("roots", nargs=-1, required=True)
@click.option("--into", type=PATH, help="The root that sessions are copied to.")
@now_option
def collect(roots: tuple[str, ...], into: Path | None, now: datetime | None) -> None:
    """Read XingheBot ROOTS (ROOT or NODE=ROOT) as one: count, find duplicates across nodes.

    With --into their session summaries are copied there; the roots themselves are only read.
    """
    from memops import steps

    said = steps.collect_nodes(roots, str(into) if into else None, in_force(), now)
    rows = [(node, n["records"], n["sessions"]) for node, n in said["nodes"].items()]
    tail = (
        f"{len(said['copied'])} summaries copied, {said['already']} there already; "
        f"{len(said['duplicates'])} records say what another node's say"
    )
    emit(said, lambda: [table(rows, ["node", "records", "sessions"]), tail])


@click.command()
@click.argument("store")
@flag("--write", help="Put the file into the workspace.")
@now_option
def view(store: str, write: bool, now: datetime | None) -> None:
    """Print the MEMORY_SNAPSHOT.md of STORE, from which clawseed can start again.

    clawseed reads it as its own; `memops store import` reads all that is in it, exactly.
    """
    from memops.commands import repairing

    said = repairing.view(store, in_force(), write, now)
    emit(said, f"{said['entries']} memories in {said['path']}" if write else said["text"])


@click.command()
@click.argument("store")
@click.option("--model", required=True, help="Folder or name of the model that STORE is used with.")
@flag("--approve", help="Write the vectors, after a snapshot.")
@now_option
def embed(store: str, model: str, approve: bool, now: datetime | None) -> None:
    """Give the rows of STORE that have no vector theirs; refused unless the model is the same."""
    from memops.commands import repairing

    said = repairing.embed(store, model, in_force(), approve, now)
    done = f"{said['filled']} filled" if approve else "nothing was changed; --approve fills them"
    emit(
        said,
        f"{said['lacking']} rows without a vector; the model agrees on {said['compared']}; {done}",
    )
