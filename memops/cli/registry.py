"""The registry of commands: each one's module, sentence and example, and the group that it stands in.

One in a group is called by both names (`memops records show`), and by its old one at the top with a
hint, but for the names that programs call (`STEADY`).
"""

import importlib

import click


def _held(words: str) -> dict[str, str]:
    """Names in a group, each with that by which it is registered: its own or the one behind `=`."""
    return {own: name or own for own, _, name in (word.partition("=") for word in words.split())}


COMMANDS: dict[str, tuple[str, str, str | None]] = {
    "init": ("config", "Find this machine's stores and write a memops.toml that names them.",
        "openclaw:~/.openclaw/workspace --into agents.toml"),
    "demo": ("planning", "Make the sample stores and do a first night on each.", "--into memops-demo"),
    "nightly": ("planning", "Do the night of one or more stores: everything below in order.", "home work"),
    "status": ("status", "Say whether every store had its night; exit 32 if one had not.", "--max-age-hours 30"),
    "plan": ("planning", "Propose changes to a store; nothing is written to it.", "home --without merge_near"),
    "explain": ("reading", "Say why a plan changes a record.", "PLAN 12"),
    "review": ("review", "Keep or reject a plan's changes, in the terminal or by number.",
        "PLAN --accept 3,7-9 --reject merge_near"),
    "apply": ("runs", "Carry out a plan, journalled and undoable.", "PLAN --approve"),
    "report": ("recall", "Render the report of a run, plan or snapshot.", "PLAN -o night.html"),
    "gate": ("recall", "Compare grades with a recorded baseline; exit 30 when recall got worse.",
        "--run NEW.trec --qrels QRELS --baseline-run OLD.trec"),
    "runs": ("runs", "List runs, newest first.", ""),
    "resume": ("runs", "Go on with a run that was cut off.", "RUN"),
    "rollback": ("runs", "Take back what a run changed.", "RUN --only 3,7"),
    "restore": ("stores", "Make a store exactly what a snapshot holds.", "SNAPSHOT"),
    "inspect": ("records", "List a store's live records; read-only.", "home --kind fact --since 7d"),
    "show": ("records", "Show all that is known of one record; read-only.", "home user_city"),
    "edit": ("records", "Change what one record says or weighs.", "home user_city --text 'Lives in Lisbon'"),
    "pin": ("records", "Pin records: no rule touches their standing.", "home user_name"),
    "unpin": ("records", "Unpin records.", "home user_name"),
    "forget": ("records", "Hide records from recall; undone by a rollback.", "home --last 12h"),
    "recover": ("records", "Bring back records that are hidden or archived.", "home user_city"),
    "purge": ("stores", "Forget records for good: store, snapshots, plans, runs.", "home user_city --dry-run"),
    "conflicts": ("reading", "List records that cannot both be true; read-only.", "home --near 20"),
    "duplicates": ("reading", "List records that say the same; read-only.", "home --least 0.8"),
    "grade": ("recall", "Grade recall against a suite.", "home --suite evals/home"),
    "suite": ("suite", "Propose, review, check, carry over, import and export golden queries.", None),
    "tune": ("suite", "Try ways of searching on half of a suite, and say what the other half tells.",
        "home --suite evals/home"),
    "encoder": ("suite", "Make a small static model from a large one.", None),
    "snapshot": ("stores", "Take a snapshot of a store.", "home"),
    "check": ("stores", "Verify a snapshot, or all: every file's hash, and that its records read.", ""),
    "diff": ("stores", "Say what differs between two snapshots.", "SNAPSHOT SNAPSHOT"),
    "prune": ("stores", "Remove snapshots and undo copies that are past their time.", ""),
    "stores": ("stores", "Show what each kind of store can do.", ""),
    "audit": ("reading", "Report secrets, injections, duplicates and other findings; read-only.",
        "home --fail-on secrets"),
    "doctor": ("reading", "Examine how a store is kept, and say what to do; repair on request.", "home"),
    "simulate": ("trend", "Say what aging would do to a store week by week; read-only.", "home --days 90"),
    "history": ("trend", "Show the figures of every night.", "home"),
    "migrate": ("planning", "Plan, judge and apply the one-off clean-up of a polluted store.", "home --plan-only"),
    "curator": ("planning", "Ask a model what a store could do without; a plan to review.", "home"),
    "import": ("stores", "Add another program's export to a store, by a mapping.", "mem0 --to jsonl:all.jsonl"),
    "collect": ("stores", "Read several XingheBot nodes as one, collect their sessions.", "node-a=ROOT node-b=ROOT"),
    "view": ("stores", "Print or write the MEMORY_SNAPSHOT.md of a clawseed workspace.", "clawseed:WORKSPACE"),
    "embed": ("stores", "Give clawseed's rows without a vector theirs, by the same model.",
        "clawseed:WORKSPACE --model MODEL"),
    "config": ("config", "Show the settings and where each comes from; check them; their schema.", None),
    "policy": ("reading", "Print every setting of the policy with its value and reason.", ""),
    "rules": ("reading", "List every rule with its sentence, and what it has earned.", ""),
    "serve": ("serve", "Serve the flows with their schedules to Prefect.", ""),
    "deploy": ("serve", "Hand the flows to a Prefect work pool, for its workers to run.", "--pool memops"),
    "bench": ("recall", "Run memops on labelled pairs or question sets (JSON lines).", None),
    "judge_test": ("evidence", "Run the judge of pairs, or of notes, over labelled ones; say what it may decide.",
        "PAIRS.jsonl"),
    "evidence": ("evidence", "Have changes judged, and count what readers said.", None),
    "extract": ("reading", "Show what extraction finds in a text, with spans.", "notes.txt"),
}  # fmt: skip
EXAMPLES = {name: said for name, (*_, said) in COMMANDS.items() if said is not None} | {
    "suite init": "home -o evals/home",
    "suite review": "evals/home --rest keep",
    "suite check": "evals/home --store home",
    "suite remap": "evals/home --store home",
    "suite import": "topics --format trec -o evals/topics",
    "suite export": "evals/home --format beir -o home-beir",
    "encoder distill": "MODEL -o small",
    "bench pairs": "PAIRS.jsonl",
    "bench recall": "FOLDER --retriever bm25",
    "evidence sheet": "PLAN -o sheet.tsv",
    "evidence count": "sheet.tsv -o record.json --by 'two readers' --texts 'our own'",
    "config show": "policy.limits",
    "config check": "",
    "config schema": "> memops.schema.json",
    "config notify": "",
}
"""Of each command, or each below one, what may stand behind it."""
GROUPS = {
    "records": (
        "Look at single records, and change them by hand.",
        _held("inspect show edit pin unpin forget recover purge conflicts duplicates"),
    ),
    "recall": ("Measure and tune what searching a store finds.", _held("grade suite tune encoder")),
    "snapshot": (
        "Keep copies of stores, and compare them; `snapshot STORE` takes one.",
        _held("take=snapshot check diff prune"),
    ),
    "store": (
        "Examine whole stores, and bring memories into them.",
        _held("kinds=stores audit doctor simulate history migrate curator import collect view")
        | _held("embed"),
    ),
    "judge": ("Measure the model that judges pairs.", _held("test=judge_test")),
    "config": (COMMANDS["config"][1], _held("policy rules")),
    "flows": ("Have Prefect do the nights by a schedule.", _held("serve deploy")),
    "dev": ("Measure memops itself.", _held("bench evidence extract")),
}
"""A group's sentence, and the names in it with those by which they are registered."""
SECTIONS = {
    "Every day": ("nightly", "status", "plan", "explain", "review", "apply", "report", "gate"),
    "When something went wrong": ("runs", "resume", "rollback", "restore"),
    "To begin": ("init", "demo"),
    "Groups": tuple(GROUPS),
}
TOP = [name for names in SECTIONS.values() for name in names]
STEADY = {"check", "diff", "migrate", "purge", "grade", "bench", "serve"}
"""Old names at the top that programs call: they stay, and nothing is said of it."""


