"""Lists of codes: what stands beside a code of the same form, and the further groups of a number."""

import re

import polars as pl

_LISTED = 24  # characters between codes of one list, in a line
_BELOW = 48  # and from one that ends its line to one that ends the next
_CODE = re.compile("[0-9A-Za-z]{2,6}")


def of_one_list(texts: pl.Series, spans: pl.DataFrame) -> pl.DataFrame:
    """Return codes in groups beside or under one of the same form, as backup codes are given.

    `spans` (row, start, end, nth) are secrets that are found already; so are those returned.
    """
    rows: list[tuple[int, int, int, int]] = []
    for row, start, end, nth in spans.iter_rows():
        text = texts[row]
        if _CODE.fullmatch(text[start:end]) and (more := _further(text, end)):
            end = more.end()
        groups = re.split("([ -])", text[start:end])
        if len(groups) < 3 or not all(map(_CODE.fullmatch, groups[::2])):
            continue
        form = "".join(g if g in " -" else f"{_class(g)}{{{len(g)}}}" for g in groups)
        all_ = re.compile(rf"(?<![\w-])(?:{form})(?![\w-])").finditer(text)
        rows += [(row, start, end, nth)]
        for other in all_:
            between = text[end : other.start()] or text[other.end() : start]
            last = all(text[at : at + 1] in ("", "\n") for at in (end, other.end()))
            if len(between) <= (_BELOW if last else _LISTED) and between.count("\n") <= last:
                rows.append((row, *other.span(), nth))
                start, end = min(start, other.start()), max(end, other.end())
    return pl.DataFrame(rows, spans.schema, orient="row")


def _further(text: str, end: int) -> re.Match[str] | None:
    """The groups of as many digits that go on with a number."""
    begun = re.search("[0-9]+$", text[:end])
    size = len(begun[0]) if begun else 0
    return re.compile(rf"(?:[ -][0-9]{{{size}}})+(?![0-9])").match(text, end) if size else None


def _class(group: str) -> str:
    return "[0-9]" if group.isdigit() else "[A-Za-z]" if group.isalpha() else "[0-9A-Za-z]"
