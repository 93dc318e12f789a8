"""Units: the smallest parts of a file that can stand and go by themselves, and what stands over them.

A unit is a paragraph, a list item with all that is nested in it, a numbered list, a table or a
fence with the line that introduces it, a quotation, what one speaker said, a front matter or a
comment. A heading is none, nor a bare label, a row, a line of code, a step. Headings and labels
are frames: they go when the last unit under them goes, and not before.
"""

from dataclasses import dataclass, field

from memops.documents.lines import bare

NAMED, LABEL = 7, 8
"""Levels of frames beyond headings: a bold line that serves as one, a label over what follows it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a unit stands: its file, the headings and labels over it, the comments that are its own.

    `managed` is a place that software writes and rewrites.
    """

    path: str
    under: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    managed: bool = False


class Dialect:
    """What an engine's files have beyond Markdown: by itself, nothing."""

    def comment(self, text: str) -> str:
        """Return what a comment is: `own` to what is directly below it, the `start` or `end` of
        what software writes, a `mark` that says nothing of a memory, or '' for any other.
        """
        return ""

    def furniture(self, line: str, place: Place) -> bool:
        """Tell whether a block that begins with this line heads its file and is no memory."""
        return False

    def spoken(self, place: Place) -> bool:
        """Tell whether a place is a conversation, in which a turn lasts until the next one."""
        return False

    def turn(self, line: str) -> bool:
        """Tell whether a line of a conversation begins what one speaker said."""
        return False

    def goes_on(self, line: str, place: Place) -> bool | None:
        """Tell whether what stands directly below a line of an item belongs to it: all, or nothing;
        None leaves it to Markdown.
        """
        return None

    def noted(self, place: Place) -> bool:
        """Tell whether lines are added to a place one by one, so that a line of whole sentences
        may be a note of its own.
        """
        return False


FORGOTTEN = "<!-- forgotten -->"
"""What stands in for a unit without which others would read differently; it says nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A heading or label in lines `start` to `stop`; `parent` is the one over it, -1 for none.

    Under one that `stays` there is something that is no unit and never goes.
    """

    start: int
    stop: int
    level: int
    text: str
    parent: int
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `start` to `stop` (from 0); the comments that are its own stand before `line`.

    Kinds: paragraph, item, steps, table, code, quote, html, comment, matter, turn, and led, a
    paragraph with the list that it leads in. `frame` is the innermost over it; `block` names what
    stands under the same heading. A `fixed` one opens or closes what the rest of the file needs,
    so it cannot go.
    """

    kind: str
    start: int
    line: int
    stop: int
    frame: int
    block: str
    place: Place
    fixed: bool = False


@dataclass(frozen=True)
class Document:
    """A file as units under frames.

    `loose` gives the frame of each line that only parts others, or introduces nothing: it goes when
    its frame goes. Markers of a merge that was left unfinished make a file a `conflict`. `repeats`,
    of which some are `copied`, and `apart` are those of `memops.documents.repeats`.
    """

    bom: bytes
    lines: list[bytes]
    frames: list[Frame]
    units: list[Unit]
    loose: dict[int, int] = field(default_factory=dict)
    conflict: bool = False
    repeats: dict[int, int] = field(default_factory=dict)
    copied: frozenset[int] = frozenset()
    apart: dict[int, int] = field(default_factory=dict)

    def over(self, frame: int) -> list[int]:
        """Return a frame and those over it, the innermost first."""
        out = []
        while frame >= 0:
            out.append(frame)
            frame = self.frames[frame].parent
        return out

    def repeated(self, line: int) -> dict[str, int]:
        """Return how a line repeats another of its file, with that one's number from 1, if it does."""
        if line in self.repeats:
            return {"copied" if line in self.copied else "again": self.repeats[line] + 1}
        return {"apart": self.apart[line] + 1} if line in self.apart else {}

    def raw(self, unit: Unit) -> bytes:
        """Return a unit's bytes from its first line on, without the end of its last."""
        return bare(b"".join(self.lines[unit.line : unit.stop]))
