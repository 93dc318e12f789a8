"""Leads: what stands at the head of a text and says how the rest is meant, in any language.

Only structure is read: a time, a date, a box, a label with its colon. What the label's words mean
is nobody's business here.
"""

import re
import unicodedata

CLOCK = re.compile(
    r"^(?:\*\*|\[|\()?(?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp]\.?[Mm]\.?)?)(?:\*\*|\]|\))?"
    r"(?:\s*[-–—:：|](?:\*\*)?)?\s+"
)
"""A time of day that a text begins with, and what parts it from the rest."""
DATE = re.compile(
    r"^(?:\*\*|\[|\()?(?P<day>\d{4}-\d{2}-\d{2})(?P<clock>[T ]\d{2}:\d{2}(?::\d{2})?)?"
    r"(?:\*\*|\]|\))?\s*[:：–—-](?:\*\*)?\s+"
)
"""A day, with or without a time, that a text begins with."""
LABEL = 60
"""Columns that a label takes at most; what is longer says something by itself."""

_COLON = (":", "：")
_STOPS = ".!?。！？;；…"
_BOLD_ONLY = re.compile(r"\W*(\*\*|__)(?:(?!\1).)+?\1\W*")
_VALUE = re.compile(
    r"^(?P<mark>\*\*|__|`|)(?P<label>[^\s*_`:：|#<>\[\](){}][^*_`:：|<>]{0,59}?)(?P=mark)?\s*"
    r"(?:[:：]\s*(?P=mark)|(?P=mark)\s*[:：])(?P<value>.*)$", re.S
)  # fmt: skip


def width(text: str) -> int:
    """Return the columns that a text takes, a wide character two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def bare(text: str) -> str:
    """Return a line without its bullet, its box and its emphasis."""
    text = re.sub(r"^\s*(?:[-*+•]\s+)?(?:\[[ xX~-]\]\s+)?", "", text)
    return text.strip().strip("*_~` ")


def introduces(line: str) -> bool:
    """Tell whether a line ends in a colon, so that what follows belongs to it."""
    return bare(line).endswith(_COLON)


def bold(line: str) -> bool:
    """Tell whether a line is bold from end to end."""
    text = line.strip()
    return ("**" in text or "__" in text) and bool(_BOLD_ONLY.fullmatch(text))


def emphasised(line: str) -> bool:
    """Tell whether a line is bold from end to end and no sentence: a heading in all but name."""
    return bold(line) and not closed(line) and attribute(bare(line)) is None


def closed(line: str) -> bool:
    """Tell whether a line ends as a sentence does, marks and emblems behind it aside, or a key."""
    if line.endswith("-----") and "-----END " in line:
        return True
    end = len(line)
    while end and not line[end - 1].isalnum() and line[end - 1] not in _STOPS:
        end -= 1
    return bool(end) and line[end - 1] in _STOPS


def is_label(line: str) -> bool:
    """Tell whether a line is a bare label: short, and it ends in a colon or is all bold."""
    return (introduces(line) or emphasised(line)) and width(bare(line)) <= LABEL


def attribute(text: str) -> tuple[str, str] | None:
    """Return label and value of a text that gives a value to a label; None for any other.

    `Label: value`, `**Label:** value`, `` `label`: value`` on its first line; the label is short,
    and neither a time nor the head of an address.
    """
    found = _VALUE.match(text.partition("\n")[0])
    if not found or not found["value"].strip(" *_") or found["value"].startswith("//"):
        return None
    label = found["label"].strip()
    if (
        width(label) > LABEL
        or closed(label)
        or (label[-1:].isdigit() and found["value"][:1].isdigit())
    ):
        return None
    return label, found["value"].strip()
