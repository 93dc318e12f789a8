"""The command line: parse, call, print.

Commands live in modules of this folder, imported when one is called; `main` is the only place
where an error becomes a sentence and an exit code.
"""

import importlib
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from memops import __version__
from memops.errors import MemopsError, told

COMMANDS = {
    "init": ("config", "Find this machine's stores and write a memops.toml that names them."),
    "config": ("config", "Show the settings and where each comes from; check them; their schema."),
    "snapshot": ("stores", "Take a snapshot of a store."),
    "check": ("stores", "Verify a snapshot, or all: every file's hash, and that its records read."),
    "prune": ("stores", "Remove snapshots and undo copies that are past their time."),
    "restore": ("stores", "Make a store exactly what a snapshot holds."),
    "diff": ("stores", "Say what differs between two snapshots."),
    "stores": ("stores", "Show what each kind of store can do."),
    "purge": ("stores", "Forget records for good: store, snapshots, plans, runs."),
    "plan": ("curate", "Propose changes to a store; nothing is written to it."),
    "migrate": ("curate", "Plan, judge and apply the one-off clean-up of a polluted store."),
    "curator": ("curate", "Ask a model what a store could do without; a plan to review."),
    "apply": ("runs", "Carry out a plan, journalled and undoable."),
    "resume": ("runs", "Go on with a run that was cut off."),
    "rollback": ("runs", "Take back what a run changed."),
    "runs": ("runs", "List runs, newest first."),
    "nightly": ("curate", "Do the night of one or more stores: everything above in order."),
    "demo": ("curate", "Make the sample stores and do a night on each."),
    "grade": ("judge", "Grade recall against a suite."),
    "gate": ("judge", "Compare grades with a recorded baseline; exit 30 when recall got worse."),
    "suite": ("suite", "Propose, review, check, carry over, import and export golden queries."),
    "tune": (
        "tune",
        "Try ways of searching on half of a suite, and say what the other half tells.",
    ),
    "encoder": ("tune", "Make a small static model from a large one."),
    "report": ("judge", "Render the report of a run, plan or snapshot."),
    "bench": ("judge", "Run memops on labelled pairs or question sets (JSON lines)."),
    "rules": ("look", "List every rule with its sentence."),
    "evidence": ("evidence", "Have changes judged, and count what readers said."),
    "policy": ("look", "Print every setting with its value and reason."),
    "conflicts": ("look", "List records that cannot both be true; read-only."),
    "duplicates": ("look", "List records that say the same; read-only."),
    "explain": ("look", "Say why a plan changes a record."),
    "extract": ("look", "Show what extraction finds in a text, with spans."),
    "audit": ("look", "Report secrets, injections, duplicates and other findings; read-only."),
    "inspect": ("control", "List a store's live records; read-only."),
    "show": ("control", "Show all that is known of one record; read-only."),
    "edit": ("control", "Change what one record says or weighs."),
    "pin": ("control", "Pin records: no rule touches their standing."),
    "unpin": ("control", "Unpin records."),
    "forget": ("control", "Hide records from recall; undone by a rollback."),
    "recover": ("control", "Bring back records that are hidden or archived."),
    "review": ("review", "Keep or reject a plan's changes, in the terminal or by number."),
    "doctor": ("look", "Examine how a store is kept, and say what to do; repair on request."),
    "simulate": ("trend", "Say what aging would do to a store week by week; read-only."),
    "status": ("watch", "Say whether every store had its night; exit 32 if one had not."),
    "history": ("trend", "Show the figures of every night."),
    "import": ("gather", "Add another program's export to a store, by a mapping."),
    "collect": ("gather", "Read several XingheBot nodes as one, collect their sessions."),
    "view": ("clawseed", "Print or write the MEMORY_SNAPSHOT.md of a clawseed workspace."),
    "embed": ("clawseed", "Give clawseed's rows without a vector theirs, by the same model."),
    "serve": ("serve", "Serve the flows with their schedules to Prefect."),
    "deploy": ("serve", "Hand the flows to a Prefect work pool, for its workers to run."),
}

_COMMAND = re.compile(rf"\bmemops (?=(?:{'|'.join(COMMANDS)})\b)")
"""The beginning of a line to copy."""

