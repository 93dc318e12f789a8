"""What XingheBot itself does with its files: names, paths, lines, summaries, captures, masking.

Ported function by function from internal/memory at ed70ea9 (named beside each), damage included:
the masking cuts bytes, not characters, and takes any word that contains `sk-` for a key.
"""

import hashlib
import json
import posixpath
import re
from datetime import UTC

HEAD = "# MEMORY"
LAYOUT = ("MEMORY.md", "daily", "index", "sessions")  # fs.go EnsureLayout
RUNES = 1_000
RUNES_OF_A_LINE = 4_000
RUNES_OF_A_TURN = {"tool": 700}  # of any other 900
PATTERNS = (b"sk-", b"tvly-", b"AKIA", b"-----BEGIN", b"authorization_code")  # config.go
MARK = "<!-- memory_md_update:"

_KEYS = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rb"\bsk-[A-Za-z0-9]{10,}\b",
        rb"\btvly-[A-Za-z0-9]{10,}\b",
        rb"\bAKIA[0-9A-Z]{16}\b",
    )
)
_ENDS = re.compile(rb"[ \t\n\r\"',;)\]}]")


def masked(data):
    """redaction.go RedactText: of each secret the first and the last four bytes stay."""
    for pattern in _KEYS:
        data = pattern.sub(lambda found: _token(found[0]), data)
    for pattern in PATTERNS:
        data = _by_substring(data, pattern.lower())
    return b"\n".join(_without_blocks(data.split(b"\n"))) if b"-----BEGIN" in data else data


def _token(token):
    token = token.strip()
    return b"***" if len(token) <= 8 else token[:4] + b"***" + token[-4:]


def _by_substring(data, needle):
    out, at = b"", 0
    while (begin := data.lower().find(needle, at)) >= 0:
        end = _ENDS.search(data, begin + len(needle))
        stop = end.start() if end else len(data)
        out, at = out + data[at:begin] + _token(data[begin:stop]), stop
    return out + data[at:]


def _without_blocks(lines):
    inside = False
    for line in lines:
        begins, ends = line.startswith(b"-----BEGIN"), line.startswith(b"-----END")
        inside = begins or (inside and not ends)
        if begins or ends:
            yield b"-----BEGIN [REDACTED]-----" if begins else b"-----END [REDACTED]-----"
        elif not inside:
            yield line


def tags_of(tags):
    """helpers.go formatTags."""
    named = [t if t.startswith("#") else f"#{t}" for t in map(str.strip, tags) if t]
    return " ".join(dict.fromkeys(named))


def daily_line(kind, text, tags, source, at):
    """fs.go AppendDaily: path and bytes; the file by the day where `at` is, the instant in UTC."""
    line = f"- {instant(at)} [{kind.strip().lower() or 'note'}] {text.strip()}"
    line += f" {tags_of(tags)}" if tags_of(tags) else ""
    line += f" (source={source.strip()})" if source.strip() else ""
    data = masked(line.encode())
    said = data.decode("utf-8", "surrogateescape")
    if len(said) > RUNES_OF_A_LINE:
        data = f"{said[:RUNES_OF_A_LINE]}…".encode("utf-8", "surrogateescape")
    return f"daily/{at:%Y-%m-%d}.md", data.rstrip(b"\r\n")


def daily_key(line):
    """fs.go dailyLineKey: what two lines of one file share that are not both appended; '' for none."""
    said = line.strip()
    found = re.match(r"- [^\[]*?\[([^\]]+)\](.*)", said, re.S)
    kind, content = (part.strip() for part in found.groups()) if found else ("", "")
    at = content.rfind(" (source=")
    if at >= 0 and content.endswith(")"):
        content = content[:at].strip()
    fields, tags = content.split(), []
    while fields and fields[-1].startswith("#") and len(fields[-1]) > 1:
        tags.append(fields.pop())
    text = " ".join(fields).lower().encode()[:800].decode("utf-8", "surrogateescape")
    return (
        "|".join([kind.lower(), text, *([",".join(sorted(tags))] if tags else [])])
        if kind and text
        else ""
    )


def project_key(remote):
    """paths.go projectKeyFromRemote."""
    said = remote.strip().removesuffix(".git")
    if said.startswith("git@"):
        parts = _cut_at(said.removeprefix("git@"), ":", "/")
    elif "://" in said:
        parts = _cut_at(said.split("://", 1)[1].removeprefix("git@"), "/")
    else:
        parts = _cut_at(said, "/", ":")
    host, path = (part.strip() for part in parts)
    path = path.removeprefix("/").removesuffix("/")
    return sanitized(f"{host}_{path.replace('/', '_')}" if path else host) if host else ""


def _cut_at(text, *marks):
    mark = next((mark for mark in marks if mark in text), None)
    return text.split(mark, 1) if mark else (text, "")


