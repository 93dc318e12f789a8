"""Reading: a file's bytes into units under their headings and labels."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from memops.documents.blocks import Block, blocks
from memops.documents.leads import attribute, bold, closed, emphasised, introduces, is_label
from memops.documents.leads import bare as bare_text
from memops.documents.lines import BOM, bare, decoded, lines_of
from memops.documents.parts import BARRIERS, Part, balanced, joined, numbered, unbalanced
from memops.documents.repeats import apart, copied, repeats
from memops.documents.units import (
    FORGOTTEN,
    LABEL,
    NAMED,
    Dialect,
    Document,
    Frame,
    Place,
    Unit,
)

_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?:\s|$)")
_HELD = ("steps", "table", "code")  # one with the label over it
_PLAIN = Dialect()


def parse(data: bytes, path: str = "", dialect: Dialect = _PLAIN) -> Document:
    """Return what a file's bytes hold; its lines, joined, are the bytes."""
    bom = BOM if data.startswith(BOM) else b""
    lines = lines_of(data[len(bom) :])
    reader = _Reader(path, [decoded(bare(line)) for line in lines], dialect)
    reader.read()
    frames = [replace(f, stays=n in reader.stays) for n, f in enumerate(reader.frames)]
    conflict = any(map(_CONFLICT.match, lines))
    again = repeats(reader.texts, frames, path)
    far = apart(reader.texts, frames, again)
    long = copied(reader.texts, again)
    again = {line: far.get(stands, stands) for line, stands in again.items()}
    return Document(bom, lines, frames, reader.units, reader.loose, conflict, again, long, far)


