"""The commands that begin and tell the settings."""

from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, typed
from memops.cli.options import PATH, flag, usual
from memops.cli.output import counted, emit, table
from memops.cli.registry import Lazy
from memops.errors import MemopsError


@click.command()
@click.argument("addresses", nargs=-1, metavar="[STORE]...")
@usual("--into", Path("memops.toml"), "The settings file to write.", PATH)
def init(addresses: tuple[str, ...], into: Path) -> None:
    """Find the stores of this machine (or take each STORE) and write a memops.toml that names them.

    They are examined, and nothing is written to them.
    """
    from memops.commands import initializing

    said = initializing.begin(into, [*addresses], in_force())
    option = "" if into == Path("memops.toml") else f" --config {into}"
    said["next"] = initializing.next_commands(said, option)
    said["cron"] = initializing.cron_line(typed().removeprefix("memops") + option)
    emit(said, lambda: _begun_text(said))


@click.group(cls=Lazy)
def config() -> None:
    """Show the settings and where each comes from, check memops.toml, print its JSON schema."""


@config.command("show")
@click.argument("names", nargs=-1)
@flag("--all", "every", help="Also what nobody has set.")
def show_command(names: tuple[str, ...], every: bool) -> None:
    """Show the settings that somebody set, or those whose names begin with one of NAMES."""
    from memops.commands.configuring import shown

    rows = shown(in_force(), _given())
    chosen = [r for r in rows if any(f"{r['name']}.".startswith(f"{n}.") for n in names)]
    if not names:
        chosen = rows if every else [r for r in rows if r["from"] != "default"]
    cells = [(r["name"], _short(r["value"]), r["from"]) for r in chosen]
    rest = len(rows) - len(chosen)
    more = f"{rest} more are as by default: {typed()} config show --all"
    listed = table(cells, ["setting", "value", "from"])
    emit(chosen, [listed, more if rest and not names else None])


@config.command("check")
def check_command() -> None:
    """Check memops.toml: names, types, ranges, patterns, cron times, zones, stores, suites."""
    from memops.commands.configuring import checked

    settings = in_force()
    if settings.path is None:
        raise MemopsError("there is no memops.toml here", "make one: memops init")
    said = checked(settings)
    stores, given = counted(said["stores"], "store"), counted(said["given"], "setting")
    emit(said, f"{said['config']}: {stores}, {given} given; all good")


@config.command("schema")
def schema_command() -> None:
    """Print the JSON schema of memops.toml, for editors."""
    import json

    from memops.commands.configuring import schema

    said = schema()
    emit(said, lambda: json.dumps(said, indent=2, ensure_ascii=False), versioned=False)


@config.command("notify")
def notify_command() -> int:
    """Send a notice by every way that [notify] of memops.toml names, to try them."""
    from memops.nights import notices

    if not (said := notices.tried(in_force())):
        raise MemopsError("[notify] names nobody", "memops config show notify")
    rows = list(said.items())
    emit(said, lambda: table(rows, ["way", "what came of it"]), versioned=False)
    return 0 if {*said.values()} == {"sent"} else 10


def _given() -> dict[str, str]:
    """How the settings file and the state folder were given, if they were."""
    said = {
        click.core.ParameterSource.COMMANDLINE: "--{}",
        click.core.ParameterSource.ENVIRONMENT: "MEMOPS_{}",
    }
    root, given = click.get_current_context().find_root(), dict[str, str]()
    for name in ("config", "state"):
        if how := said.get(root.get_parameter_source(name)):  # type: ignore[arg-type]
            given[name] = how.format(name.upper() if "MEMOPS" in how else name)
    return given


def _short(value: Any) -> str:
    from memops.policy.defaults import written

    return "" if value is None else str(value) if isinstance(value, Path) else written(value)


def _begun_text(said: dict[str, Any]) -> list[str]:
    names = ("store", "address", "records", "live", "error", "warning")
    rows = [[store[name] for name in names] for store in said["stores"]]
    head = ["store", "address", "records", "live", "errors", "warnings"]
    found = [f"{store['store']}: {told}" for store in said["stores"] for told in store["findings"]]
    lines = [table(rows, head), *found, f"written: {said['config']}", "next:"]
    lines += [*(f"  {line}" for line in said["next"]), "every night, by a line of `crontab -e`:"]
    return [*lines, f"  {said['cron']}"]
