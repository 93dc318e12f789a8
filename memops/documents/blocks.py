"""Blocks: where each heading, paragraph, list item, table, fence and comment of a text stands.

Read by markdown-it (CommonMark and tables), whose block tokens know their lines; inline markup is
not read. Beyond CommonMark, as notes are written: lines of one paragraph that each begin with a
mark of their own (a bullet that is none in Markdown, an emblem, a time, a bold label) are items;
`1、` and `(1)` number steps; a comment that never ends is text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from memops.documents.leads import CLOCK, DATE, attribute, is_label
from memops.documents.lines import blank

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT = 200  # lines in which a front matter ends
_PAIR = re.compile(r"^\s*(?:[\w-]+\s*:|-\s|#|$)")
_COMMENTS = re.compile(r"(?:\s*<!--.*?-->)+\s*", re.S)
_STEP = re.compile(r"^\s*(?:(?P<open>[(（])(?P<in>\d{1,3})[)）]|(?P<at>\d{1,3})(?P<mark>[、．]))")
_BOLD = re.compile(r"^\s*(?:\*\*|__)[^*_]{1,60}[:：]?\s*(?:\*\*|__)\s*[:：]?")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `start` to `stop` (from 0), trailing blank ones apart.

    Kinds: matter, heading, rule, paragraph, item, steps, table, code, quote, html, comment. `level`
    is a heading's; `group` tells the lists of a text apart; `numbers` are those of the first and
    the last step, `mark` what stands behind them; `open` is a fence that nothing closes.
    """

    kind: str
    start: int
    stop: int
    level: int = 0
    group: int = -1
    numbers: tuple[int, int] = (0, 0)
    mark: str = ""
    open: bool = False


def blocks(texts: Sequence[str]) -> list[Block]:
    """Return the blocks of a text, given as lines without their ends, in order."""
    begin = _front_matter(texts)
    found = [Block("matter", 0, begin)] if begin else []
    shadow = [""] * begin + [line.replace("\r", " ") for line in texts[begin:]]
    whole = "\n".join(shadow)
    closed = whole.rfind("-->") + 1
    whole = whole[:closed] + whole[closed:].replace("<!--", "(!--")
    tokens = [t for t in _parser().parse(whole) if t.level <= 1 and t.map and t.nesting >= 0]
    for nth, token in enumerate(tokens):
        if token.level == 0:
            items = _below(tokens, nth + 1)
            found += _read(token, items, texts, len(found))
    return found


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark").enable("table").disable("reference")
    made.core.ruler.disable("inline")
    return made


def _below(tokens: "Sequence[Token]", at: int) -> "list[Token]":
    out = []
    while at < len(tokens) and tokens[at].level == 1:
        if tokens[at].type == "list_item_open":
            out.append(tokens[at])
        at += 1
    return out


def _read(
    token: "Token", items: "list[Token]", texts: Sequence[str], serial: int
) -> Iterator[Block]:
    start, stop = _trimmed(texts, *(token.map or (0, 0)))
    match token.type:
        case "heading_open":
            yield from _heading(token, start, stop)
        case "hr":
            yield Block("rule", start, stop)
        case "bullet_list_open":
            for item in items:
                yield Block("item", *_trimmed(texts, *(item.map or (0, 0))), group=serial)
        case "ordered_list_open":
            ends = int(items[0].info or 0), int(items[-1].info or 0)
            yield Block("steps", start, stop, group=serial, numbers=ends, mark=token.markup)
        case "table_open":
            yield Block("table", start, stop)
        case "fence" | "code_block":
            yield Block("code", start, stop, open=_unclosed(token, texts, stop))
        case "blockquote_open":
            yield Block("quote", start, stop)
        case "html_block":
            said = "\n".join(texts[start:stop])
            yield Block("comment" if _COMMENTS.fullmatch(said) else "html", start, stop)
        case _:
            yield from _paragraph(texts, start, stop, serial)


def _heading(token: "Token", start: int, stop: int) -> Iterator[Block]:
    """A line of dashes under several lines is a rule under a paragraph: notes mean it so."""
    if token.markup in ("=", "-") and stop - start > 2:
        yield Block("paragraph", start, stop - 1)
        yield Block("rule", stop - 1, stop)
    else:
        yield Block("heading", start, stop, level=int(token.tag[1]))


def _trimmed(texts: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    while stop > start + 1 and blank(texts[stop - 1]):
        stop -= 1
    return start, stop


def _unclosed(token: "Token", texts: Sequence[str], stop: int) -> bool:
    """Tell whether a fence goes on to the end of the text for want of another."""
    if token.type != "fence" or token.map is None:
        return False
    last = texts[stop - 1].strip().lstrip("> ")
    closes = last.startswith(token.markup) and not last.strip(token.markup[0])
    return not closes or stop - token.map[0] < 2


def _front_matter(texts: Sequence[str]) -> int:
    if not texts or texts[0].rstrip() != "---":
        return 0
    closing = next(
        (n for n, text in enumerate(texts[1:_FRONT], 1) if text.rstrip() in ("---", "...")), None
    )
    known = closing and any(":" in text for text in texts[1:closing])
    return closing + 1 if closing and known and all(map(_PAIR.match, texts[1:closing])) else 0


def _paragraph(texts: Sequence[str], start: int, stop: int, serial: int) -> Iterator[Block]:
    lines = texts[start:stop]
    if _STEP.match(lines[0]):
        yield _steps(start, stop, [found for found in map(_STEP.match, lines) if found])
        return
    led = len(lines) > 2 and is_label(lines[0]) and not _mark(lines[0])
    begin = start + 1 if led else start
    at = _places(texts[begin:stop])
    if not at:
        yield Block("paragraph", start, stop)
        return
    if led:
        yield Block("paragraph", start, begin)
    for first, last in zip(at, [*at[1:], stop - begin], strict=True):
        yield Block("item", begin + first, begin + last, group=serial)


def _steps(start: int, stop: int, numbered: list[re.Match[str]]) -> Block:
    first, last = (int(found["in"] or found["at"]) for found in (numbered[0], numbered[-1]))
    mark = numbered[0]["open"] or numbered[0]["mark"]
    return Block("steps", start, stop, numbers=(first, last), mark=mark)


def _places(lines: Sequence[str]) -> list[int]:
    """Where the lines begin that stand by themselves; none for a paragraph that is one."""
    mark = _mark(lines[0])
    if not mark:
        return []
    marked = [n for n, line in enumerate(lines) if _mark(line) == mark]
    whole = mark != "label" or len(marked) == len(lines)
    return marked if len(marked) > 1 and whole else []


def _mark(line: str) -> str:
    """What a line begins with that lets it stand by itself; '' for nothing."""
    text = line.lstrip()
    if _emblem(text):
        return "emblem"
    if DATE.match(text):
        return "date"
    if CLOCK.match(text):
        return "clock"
    if (bold := _BOLD.match(text)) and (":" in bold[0] or "：" in bold[0]):
        return "bold"
    return "label" if attribute(text) else ""


def _emblem(text: str) -> bool:
    """Tell whether a text begins with a symbol by itself: • ▪ – or an emblem such as ✅."""
    first, _, rest = text.partition(" ")
    head = first.rstrip("\ufe0f\u200d")
    if not rest or not head or head.isascii() or len(head) > 2:
        return False
    return all(unicodedata.category(c)[0] == "S" or c in "•‣⁃–—" for c in head)
