"""Notices: who is told of nights that failed, wait for a person, or were done; and of the week.

<state>/digest.json   when the last digest was sent

A notice holds names, counts and lines to type; one that cannot be sent is said where the night is.
"""

import http.client
import json
import os
import shlex
import smtplib
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from email.message import EmailMessage
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import polars as pl

from memops import files
from memops.errors import MILD, MemopsError
from memops.models import wire
from memops.nights.night import summary
from memops.schema import instant
from memops.settings import Notify, Settings
from memops.state import history

SECONDS = 20.0
"""Longest time that one notice may take."""
_MOST = 1 << 16
TROUBLE = (OSError, http.client.HTTPException, smtplib.SMTPException, subprocess.SubprocessError)
"""What a place that cannot be told raises, beside MemopsError."""


def post(url: str, subject: str, text: str) -> None:
    """Send {"subject", "text"} as JSON."""
    body = json.dumps({"subject": subject, "text": text}, ensure_ascii=False).encode()
    _sent(url, "", body, "application/json")


def ping(url: str, good: bool, text: str) -> None:
    """Tell a monitor of dead men, such as healthchecks, that all is good; or, at /fail, that it is not."""
    _sent(url, "" if good else "/fail", text.encode()[:_MOST], "text/plain; charset=utf-8")


def run(command: str, subject: str, text: str) -> None:
    """Run a program, without a shell; the text is its input, MEMOPS_SUBJECT the subject."""
    own = {**os.environ, "MEMOPS_SUBJECT": subject}
    how: dict[str, Any] = {"stdout": subprocess.DEVNULL, "timeout": SECONDS, "check": True}
    subprocess.run(shlex.split(command), input=text.encode(), env=own, **how)


def mail(address: str, subject: str, text: str) -> None:
    """Send an e-mail by SMTP, to what Apprise's address mailto(s)://USER:PASSWORD@HOST?to=TO says.

    mailtos is encrypted: from the start at port 465, else by STARTTLS, at 587 if no port is given.
    """
    parts, secure = urlsplit(address), address.startswith("mailtos:")
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    host, port = given.get("smtp", parts.hostname or ""), parts.port or (587 if secure else 25)
    user = unquote(parts.username or "")
    own = user if "@" in user else f"{user or 'memops'}@{parts.hostname}"
    said = EmailMessage()
    said["Subject"], said["From"], said["To"] = subject, given.get("from", own), given["to"]
    said.set_content(text)
    kind = smtplib.SMTP_SSL if port == 465 and secure else smtplib.SMTP
    with kind(host, port, timeout=SECONDS) as server:
        if secure and kind is smtplib.SMTP:
            server.starttls()
        if user:
            server.login(user, unquote(parts.password or ""))
        server.send_message(said)


def _sent(url: str, below: str, body: bytes, kind: str) -> None:
    to, path = wire.place(url, "the address")
    query = urlsplit(url).query
    target = f"{path}{below}" + (f"?{query}" if query else "") or "/"
    until, headers = time.monotonic() + SECONDS, {"Content-Type": kind}
    said = wire.exchange(to, wire.address(to), ("POST", target, body), headers, until, _MOST)
    if not 200 <= said.status < 300:
        raise MemopsError(f"it answered {said.status}")


WAYS: dict[str, Callable[[str, str, str], None]] = {"webhook": post, "email": mail, "command": run}
_FILE = "digest.json"


def kind(night: Mapping[str, Any]) -> str:
    """Return what of a night is told: `failed`, `waiting` for what is asked anew, or `nightly`."""
    if night["code"] not in MILD:
        return "failed"
    return "waiting" if night.get("new") or night["code"] == 31 else "nightly"


def tell(
    nights: Sequence[Mapping[str, Any]],
    settings: Settings,
    typed: str,
    now: datetime,
    ways: Collection[str] = (*WAYS, "ping"),
) -> list[str]:
    """Tell of nights by the ways that the settings name; returns what could not be sent, and why."""
    asked, trouble = settings.notify, list[str]()
    told = [night for night in nights if kind(night) in asked.tell]
    subject, text = _subject(nights), "\n".join(_about(night, typed) for night in told)
    if told:
        trouble += _by_each(asked, subject, text, ways)
    if asked.ping and "ping" in ways:
        good = all(kind(night) != "failed" for night in nights)
        trouble += _tried("ping", lambda: ping(asked.ping, good, subject))
    trouble += _tried("digest_days", lambda: trouble.extend(_weekly(settings, now)))
    return trouble


