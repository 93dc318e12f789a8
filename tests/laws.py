"""Laws of structure: what no plan may do to a workspace, found by comparing it before and after.

Read with a small reader of lines of its own, so that the parser which the plan used is not judged
by itself.
"""

import re
from collections import Counter

HEADING = re.compile(r"(#{1,6})\s+\S")
ITEM = re.compile(r"(\s*)(?:[-*+]|(\d+)\.)\s+")
ROW = re.compile(r"\s*\|.*\|\s*$")
FENCE = re.compile(r"\s*(?:```|~~~)")


def tree(folder):
    """Every file below a folder, and every folder, as bytes and None."""
    paths = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in paths}


def breaches(before, after):
    """The laws that are broken between two trees, each with file and line of before."""
    found = []
    for name, data in before.items():
        if data is not None and name.endswith(".md"):
            now = after.get(name)
            found += [(law, name, at) for law, at in _file(name, _lines(data), _lines(now or b""))]
    return found


def _lines(data):
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")


def _file(name, old, new):
    left = Counter(line.strip() for line in new)
    if re.match(r"(SOUL|IDENTITY|AGENTS|TOOLS|HEARTBEAT|BOOTSTRAP)\.md$", name) and old != new:
        yield "instruction_files_changed", 0
    for at, line in enumerate(old):
        if name in ("MEMORY.md", "USER.md") and line.strip() and not left[line.strip()]:
            yield "curated_lines_lost", at
        if HEADING.match(line):
            yield from _heading(old, at, new, left)
        elif _orphaned(old, at, new):
            yield "labels_orphaned", at
    yield from _whole(old, new)


def _heading(old, at, new, left):
    inside = _section(old, at)
    stands = [n for n, line in enumerate(new) if line.strip() == old[at].strip()]
    if stands and inside and not any(_section(new, n) for n in stands):
        yield "headings_emptied", at
    if not stands and any(left[line.strip()] for line in inside if len(line.strip()) > 12 and old.count(line) == 1):  # fmt: skip
        yield "headings_cut", at


def _orphaned(old, at, new):
    """Whether a label stands and has lost all that it introduced."""
    label = old[at].strip()
    stands = [n for n, line in enumerate(new) if line.strip() == label]
    leads = label.rstrip(" *").endswith((":", "：")) and _follows(old, at)
    return leads and bool(stands) and not any(_follows(new, n) for n in stands)


def _section(lines, at):
    level, inside = len(HEADING.match(lines[at])[1]), []
    for line in lines[at + 1 :]:
        found = HEADING.match(line)
        if found and len(found[1]) <= level:
            break
        if line.strip() and not found and not line.startswith("<!--"):
            inside.append(line)
    return inside


def _follows(lines, at):
    """Whether a label has something: an item, a table or code next, or lines indented below it."""
    rest = [line for line in lines[at + 1 : at + 4] if line.strip()]
    item = ITEM.match(lines[at])
    if item:
        return bool(rest) and len(rest[0]) - len(rest[0].lstrip()) > len(item[1])
    return bool(rest) and not HEADING.match(rest[0])


def _whole(old, new):
    """Tables, fences and numbered lists stand whole or not at all."""
    for kind, read in (("table_rows_removed", _tables), ("code_changed", _fences), ("ordered_lists_broken", _numbered)):  # fmt: skip
        there = Counter(read(new))
        for block, times in (Counter(read(old)) - there).items():
            begins = [other for other in there if other and other[0] == block[0] and other != block]
            known = any(begin in read(old) for begin in begins)
            if begins and not known and times:
                yield kind, old.index(block[0])


def _runs(lines, of):
    run, runs = [], []
    for line in [*lines, ""]:
        if of(line):
            run.append(line)
        elif run:
            runs.append(tuple(run))
            run = []
    return runs


def _tables(lines):
    return _runs(lines, ROW.match)


def _numbered(lines):
    return _runs(lines, lambda line: re.match(r"\d+\.\s", line))


def _fences(lines):
    blocks, block = [], None
    for line in lines:
        if FENCE.match(line):
            block = (blocks.append((*block, line)) if block else None) if block else (line,)
        elif block:
            block = (*block, line)
    return blocks