EPILOG = """\b
Exit codes:
   0  done                               20  corrupt input or artefact
   1  a bug                              21  incomplete snapshot
   2  usage or configuration             22  plan refused
   3  done, some changes skipped         23  guard refused
   4  the plan has changes               24  interrupted, resumable
      (with --detailed-exitcode)         25  rollback with conflicts
  10  store not found or unreachable     26  no space or input/output error
  11  locked                             30  the gate failed
  12  unauthorised                       31  the gate is inconclusive
                                         32  an audit finding (with --fail-on)
                                         33  read-back found records wrong
                                         34  awaiting approval (a flow's night)

\b
A STORE is a name from memops.toml or an address:
  clawseed:WORKSPACE  openclaw:WORKSPACE  xinghebot:MEMORY_ROOT
  rsclaw:PATH/memory.redb  rsclaw:http://HOST:PORT  jsonl:FILE  parquet:FILE
"""


class Lazy(click.Group):
    """A group whose commands are imported when they are called, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are used."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; without arguments to parse, a stand-in with its help will do."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"memops.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=Lazy, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    envvar="MEMOPS_CONFIG",
    help="Settings file [memops.toml; MEMOPS_CONFIG].",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    envvar="MEMOPS_STATE",
    help="State folder [.memops here, or one per user; MEMOPS_STATE].",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Tell of each step, also without a terminal.")
@click.version_option(__version__)
@click.pass_context
def cli(
    ctx: click.Context, config: Path | None, state: Path | None, quiet: bool, verbose: bool
) -> None:
    """Maintain and grade the long-term memory stores of AI agents.

    Every change to a store goes: snapshot, plan, guard, journal with undo, apply, verify.
    """
    from memops import settings
    from memops.cli.watching import steps_on_stderr

    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if not ctx.resilient_parsing:
        ctx.with_resource(steps_on_stderr(quiet, verbose))
    ctx.obj = settings.read(config, state)
    if not state and not ctx.obj.path and sys.stderr.isatty() and not Path(".memops").exists():
        click.echo(f"state folder: {ctx.obj.state} (no .memops is here)", err=True)


def main() -> None:
    """Run memops and exit with its code."""
    os.umask(0o077)
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code; errors become one sentence each."""
    as_json = "--json" in argv
    try:
        code = cli.main(argv, prog_name="memops", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except SystemExit as error:  # of click, once it has told a shell what completes a word
        return int(error.code or 0)
    except click.Abort:
        return _fail(
            130, "interrupted", "a run that had begun goes on with `memops resume`", as_json
        )
    except click.ClickException as error:
        asked = getattr(error, "ctx", None)
        where = asked.command_path if asked else "memops"
        return _fail(2, error.format_message(), f"see `{where} --help`", as_json)
    except MemopsError as error:
        import memops.safety.secrets  # noqa: F401  (with it, errors mask what they quote)

        hint = to_copy(error.hint, _called_with(argv))
        return _fail(error.code, error.message, hint, as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(
            26,
            f"{where}{error.strerror or error}",
            "free space or mend the mode, then resume",
            as_json,
        )
    except BaseException as error:
        if os.environ.get("MEMOPS_DEBUG"):
            raise
        bug = told(error)
        return _fail(bug.code, bug.message, "set MEMOPS_DEBUG=1 for the traceback", as_json)
    return code if isinstance(code, int) else 0


def _fail(code: int, message: str, hint: str, as_json: bool) -> int:
    if as_json:
        print(
            json.dumps(
                {"rc": code, "code": code, "message": message, "hint": hint}, ensure_ascii=False
            )
        )
    click.echo(f"memops: {message}" + (f"\n  {hint}" if hint else ""), err=True)
    return code


def typed(ctx: click.Context | None = None) -> str:
    """Return `memops` with the settings file and state folder that it was called with, to copy."""
    given = (ctx or click.get_current_context()).find_root().params
    named = [(n, given[n]) for n in ("config", "state") if given.get(n)]
    return " ".join(["memops", *(f"--{n} {shlex.quote(str(path))}" for n, path in named)])


def to_copy(text: str, ctx: click.Context | None = None) -> str:
    """Return a text whose commands have the settings file and state folder of this call.

    Whoever wrote it knows the command, and not what memops was called with.
    """
    return _COMMAND.sub(f"{typed(ctx)} ", text)


def _called_with(argv: list[str]) -> click.Context:
    """The options of a command line before its command, also where the rest cannot be read."""
    return cli.make_context("memops", [*argv], resilient_parsing=True)


def nothing_in(ctx: click.Context, said: str) -> str:
    """Return what is said where a state folder has none of something, or there is no such folder."""
    state: Path = at(ctx).state
    absent = f"no state folder {state}: the first snapshot makes it, or give --state DIR"
    return f"{said} in {state}" if state.is_dir() else absent


def at(ctx: click.Context) -> Any:
    """Return the settings that the group read."""
    return ctx.find_root().obj
