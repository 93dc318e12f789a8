"""A careful wire: one HTTP request to a place that somebody named, and nothing that was not told.

No redirects, no proxy from the environment, no compression, caps on bytes and time; a host is resolved
once, and never to the link itself (metadata services). A credential is in nothing of ours.
"""

import contextlib
import http.client
import ipaddress
import os
import socket
import ssl
import stat
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from memops.errors import MemopsError, StoreNotFound

PIECE = 1 << 16


class Capped(Exception):
    """An answer went beyond what it may: `bytes`, `time`, or it came `compressed`."""


@dataclass(frozen=True)
class Place:
    """Where a request goes; `base` is the address as given, without a path."""

    secure: bool
    host: str
    port: int
    base: str


@dataclass(frozen=True)
class Answer:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def place(url: str, what: str) -> tuple[Place, str]:
    """Return the place that a URL names, and its path; raises MemopsError, calling it `what`, for a bad one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise MemopsError(f"{what}: no plain http or https address", "no user, no password in it")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise MemopsError(f"{what}: no valid port") from error
    base = f"{parts.scheme}://{parts.netloc}"
    return Place(parts.scheme == "https", parts.hostname, port, base), parts.path.rstrip("/")


def resolved(host: str, port: int, named: bool) -> str | None:
    """Return the one address that is used: loopback, or any if `named` but the link's own; None for no such one.

    Raises StoreNotFound for no such host.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise StoreNotFound(f"{host}: no such host", "check the address") from error
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        if ip.is_link_local or ip.is_multicast or ip.is_unspecified:
            continue
        if ip.is_loopback or named:
            return str(address[0])
    return None


def address(to: Place) -> str:
    """Return the one address of a place that somebody named; raises MemopsError where none may be used."""
    if ip := resolved(to.host, to.port, named=True):
        return ip
    raise MemopsError(f"{to.base} is an address of the link itself")


def bearing(token: str, to: Place, ip: str) -> dict[str, str]:
    """Return the header that bears a token, if any; raises MemopsError where it would go elsewhere unencrypted."""
    if token and not (to.secure or ipaddress.ip_address(ip.partition("%")[0]).is_loopback):
        said = f"{to.base}: a token is not sent unencrypted to another machine"
        raise MemopsError(said, "use https, or a tunnel to this machine")
    return {"Authorization": f"Bearer {token}"} if token else {}


def credential(variable: str) -> str:
    """Return what VARIABLE holds, or the file that VARIABLE_FILE names; empty where neither is.

    Raises MemopsError for a file that others may read and for what no header may hold.
    """
    token = os.environ.get(variable, "")
    name = os.environ.get(f"{variable}_FILE", "")
    if not token and name:
        path = Path(name).expanduser()
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & 0o077:
                raise MemopsError(f"{path}: others may read the token", f"chmod 600 {path}")
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise MemopsError(f"{path}: the token cannot be read") from error
    if not token.isascii() or not token.isprintable():
        raise MemopsError("the token has characters that no header may have", f"check {variable}")
    return token


def exchange(
    to: Place,
    ip: str,
    request: tuple[str, str, bytes | None],
    headers: Mapping[str, str],
    until: float,
    most: int,
    timeout: float = 10.0,
) -> Answer:
    """Send one request (method, target, body) on a connection of its own; return its answer.

    `until` is an instant of `time.monotonic`, `most` the body's bytes: raises Capped beyond, OSError or
    HTTPException for a connection that broke.
    """
    method, target, body = request
    connection = http.client.HTTPConnection(to.host, to.port, timeout=timeout)
    connection.sock = plug = _socket(to, ip, timeout)
    # A byte now and then meets no socket timeout, so a clock pulls the plug.
    clock = threading.Timer(max(until - time.monotonic(), 0), _pull, [plug])
    clock.daemon = True
    clock.start()
    try:
        given = {"Accept": "application/json", "Accept-Encoding": "identity", **headers}
        connection.request(method, target, body=body, headers=given)
        answer = connection.getresponse()
        if answer.getheader("Content-Encoding", "identity") != "identity":
            raise Capped("compressed")
        if time.monotonic() > until:
            raise Capped("time")
        told = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, told, _body(answer, until, most))
    finally:
        clock.cancel()
        connection.close()
        plug.close()


def _body(answer: http.client.HTTPResponse, until: float, most: int) -> bytes:
    parts, size = [], 0
    while part := answer.read1(PIECE):
        size += len(part)
        if size > most:
            raise Capped("bytes")
        if time.monotonic() > until:
            raise Capped("time")
        parts.append(part)
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)


def _socket(to: Place, ip: str, timeout: float) -> socket.socket:
    plain = socket.create_connection((ip, to.port), timeout=timeout)
    if not to.secure:
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=to.host)


def _pull(plug: socket.socket) -> None:
    with contextlib.suppress(OSError):
        plug.shutdown(socket.SHUT_RDWR)
