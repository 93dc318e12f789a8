"""Sample stores: two small, polluted, bilingual memories of made-up people, made anew on demand.

    python data/make_samples.py OUTDIR     writes OUTDIR/clawseed and OUTDIR/openclaw

The texts stand in data/samples/*.toml, clawseed's schema beside them; every time is counted back
from `NOW`, every choice comes from one seed, so the same call writes the same records and the same
Markdown bytes. Secrets are put together here, out of pieces, so that no file in the repository
holds one.
"""

import hashlib
import os
import random
import re
import sqlite3
import string
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SEED = 20260601
LOCAL = timezone(timedelta(hours=8))
IDS = uuid.uuid5(uuid.NAMESPACE_DNS, "samples.memops")
HERE = Path(__file__).resolve().parent
SCHEMA = (HERE / "samples" / "clawseed.sql").read_text(encoding="utf-8")


def main(out: Path) -> None:
    """Write both sample stores into a directory."""
    build(out)


def build(out: Path, now: datetime = NOW, seed: int = SEED) -> None:
    """Write `clawseed` and `openclaw` workspaces into a directory, as they would stand at `now`."""
    build_clawseed(out / "clawseed", now, seed)
    build_openclaw(out / "openclaw", now, seed)


def build_clawseed(workspace: Path, now: datetime = NOW, seed: int = SEED) -> None:
    """Write a clawseed workspace: `memory/brain.db` with its full-text index and triggers."""
    path = workspace / "memory" / "brain.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob("brain.db*"):
        old.unlink()
    rng = random.Random(seed)
    memories = _clawseed_memories(_texts("clawseed", now, seed))
    rows = sorted((_row(memory, now, rng) for memory in memories), key=itemgetter(5, 1))
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(SCHEMA)
        db.execute("BEGIN IMMEDIATE")
        db.executemany(f"INSERT INTO memories VALUES ({','.join('?' * 12)})", rows)
        db.execute("COMMIT")
    finally:
        db.close()


def build_openclaw(workspace: Path, now: datetime = NOW, seed: int = SEED) -> None:
    """Write an OpenClaw workspace: MEMORY.md, USER.md, daily notes, topics and sessions."""
    texts = _texts("openclaw", now, seed)
    files = {"MEMORY.md": texts["memory_md"], "USER.md": texts["user_md"], **texts["topics"]}
    files |= _daily_notes(texts, now, random.Random(seed))
    files |= _session_notes(texts["sessions"], now)
    for name, lines in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(("\n".join(lines) + "\n").encode())
        dated = re.search(r"\d{4}-\d\d-\d\d", name)
        day = datetime.fromisoformat(dated[0]) if dated else now - timedelta(days=6)
        written = day.replace(hour=20, tzinfo=LOCAL).timestamp()
        os.utime(path, (written, written))  # a file written just now would wait for its agent


def secrets(seed: int = SEED) -> dict[str, str]:
    """Return the made-up secrets, none of them valid anywhere, by the name that texts call them."""
    rng = random.Random(seed + 1)
    mixed = string.ascii_letters + string.digits

    def some(n: int, of: str = mixed) -> str:
        return "".join(rng.choice(of) for _ in range(n))

    return {
        "model_key": "sk-" + "proj-" + some(40),
        "git_token": "ghp" + "_" + some(36),
        "cloud_id": "AK" + "IA" + some(16, string.ascii_uppercase + "234567"),
        "cloud_secret": some(40),
        "pay_key": "sk" + "_live_" + some(28),
        "password": some(6) + "!" + some(5) + "7q",
        "password2": some(5) + "#" + some(6) + "2w",
        "citizen_id": _citizen_id("33020519880914" + some(3, string.digits)),
        "bank_card": _luhn("62284803" + some(10, string.digits)),
        "phone": "138" + some(8, string.digits),
    }


def record_id(key: str) -> str:
    """Return the id of the clawseed sample record with that key."""
    return str(uuid.uuid5(IDS, f"clawseed/{key}"))


