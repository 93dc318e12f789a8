"""A careful HTTP client for one endpoint: JSON only, and nothing that it was not told.

No redirects, no proxy from the environment, no compression, caps on bytes and time. The host must
be the machine itself, or be named in an environment variable; it is resolved once and that address
is used. A token comes from the environment, or from a file that only its owner can read; it is in
no address, message or file of ours.
"""

import contextlib
import http.client
import ipaddress
import json
import os
import socket
import ssl
import stat
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from memops.errors import Incomplete, MemopsError, StoreNotFound, Unauthorised

MAX_BYTES = 64 << 20
"""Most bytes that all answers together may have."""

MAX_SECONDS = 120.0
"""Longest time that all requests together may take, waits included."""

_TRIES = 4
_TIMEOUT = 10.0


@dataclass(frozen=True)
class Manners:
    """How an endpoint is spoken to, and of.

    `env` begins the names of the variables ENV_HOSTS, ENV_TOKEN and ENV_TOKEN_FILE; `whom` stands
    in messages, `again` and `absent` say what to do when it fails or is not there.
    """

    env: str
    whom: str
    again: str
    absent: str


class Endpoint:
    """Requests below one address; caps count for all of them together."""

    def __init__(
        self, url: str, manners: Manners, pause: float = 0.25, seconds: float = MAX_SECONDS
    ) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as error:
            raise MemopsError(f"{url}: no valid port") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise MemopsError(f"{url}: no http or https address")
        if parts.username or parts.query or parts.fragment:
            raise MemopsError(
                f"{parts.scheme}://{parts.hostname}: give the address without user and query",
                f"put the token into {manners.env}_TOKEN",
            )
        self.secure, self.host, self.port = parts.scheme == "https", parts.hostname, port
        self.base, self.below = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        self.manners, self.pause, self.seconds = manners, pause, seconds
        self.left, self.until = MAX_BYTES, time.monotonic() + seconds
        self.ip = ""

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Return the JSON object that a path answers with; see `post` for what it raises."""
        return self._asked("GET", f"{path}?{urlencode(query)}" if query else path, path, b"")

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON object of a 200; retries what may pass.

        Raises Unauthorised for 401 and 403, StoreNotFound where nothing answers or there is no
        such route, Incomplete for everything else that is not a whole answer.
        """
        return self._asked("POST", path, path, json.dumps(body).encode())

    def _asked(self, verb: str, target: str, path: str, body: bytes) -> dict[str, Any]:
        why = ""
        for attempt in range(_TRIES):
            if attempt:
                self._wait(self.pause * 4**attempt)
            try:
                status, told = self._once(verb, self.below + target, body)
            except (http.client.HTTPException, OSError) as error:
                why = f"the connection broke ({type(error).__name__})"
                continue
            if status == 429 or status >= 500:
                why = f"it answered {status}"
                continue
            found = _object(self._believed(status, told, path))
            if found is not None:
                return found
            why = "its answer is no whole JSON object"
        raise Incomplete(f"{self.base}{path}: {why}, {_TRIES} times", self.manners.again)

    def _believed(self, status: int, body: bytes, path: str) -> bytes:
        if status in (401, 403):
            raise Unauthorised(
                f"{self.base}: {self.manners.whom} refused the token ({status})",
                f"put its token into {self.manners.env}_TOKEN",
            )
        if status == 404:
            raise StoreNotFound(f"{self.base}{path}: no such route", self.manners.absent)
        if status != 200:
            raise Incomplete(f"{self.base}{path}: it answered {status}; redirects are not followed")
        return body

    def _once(self, verb: str, target: str, body: bytes) -> tuple[int, bytes]:
        """One request on one connection; the body read with both caps in hand."""
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if body:
            headers["Content-Type"] = "application/json"
        if token := _token(self.manners.env):
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=_TIMEOUT)
        connection.sock = plug = self._socket(bool(token))
        # A byte now and then meets no socket timeout, so a clock pulls the plug.
        clock = threading.Timer(max(self.until - time.monotonic(), 0), _pull, [plug])
        clock.start()
        try:
            connection.request(verb, target, body or None, headers=headers)
            answer = connection.getresponse()
            if answer.getheader("Content-Encoding", "identity") != "identity":
                raise Incomplete(f"{self.base}: it compresses unasked", self.manners.again)
            return answer.status, self._body(answer)
        finally:
            clock.cancel()
            connection.close()
            plug.close()

    def _body(self, answer: http.client.HTTPResponse) -> bytes:
        parts = []
        while part := answer.read1(1 << 16):
            self.left -= len(part)
            if self.left < 0:
                raise Incomplete(
                    f"{self.base}: it sends more than {MAX_BYTES} bytes", self.manners.again
                )
            self._wait(0)
            parts.append(part)
        if answer.length:
            raise http.client.IncompleteRead(b"", answer.length)
        return b"".join(parts)

    def _socket(self, has_token: bool) -> socket.socket:
        self.ip = self.ip or _resolved(self.host, self.port, self.manners.env)
        if has_token and not self.secure and not ipaddress.ip_address(self.ip).is_loopback:
            raise MemopsError(
                f"{self.base}: a token is not sent unencrypted to another machine",
                "use https, or a tunnel to this machine",
            )
        try:
            plain = socket.create_connection((self.ip, self.port), timeout=_TIMEOUT)
        except ConnectionRefusedError as error:
            raise StoreNotFound(
                f"{self.base}: nothing answers there", self.manners.absent
            ) from error
        if not self.secure:
            return plain
        return ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)

    def _wait(self, seconds: float) -> None:
        if time.monotonic() + seconds > self.until:
            raise Incomplete(
                f"{self.base}: no whole answer in {self.seconds:.0f} s", self.manners.again
            )
        time.sleep(seconds)


def _pull(plug: socket.socket) -> None:
    with contextlib.suppress(OSError):
        plug.shutdown(socket.SHUT_RDWR)


def _resolved(host: str, port: int, env: str) -> str:
    """The one address that is used: loopback, or a host that the user named; never link-local."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise StoreNotFound(f"{host}: no such host", "check the address") from error
    allowed = [name.strip() for name in os.environ.get(f"{env}_HOSTS", "").split(",")]
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        if ip.is_link_local or ip.is_multicast or ip.is_unspecified:
            continue
        if ip.is_loopback or host in allowed:
            return str(address[0])
    raise MemopsError(
        f"{host} is not this machine", f"name it in {env}_HOSTS if you trust it with your memories"
    )


def _token(env: str) -> str:
    token = os.environ.get(f"{env}_TOKEN", "")
    name = os.environ.get(f"{env}_TOKEN_FILE", "")
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
        raise MemopsError("the token has characters that no header may have", f"check {env}_TOKEN")
    return token


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
