"""rsclaw's HTTP API: a read-only fallback for the file, which believes nothing incomplete.

The API pages nothing: a list is cut at 1,000 documents, and a gateway whose handler cannot open
the file that it holds itself answers 200 with an empty list. So a snapshot counts: statistics
before and after must agree with each other and with the documents, by scope, kind and tier, and
whatever does not fit one answer is asked for by scope and kind. The text search (`q=`) is never
used, as it counts as use. Writing through the API is not possible.
"""

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from memops.errors import Corrupt, Incomplete, MemopsError, PlanRefused
from memops.models.endpoint import Endpoint, Manners
from memops.schema import only
from memops.stores.disk import read_whole, replace_whole
from memops.stores.rsclaw.docs import DOCS, Doc, Gateway, acceptable, to_records

CAP = 1000
_ROUNDS = 3
_READ_ONLY = "stop the gateway and use the file's address, rsclaw:PATH/memory.redb"
_AGAIN = "snapshot the file instead, rsclaw:PATH/memory.redb; it can be read while the gateway runs"


_MANNERS = Manners(
    "RSCLAW",
    "the gateway",
    "see whether the gateway is well, or snapshot its file, rsclaw:PATH/memory.redb",
    "start the gateway, or use its file",
)


class Client(Endpoint):
    """Requests to `http://HOST:PORT`, of one snapshot."""

    def __init__(self, url: str, pause: float = 0.25) -> None:
        parts = urlsplit(url)
        if parts.username or parts.query or parts.fragment or parts.path.strip("/"):
            said = f"rsclaw:{parts.scheme}://{parts.hostname}: give only host and port"
            raise MemopsError(said, "put the token into RSCLAW_TOKEN")
        super().__init__(url, _MANNERS, pause)


class RsclawApi(Gateway):
    """A running gateway, `rsclaw:http://HOST:PORT`; reading only."""

    pause: float = 0.25
    """Seconds before the first retry; each next one waits four times as long."""

    def __init__(self, path: str) -> None:
        self.base = Client(path).base
        self.address = f"{self.kind}:{self.base}"

    def place(self) -> Path:
        """Return the base address."""
        return Path(self.base)

    def identity(self) -> dict[str, str]:
        """Return kind and base address."""
        return {"kind": self.kind, "path": self.base, "schema": "api v1"}

    def copy(self, into: Path) -> dict[str, Any]:
        """Write the documents of a complete reading as JSON."""
        stats, docs = complete(Client(self.base, self.pause))
        replace_whole(into / "docs.json", _json(docs))
        replace_whole(into / "stats.json", _json(stats))
        return {"consistency": "api-partitioned", "rows": len(docs), "unparsed": 0}

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of such a copy."""
        return only(_records(_copied(raw)), ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the gateway's records, or raise Incomplete."""
        return only(_records(complete(Client(self.base, self.pause))[1]), ids)

    def write(self, *_: Any) -> Any:
        """Refuse: the API has no way to change a document."""
        raise PlanRefused(f"{self.address}: the API can only be read", _READ_ONLY)

    revert = restore = purge = write

    def settle(self) -> None:
        """Nothing of ours is beside an API."""

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Write a copy's documents again without these."""
        kept = [doc for doc in _copied(raw) if doc["id"] not in ids]
        replace_whole(raw / "docs.json", _json(kept))


