"""Reviewing a plan, by number or in a terminal: one cluster or change at a time, one key each."""

import contextlib
import os
import shlex
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memops.cli import in_force, to_copy, typed
from memops.cli.changes import beside, field_text, in_place, where_they_differ
from memops.cli.options import flag, several
from memops.cli.output import counted, cut, emit, say, wants_json
from memops.cli.serve import started
from memops.safety.display import shown

if TYPE_CHECKING:
    from memops.commands.reviewing import Item, Review

_KEYS = "[k]eep  [r]eject  [a] keep all of this rule  [x] reject all of this rule\n"
_MORE = "[s] one by one  [u]ndo  [q] save and quit: "

_ACCEPT = (
    "Carry these changes out, by number, by rule, those that were kept, or all that are left "
    "(repeatable)."
)
_REJECT = "Reject these changes, and what hangs on them (repeatable)."
_REVEAL = "Secrets will stand on this terminal, and may stay in its history. Show them?"

_MOST = 8  # changes of a cluster that are shown at once

_ROOM = 1000  # columns of a text that are shown; a reviewer must see what would change


@click.command()
@click.argument("plan")
@several("--accept", metavar="SEQ|RULE|kept|all", help=_ACCEPT)
@several("--reject", metavar="SEQ|RULE|all", help=_REJECT)
@several("--reject-rule", help="Reject all changes of this rule (repeatable).")
@click.option(
    "--keep", metavar="SEQ,SEQ|all", help="Keep these changes, or all; rejected ones come back."
)
@several("--keep-rule", help="Keep all changes of this rule (repeatable).")
@flag("--reveal", help="Show what redactions would mask: on a terminal only, and after asking.")
def review(plan: str, reveal: bool, **given: Any) -> int:
    """Decide which changes of PLAN stay: in the terminal, or by number and rule.

    A rejected change, like one that a rollback took back, is not proposed again until its evidence
    changes. What is accepted is carried out at once (where a night on a Prefect server waits with
    PLAN, by its flow `apply`), and nothing else; either answer is evidence for its rule in this
    store. Without a terminal and without options, the changes that wait for a decision are listed.
    """
    from memops.commands import plan_view, reviewing
    from memops.state.planfile import has_expired
    from memops.state.sources import clock

    begun = reviewing.begun(plan, in_force().state)
    if given["accept"]:
        _refuse_late(begun)
    kept, out, wanted = _named(begun, given)
    done = _decided(begun, kept, out, wanted)
    asked = not (any(given.values()) or wants_json())
    on_terminal = asked and sys.stdin.isatty()
    if reveal and not (on_terminal and sys.stdout.isatty()):
        raise click.UsageError("--reveal shows secrets to a person at a terminal, and nowhere else")
    if on_terminal:
        reveal = reveal and click.confirm(_REVEAL)
        with _keyboard() as key:
            _ask(begun, clock, key, reveal)
    said = reviewing.counted(begun) | done
    for name in ("to_carry_out", "kept") if "flow_run" in done else ():
        said[name] -= len(wanted)
    said["waiting"] = plan_view.placed(begun, begun.undecided) if wants_json() else []
    listing = _waiting_text(begun) if asked and not on_terminal else []
    said["expired"] = has_expired(begun.plan, clock())
    address = begun.plan.header["address"]
    emit(said, lambda: [*listing, *_counted_text(said, address, on_terminal)])
    return int(done.get("code", 0))


def _named(review: "Review", given: dict[str, Any]) -> tuple[list[int], list[int], list[int]]:
    """The numbers of the changes that options keep, reject and accept."""
    from memops.commands import selecting

    kept = [*(review.lines if given["keep"] == "all" else selecting.numbers(given["keep"]))]
    kept += [seq for rule in given["keep_rule"] for seq in selecting.of_rule(review, rule)]
    out = selecting.named(review, given["reject"])
    out += [seq for rule in given["reject_rule"] for seq in selecting.of_rule(review, rule)]
    wanted = selecting.named(review, given["accept"])
    if both := sorted({*wanted} & {*out}):
        raise click.UsageError(f"change {both[0]} is both accepted and rejected")
    return kept, out, wanted


def _refuse_late(review: "Review") -> None:
    """Raise what keeps the changes of a plan from being carried out by now."""
    from memops.apply.selection import refuse_replaced
    from memops.nights.night import refuse_at_work
    from memops.state.planfile import refuse_expired
    from memops.state.sources import clock

    refuse_at_work(review.plan.id, in_force())
    refuse_replaced(review.plan, review.state)
    refuse_expired(review.plan, clock())


def _decided(
    review: "Review", kept: list[int], out: list[int], wanted: list[int]
) -> dict[str, Any]:
    """Keep, reject and carry out what options name; what is said of it."""
    from memops.commands import reviewing
    from memops.state.sources import clock

    if kept:
        reviewing.keep(review, kept, clock())
    said: dict[str, Any] = {"rejected_now": reviewing.reject(review, out, clock()) if out else []}
    if by_flow := started(review.plan.id, wanted, in_force()) if wanted else "":
        return said | {"flow_run": by_flow}
    done = reviewing.accept(review, wanted, clock()) if wanted else {}
    return said | {k: done[k] for k in ("run", "applied", "skipped", "code") if k in done}


def _waiting_text(review: "Review") -> list[str]:
    from memops.commands import plan_view, reviewing

    items = reviewing.items(review, review.undecided)
    first = [seq for item in items for seq in item.seqs[:_MOST]]
    changes = {change["seq"]: change for change in plan_view.placed(review, first)}
    drawn = [
        _drawn(item, item.seqs, [changes[seq] for seq in item.seqs[:_MOST]], len(items) - n)
        for n, item in enumerate(items)
    ]
    return [*drawn, ""]