def tried(settings: Settings) -> dict[str, str]:
    """Send a notice by every way that is set; returns by way what came of it."""
    asked, text = settings.notify, "This is a try: `memops config notify` sent it."
    ways = (name for name in WAYS if _at(asked, name))
    done = {name: _by_each(asked, "memops: a try", text, [name]) for name in ways}
    if asked.ping:
        done["ping"] = _tried("ping", lambda: ping(asked.ping, True, text))
    return {name: "; ".join(said) or "sent" for name, said in done.items()}


def digest(table: pl.DataFrame, now: datetime, days: float) -> tuple[str, str]:
    """Return subject and text of what the nights of the last days did, store by store."""
    since = now - timedelta(days=days)
    week = table.filter(pl.col("at").is_between(since, now, closed="right"))
    lines = [_week(part) for part in week.partition_by("store", maintain_order=True)]
    stores, failed = len(lines), week.filter(~pl.col("code").is_in(MILD)).height
    said = f"memops: {days:g} days to {now:%Y-%m-%d}: {week.height} nights of {stores} stores"
    return said + (f", {failed} failed" if failed else ""), "\n".join(lines)


def _weekly(settings: Settings, now: datetime) -> list[str]:
    """Tell of the week if its time has come; what could not be sent."""
    if not (week := _due(settings, now)):
        return []
    trouble = _by_each(settings.notify, *week, WAYS)
    files.write_json(settings.state / _FILE, {"at": now.isoformat()})
    return trouble


def _due(settings: Settings, now: datetime) -> tuple[str, str] | None:
    """The digest, if there is somebody to tell and its time has come; the first begins the count."""
    asked, path = settings.notify, settings.state / _FILE
    if not (asked.digest_days and any(_at(asked, name) for name in WAYS)):
        return None
    last = instant(str(files.read_json(path).get("at"))) if path.is_file() else None
    if last is None:
        files.write_json(path, {"at": now.isoformat()})
        return None
    if timedelta() <= now - last < timedelta(days=asked.digest_days):
        return None
    return digest(history.of(settings), now, asked.digest_days)


def _week(nights: pl.DataFrame) -> str:
    failed = nights.filter(~pl.col("code").is_in(MILD)).height
    done, live = nights["applied"].sum() or 0, nights["live"].drop_nulls()
    said = f"{nights['store'][0]}: {nights.height} nights, {done} records changed"
    said += f", {failed} failed" if failed else ""
    said += f"; live records {live[0]} -> {live[-1]}" if len(live) else ""
    graded = [night["recall"] for night in history.trend(nights) if night["recall"]]
    for measure in graded[-1] if graded else ():
        said += f"; {measure} {graded[0].get(measure, graded[-1][measure]):.3f} -> {graded[-1][measure]:.3f}"
    return said


def _subject(nights: Sequence[Mapping[str, Any]]) -> str:
    named = {k: [n["store"] for n in nights if kind(n) == k] for k in ("failed", "waiting")}
    words = {"failed": "failed", "waiting": "waiting for a person"}
    parts = [f"{', '.join(stores)} {words[k]}" for k, stores in named.items() if stores]
    return f"memops: {'; '.join(parts) or f'{len(nights)} stores good'}"


def _about(night: Mapping[str, Any], typed: str) -> str:
    """What a notice says of one night, and the line to type."""
    store = night["store"]
    if "error" in night and "by_rule" not in night:
        said = f"{store}: {night['cause']}: {night['error']} (exit {night['code']})"
        return f"{said}\n  {night['hint']}"
    lines = [summary(dict(night), typed).rstrip()]
    if night.get("waiting") or night["code"] not in MILD:
        lines += [f"\nLook: {typed} review {night['plan']}"]
    return "\n".join(lines) + "\n"


def _by_each(asked: Notify, subject: str, text: str, ways: Collection[str]) -> list[str]:
    trouble = []
    for name in (name for name in WAYS if name in ways and _at(asked, name)):
        trouble += _tried(name, lambda name=name: WAYS[name](_at(asked, name), subject, text))  # type: ignore[misc]
    return trouble


def _at(asked: Notify, name: str) -> str:
    return str(getattr(asked, name))


def _tried(name: str, send: Callable[[], None]) -> list[str]:
    """What kept a notice from being sent, without its address, which may hold a password."""
    try:
        send()
    except MemopsError as error:
        return [f"notify.{name}: {error.message}"]
    except TROUBLE as error:
        return [f"notify.{name}: {getattr(error, 'strerror', None) or type(error).__name__}"]
    return []
