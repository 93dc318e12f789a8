"""The shapes of what `--json` prints, as docs/terminal.md tells them; every test's output is held to them."""

import re
from functools import cache
from pathlib import Path

from memops.cli.registry import COMMANDS, GROUPS

PAGE = Path(__file__).parents[1] / "docs" / "terminal.md"
UNVERSIONED = {"policy", "stores", "config schema", "config notify"}


@cache
def shapes():
    """Each command's kind of value and its keys."""
    found = {}
    for names, kind, keys in re.findall(
        r"(?m)^\| (`.*?) \| (object|list) \| (.*) \|$", PAGE.read_text()
    ):
        held = set(re.findall(r"`(\w+)`", keys))
        if keys.startswith("as nightly"):
            held = found["nightly"][1] | set(
                keys.removeprefix("as nightly").replace(", and", "").split()
            )
        for name in re.findall(r"`([\w ]+)`", names):
            found[name] = (kind, held)
    return found


def named(argv):
    """The name by which the command of a line is registered, with the one below it if it has such."""
    words = [word for word in argv if not word.startswith("-")]
    name, rest = (words[0], words[1:]) if words else ("", [])
    if name in GROUPS and rest and rest[0] in GROUPS[name][1]:
        name, rest = GROUPS[name][1][rest[0]], rest[1:]
    whole = f"{name} {rest[0]}" if rest else name
    return whole if whole in shapes() or whole in UNVERSIONED else name


def documented(argv, said):
    """Fail where a key is printed that the page does not name."""
    name = named(argv)
    if name not in COMMANDS and name not in shapes():
        return
    for one in said if isinstance(said, list) else [said]:
        if not isinstance(one, dict) or "rc" in one or name not in shapes():
            continue
        kind, keys = shapes()[name]
        assert isinstance(said, list) == (kind == "list"), name
        assert next(iter(one)) == "schema_version", name
        assert one.keys() - {"schema_version"} <= keys, (name, one.keys() - keys)
