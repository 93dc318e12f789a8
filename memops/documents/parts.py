"""Parts: the blocks of one section, joined where one cannot stand or go without another."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memops.documents.blocks import Block

BARRIERS = ("rule", "furniture")
"""Kinds that part what stands around them."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines `start` to `stop` of one or more blocks; its own comments stand before `line`."""

    kind: str
    start: int
    line: int
    stop: int
    group: int = -1
    numbers: tuple[int, int] = (0, 0)
    mark: str = ""
    fixed: bool = False
    managed: bool = False

    @classmethod
    def of(cls, block: Block, start: int, managed: bool) -> "Part":
        """Return a block as a part that begins at `start`."""
        return cls(
            block.kind, start, block.start, block.stop, block.group, block.numbers, block.mark,
            block.open, managed,
        )  # fmt: skip


def joined(parts: Sequence[Part], kind: str) -> Part:
    """Return parts that follow each other as one."""
    numbers = parts[0].numbers[0], parts[-1].numbers[1]
    fixed = any(part.fixed for part in parts)
    return replace(parts[0], kind=kind, stop=parts[-1].stop, fixed=fixed, numbers=numbers)


def balanced(parts: Sequence[Part], texts: Sequence[str]) -> list[Part]:
    """Join what opens tags, comments or keys with what closes them; what nothing closes is fixed."""
    out: list[Part] = []
    at = 0
    while at < len(parts):
        sums, stop = Counter(_sums(parts[at], texts)), at + 1
        while any(sums.values()) and stop < len(parts) and parts[stop].kind != "furniture":
            sums.update(_sums(parts[stop], texts))
            stop += 1
        if not any(sums.values()) and stop > at + 1:
            out.append(joined(parts[at:stop], "html"))
            at = stop
        else:
            out.append(replace(parts[at], fixed=parts[at].fixed or any(sums.values())))
            at += 1
    return out


def numbered(parts: Sequence[Part]) -> list[Part]:
    """Join the steps of one procedure, and what stands between them."""
    out: list[Part] = []
    at = 0
    while at < len(parts):
        stop = at + 1
        while parts[at].kind == "steps" and (end := _further(parts, stop - 1)):
            stop = end
        out.append(joined(parts[at:stop], "steps") if stop > at + 1 else parts[at])
        at = stop
    return out


def _further(parts: Sequence[Part], last: int) -> int:
    """Return the end of the steps that go on with the numbers of those at `last`, 0 for none."""
    for nth in range(last + 1, len(parts)):
        part = parts[nth]
        if part.kind == "steps":
            goes_on = part.numbers[0] == parts[last].numbers[1] + 1
            return nth + 1 if goes_on and part.mark == parts[last].mark else 0
        if part.kind in BARRIERS:
            return 0
    return 0


def _sums(part: Part, texts: Sequence[str]) -> Counter[str]:
    if part.kind in ("code", "comment", "rule", "furniture", "matter"):
        return Counter()
    return unbalanced("\n".join(texts[part.line : part.stop]))


TAGS = frozenset(
    re.findall(
        r"\w+",
        "a abbr article aside b blockquote body button caption center code colgroup dd del details "
        "dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header "
        "html i ins kbd label legend li main mark nav ol optgroup option p pre q s samp section "
        "select small span strike strong sub summary sup table tbody td tfoot th thead time title "
        "tr tt u ul var video",
    )
)
"""HTML's elements that have an end; other names in angle brackets are words of the text."""

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*)?(/?)>")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_KEY = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]+)-----")


def unbalanced(text: str) -> Counter[str]:
    """Return how many more times each tag, comment and key block is opened than closed, if not 0."""
    if "<" not in text and "-----" not in text:
        return Counter()
    sums: Counter[str] = Counter()
    plain = _CODE.sub("", text) if "`" in text else text
    for ends, name, empty in _TAG.findall(plain):
        if name.lower() in TAGS and not empty:
            sums[name.lower()] += -1 if ends else 1
    if "<!--" in plain:
        sums["<!--"] = max(0, plain.count("<!--") - plain.count("-->"))
    for what, name in _KEY.findall(text):
        sums[f"key {name}"] += 1 if what == "BEGIN" else -1
    return Counter({name: n for name, n in sums.items() if n})
