"""Commands that only read."""

import shlex
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, to_copy, typed
from memops.cli.options import FILE, flag, names_given, now_option, several
from memops.cli.output import counted, cut, emit, fields, moment, table
from memops.safety.display import shown

_SHOWN = 90  # columns of a text in a list of findings


@click.command()
@click.option("--store", help="With what people answered to changes of this store.")
def rules(store: str | None) -> None:
    """List every rule with its sentence, and what it has earned to do unattended."""
    from memops.commands.explaining import ruled

    rows = ruled(in_force(), store)
    cells = [
        [r["rule"], "yes" if r["nightly"] else "-", "yes" if r["migrate"] else "-", r["about"]]
        for r in rows
    ]
    stands = [
        (
            r["rule"], s["code"], s["family"], s["right"], s["harmless"], s["harmful"],
            f"{s['lower']:.3f}",
            "yes" if s["may_curated"] else "but curated text" if s["may"] else "no",
        )
        for r in rows
        for s in r["stands"]
    ]  # fmt: skip
    head = ["rule", "reason", "stores", "right", "harmless", "harmful", "lower bound", "unattended"]
    about = table(cells, ["rule", "nightly", "migrate", "what it proposes"])
    title = "judged changes; what is not listed waits for a person:"
    emit(rows, lambda: [about, "", title, table(stands, head)])


@click.command()
def policy() -> None:
    """Print every setting with its value and reason, as memops.toml holds them."""
    from memops.policy import described
    from memops.policy.defaults import in_toml

    settings = described(in_force().policy)
    emit(
        {name: {"value": value, "why": why} for name, value, why in settings},
        lambda: in_toml(settings),
        versioned=False,
    )


def _of_pairs(what: str, sentence: str) -> click.Command:
    """A command that lists pairs of records, by what is found about them."""

    @click.command(what, help=sentence)
    @click.argument("store")
    @click.option(
        "--least", type=float, default=0.0, help="Leave out pairs less similar than this (0 to 1)."
    )
    @click.option("--near", type=int, default=0, help="List instead the N pairs in most doubt.")
    @now_option
    def command(store: str, least: float, near: int, now: datetime | None) -> None:
        from memops.commands import explaining

        rows = explaining.list_pairs(what, store, in_force(), now, least, near)
        many = counted(len(rows), "pair") if rows else f"no {what}"
        emit(rows, lambda: [*map(_pair, rows), many])

    return command


conflicts = _of_pairs(
    "conflicts", "List live records of STORE that cannot both be true, with their signals."
)
duplicates = _of_pairs(
    "duplicates",
    "List live records of STORE that the judge finds to say the same, with their signals.",
)


@click.command()
@click.argument("plan")
@click.argument("id", callback=names_given)
def explain(plan: str, id: str) -> None:
    """Say why PLAN changes the record ID, or what its change of that number does, with evidence."""
    from memops.commands import explaining

    said = explaining.explain_change(plan, id, in_force())
    rows: list[tuple[str, Any]] = []
    for change in said["changes"]:
        told = change | {"stands": to_copy(change["stands"])}
        rows += [(k, v) for k, v in told.items() if k not in ("pairs", "evidence", "set")]
        if "set" in change:
            rows += [("set", {k: moment(v) for k, v in change["set"].items()})]
        rows += [("evidence", f"{i}: {text}") for i, text in change["evidence"].items()]
        for pair in change["pairs"]:
            about = {"with": pair["with"], "decided": pair["decided"]}
            about |= {"it says": pair["sentence"], "change": pair["change"]}
            rows += [*about.items(), ("read here", pair["a"]), ("read there", pair["b"])]
            rows.append(("signals", pair["signals"]))
            rows += [("a model says", pair["judge"])] if "judge" in pair else []
    emit(said, lambda: [shown(said["id"]), fields(rows)])


