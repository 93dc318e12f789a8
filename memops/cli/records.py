"""Commands by which a person looks at single records and changes them."""

import shutil
from datetime import datetime
from typing import Any

import click

from memops.cli import in_force, to_copy, typed
from memops.cli.options import flag, names_given, now_option, several, usual
from memops.cli.output import Text, counted, cut, emit, listing, moment, table
from memops.safety.display import shown

_MOST = 20  # lines of a list that a command prints; --json has all

_PLAN_ONLY = flag("--plan-only", help="Stop after the plan.")


def _since(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    from memops.commands.editing import duration
    from memops.schema import instant

    return (instant(value) or duration(value)) if value else None


@click.command()
@click.argument("store")
@several("--kind", "kinds", help="Only this kind (repeatable).")
@several("--scope", "scopes", help="Only this scope (repeatable).")
@several("--tier", "tiers", help="Only this tier (repeatable).")
@click.option(
    "--since", callback=_since, help="Only what was stored since: 7d, 12h, 2w, or an instant."
)
@click.option("--text", help="Only records that hold these words, in any case or width.")
@flag("--archived", help="What is hidden or was deleted, instead.")
@usual("--limit", 50, "At most so many; 0 is all.", click.IntRange(0))
@now_option
def inspect(store: str, now: datetime | None, **wanted: Any) -> None:
    """List the live records of STORE (or a snapshot), youngest first; secrets masked.

    Age counts from when a record was last created, changed or used, as `policy.decay.clock` says.
    """
    from memops.commands import inspecting

    said = inspecting.listed(store, in_force(), now, inspecting.Wanted(**wanted))
    emit(said, lambda: _listed_text(said))


@click.command()
@click.argument("store")
@click.argument("id", callback=names_given)
@now_option
def show(store: str, id: str, now: datetime | None) -> None:
    """Show all that is known of the record ID of STORE: lineage, history, score, when it fades."""
    from memops.commands import inspecting

    said = inspecting.known_of(store, id, in_force(), now)
    emit(said, lambda: _known_text(said))


@click.command()
@click.argument("store")
@click.argument("id", callback=names_given)
@click.option("--text", help="What it says from now on.")
@click.option("--kind", help="The kind of memory that it is.")
@click.option("--tier", help="peripheral, working or core.")
@click.option("--importance", type=float, help="From 0 to 1.")
@_PLAN_ONLY
@now_option
def edit(store: str, id: str, plan_only: bool, now: datetime | None, **given: Any) -> int:
    """Change the record ID of STORE; what no option names stays."""
    from memops.commands import editing

    fields = {name: value for name, value in given.items() if value is not None}
    said = editing.change_record(editing.Asked(store, in_force(), now, plan_only), id, fields)
    return _done(said, "changed", "it is so already")


def _of_records(name: str, sentence: str, verb: str, nothing: str) -> click.Command:
    """A command that does to the records it names what the edit of that name does."""

    @click.command(name, help=sentence)
    @click.argument("store")
    @click.argument("ids", nargs=-1, required=True, callback=names_given)
    @_PLAN_ONLY
    @now_option
    def command(store: str, ids: tuple[str, ...], plan_only: bool, now: datetime | None) -> int:
        from memops.commands import editing

        asked = editing.Asked(store, in_force(), now, plan_only)
        return _done(getattr(editing, f"{name}_records")(asked, ids), verb, nothing)

    return command


pin = _of_records(
    "pin",
    "Pin records of STORE: no rule demotes, retires, rewrites or deletes them.",
    "pinned",
    "pinned already",
)
unpin = _of_records(
    "unpin", "Unpin records of STORE: the rules treat them as any other.", "unpinned", "not pinned"
)
recover = _of_records(
    "recover",
    "Bring back records of STORE that are hidden or archived (`inspect STORE --archived`).",
    "brought back",
    "they are live",
)


@click.command()
@click.argument("store")
@click.argument("ids", nargs=-1, callback=names_given)
@click.option("--last", help="Forget what was stored within this time: 12h, 7d, 2w.")
@_PLAN_ONLY
@now_option
def forget(
    store: str, ids: tuple[str, ...], last: str | None, plan_only: bool, now: datetime | None
) -> int:
    """Hide records of STORE from recall; undone by a rollback, unlike `purge`."""
    from memops.commands import editing
    from memops.stores import family

    within = editing.duration(last) if last else None
    said = editing.forget_records(editing.Asked(store, in_force(), now, plan_only), ids, within)
    days = in_force().policy.retention.grace_days
    kind = in_force().store(store).address.partition(":")[0]
    where = "in the store" if family(kind) == "rows" else "beside the notes"
    kept = f"their text stays {where} for at least {days:g} days, and in snapshots"
    said["note"] = f"{kept}; `memops records purge` forgets for good"
    return _done(said, "hidden from recall", "nothing to forget")


def _done(said: dict[str, Any], verb: str, nothing: str) -> int:
    emit(said, lambda: _done_text(said, verb, nothing))
    return int(said.get("code", 0))


def _done_text(said: dict[str, Any], verb: str, nothing: str) -> Text:
    if not said["ops"]:
        return f"{nothing}; nothing was changed"
    lines = [f"plan {said['plan']}: {counted(said['ops'], 'change')}"]
    if "run" in said:
        lines = [f"{said['applied']} of {counted(said['ops'], 'record')} {verb}"]
    lines += [said["error"], f"  {said['hint']}"] if "error" in said else []
    lines += [line for change in said["changes"][:_MOST] for line in _changed(change)]
    lines += [f"  and {said['ops'] - _MOST} more"] if said["ops"] > _MOST else []
    lines += [f"not changed: {shown(s['id'])}: {s['why']}" for s in said["skipped"][:_MOST]]
    lines += [
        f"the next night would change {shown(t['id'])} again: {t['rule']}, {t['reason']}"
        for t in said["tonight"][:_MOST]
    ]
    lines += [said["note"]] if "note" in said else []
    if "undo" in said:
        return [*lines, f"undo: {typed()} rollback {said['run']}"]
    return [*lines, f"next: {typed()} apply {said['plan']}"]


def _changed(change: dict[str, Any]) -> list[str]:
    """A record with what it says, and what of it becomes what."""
    lines = [f"  {shown(change['id'])}: {cut(change['text'] or '', 80)}"]
    for field in change["becomes"]:
        sides = (field["before"], field["after"])
        before, after = ("-" if v is None else cut(_value(v), 80) for v in sides)
        lines += [f"    {field['field']}: {before} -> {after}"]
    return lines


def _value(value: Any) -> str:
    return moment(value) if isinstance(value, datetime) else str(value)


def _listed_text(said: dict[str, Any]) -> Text:
    head = ["id", "kind", "tier", "weight", "pinned", "age"]
    rows = [_listed_row(record) for record in said["records"]]
    taken = sum(max(len(row[n]) for row in [head, *rows]) + 2 for n in range(len(head)))
    room = max(30, shutil.get_terminal_size((120, 40)).columns - taken)
    texts = [cut(record["text"], room) for record in said["records"]]
    lines = [[*row, text] for row, text in zip(rows, texts, strict=True)]
    rest = ", --limit 0 lists all" if said["shown"] < said["total"] else ""
    return [table(lines, [*head, "text"]), f"{said['shown']} of {said['total']} records{rest}"]


def _listed_row(record: dict[str, Any]) -> list[str]:
    age = "-" if record["age_days"] is None else f"{record['age_days']:.0f} d"
    weight, pinned = f"{record['importance']:.2f}", "yes" if record["pinned"] else ""
    return [shown(record["id"]), record["kind"], record["tier"], weight, pinned, age]


def _known_text(said: dict[str, Any]) -> Text:
    record, score = said["record"], said["score"]
    told = {n: v for n, v in record.items() if n not in ("text", "id") and v not in (None, [], "")}
    cells = [(name, shown(_value(value))) for name, value in told.items()]
    lines = [
        shown(record["id"]),
        f"  {shown(record['text'])}",
        "",
        table(cells, ["field", "value"]),
    ]
    lines += ["", "why it is where it is:", *(f"  {shown(line)}" for line in said["why"])]
    lines += [f"  tonight: {t['rule']} would change it: {t['reason']}" for t in said["tonight"]]
    lines += [f"  {t['rule']} may not change it: {t['reason']}" for t in said["held_tonight"]]
    rows = [
        (n, f"{score[n]:.3f}", f"{w:.2f}", f"{score[n] * w:.3f}")
        for n, w in score["weights"].items()
    ]
    rows += [("relevance", "", "", f"{score['relevance']:.3f}")]
    lines += ["", table(rows, ["score", "value", "weight", "adds"]), _fades_text(said["fades"])]
    lines += [_goes_text(said["goes"])]
    lines += [f"to bring it back: {to_copy(said['back'])}"] if said["back"] else []
    lines += [""]
    for name, title in (("replaced_by", "replaced by"), ("absorbed", "stands for")):
        lines += [
            f"{title} {shown(r['id'])}: {cut(r['text'] or 'not in this store', 80)}"
            for r in said["lineage"][name]
        ]
    return [*lines, _history_text(said["history"])]


def _fades_text(fades: dict[str, Any]) -> str:
    below = f"falls below {fades['below']:g}"
    if fades["on"]:
        return f"{below} on {fades['on']:%Y-%m-%d}, {fades['why']}"
    return f"never {below}: {fades['why']}"


def _goes_text(goes: dict[str, Any]) -> str:
    if not goes["on"]:
        return f"{goes['what'] or 'stays'}: {goes['why']}"
    return f"{goes['what']} after {goes['on']:%Y-%m-%d}, unless it is used before: {goes['why']}"


def _history_text(events: list[dict[str, Any]]) -> str:
    rows = [
        (e["at"][:16], e["op"], e["rule"], shown(e["of"] or ""), e["reason"], e["became"])
        for e in events
    ]
    head = ["when", "change", "rule", "of", "reason", "became"]
    return listing(rows, head, "no run of memops touched it")