def cut(turn: str) -> str:
    """Return what clawseed keeps of a turn: at most 50 bytes, back to the last space."""
    text = " ".join(line for line in turn.splitlines() if line.strip() and line[:1] not in "[#")
    if len(text.encode()) <= 50:
        return text
    short = text.encode()[:50].decode(errors="ignore")
    return short[: short.rfind(" ")] + "…" if " " in short else short + "…"


class Memory(NamedTuple):
    """One row to be: `key` is empty for a row that clawseed itself would name."""

    key: str
    text: str
    category: str
    ago: float
    importance: float = 0.5
    namespace: str = "default"
    session: str | None = None
    superseded_by: str | None = None


def _clawseed_memories(texts: dict[str, Any]) -> Iterator[Memory]:
    yield from (Memory(key, text, "core", ago, value) for key, ago, value, text in texts["facts"])
    for chain in texts["chains"]:
        yield from _chain(chain)
    for i, pair in enumerate(texts["lookalikes"]):
        for nth, text in enumerate(pair):
            yield Memory(f"pair_{i:02d}_{'ab'[nth]}", text, "core", 175 - 9 * i - 2 * nth, 0.55)
    for i, group in enumerate(texts["duplicates"]):
        for nth, text in enumerate(group):
            yield Memory(f"again_{i:02d}_{'abc'[nth]}", text, "core", 150 - 7 * i - 20 * nth)
    for name in ("secrets", "injections", "questions", "buried"):
        for i, (category, text) in enumerate(texts[name]):
            yield _said(f"{name}_{i:02d}", text, category, 75 - 6 * i + len(name))
    for i, (category, ago, text) in enumerate(texts["expired"]):
        yield _said(f"until_{i:02d}", text, category, ago)
    for i, (namespace, ago, text) in enumerate(texts["others"]):
        yield Memory(f"{namespace}_{i:02d}", text, "core", ago, 0.6, namespace)
    yield from _noise(texts)


def _chain(chain: dict[str, Any]) -> Iterator[Memory]:
    keys = [f"{chain['name']}_{i}" for i in range(len(chain["values"]))]
    for key, newer, (ago, text) in zip(keys, [*keys[1:], None], chain["values"], strict=True):
        prefix = f"[SUPERSEDED by '{newer}'] " if newer and chain["form"] == "prefix" else ""
        by = newer if chain["form"] == "column" else None
        yield Memory(key, prefix + text, "core", ago, 0.65, superseded_by=by)


def _noise(texts: dict[str, Any]) -> Iterator[Memory]:
    """Banners again and again, and turns of chat: cut in `daily`, some also whole."""
    for i, (text, times) in enumerate(texts["banners"]):
        yield from (_said("", text, "conversation", 3 + 8 * n + i) for n in range(times))
    for i, (said, answered) in enumerate(texts["turns"]):
        both = f"User: {said}\nAssistant: {answered}"
        yield _said("", both, "daily", 4 + 2 * i)
        if i % 3:
            yield _said("", both, "daily", 61 - i)
        if i % 2:
            yield _said("", said, "conversation", 5 + 2 * i)


def _said(key: str, text: str, category: str, ago: float) -> Memory:
    if category == "note":
        return Memory(key, text, category, ago, 0.3)
    if category == "daily":
        return Memory("", cut(text), category, ago)
    session = f"sess-{int(ago) % 5}" if category == "conversation" else None
    return Memory("" if session else key, text, category, ago, session=session)


def _row(memory: Memory, now: datetime, rng: random.Random) -> tuple[Any, ...]:
    later = timedelta(microseconds=rng.randrange(3_600_000_000))
    at = (now - timedelta(days=memory.ago) + later).astimezone(LOCAL)
    stamp = f"{at:%Y-%m-%dT%H:%M:%S.%f}{rng.randrange(1000):03d}+08:00"
    tail = uuid.UUID(int=rng.getrandbits(128), version=4)
    named = {"daily": f"daily_{at:%Y-%m-%d}_{tail}", "conversation": f"webhook_msg_{tail}"}
    key = memory.key or named[memory.category]
    digest = hashlib.sha256(memory.text.encode()).hexdigest()[:16]
    about = (memory.session, memory.namespace, memory.importance, memory.superseded_by, digest)
    return (record_id(key), key, memory.text, memory.category, None, stamp, stamp, *about)


