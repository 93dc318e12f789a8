"""Parts: the blocks of one section, joined where one cannot stand or go without another."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memops.documents.balance import unbalanced
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
