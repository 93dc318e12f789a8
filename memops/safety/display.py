"""Display: text from a store, made fit to be seen in a terminal or a spreadsheet."""

import json
import re

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PLAIN = re.compile(r"\n|\x1b\[(?:0|1|3[0-7])m")
_FORMULA = re.compile(r"^[\s\x00-\x1f\u00a0\ufeff]*[=+\-@|%＝＋－＠\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?%?")


def shown(text: str) -> str:
    r"""Return text on one line with everything unseen spelled out.

    Control sequences, line ends, bidirectional and zero-width characters become escapes as Python
    writes them (`\x1b`, `\u202e`), so that no record can forge a line, colour or order of a
    listing. What has a glyph stays, the escape character's own backslash included.
    """
    return _UNSEEN.sub(lambda found: _escape(found[0]), text)


def printed(text: str) -> str:
    """Return text of several lines with everything unseen spelled out but line ends and plain colours.

    The last look at what goes to a terminal, so that no name of a file or query acts on it either.
    """
    parts = _PLAIN.split(text)
    kept = [*_PLAIN.findall(text), ""]
    return "".join(shown(part) + mark for part, mark in zip(parts, kept, strict=True))


def escaped(document: str) -> str:
    r"""Return JSON with everything unseen in its strings escaped as JSON does it.

    It says the same to who reads it, and nothing to a terminal (`\u009b`, `\u202e`).
    """
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], document)


def csv_safe(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: such text gets a leading quote.

    Numbers, as values and as text, stay numbers (OWASP, CSV injection).
    """
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _escape(character: str) -> str:
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