@click.command()
@click.argument("file", required=False, type=FILE)
@click.option(
    "--from", "store", help="Extract from what the agent of this store has kept of its chats."
)
def extract(file: Path | None, store: str | None) -> None:
    """Show what extraction finds in FILE, a text with one note a line, with spans."""
    from memops.extract import inspect

    if (file is None) == (store is None):
        raise click.UsageError("give a FILE, or --from STORE")
    said: list[tuple[dict[str, Any], str]]
    if file is not None:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        notes = enumerate((line for line in lines if line.strip()), 1)
        said = [({"note": n}, note) for n, note in notes]
    else:
        from memops.safety.looked import redacted
        from memops.stores.transcripts import turns

        told = turns(str(store), in_force())[0].filter(source="user")
        texts = redacted(told["text"], in_force().policy.secrets)
        said = [({"turn": turn}, text) for turn, text in zip(told["id"], texts, strict=True)]
    read = zip(said, inspect([text for _, text in said]), strict=True)
    found = [where | row for (where, _), rows in read for row in rows]
    head = list(dict.fromkeys(name for row in found for name in row)) or ["nothing"]
    emit(found, lambda: table([[r.get(n, "") for n in head] for r in found], head))


@click.command()
@click.argument("store")
@several("--fail-on", help="Exit 32 when this class has findings (repeatable).")
@now_option
def audit(store: str, fail_on: tuple[str, ...], now: datetime | None) -> int:
    """Report what is wrong in STORE: secrets, injections, duplicates, contradictions and more."""
    from memops.commands import explaining

    said = explaining.audit_store(store, in_force(), now, fail_on)
    classes = said["classes"].items()
    rows: list[Any] = [(name, c.get("count", "not measurable")) for name, c in classes]
    listed = _found_text(said["classes"], shlex.quote(store))
    emit(said, [table(rows, ["class", "findings"]), *listed])
    return 32 if said["failed"] else 0


_ALL = {
    "contradictions": "records conflicts",
    "quarantined": "records inspect --archived",
    "orphans": "store doctor",
    "future": "store doctor",
    "unused": "records inspect --limit 0",
}
"""What tells more of a class, both sides of a pair, say; what a night would mend is in its plan."""


def _found_text(classes: dict[str, Any], store: str) -> list[str]:
    """Each class of findings: records of it, why, and the command that shows all."""
    lines = []
    for name, found in classes.items():
        if examples := found.get("examples"):
            rows = [(e["id"], e["why"], cut(e["text"], _SHOWN)) for e in examples]
            lines += ["", table(rows, [name, "why", "text"])]
            more = found["count"] - len({e["id"] for e in examples})
            if more > 0 or name in _ALL:
                rest = f"{more} more: " if more > 0 else "more of each: "
                lines += [f"{rest}{typed()} {_ALL.get(name, 'plan')} {store}"]
    return lines


@click.command()
@click.argument("store")
@click.option(
    "--fail-on",
    type=click.Choice(["info", "warning", "error"]),
    help="Exit 32 when a finding is this bad or worse.",
)
@several("--repair", help="Plan to mend what this check found (repeatable).")
@flag("--approve", help="Carry the repair out, after a snapshot.")
@now_option
def doctor(
    store: str, fail_on: str | None, repair: tuple[str, ...], approve: bool, now: datetime | None
) -> int:
    """Examine how STORE is kept: file, locks, index, vectors, links, clock; says what to do."""
    if repair:
        return _repaired(store, repair, approve, now)
    from memops.commands.doctor import examine

    said = examine(store, in_force(), now, fail_on)
    lines = [
        f"{f['level']}: {f['check']} ({f['count']}): {f['says']}\n  {to_copy(f['do'])}"
        for f in said["findings"]
    ]
    emit(said, lines or "nothing to report")
    return 32 if said["failed"] else 0


def _repaired(store: str, checks: tuple[str, ...], approve: bool, now: datetime | None) -> int:
    from memops.commands.repairing import repair

    said = repair(store, checks, in_force(), approve, now)
    rows = [
        [r["check"], r["count"], r["says"], "; ".join(r["steps"])[:200]] for r in said["repairs"]
    ]
    done = "nothing was changed; --approve carries it out"
    if said["before"]:
        back = f"{'rollback' if said['kept'] else 'restore'} {said['before']}"
        done = f"{said['repaired']} repaired\nundo: {typed()} {back}"
    text = [table(rows, ["check", "count", "repair", "steps"]), done]
    emit(said, text if rows else "nothing to repair")
    return 0


def _pair(row: dict[str, Any]) -> str:
    """Two records below each other, and what speaks for and against it."""
    signals = {k: v for k, v in row.items() if k[:2] not in ("a_", "b_") and v not in (None, "")}
    sides = [f"  {shown(row[f'{side}_id'])}: {shown(row[f'{side}_text'])}" for side in "ab"]
    return "\n".join([*sides, f"    {fields([('', signals)]).strip()}"])
