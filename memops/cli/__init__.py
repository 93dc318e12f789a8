"""The command line: parse, call, print; `main` alone makes errors sentences and exit codes."""

import contextlib
import gc
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memops import __version__, heap
from memops.cli.registry import COMMANDS, GROUPS, Top
from memops.errors import Bug, MemopsError, told

if TYPE_CHECKING:
    from memops.settings import Settings

_COMMAND = re.compile(rf"\bmemops (?=(?:{'|'.join({*COMMANDS, *GROUPS})})\b)")
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
                                         32  a finding (status, audit --fail-on)
                                         33  read-back found records wrong
                                         34  awaiting approval (a flow's night)

\b
--config and --state may also stand behind the command.

\b
A STORE is a name from memops.toml or an address (memops store kinds lists all):
  clawseed:WORKSPACE  openclaw:WORKSPACE  xinghebot:MEMORY_ROOT
  rsclaw:PATH/memory.redb  rsclaw:http://HOST:PORT  jsonl:FILE  parquet:FILE
"""


@click.group(cls=Top, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
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
    from memops.cli.progress_bars import steps_on_stderr

    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if not ctx.resilient_parsing:
        ctx.with_resource(steps_on_stderr(quiet, verbose))
    ctx.obj = settings.read(config, state)
    if not state and not ctx.obj.path and sys.stderr.isatty() and not Path(".memops").exists():
        click.echo(f"state folder: {ctx.obj.state} (no .memops is here)", err=True)


_SWEEP = (50_000, 20, 100)
"""When the interpreter looks for cycles: a night makes many objects that stay, and few cycles; by
Python's own measure the looking took a twentieth of its time."""


def main() -> None:
    """Run memops and exit with its code."""
    os.umask(0o077)
    gc.set_threshold(*_SWEEP)
    heap.shared()
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # idle threads of numpy do not spin
    code = run(sys.argv[1:])
    gc.freeze()  # what is left goes with the process: the interpreter need not look for cycles in it
    sys.exit(code)


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code; errors become one sentence each."""
    argv = _settings_first(argv)
    as_json = "--json" in argv
    try:
        _in_utf8(argv)
        code = cli.main(argv, prog_name="memops", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except SystemExit as error:  # of click, once it has told a shell what completes a word
        return int(error.code or 0)
    except click.Abort:
        hint = to_copy("a run that had begun goes on with `memops resume RUN`", _called_with(argv))
        return _fail(130, "interrupted", hint, as_json)
    except click.ClickException as error:
        asked = getattr(error, "ctx", None)
        where = asked.command_path if asked else "memops"
        return _fail(2, error.format_message(), f"see `{where} --help`", as_json)
    except MemopsError as error:
        import memops.safety.secrets  # noqa: F401  (with it, errors mask what they quote)

        ctx = _called_with(argv)
        return _fail(error.code, error.message, to_copy(_hint(error, ctx), ctx), as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except BaseException as error:
        said = told(error)
        if isinstance(said, Bug) and os.environ.get("MEMOPS_DEBUG"):
            raise
        hint = "set MEMOPS_DEBUG=1 for the traceback" if isinstance(said, Bug) else said.hint
        return _fail(said.code, said.message, hint, as_json)
    return code if isinstance(code, int) else 0


def _settings_first(argv: list[str]) -> list[str]:
    """Return a command line whose `--config` and `--state` stand first, as click asks, and `--json` last."""
    first, rest, words = list[str](), list[str](), iter(argv)
    for word in words:
        if word == "--":
            return [*first, *_json_behind(rest), word, *words]
        whole = word.startswith(("--config=", "--state="))
        given = first if whole or word in ("--config", "--state") else rest
        given.append(word)
        if given is first and not whole:
            value = next(words, None)
            if value is None:  # click says so
                return first
            first.append(value)
    return [*first, *_json_behind(rest)]


def _json_behind(words: list[str]) -> list[str]:
    at = next((n for n, word in enumerate(words) if not word.startswith("-")), 0)
    if "--json" not in words[:at]:
        return words
    return [*(word for word in words[:at] if word != "--json"), *words[at:], "--json"]


def _in_utf8(argv: list[str]) -> None:
    """Refuse names that are no text, of the folder at work too: no plan, log or page can hold them."""
    with contextlib.suppress(FileNotFoundError):  # a folder that is gone
        argv = [*argv, str(Path.cwd())]
    for word in argv:
        if re.search(r"[\ud800-\udfff]", word):
            raise click.UsageError(f"{word!r} is no text in UTF-8; use a name that is")


def _hint(error: MemopsError, ctx: click.Context) -> str:
    """The next step of an error, with the line of the settings file that it is about."""
    from memops import settings

    try:
        own = settings.read(ctx.params.get("config"), ctx.params.get("state"))
    except MemopsError:  # of which the error may be
        return error.hint
    return own.hint(error)


def _fail(code: int, message: str, hint: str, as_json: bool) -> int:
    if as_json:
        from memops.cli.output import as_document

        click.echo(as_document({"rc": code, "code": code, "message": message, "hint": hint}))
    from memops.safety.display import printed

    click.echo(printed("\n  ".join([f"memops: {message}", *hint.splitlines()])), err=True)
    return code


def typed(ctx: click.Context | None = None) -> str:
    """Return `memops` with the settings file and state folder that it was called with, to copy."""
    given = (ctx or click.get_current_context()).find_root().params
    named = [(n, given[n]) for n in ("config", "state") if given.get(n)]
    return " ".join(["memops", *(f"--{n} {shlex.quote(str(path))}" for n, path in named)])


def to_copy(text: str, ctx: click.Context | None = None) -> str:
    """Return a text whose commands have the settings file and state folder of this call."""
    before = typed(ctx)
    own = (ctx or click.get_current_context()).find_root().obj
    text = own.by_name(text) if own else text
    return _COMMAND.sub(lambda found: f"{before} ", text)


def to_decide(plan: str, before: str = "") -> list[str]:
    """Return the lines to copy by which a person looks at a plan and carries out what stays."""
    steps = {"next": f"review {plan}", "then": f"apply {plan} --approve"}
    return [f"{before}{when}: {typed()} {step}" for when, step in steps.items()]


def _called_with(argv: list[str]) -> click.Context:
    """The options of a command line before its command, also where the rest cannot be read."""
    return cli.make_context("memops", [*argv], resilient_parsing=True)


def nothing_in(said: str) -> str:
    """Return what is said where a state folder has none of something, or there is no such folder."""
    state = in_force().state
    absent = f"no state folder {state}: the first snapshot makes it, or give --state DIR"
    return f"{said} in {state}" if state.is_dir() else absent


def in_force() -> "Settings":
    """Return the settings that the group read for the command at work."""
    found: Settings = click.get_current_context().find_root().obj
    return found