def complete(client: Client) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return statistics and all documents of one moment, by id; raises Incomplete.

    A store that changes while it is read is read again, three times in all.
    """
    why = ""
    for _ in range(_ROUNDS):
        before = _stats(client)
        docs = _all(client, before)
        after = _stats(client)
        why = "it changed while it was read" if before != after else _shortfall(docs, after)
        if not why:
            return after, docs
    raise Incomplete(f"{client.base}: {why}", _AGAIN)


def _copied(raw: Path) -> list[dict[str, Any]]:
    data, _ = read_whole(raw / "docs.json")
    try:
        docs: list[dict[str, Any]] = json.loads(data)
    except ValueError as error:
        raise Corrupt(f"{raw / 'docs.json'}: {error}") from error
    return docs


def _stats(client: Client) -> dict[str, Any]:
    stats = client.get("/api/v1/memory/stats")
    tables = ("by_tier", "by_kind", "by_scope")
    if not _counts(stats.get("total"), stats.get("pinned")) or not all(
        isinstance(stats.get(name), dict) and _counts(*stats[name].values()) for name in tables
    ):
        raise Incomplete(f"{client.base}: its statistics are not rsclaw's", _AGAIN)
    if stats["total"] == 0:
        said = "it answers that it holds nothing, as a gateway does that cannot open its own file"
        raise Incomplete(f"{client.base}: {said}; an empty answer is never believed", _AGAIN)
    return {"total": stats["total"], "pinned": stats["pinned"], **{n: stats[n] for n in tables}}


def _all(client: Client, stats: dict[str, Any]) -> list[dict[str, Any]]:
    """The documents: in one answer if they fit, else scope by scope, else kind by kind in it."""
    docs, total = _list(client)
    if len(docs) < total:
        docs = []
        for scope in sorted(stats["by_scope"]):
            some, total = _list(client, scope=scope)
            if len(some) < total:
                some = [d for kind in sorted(stats["by_kind"]) for d in _cell(client, scope, kind)]
            docs += some
    return sorted(docs, key=lambda doc: doc["id"])


def _cell(client: Client, scope: str, kind: str) -> list[dict[str, Any]]:
    docs, total = _list(client, scope=scope, kind=kind)
    if len(docs) < total:
        many = f"{total} documents of kind {kind!r}, of which the API lists {len(docs)}"
        raise Incomplete(f"{client.base}: scope {scope!r} has {many}", _AGAIN)
    return docs


def _list(client: Client, **where: str) -> tuple[list[dict[str, Any]], int]:
    answer = client.get("/api/v1/memory/docs", limit=str(CAP), **where)
    docs, total = answer.get("docs"), answer.get("total")
    if not isinstance(docs, list) or type(total) is not int or len(docs) > total:
        raise Incomplete(f"{client.base}: its list of documents is not rsclaw's", _AGAIN)
    docs = [_native(doc) for doc in docs]
    if not all(acceptable(doc) for doc in docs):
        raise Incomplete(f"{client.base}: a document in its list is not rsclaw's", _AGAIN)
    if any(doc[name] != value for doc in docs for name, value in where.items()):
        raise Incomplete(f"{client.base}: it does not filter its list as asked", _AGAIN)
    return docs, total


def _native(doc: Any) -> Any:
    """A document as it lies in the file: the tier capitalised, no computed score."""
    if not isinstance(doc, dict):
        return doc
    fields = {name: value for name, value in doc.items() if name != "relevance_score"}
    return fields | {"tier": str(fields.get("tier")).capitalize()}


def _shortfall(docs: list[dict[str, Any]], stats: dict[str, Any]) -> str:
    """Why these cannot be all documents, or nothing."""
    if len({doc["id"] for doc in docs}) != len(docs):
        return "an id stands twice in its lists"
    if len(docs) != stats["total"]:
        return f"it lists {len(docs)} of {stats['total']} documents"
    for name, field in (("by_scope", "scope"), ("by_kind", "kind"), ("by_tier", "tier")):
        mine = Counter(doc[field].lower() for doc in docs)
        theirs = Counter[str]()
        for key, count in stats[name].items():
            theirs[key.lower()] += count
        if mine != +theirs:
            return f"its documents do not add up to its statistics by {field}"
    if sum(doc.get("pinned", False) for doc in docs) != stats["pinned"]:
        return "its documents do not add up to its pinned ones"
    return ""


def _counts(*values: Any) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _records(docs: list[dict[str, Any]]) -> pl.DataFrame:
    return to_records(Doc(DOCS, doc["id"], doc) for doc in docs)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode()
