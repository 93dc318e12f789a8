"""clawseed's chunker: Markdown in pieces of a bounded number of bytes (its chunker.rs)."""

from collections.abc import Callable, Iterator


def chunks(text: str, most_tokens: int) -> list[tuple[str | None, str]]:
    """Return (heading, content) pieces of Markdown of at most 4 x `most_tokens` bytes."""
    made = [
        (heading, piece.strip())
        for heading, body in _sections(text)
        for piece in _pieces(heading, body, 4 * most_tokens)
    ]
    return [(heading, content) for heading, content in made if content]


def _sections(text: str) -> Iterator[tuple[str | None, str]]:
    heading: str | None = None
    body = ""
    for line in _lines(text):
        if line.startswith(("# ", "## ", "### ")):
            yield heading, body
            heading, body = line, ""
        else:
            body += f"{line}\n"
    yield heading, body


def _pieces(heading: str | None, body: str, most: int) -> Iterator[str]:
    start = f"{heading}\n" if heading else ""
    if _size(start + body) <= most:
        yield start + body
        return
    current = start
    for paragraph in _runs(body, lambda held, line: not line.strip()):
        if _size(current) + _size(paragraph) > most and current.strip():
            yield current
            current = start
        if _size(paragraph) > most:
            if current.strip():
                yield current
                current = start
            yield from _runs(paragraph, lambda held, line: _size(held) + _size(line) + 1 > most)
        else:
            current += f"{paragraph}\n"
    yield current


def _runs(text: str, ends: Callable[[str, str], bool]) -> Iterator[str]:
    """Lines together until one ends the run; a blank one belongs to none."""
    held = ""
    for line in _lines(text):
        if held and ends(held, line):
            yield held
            held = ""
        if line.strip():
            held += f"{line}\n"
    if held.strip():
        yield held


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _size(text: str) -> int:
    return len(text.encode())
