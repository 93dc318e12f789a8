"""Sending: a short text to a webhook, a ping address, a mailbox or a program that somebody named."""

import http.client
import json
import os
import shlex
import smtplib
import subprocess
import time
from email.message import EmailMessage
from urllib.parse import parse_qs, unquote, urlsplit

from memops.errors import MemopsError
from memops.models import wire

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
    subprocess.run(
        shlex.split(command),
        input=text.encode(),
        env={**os.environ, "MEMOPS_SUBJECT": subject},
        stdout=subprocess.DEVNULL,
        timeout=SECONDS,
        check=True,
    )


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