def folder_key(path):
    """paths.go deriveProjectKey and ResolvePaths, where there is no remote."""
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:8]
    return sanitized(f"{posixpath.basename(path.rstrip('/')) or 'project'}_{digest}") or "project"


def sanitized(key):
    """paths.go sanitizeKey: a run of other characters is one underscore, its own ones stay."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", key.strip()).strip("._-")


def resolved(path):
    """fs.go safeResolveMarkdownPath; raises ValueError with its words."""
    trimmed = path.strip()
    if not trimmed:
        raise ValueError("path is empty")
    if trimmed.startswith(("/", "~")):
        raise ValueError("path must be relative to memory root")
    plain = posixpath.normpath(trimmed)
    if plain in (".", "..") or plain.startswith(("../", "/")):
        raise ValueError("invalid relative path")
    if not plain.lower().endswith(".md"):
        raise ValueError("only .md files are allowed")
    return plain


def headed(text):
    """memory_md_update.go normalizeMemoryMDOutput."""
    said = text.strip()
    if not said:
        return ""
    for fence in ("```markdown", "```md", "```"):
        said = said.removeprefix(fence)
    said = said.removesuffix("```").strip()
    return said if said.startswith(HEAD) else f"{HEAD}\n\n{said}".strip()


def stamped(text, run, at):
    """memory_md_update.go ensureMemoryMDUpdateStamp: in place of the first one, else below the head."""
    lines = text.strip().split("\n")
    if lines == [""]:
        return ""
    stamp = f"{MARK} at={instant(at)} source={run.strip() or 'unknown'} -->"
    marked = [n for n, line in enumerate(lines) if line.strip().startswith(MARK)]
    if marked:
        lines[marked[0]] = stamp
        return "\n".join(line for n, line in enumerate(lines) if n not in marked[1:]).strip()
    place = next((n + 1 for n, line in enumerate(lines) if line.strip().startswith(HEAD)), 0)
    return "\n".join([*lines[:place], stamp, *lines[place:]]).strip()


def cut(text, runes=RUNES):
    """memory_md_update.go hardTruncateMemoryMD: whole lines, of so many characters at most."""
    said = text.strip()
    if len(said) <= runes:
        return said
    said = said[:runes]
    newline = said.rfind("\n")
    said = (said[:newline].strip() if newline > 0 else said) or HEAD
    return said.strip() if said.strip().startswith(HEAD) else f"{HEAD}\n\n{said.strip()}"


def rewritten(answer, run, at):
    """memory_md_update.go UpdateMemoryMDFromTurn, from the model's answer on."""
    text = stamped(masked(headed(answer).encode()).decode("utf-8", "surrogateescape"), run, at)
    for _ in range(2):
        text = stamped(cut(text), run, at)
    return cut(text)


def summary_block(day, made, runs, summary):
    """daily_summary.go buildDailySummaryBlock."""
    head = f"## Daily Summary (auto)\n<!-- auto_daily_summary: {day} -->\n- date: {day}\n"
    head += f"- generated_at: {made.isoformat()}\n- source_runs: {', '.join(runs).strip() or 'unknown'}\n\n"
    lines = [line.rstrip("\r") for line in summary.strip().split("\n") if line.strip()]
    return (head + "\n".join(lines)).rstrip("\n") if lines else head


def captured(run, at, turns, summary=""):
    """capture.go CaptureSessionFromHistory: path and bytes of (time as written, role, text) turns."""
    head = f"# Session Capture\n\n- run_id: {run}\n- captured_at: {instant(at)}\n\n"
    if said := masked(summary.strip().encode()).decode("utf-8", "surrogateescape"):
        said = said if len(said) <= RUNES_OF_A_LINE else f"{said[:RUNES_OF_A_LINE]}…"
        head += "## Compaction Summary\n\n"
        head += (
            "".join(f"- {' '.join(line.split())}\n" for line in said.split("\n") if line.strip())
            + "\n"
        )
    lines = [f"- {time or '?'} {role}: {_turn(role, text)}\n" for time, role, text in turns]
    whole = f"{head}## Messages (last {len(lines)})\n\n" + "".join(lines)
    return f"sessions/{at.astimezone(UTC):%F}-{run}.md", whole.encode("utf-8", "surrogateescape")


def _turn(role, text):
    said, most = " ".join(text.split()), RUNES_OF_A_TURN.get(role, 900)
    said = f"{said[:most]}…" if len(said) > most else said
    return masked(said.encode()).decode("utf-8", "surrogateescape")


def flush_marker(run, size, at):
    """capture.go writeCaptureFlushMarker: name and content of the file."""
    fraction = at.strftime(".%f").rstrip("0").rstrip(".")
    said = {"size": max(size, 0), "mod_time": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"}
    return f".session_capture_flush.{sanitized(run) or 'run'}.json", json.dumps(
        said, separators=(",", ":")
    )


def instant(at):
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
