"""The parts of the README that are made: what commands print, and tables of what there is.

    python -m tests.readme      writes them anew

A part stands between `<!-- made: NAME -->` and `<!-- end -->`; a test fails when one is stale.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PART = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
NOW = "2026-06-01T12:00:00Z"
SESSION = [
    "memops demo --into d",
    "memops --state d/state runs",
    f"memops --state d/state nightly clawseed:d/clawseed --now {NOW}",
    "memops --state d/state rollback RUN",
    f"memops --state d/state plan clawseed:d/clawseed --show 5 --now {NOW}",
]


def made(name):
    """Return one part."""
    return {
        "session": session,
        "begin": begin,
        "commands": commands,
        "rules": rules,
        "policy": policy,
    }[name]()


def session():
    """Run the session in an empty folder; ids and times are shown as such."""
    with tempfile.TemporaryDirectory() as folder:
        return ran(SESSION, folder)


BEGIN = ["memops init", "memops config show", "memops config check"]


def begin():
    """Run a first minute on a machine with two stores in their usual places."""
    with tempfile.TemporaryDirectory() as folder:
        where = ROOT / "data" / "make_samples.py"
        spec = importlib.util.spec_from_file_location("memops_samples", where)
        samples = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(samples)
        samples.build(Path(folder))
        for kind in ("clawseed", "openclaw"):
            (Path(folder) / f".{kind}").mkdir()
            (Path(folder) / kind).rename(Path(folder) / f".{kind}" / "workspace")
        said = ran(BEGIN, folder).replace(folder, "~").replace(":.", ":~/.")
        return re.sub("(?<=\\S) {2,}", "  ", said)  # columns are as wide as the folder's name


def ran(commands, folder):
    """What commands print, in a folder that is the home of who types them."""
    lines, run = ["```console"], ""
    for command in commands:
        argv = shlex.split(command.replace("RUN", run))[1:]
        lines.append(f"$ {command}")
        done = subprocess.run(
            [sys.executable, "-m", "memops", *argv],
            cwd=folder,
            env=os.environ | {"HOME": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 3), done.stderr
        found = re.search(r"rollback (\S+)", done.stdout)
        run = run or (found[1] if found else "")
        lines += plain(done.stdout, folder).splitlines()
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
    from memops.cli import COMMANDS

    rows = [f"| `memops {name}` | {about} |" for name, (_, about) in COMMANDS.items()]
    return "\n".join(["| command | what it does |", "|---|---|", *rows, ""])


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


def renewed(text):
    """Return the README's text with every part made anew."""
    return PART.sub(lambda m: m[1] + made(m[2]) + m[3], text)


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
