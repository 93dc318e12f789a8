"""What XingheBot itself writes: daily lines, summaries, captures, and the masking it does first.

Reproduced from internal/memory at ed70ea9, damage included: the masking cuts bytes, not
characters, and takes any word that contains `sk-` for a key.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from memops.stores.xinghebot_formats import cut, headed, stamped

RUNES_OF_A_LINE = 4_000
RUNES_OF_A_TURN = 900
LOOKED_FOR = (b"sk-", b"tvly-", b"akia", b"-----begin", b"authorization_code")
"""What begins a secret to XingheBot, wherever it stands and however it is written."""

_KEYS = re.compile(rb"\b(?:sk-|tvly-)[A-Za-z0-9]{10,}\b|\bAKIA[0-9A-Z]{16}\b", re.ASCII)
_ENDS = re.compile(rb"[ \t\n\r\"',;)\]}]")
_FENCE = re.compile(r"\A\s*```[^\n]*\n(.*?)\n?```\s*\Z", re.S)


def masked(data: bytes) -> bytes:
    """Return text as XingheBot masks it: of each secret the first and the last four bytes stay."""
    data = _KEYS.sub(lambda found: _shortened(found[0]), data)
    for needle in LOOKED_FOR:
        out, at = b"", 0
        while (begin := data.lower().find(needle, at)) >= 0:
            end = _ENDS.search(data, begin + len(needle))
            stop = end.start() if end else len(data)
            out += data[at:begin] + _shortened(data[begin:stop])
            at = stop
        data = out + data[at:]
    return data


def daily_line(
    kind: str, text: str, tags: Sequence[str], source: str, at: datetime
) -> tuple[str, bytes]:
    """Return path and line of a note: its file by the day where `at` is, its instant in UTC."""
    line = f"- {_instant(at)} [{kind.strip().lower() or 'note'}] "
    line += text.strip() + "".join(f" #{tag}" for tag in dict.fromkeys(tags))
    line += f" (source={source.strip()})" if source.strip() else ""
    data = masked(line.encode())
    said = data.decode("utf-8", "surrogateescape")
    if len(said) > RUNES_OF_A_LINE:
        data = f"{said[:RUNES_OF_A_LINE]}…".encode("utf-8", "surrogateescape")
    return f"daily/{at:%Y-%m-%d}.md", data.rstrip(b"\r\n")


def summary_block(day: date, made: datetime, runs: Sequence[str], summary: str) -> str:
    """Return the block that is put after a day's notes; its mark keeps a second one away."""
    head = (
        f"## Daily Summary (auto)\n<!-- auto_daily_summary: {day} -->\n- date: {day}\n"
        f"- generated_at: {made.isoformat()}\n- source_runs: {', '.join(runs) or 'unknown'}\n\n"
    )
    lines = [line.rstrip("\r") for line in summary.strip().split("\n") if line.strip()]
    return (head + "\n".join(lines)).rstrip("\n")


def captured(
    run: str, at: datetime, turns: Sequence[tuple[datetime | None, str, str]], summary: str = ""
) -> tuple[str, bytes]:
    """Return path and content of a captured session: (instant, role, text) turns, a line each."""
    head = f"# Session Capture\n\n- run_id: {run}\n- captured_at: {_instant(at)}\n\n"
    if summary.strip():
        said = [f"- {' '.join(line.split())}\n" for line in summary.split("\n") if line.strip()]
        head += "## Compaction Summary\n\n" + "".join(said) + "\n"
    lines = [f"- {_instant(said)} {role}: {_turn(text)}\n" for said, role, text in turns]
    whole = f"{head}## Messages (last {len(lines)})\n\n" + "".join(lines)
    return f"sessions/{at.astimezone(UTC):%F}-{run}.md", masked(whole.encode())


def rewritten(answer: str, run: str, at: datetime) -> str:
    """Return MEMORY.md as it is after a model's answer: no fence, its heading, its stamp, cut."""
    fenced = _FENCE.match(answer)
    return cut(stamped(headed((fenced[1] if fenced else answer).strip()), run, at))


def _instant(at: datetime | None) -> str:
    return "?" if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _turn(text: str) -> str:
    said = " ".join(text.split())
    return f"{said[:RUNES_OF_A_TURN]}…" if len(said) > RUNES_OF_A_TURN else said


def _shortened(token: bytes) -> bytes:
    return b"***" if len(token) <= 8 else token[:4] + b"***" + token[-4:]