def _counted_text(said: dict[str, Any], address: str, on_terminal: bool) -> list[str]:
    """How far a review is, and what comes next; on a terminal not to carry out what is undecided."""
    stay = "stays" if said["left"] == 1 else "stay"
    whole = counted(said["changes"], "change")
    lines = [f"{said['left']} of {whole} {stay}, {said['rejected']} rejected"]
    if said.get("run"):
        lines += [f"run {said['run']}: {counted(said['applied'], 'record')} changed"]
        lines += [f"undo: {typed()} rollback {said['run']}"]
    if said.get("flow_run"):
        lines += [f"what is accepted is carried out by flow run {said['flow_run']!r}"]
    if newer := said["replaced_by"]:
        return [*lines, f"plan {newer} took its place: {typed()} review {newer}"]
    if said["expired"] and said["to_carry_out"]:
        again = to_copy(f"memops plan {shlex.quote(address)}")
        return [*lines, f"plan {said['plan']} has expired; plan again: {again}"]
    carry = f"{typed()} apply {said['plan']} --approve"
    if said["undecided"]:
        todo = "is not" if said["undecided"] == 1 else "are not"
        again = f"{typed()} review {said['plan']}"
        lines += [f"{said['undecided']} of those that stay {todo} decided on: {again}"]
        if said["kept"]:
            lines += [f"carry out the {said['kept']} kept: {again} --accept kept"]
        lines += [] if on_terminal else [f"carry out all that stay, undecided or not: {carry}"]
    elif said["to_carry_out"]:
        lines += [f"carry out what stays: {carry}"]
    return lines


def _ask(
    review: "Review", clock: Callable[[], datetime], pressed: Callable[[], str], reveal: bool
) -> None:
    """Ask for a decision on each cluster or change until none is left or the person quits; each is on disk at once."""
    from memops.commands import plan_view, reviewing, selecting

    past: list[list[int]] = []
    split: tuple[str, str | None] | None = None
    while waiting := reviewing.items(review, review.undecided):
        item = waiting[0]
        seqs = list(item.seqs[:1]) if split == (item.rule, item.keeper) else list(item.seqs)
        say(_drawn(item, seqs, plan_view.placed(review, seqs[:_MOST]), len(waiting)))
        for line in _in_clear(review, seqs[:_MOST], reveal):
            click.echo(line)  # whoever reads it asked for it, so nothing is masked
        key = pressed()
        if key in ("a", "x"):
            rule = set(selecting.of_rule(review, item.rule))
            seqs = [seq for seq in review.undecided if seq in rule]
        if key == "q":
            return
        if key == "s":
            split = (item.rule, item.keeper)
        elif key == "u" and past:
            reviewing.keep(review, past.pop(), clock(), "open")
        elif key in ("k", "a"):
            past.append(reviewing.keep(review, seqs, clock()))
        elif key in ("r", "x"):
            past.append(reviewing.reject(review, seqs, clock()))


def _in_clear(review: "Review", seqs: Sequence[int], reveal: bool) -> list[str]:
    """What redactions would mask, as it stands in the store; or how to see it."""
    from memops.commands import reviewing

    texts = reviewing.in_clear(review, seqs)
    if texts and not reveal:
        return [f"   what would be masked: {typed()} review {review.plan.id} --reveal"]
    return [
        f"   #{seq} as it stands: {cut(where_they_differ(was, after, _ROOM)[0] or '', _ROOM)}"
        for seq, (was, after) in texts.items()
    ]


@contextlib.contextmanager
def _keyboard() -> Iterator[Callable[[], str]]:
    """Read single keys, also those that are typed ahead; an end of input is a wish to stop."""
    handle, ahead = sys.stdin.fileno(), list[str]()
    before = termios.tcgetattr(handle)
    tty.setcbreak(handle, termios.TCSADRAIN)

    def key() -> str:
        click.echo(_KEYS + _MORE, nl=False)
        while not ahead:
            try:
                typed = os.read(handle, 64)
            except KeyboardInterrupt:
                return "q"
            if not typed or b"\x04" in typed:
                return "q"
            if not typed.startswith(b"\x1b"):  # an arrow, say, ends in a letter
                ahead.extend(typed.decode("utf-8", "replace"))
        click.echo(shown(ahead[0]))
        return ahead.pop(0)

    try:
        yield key
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def _drawn(item: "Item", seqs: Sequence[int], changes: list[dict[str, Any]], waiting: int) -> str:
    about = f"keeper {shown(item.keeper)}" if item.keeper else f"record {shown(changes[0]['id'])}"
    lines = ["", f"{item.rule}: {counted(len(seqs), 'change')}, {about} ({waiting} to decide on)"]
    for change in changes:
        lines += [*in_place(change, _ROOM), *_more(change)]
    lines += [f"  and {len(seqs) - _MOST} more"] if len(seqs) > _MOST else []
    return "\n".join(lines)


def _more(change: dict[str, Any]) -> list[str]:
    """What else changes, and the evidence that is not shown before it."""
    seen = {change["id"], (change["instead"] or {}).get("id")}
    return [f"   {cut(field_text(field), _ROOM)}" for field in beside(change)] + [
        f"   evidence: {shown(e['id'])}: {cut(e['text'] or '', _ROOM)}"
        for e in change["evidence"]
        if e["id"] not in seen
    ]
