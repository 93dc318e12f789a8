"""The parts of the README that are made: what commands print, and tables of what there is.

    python -m tests.readme      writes them anew

A part stands between `<!-- made: NAME -->` and `<!-- end -->`; a test fails when one is stale.
"""

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
    return {"session": session, "commands": commands, "rules": rules, "policy": policy}[name]()


def session():
    """Run the session in an empty folder; ids and times are shown as such."""
    lines = ["```console"]
    with tempfile.TemporaryDirectory() as folder:
        run = ""
        for command in SESSION:
            argv = shlex.split(command.replace("RUN", run))[1:]
            lines.append(f"$ {command}")
            done = subprocess.run(
                [sys.executable, "-m", "memops", *argv],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode in (0, 3), done.stderr
            run = run or re.search(r"rollback (\S+)", done.stdout)[1]
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