def _daily_notes(texts: dict[str, Any], now: datetime, rng: random.Random) -> dict[str, list[str]]:
    """Every dated line in the note of its day (four days share one), in one of four manners."""
    alone = ("facts", "lookalikes", "secrets", "injections", "questions", "expired", "todos")
    dated = [line for name in alone for line in texts[name]]
    dated += [line for name in ("chains", "duplicates") for group in texts[name] for line in group]
    days: dict[int, list[str]] = {}
    for ago, text in dated:
        days.setdefault(-(-ago // 4) * 4, []).append(text)
    notes: dict[str, list[str]] = {}
    for nth, ago in enumerate(sorted(days, reverse=True)):
        lines = days[ago] + rng.sample(texts["chatter"], 2)
        rng.shuffle(lines)
        day = _day(now, ago)
        notes[f"memory/{day}.md"] = [f"# {day}", "", *_manner(nth, lines)]
    return notes


def _manner(nth: int, lines: list[str]) -> list[str]:
    if nth % 4 == 0:
        return ["## Notes", *(line if line.startswith("-") else f"- {line}" for line in lines)]
    if nth % 4 == 1:
        minutes = (7 * nth % 40 + 17 * i for i in range(len(lines)))
        heads = (f"## {9 + m // 60:02d}:{m % 60:02d} AM - Note" for m in minutes)
        return [part for pair in zip(heads, lines, strict=True) for part in (*pair, "")][:-1]
    if nth % 4 == 2:
        marks = (("W", "B", "O(c=0.9)")[i % 3] for i in range(len(lines)))
        pairs = zip(marks, lines, strict=True)
        return ["## Retain", *(t if t.startswith("-") else f"- {m} @studio: {t}" for m, t in pairs)]
    return [part for line in lines for part in (line, "")][:-1]


def _session_notes(sessions: list[list[Any]], now: datetime) -> dict[str, list[str]]:
    notes = {}
    for ago, name, turns in sessions:
        day = _day(now, ago)
        about = {
            "Session Key": "agent:main:main",
            "Session ID": uuid.uuid5(IDS, f"session/{name}"),
            "Source": "webchat",
        }
        notes[f"memory/{day}-{name}.md"] = [
            *(f"# Session: {day} 14:07:11 Asia/Shanghai", ""),
            *(f"- **{label}**: {value}" for label, value in about.items()),
            *("", "## Conversation Summary", ""),
            *(f"{('user', 'assistant')[i % 2]}: {turn}" for i, turn in enumerate(turns)),
        ]
    return notes


def _texts(name: str, now: datetime, seed: int) -> dict[str, Any]:
    """The texts of a store, with dates and secrets filled in."""
    hidden = secrets(seed)

    def filled(match: re.Match[str]) -> str:
        word = match[1]
        return _day(now, int(word[4:])) if word.startswith("day-") else hidden[word]

    raw = (HERE / "samples" / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(re.sub(r"<<([a-z0-9_-]+)>>", filled, raw))


def _day(now: datetime, ago: int) -> str:
    return f"{(now - timedelta(days=ago)).astimezone(LOCAL):%Y-%m-%d}"


def _citizen_id(body: str) -> str:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return body + "10X98765432"[sum(w * int(d) for w, d in zip(weights, body, strict=True)) % 11]


def _luhn(body: str) -> str:
    digits = [int(d) * (2 - i % 2) for i, d in enumerate(reversed(body))]
    return body + str(-sum(d - 9 * (d > 9) for d in digits) % 10)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python data/make_samples.py OUTDIR")
    main(Path(sys.argv[1]))
