"""`memops init`: the stores of this machine in their usual places, and a settings file that names them."""

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memops import files
from memops.commands.doctor import examine
from memops.errors import MemopsError, StoreNotFound
from memops.policy.defaults import written
from memops.schema import LIVE, STORES
from memops.settings import Settings
from memops.stores import kind_class, open_store, standing

_FILE = """\
# Settings of memops. `memops config show` lists every one with its meaning and where it is set;
# `memops config check` checks this file.

{stores}
# [policy.limits]              # what a night may change without a person
# share = 0.1                  # of a scope and kind
# records = 500

# [notify]                     # whom nights tell that fail or wait for a person
# webhook = "https://alerts.example.org/memops"    # or email, command, ping; memops config notify
"""
_STORE = """\
[stores.{name}]
address = {address}
# suite = "evals/{name}"       # golden queries: a night is then graded before it is applied
# schedule = "30 3 * * *"      # for `memops serve`

"""


def found() -> list[str]:
    """Return the addresses of the stores that stand in the usual places of this machine."""
    return [address for kind in STORES for address in _of_kind(kind) if _stands(address)]


def begin(path: Path, addresses: list[str], settings: Settings) -> dict[str, Any]:
    """Examine the stores and write a settings file that names them; nothing else is changed.

    Raises StoreNotFound where none is named and none is found, and MemopsError for a file that is there
    already.
    """
    if path.exists():
        raise MemopsError(f"{path} is there already", "name another file with --into")
    chosen = addresses or found()
    if not chosen:
        looked = ", ".join(place for kind in STORES for place in kind_class(kind).usual[1])
        raise StoreNotFound(f"no store in {looked}", "name one: memops init KIND:PATH")
    named = dict(_named(chosen))
    looked_at = [_examined(name, address, settings) for name, address in named.items()]
    stores = "".join(_STORE.format(name=n, address=written(a)) for n, a in named.items())
    files.write(path, _FILE.format(stores=stores.rstrip("\n") + "\n").encode())
    return {"config": str(path), "stores": looked_at}


def next_commands(said: dict[str, Any], options: str) -> list[str]:
    """Return the four commands that come next, of the first store."""
    store = shlex.quote(said["stores"][0]["store"])
    steps = (f"plan {store}", "review PLAN", "apply PLAN --approve", "nightly")
    return [f"memops{options} {step}" for step in steps]


def cron_line(options: str) -> str:
    """Return the line of a crontab that does every night; cron knows no path but its own."""
    called = Path(sys.argv[0]).absolute()
    own = shlex.quote(str(called)) if called.name == "memops" else f"{sys.executable} -m memops"
    do = f"{{ {own}{options} nightly; {own}{options} status; }}"
    line = f"30 3 * * *  cd {shlex.quote(str(Path.cwd()))} && {do}"
    return line.replace("%", "\\%")  # which cron takes for the end of a line


def _of_kind(kind: str) -> Iterator[str]:
    variable, places, below = kind_class(kind).usual
    told = os.environ.get(variable) if variable else None
    for place in [told] if told else places:
        whole = Path(place).expanduser()
        for path in sorted(whole.parent.parent.glob(f"{whole.parent.name}/{whole.name}")):
            yield f"{kind}:{path / below}"


def _stands(address: str) -> bool:
    try:
        standing(open_store(address)).read([])
    except MemopsError:
        return False
    return True


def _named(addresses: list[str]) -> Iterator[tuple[str, str]]:
    """Each address under a name: its kind, with a number from the second on."""
    seen: dict[str, int] = {}
    for address in addresses:
        kind = address.partition(":")[0]
        seen[kind] = seen.get(kind, 0) + 1
        yield (kind if seen[kind] == 1 else f"{kind}-{seen[kind]}"), address


def _examined(name: str, address: str, settings: Settings) -> dict[str, Any]:
    records = standing(open_store(address)).read()
    findings = examine(address, settings)["findings"]
    counts = {level: sum(f["level"] == level for f in findings) for level in ("error", "warning")}
    said = [f"{f['level']}: {f['says']}" for f in findings if f["level"] in counts]
    about = {"store": name, "address": address, "records": records.height}
    return about | {"live": records.filter(LIVE).height, **counts, "findings": said}