def path_of(name: str) -> str:
    """Return what is typed behind `memops` for a command, by the name that it is registered by."""
    if name in TOP and name != "snapshot":
        return name
    return next(f"{g} {o}" for g, (_, held) in GROUPS.items() for o, n in held.items() if n == name)


class Lazy(click.Group):
    """A group whose commands are imported when they are called, so that help is quick."""

    @property
    def _held(self) -> dict[str, str]:
        """The names of this group with those by which its commands are registered."""
        return GROUPS[self.name][1] if self.name in GROUPS else {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are used."""
        return [*self.commands, *self._held]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name in self._held:
            return loaded(self._held[cmd_name])
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name those that are written like it."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            raise click.exceptions.NoSuchCommand(args[0], possibilities=known, ctx=ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take a store behind `snapshot` for one to take a snapshot of."""
        known = (*self._held, *ctx.help_option_names)
        if self.name == "snapshot" and args and args[0] not in known:
            args = ["take", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        rows = [(n, c.get_short_help_str(90)) for n, c in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, *((own, COMMANDS[n][1]) for own, n in self._held.items())])


class Top(Lazy):
    """The commands at the top: fourteen and the groups; the old names are known and not listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are used."""
        return TOP

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, or return a group."""
        if cmd_name in GROUPS and cmd_name != "config":
            return Lazy(cmd_name, help=GROUPS[cmd_name][0], no_args_is_help=True)
        return loaded(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of an old name, say the new one."""
        name = args[0]
        if name in COMMANDS and name not in {*TOP, *STEADY} and "--json" not in args:
            click.echo(f"memops: `memops {name}` is `memops {path_of(name)}` now", err=True)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists of commands, the daily ones first, without importing them."""
        about = {n: c[1] for n, c in COMMANDS.items()} | {n: g[0] for n, g in GROUPS.items()}
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, about[name]) for name in names])


def loaded(name: str) -> click.Command:
    """Import a command, with its example below its help and the formats that it can print."""
    from memops.cli.options import with_formats

    found: click.Command = getattr(importlib.import_module(f"memops.cli.{COMMANDS[name][0]}"), name)
    below = found.commands if isinstance(found, click.Group) else {}
    for known, command in {name: found, **{f"{name} {own}": c for own, c in below.items()}}.items():
        if name != "bench" and not isinstance(command, click.Group):
            with_formats(command)  # a bench prints JSON lines
        if known in EXAMPLES:
            said = f"{path_of(name)}{known.removeprefix(name)} {EXAMPLES[known]}".rstrip()
            above, _, _ = (command.epilog or "").partition("\b\nExample: ")
            command.epilog = f"{above}\b\nExample: memops {said}"
    return found
