"""A gateway of rsclaw that answers as it does, or plays tricks."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

TOKEN = "gate" + "way-token"


def doc(n, scope="agent:main", kind="fact", **fields):
    return {
        "id": f"{n:05}",
        "scope": scope,
        "kind": kind,
        "text": f"fact {n} 事实",
        "abstract_text": f"fact {n} 事实",
        "overview_text": f"fact {n} 事实",
        "tags": [],
        "tier": "working",
        "importance": 0.65,
        "pinned": False,
        "created_at": 1_775_000_000 + n,
        "accessed_at": 1_775_000_000 + n,
        "access_count": 0,
        "relevance_score": 0.5,
    } | fields


FEW = [doc(1), doc(2, "global", "note", tier="core", pinned=True), doc(3, "agent:main:cron")]
MANY = [
    doc(n, ["agent:main", "global", "main"][n % 3], ["fact", "note"][n // 3 % 2])
    for n in range(1234)
]


class Gateway(ThreadingHTTPServer):
    """Answers as rsclaw does; `tricks` maps the number of a request to what it does instead."""

    daemon_threads = True

    def __init__(self, docs=FEW, token=None, tricks=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.docs, self.token, self.tricks = list(docs), token, tricks or {}
        self.seen = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is part of these tests


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        gateway = self.server
        gateway.seen.append((self.path, dict(self.headers)))
        trick = gateway.tricks.get(len(gateway.seen), gateway.tricks.get("always"))
        if trick:
            trick(self)
            return
        if gateway.token and self.headers.get("Authorization") != f"Bearer {gateway.token}":
            self.answer({"error": "unauthorized"}, 401)
            return
        self.answer(honest(gateway.docs, self.path))

    def answer(self, value, status=200, **headers):
        self.body(json.dumps(value, ensure_ascii=False).encode(), status, **headers)

    def body(self, body, status=200, length=None, **headers):
        self.send_response(status)
        for name, content in headers.items():
            self.send_header(name.replace("_", "-"), content)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *args):
        pass


def honest(docs, path):
    query = dict(parse_qsl(urlsplit(path).query))
    if path.startswith("/api/v1/memory/stats"):
        return stats(docs)
    if "q" in query:  # what its search finds counts as used
        for found in docs:
            found["access_count"] += 1
    found = [d for d in docs if all(d[n] == query[n] for n in ("scope", "kind") if n in query)]
    return {"docs": found[: min(int(query.get("limit", 200)), 1000)], "total": len(found)}


def stats(docs):
    return {
        "total": len(docs),
        "by_tier": Counter(d["tier"] for d in docs),
        "by_kind": Counter(d["kind"] for d in docs),
        "by_scope": Counter(d["scope"] for d in docs),
        "pinned": sum(d["pinned"] for d in docs),
    }


def failing(status, **headers):
    return lambda handler: handler.answer({"error": "x"}, status, **headers)