class _Reader:
    """Reads one file: its blocks section by section, a section's blocks into units."""

    def __init__(self, path: str, texts: Sequence[str], dialect: Dialect) -> None:
        self.path, self.texts, self.dialect = path, texts, dialect
        self.frames: list[Frame] = []
        self.units: list[Unit] = []
        self.loose: dict[int, int] = {}
        self.stays: set[int] = set()
        self.frame, self.managed = -1, False
        self.seen: Counter[str] = Counter()
        self.block = self._block()

    def read(self) -> None:
        """Read all blocks; a heading, or a bold line that serves as one, begins a section."""
        found, section = blocks(self.texts), list[Block]()
        for nth, block in enumerate(found):
            after = found[nth + 1] if nth + 1 < len(found) else None
            level = block.level if block.kind == "heading" else self._named(block, after)
            if level and not self._said(section, level):
                self._section(section)
                self._enter(block, level)
                self.block = self.block if level == NAMED else self._block()
                section = []
            else:
                section.append(replace(block, kind="paragraph") if level else block)
        self._section(section)

    def _named(self, block: Block, after: Block | None) -> int:
        """Tell whether a paragraph is a bold line by itself, over something that it does not touch."""
        if block.kind != "paragraph" or block.stop - block.start > 1 or after is None:
            return 0
        line = self.texts[block.start]
        apart = after.start > block.stop and after.kind not in ("heading", "rule")
        return NAMED if apart and emphasised(line) and not introduces(line) else 0

    def _said(self, section: Sequence[Block], level: int) -> bool:
        """Tell whether a heading is part of what a speaker said."""
        if not section or not self.dialect.spoken(self._place(self.frame)):
            return False
        over = self.frames[self.frame].level if self.frame >= 0 else 0
        return level > over and any(self.dialect.turn(self.texts[b.start]) for b in section)

    def _enter(self, block: Block, level: int) -> None:
        while self.frame >= 0 and self.frames[self.frame].level >= level:
            self.frame = self.frames[self.frame].parent
        text = self.texts[block.start].strip()
        if block.kind == "heading" and not text.startswith("#"):
            text = f"{'#' * level} {text}"
        self.frame = self._framed(block.start, block.stop, level, text, self.frame)

    def _block(self) -> str:
        """The name of what stands under the present heading; headings that are equal are counted."""
        path = "\n".join(self._place(self.frame).under)
        digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        self.seen[digest] += 1
        return f"{self.path}#{digest}.{self.seen[digest]}"

    def _framed(self, start: int, stop: int, level: int, text: str, parent: int) -> int:
        self.frames.append(Frame(start, stop, level, text, parent))
        if unbalanced(text):
            self._keep(len(self.frames) - 1)
        return len(self.frames) - 1

    def _place(self, frame: int) -> Place:
        under, leads = list[str](), list[str]()
        while frame >= 0:
            at = self.frames[frame]
            (under if at.level < NAMED else leads).append(at.text)
            frame = at.parent
        return Place(self.path, tuple(reversed(under)), (), tuple(reversed(leads)))

    def _section(self, section: Sequence[Block]) -> None:
        """Read the blocks between two headings."""
        place = self._place(self.frame)
        parts = self._parts(section, place)
        if self.dialect.spoken(place):
            parts = self._turns(parts)
        parts = numbered(balanced(parts, self.texts))
        at = 0
        while at < len(parts):
            at = self._take(parts, at, self.frame)

    def _parts(self, section: Sequence[Block], place: Place) -> list[Part]:
        """Blocks as parts: a comment goes to what it belongs to, and parts no list."""
        out: list[Part] = []
        own = Part("comment", -1, -1, -1)
        for block in section:
            start = own.start if own.stop == block.start else block.start
            what = ""
            if block.kind == "comment":
                said = "\n".join(self.texts[block.start : block.stop])
                if said.strip() == FORGOTTEN:
                    continue
                what = self.dialect.comment(said)
                self.managed = what == "start" or (self.managed and what != "end")
            if what == "own":
                own = Part("comment", start, start, block.stop)
            elif what:
                self._keep(self.frame)
            else:
                part = Part.of(block, start, self.managed)
                if part.line > part.start and out and out[-1].kind == part.kind == "item":
                    part = replace(part, group=out[-1].group)
                if self.dialect.furniture(self.texts[block.start], place):
                    part = replace(part, kind="furniture")
                out += self._ended(part, place)
        return out

    def _ended(self, part: Part, place: Place) -> list[Part]:
        """A part up to the line that ends it, and what stands below that."""
        noted = self.dialect.noted(place)
        if part.kind == "paragraph":
            return self._lines(part) if noted else [part]
        if part.kind != "item":
            return [part]
        for n in range(part.line, part.stop - 1):
            goes_on = self._goes_on(n, place)
            alone = (
                noted and closed(self.texts[n]) and not self.texts[n + 1].startswith((" ", "\t"))
            )
            if goes_on is False or (alone and goes_on is None and self.texts[n + 1]):
                rest = replace(part, kind="paragraph", start=n + 1, line=n + 1, group=-1)
                return [replace(part, stop=n + 1), *(self._lines(rest) if noted else [rest])]
        return [part]

    def _lines(self, part: Part) -> list[Part]:
        """The lines of a paragraph, where each is a whole sentence."""
        if not all(map(closed, self.texts[part.line : part.stop])):
            return [part]
        lines = range(part.line + 1, part.stop)
        first = replace(part, stop=part.line + 1)
        return [first, *(replace(part, start=n, line=n, stop=n + 1) for n in lines)]

    def _goes_on(self, line: int, place: Place) -> bool | None:
        return self.dialect.goes_on(self.texts[line], place)

    def _turns(self, parts: Sequence[Part]) -> list[Part]:
        """Parts of a conversation: all that stands from one speaker's line to the next is one."""
        out: list[Part] = []
        for part in parts:
            lines = {"paragraph": part.stop, "item": part.line + 1}.get(part.kind, part.line)
            at = [n for n in range(part.line, lines) if self.dialect.turn(self.texts[n])]
            before = replace(part, stop=at[0]) if at else part
            if before.stop > before.line:
                if out and out[-1].kind == "turn":
                    out[-1] = joined((out[-1], before), "turn")
                else:
                    out.append(before)
            for begin, end in zip(at, [*at[1:], part.stop], strict=False):
                out.append(replace(part, kind="turn", start=begin, line=begin, stop=end))
        return out

    def _take(self, parts: list[Part], at: int, frame: int) -> int:
        """Make units of the part at `at` and what belongs to it; return where the next one is."""
        part = parts[at]
        follows = at + 1
        while follows < len(parts) and parts[follows].kind == "comment":
            follows += 1
        if follows < len(parts) and parts[follows].kind in BARRIERS:
            follows = len(parts)
        if part.kind == "rule":
            self.loose[part.line] = frame
        elif part.kind == "furniture":
            self._keep(frame)
        elif part.kind == "paragraph":
            return self._paragraph(parts, at, follows, frame)
        elif part.kind == "item":
            return self._item(parts, at, follows, frame)
        else:
            self._unit(part, frame)
        return at + 1

    def _paragraph(self, parts: list[Part], at: int, follows: int, frame: int) -> int:
        part, last = parts[at], self.texts[parts[at].stop - 1]
        single = part.stop - part.line == 1 and is_label(last)
        if follows == len(parts):
            return self._alone(part, frame, single and introduces(last), at)
        after = parts[follows]
        touches = after.start == part.stop
        if single and (introduces(last) or touches):
            return self._label(parts, at, follows, frame)
        place = self._place(frame)
        free = self._goes_on(part.stop - 1, place) is None and not self.dialect.noted(place)
        leads = free or (part.stop - part.line == 1 and bold(last))
        led = after.kind in ("item", *_HELD) and touches and leads and not closed(last)
        if introduces(last) or led or (after.kind == "code" and touches):
            return self._as_one(parts, at, follows, frame)
        self._unit(part, frame)
        return at + 1

    def _item(self, parts: list[Part], at: int, follows: int, frame: int) -> int:
        part, text = parts[at], self.texts[parts[at].line]
        if follows < len(parts) and self._touches(part, parts[follows], frame):
            parts[follows] = joined(parts[at : follows + 1], "item")
            return self._take(parts, follows, frame)
        if part.stop - part.line > 1 or not introduces(text):
            self._unit(part, frame)
            return at + 1
        flat = at + 1
        while flat < len(parts) and self._beside(parts[flat - 1], parts[flat]):
            flat += 1
        if flat > at + 1 and is_label(text):
            return self._over(parts, at, flat, frame)
        if flat > at + 1:
            self._unit(joined(parts[at:flat], "item"), frame)
            return flat
        after = parts[follows] if follows < len(parts) else part
        if after.group != part.group and after.kind in ("item", *_HELD):
            return self._label(parts, at, follows, frame)
        return self._alone(part, frame, is_label(text), at)

    def _alone(self, part: Part, frame: int, label: bool, at: int) -> int:
        """Make a unit of a part, unless it is a label over nothing; return where the next one is."""
        if label:
            self.loose[part.line] = frame
        else:
            self._unit(part, frame)
        return at + 1

    def _touches(self, part: Part, after: Part, frame: int) -> bool:
        """Tell whether what stands directly below an item is still its own."""
        if after.start != part.stop or after.kind in ("item", "comment"):
            return False
        goes_on = self._goes_on(part.stop - 1, self._place(frame))
        return after.kind == "code" if goes_on is None else goes_on

    def _beside(self, part: Part, after: Part) -> bool:
        """Tell whether an item goes on with the points of a label that stands in its own list."""
        text = self.texts[after.line]
        named = emphasised(bare_text(text)) or introduces(text) or attribute(bare_text(text))
        return after.group == part.group and after.start == part.stop and not named

    def _label(self, parts: list[Part], at: int, follows: int, frame: int) -> int:
        """Put a label over what follows it, or make one of both."""
        after = parts[follows]
        if after.kind in _HELD:
            parts[follows] = joined(parts[at : follows + 1], after.kind)
            return self._take(parts, follows, frame)
        first, second = self.texts[parts[at].line], self.texts[after.line]
        if after.kind == "paragraph" and emphasised(first.rstrip(":： ")) and is_label(second):
            return self._alone(parts[at], frame, True, at)
        return self._over(parts, at, self._end(parts, follows), frame)

    def _over(self, parts: list[Part], at: int, stop: int, frame: int) -> int:
        part = parts[at]
        level = max(LABEL, self.frames[frame].level + 1 if frame >= 0 else 0)
        under = self._framed(part.start, part.stop, level, self.texts[part.line].strip(), frame)
        at += 1
        while at < stop:
            at = self._take(parts, at, under)
        return at

    def _as_one(self, parts: list[Part], at: int, follows: int, frame: int) -> int:
        """Make one unit of a paragraph and what it leads in."""
        stop, after = self._end(parts, follows), parts[follows]
        self._unit(joined(parts[at:stop], after.kind if after.kind in _HELD else "led"), frame)
        return stop

    def _end(self, parts: Sequence[Part], at: int) -> int:
        """Return where the list ends that begins at `at`; a part by itself ends behind it."""
        stop = at + 1
        while (
            stop < len(parts) and parts[at].kind == "item" and parts[stop].group == parts[at].group
        ):
            stop += 1
        return stop

    def _keep(self, frame: int) -> None:
        while frame >= 0:
            self.stays.add(frame)
            frame = self.frames[frame].parent

    def _unit(self, part: Part, frame: int) -> None:
        above = tuple(self.texts[part.start : part.line])
        place = replace(self._place(frame), above=above, managed=part.managed)
        self.units.append(
            Unit(part.kind, part.start, part.line, part.stop, frame, self.block, place, part.fixed)
        )
