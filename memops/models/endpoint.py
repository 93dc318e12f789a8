"""A client for one endpoint over the careful `wire`, and the encoder behind one (`POST URL/embeddings`)."""

import http.client
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np

from memops.errors import Incomplete, MemopsError, StoreNotFound, Unauthorised
from memops.files import json_value
from memops.models.vectors import Encoder, Vectors, encoded, unit
from memops.models.wire import Capped, bearing, credential, exchange, place, resolved

MAX_BYTES = 64 << 20
"""Most bytes that all answers together may have."""

MAX_SECONDS = 120.0
"""Longest time that all requests together may take, waits included."""

_TRIES = 4
_TIMEOUT = 10.0


@dataclass(frozen=True)
class Manners:
    """How an endpoint is spoken to and of: what the variables ENV_HOSTS, ENV_TOKEN(_FILE) begin with, what
    messages call it, and what to do when it fails or is not there.
    """

    env: str
    whom: str
    again: str
    absent: str


class Endpoint:
    """Requests below one address; caps count for all of them together."""

    def __init__(self, url: str, manners: Manners, pause: float = 0.25) -> None:
        parts = urlsplit(url)
        if parts.username or parts.query or parts.fragment:
            said = f"{parts.scheme}://{parts.hostname}: give the address without user and query"
            raise MemopsError(said, f"put the token into {manners.env}_TOKEN")
        self.place, self.below = place(url, url)
        self.base = self.place.base
        self.manners, self.pause = manners, pause
        self.left, self.until = MAX_BYTES, time.monotonic() + MAX_SECONDS
        self.late = f"no whole answer in {MAX_SECONDS:.0f} s"
        self.ip = ""

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Return the JSON object that a path answers with; see `post` for what it raises."""
        return self._asked("GET", f"{path}?{urlencode(query)}" if query else path, path, b"")

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON object of a 200; retries what may pass.

        Raises Unauthorised for 401 and 403, StoreNotFound for no answer or route, Incomplete for all else.
        """
        return self._asked("POST", path, path, json.dumps(body).encode())

    def _asked(self, verb: str, target: str, path: str, body: bytes) -> dict[str, Any]:
        why = ""
        for attempt in range(_TRIES):
            if attempt:
                seconds = self.pause * 4**attempt
                if time.monotonic() + seconds > self.until:
                    raise Incomplete(f"{self.base}: {self.late}", self.manners.again)
                time.sleep(seconds)
            try:
                status, told = self._once(verb, self.below + target, body)
            except (http.client.HTTPException, OSError) as error:
                why = f"the connection broke ({type(error).__name__})"
                continue
            if status == 429 or status >= 500:
                why = f"it answered {status}"
                continue
            if isinstance(found := json_value(self._believed(status, told, path)), dict):
                return found
            why = "its answer is no whole JSON object"
        raise Incomplete(f"{self.base}{path}: {why}, {_TRIES} times", self.manners.again)

    def _believed(self, status: int, body: bytes, path: str) -> bytes:
        if status in (401, 403):
            said = f"{self.base}: {self.manners.whom} refused the token ({status})"
            raise Unauthorised(said, f"put its token into {self.manners.env}_TOKEN")
        if status == 404:
            raise StoreNotFound(f"{self.base}{path}: no such route", self.manners.absent)
        if status != 200:
            raise Incomplete(f"{self.base}{path}: it answered {status}; redirects are not followed")
        return body

    def _once(self, verb: str, target: str, body: bytes) -> tuple[int, bytes]:
        """One request on one connection; the body read with both caps in hand."""
        token = credential(f"{self.manners.env}_TOKEN")
        self.ip = self.ip or self._resolved()
        headers = bearing(token, self.place, self.ip)
        headers |= {"Content-Type": "application/json"} if body else {}
        asked, caps = (verb, target, body or None), (self.until, self.left, _TIMEOUT)
        try:
            answer = exchange(self.place, self.ip, asked, headers, *caps)
        except ConnectionRefusedError as error:
            said = f"{self.base}: nothing answers there"
            raise StoreNotFound(said, self.manners.absent) from error
        except Capped as error:
            beyond = {"bytes": f"it sends more than {MAX_BYTES} bytes", "time": self.late}
            why = beyond.get(str(error), "it compresses unasked")
            raise Incomplete(f"{self.base}: {why}", self.manners.again) from error
        self.left -= len(answer.body)
        return answer.status, answer.body

    def _resolved(self) -> str:
        """The one address that is used: loopback, or a host that the user named."""
        host, env = self.place.host, self.manners.env
        allowed = [name.strip() for name in os.environ.get(f"{env}_HOSTS", "").split(",")]
        ip = resolved(host, self.place.port, host in allowed)
        if ip is None:
            hint = f"name it in {env}_HOSTS if you trust it with your memories"
            raise MemopsError(f"{host} is not this machine", hint)
        return ip


_BATCH = 64
_MANNERS = Manners(
    "MEMOPS_ENCODER",
    "the endpoint",
    "see whether it is well, or grade with another --encoder",
    "start it, or give its address up to /v1",
)


class Remote(Encoder):
    """One model of an endpoint, `URL#MODEL`: this machine's, or of a host named in MEMOPS_ENCODER_HOSTS."""

    def __init__(self, name: str, cache: Path | None = None, instruction: str = "") -> None:
        self.url, _, self.model = name.partition("#")
        if not self.model:
            hint = "write URL#MODEL, as in http://127.0.0.1:8080/v1#bge-m3"
            raise MemopsError(f"{name}: no model named", hint)
        self.cache, self.instruction = cache, instruction
        Endpoint(self.url, _MANNERS)

    def recipe(self) -> dict[str, Any]:
        """Return model and instruction; what the endpoint runs under that name is its word."""
        return {"encoder": "endpoint", "model": self.model, "instruction": self.instruction}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text; what was encoded before is read from the cache."""
        recipe = {"encoder": "endpoint", "model": self.model}
        return encoded(texts, self._encode, self.cache, recipe)

    def _encode(self, texts: list[str]) -> Vectors:
        endpoint = Endpoint(self.url, _MANNERS)
        batches = (texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH))
        return unit(np.concatenate([self._asked(endpoint, batch) for batch in batches]))

    def _asked(self, endpoint: Endpoint, texts: list[str]) -> Vectors:
        # An empty input is an error to some endpoints.
        given = [text if text.strip() else "." for text in texts]
        answer = endpoint.post("/embeddings", {"model": self.model, "input": given})
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            said = f"{self.url}: its answer holds no embeddings"
            raise Incomplete(said, _MANNERS.again) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            said = f"{self.url}: {len(rows)} embeddings for {len(texts)} texts, or broken ones"
            raise Incomplete(said, _MANNERS.again)
        return vectors
