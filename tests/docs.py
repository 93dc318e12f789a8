"""The parts of the documents that are made: what commands print, and tables of what there is.

    python -m tests.docs      writes them anew

A part stands between `<!-- made: NAME -->` and `<!-- end -->`; a test fails when one is stale.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "README.zh.md", *sorted((ROOT / "docs").glob("*.md"))]
PART = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
WIDE = os.environ | {"COLUMNS": "120"}
NOW = "2026-06-01T12:00:00Z"
SESSION = [
    f"memops demo --into d --now {NOW}",
    "memops --state d/state runs",
    f"memops --state d/state nightly clawseed:d/clawseed --now {NOW}",
    "memops --state d/state rollback RUN",
]
BEGIN = ["memops init", "memops config show", "memops config check"]
PLAN = [f"memops plan clawseed:clawseed --show 5 --now {NOW}"]
LIFE = [
    f"memops records inspect clawseed:clawseed --text 'deployed to production' --now {NOW}",
    f"memops plan clawseed:clawseed --rule supersede_conflicting --show 0 --now {NOW}",
    "grep RECORD .memops/plans/PLAN/ops.jsonl",
    "memops explain PLAN RECORD",
    f"memops apply PLAN --approve --now {NOW}",
    f"memops records show clawseed:clawseed RECORD --now {NOW}",
    "memops rollback RUN",
]
NOTICES = [f"memops nightly --now {NOW}", "cat told"]
FOUND = {
    "PLAN": r"plans/([0-9a-f]{16})",
    "RUN": r"rollback (\S+)",
    "RECORD": r"(?m)^([0-9a-f-]{36}) .*Tuesdays",
}
"""Names in commands, and where what they stand for is printed."""


def made(name):
    """Return one part."""
    return PARTS[name]()


def session():
    return ran(SESSION)


def begin():
    """Show a first minute on a machine with two stores in their usual places."""
    said = ran(BEGIN, at_home)
    return re.sub(r"(?<=\S) {2,}", "  ", said.replace(":.", ":~/."))  # widths are the folder's


def plan():
    return ran(PLAN, with_state)


def life():
    return ran(LIFE, with_state)


def notices():
    return ran(NOTICES, with_notices)


def earned():
    """Show what the judged changes say of each rule."""
    head, _, said = ran(["memops config rules"]).partition("judged changes")
    return f"```console\n$ memops config rules\n...\njudged changes{said}"


def with_samples(folder):
    """Make the sample stores in a folder."""
    from tests.test_samples import samples

    samples.main(Path(folder))


def with_state(folder):
    """Make the sample stores in a folder, beside a state folder."""
    with_samples(folder)
    (Path(folder) / ".memops").mkdir(mode=0o700)


def with_notices(folder):
    """Make the sample stores and settings that name one and have a program told."""
    with_state(folder)
    text = '[stores.home]\naddress = "clawseed:clawseed"\n[notify]\ncommand = "tee told"\n'
    (Path(folder) / "memops.toml").write_text(text)


def at_home(folder):
    """Put the sample stores where their agents keep them."""
    with_samples(folder)
    for kind in ("clawseed", "openclaw"):
        (Path(folder) / f".{kind}").mkdir()
        (Path(folder) / kind).rename(Path(folder) / f".{kind}" / "workspace")


def ran(commands, prepare=lambda folder: None):
    """Run commands in a folder that is the home of who types them, and show what they print.

    Ids and times are shown as such.
    """
    lines, known = ["```console"], {}
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        for command in commands:
            argv = shlex.split(command)
            argv = [re.sub("|".join(FOUND), lambda m: known[m[0]], word) for word in argv]
            lines.append(f"$ {command}")
            run = [sys.executable, "-m", *argv] if argv[0] == "memops" else argv
            done = subprocess.run(
                run,
                cwd=folder,
                env=WIDE | {"HOME": folder},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode in (0, 3), done.stderr
            for name, pattern in FOUND.items():
                if name not in known and (at := re.search(pattern, done.stdout)):
                    known[name] = at[1]
            shown = plain(done.stdout, folder)
            lines += shown.replace(known.get("RECORD", "RECORD"), "RECORD").splitlines()
    return "\n".join([*lines, "```", ""])


def plain(text, folder):
    """Text without what differs from machine to machine."""
    text = text.replace(str(Path(folder).resolve()) + "/", "").replace(folder + "/", "")
    for pattern, word in ((r"\b[0-9a-f]{16}-1\b", "RUN"), (r"\b[0-9a-f]{16}\b", "PLAN")):
        text = re.sub(pattern + " +", word + "  ", text)
        text = re.sub(pattern, word, text)
    text = re.sub(r"\b\d{8}T\d{6}Z-(\w+)-[0-9a-f]{8}\b", r"SNAPSHOT", text)
    text = re.sub(r"20\d\d-\d\d-\d\d [\d:]+Z *", "TIME  ", text)
    return re.sub(r"-{4,}", "----", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))


def commands():
    from memops.cli.places import COMMANDS, EXAMPLES, path_of

    rows = [
        f"| `memops {path_of(name)}` | {about} | `{EXAMPLES.get(name, '')}` |"
        for name, (_, about) in COMMANDS.items()
    ]
    return "\n".join(["| command | what it does | example |", "|---|---|---|", *rows, ""])


def rules():
    from memops.rules import MIGRATION, RULES

    rows = [
        f"| `{rule.__name__}` | {'yes' if rule in RULES else ''} | {'yes' if rule in MIGRATION else ''} "
        f"| {rule.__doc__.strip().splitlines()[0]} |"
        for rule in dict.fromkeys((*MIGRATION, *RULES))
    ]
    return "\n".join(
        ["| rule | night | migration | what it proposes |", "|---|---|---|---|", *rows, ""]
    )


def policy():
    from memops.policy import Policy, described
    from memops.policy.defaults import in_toml

    return f"```toml\n{in_toml(described(Policy()))}\n```\n"


PARTS = {
    "session": session,
    "begin": begin,
    "plan": plan,
    "life": life,
    "earned": earned,
    "notices": notices,
    "commands": commands,
    "rules": rules,
    "policy": policy,
}


def renewed(text):
    """Return a page's text with every part made anew."""
    return PART.sub(lambda m: m[1] + made(m[2]) + m[3], text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
