"""The rsclaw API against a server that does what gateways do, and worse."""

import gzip
import json
import socket
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import pytest

from memops.errors import Incomplete, MemopsError, PlanRefused, StoreNotFound, Unauthorised
from memops.stores import open_store
from memops.stores.rsclaw_client import Client
from memops.stores.rsclaw_http import disagreements

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


@pytest.fixture
def serve(monkeypatch):
    made = []
    for name in ("RSCLAW_TOKEN", "RSCLAW_TOKEN_FILE", "RSCLAW_HOSTS"):
        monkeypatch.delenv(name, raising=False)

    def start(*args, **kwargs):
        gateway = Gateway(*args, **kwargs)
        made.append(gateway)
        store = open_store(f"rsclaw:{gateway.url}")
        store.pause = 0.001
        return gateway, store

    yield start
    for gateway in made:
        gateway.shutdown()
        gateway.server_close()


# --- what is whole is read


def test_documents_are_read_as_the_file_gives_them(serve):
    _, store = serve()
    assert store.read().select(
        "id", "scope", "kind", "tier", "pinned", "source", "extra"
    ).rows() == [
        ("00001", "agent:main", "fact", "working", False, None, "{}"),
        ("00002", "global", "note", "core", True, None, "{}"),
        ("00003", "agent:main:cron", "fact", "working", False, "system", "{}"),
    ]


def test_more_than_a_thousand_are_read_scope_by_scope_and_kind_by_kind(serve):
    big = [*MANY, *(doc(n) for n in range(2000, 2700))]  # one scope of more than 1,000 in it
    for docs in (MANY, big):
        gateway, store = serve(docs)
        assert sorted(store.read()["id"]) == sorted(d["id"] for d in docs)
        assert not any("q=" in path for path, _ in gateway.seen)


def test_a_copy_is_loaded_as_it_was_read(serve, tmp_path):
    _, store = serve()
    assert store.copy(tmp_path) == {"consistency": "api-partitioned", "rows": 3, "unparsed": 0}
    assert store.load(tmp_path).equals(store.read())


def test_what_passes_is_waited_for(serve):
    def busy(handler):
        handler.answer({"error": "rate limit exceeded"}, 429)

    def broken(handler):
        handler.answer({"error": "memory store not available"}, 503)

    _, store = serve(tricks={1: busy, 2: broken, 4: cut_body})
    assert store.read().height == 3


def test_a_store_that_changes_while_it_is_read_is_read_again(serve):
    def growing(handler):
        handler.server.docs.append(doc(9))
        handler.answer(honest(handler.server.docs, handler.path))

    _, store = serve(tricks={3: growing})
    assert store.read().height == 4


# --- what is not whole is recognised


def empty(handler):
    none = {"total": 0, "by_tier": {}, "by_kind": {}, "by_scope": {}, "pinned": 0}
    handler.answer(none if "stats" in handler.path else {"docs": [], "total": 0})


def empty_list(handler):
    handler.answer(stats(FEW) if "stats" in handler.path else {"docs": [], "total": 0})


def cut_body(handler):
    body = json.dumps(honest(FEW, handler.path)).encode()
    handler.body(body[: len(body) // 2], length=len(body))


def cut_json(handler):
    handler.body(json.dumps(honest(FEW, handler.path)).encode()[:-7])


def cut_chunks(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"40\r\n" + b'{"total": 3')
    handler.close_connection = True


def replacing(make):
    def trick(handler):
        answer = honest(FEW, handler.path)
        handler.answer(answer if "stats" in handler.path else make(answer))

    return trick


def failing(status, **headers):
    return lambda handler: handler.answer({"error": "x"}, status, **headers)


def hang_up(handler):
    handler.close_connection = True


def unfiltered(handler):
    answer = honest(MANY, handler.path.replace("scope", "x"))
    handler.answer(answer)


def always_new(handler):
    handler.server.docs.append(doc(100 + len(handler.server.seen)))
    handler.answer(honest(handler.server.docs, handler.path))


def compressed(handler):
    handler.body(gzip.compress(bytes(20 << 20), 1), Content_Encoding="gzip")


TRAPS = {
    "200 and empty, statistics too": (empty, "an empty answer is never believed"),
    "200 and an empty list": (empty_list, "it lists 0 of 3 documents"),
    "fewer than it counts": (
        replacing(lambda a: a | {"docs": a["docs"][:2], "total": 2}),
        "it lists 2 of 3",
    ),
    "a cut body": (cut_body, "the connection broke"),
    "cut JSON": (cut_json, "no whole JSON object"),
    "cut chunks": (cut_chunks, "the connection broke"),
    "a list where an object belongs": (lambda h: h.answer([]), "no whole JSON object"),
    "a page of HTML": (lambda h: h.body(b"<html>login</html>"), "no whole JSON object"),
    "no documents": (replacing(lambda a: {"total": 3}), "is not rsclaw's"),
    "a document without an id": (
        replacing(lambda a: a | {"docs": [{"text": "x"}, *a["docs"][1:]]}),
        "a document in its list is not rsclaw's",
    ),
    "one document twice": (
        replacing(lambda a: a | {"docs": a["docs"][:1] * 3}),
        "an id stands twice",
    ),
    "another scope than counted": (
        replacing(lambda a: a | {"docs": [d | {"scope": "global"} for d in a["docs"]]}),
        "do not add up to its statistics by scope",
    ),
    "another tier than counted": (
        replacing(lambda a: a | {"docs": [d | {"tier": "peripheral"} for d in a["docs"]]}),
        "do not add up to its statistics by tier",
    ),
    "a pin too many": (
        replacing(lambda a: a | {"docs": [d | {"pinned": True} for d in a["docs"]]}),
        "do not add up to its pinned ones",
    ),
    "filters ignored": (unfiltered, "does not filter its list as asked"),
    "429 for ever": (failing(429), "it answered 429, 4 times"),
    "500": (failing(500), "it answered 500, 4 times"),
    "503": (failing(503), "it answered 503, 4 times"),
    "204": (lambda h: h.body(b"", 204), "it answered 204"),
    "a redirect": (failing(302, Location="http://169.254.169.254/"), "redirects are not followed"),
    "hung up": (hang_up, "the connection broke"),
    "changing for ever": (always_new, "it changed while it was read"),
    "a bomb": (compressed, "it compresses unasked"),
    "foreign statistics": (lambda h: h.answer({"status": "ok"}), "statistics are not rsclaw's"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_what_is_incomplete_is_never_believed(serve, name):
    trick, said = TRAPS[name]
    _, store = serve(tricks={"always": trick})
    with pytest.raises(Incomplete, match=said) as refused:
        store.read()
    assert refused.value.code == 21


def test_an_error_in_the_middle_of_many_answers_is_recognised(serve):
    _, store = serve(MANY, tricks={n: failing(500) for n in range(4, 8)})
    with pytest.raises(Incomplete, match="it answered 500, 4 times"):
        store.read()


def test_a_cell_of_more_than_a_thousand_is_refused(serve):
    _, store = serve([doc(n) for n in range(1234)])
    said = "scope 'agent:main' has 1234 documents of kind 'fact', of which the API lists 1000"
    with pytest.raises(Incomplete, match=said):
        store.read()


def test_too_much_and_too_slow_are_cut_off(serve, monkeypatch):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b" " * 65_536)

    def dripping(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(200):
            handler.wfile.write(b"X: y\r\n")
            time.sleep(0.05)

    monkeypatch.setattr("memops.network.endpoint.MAX_BYTES", 1 << 20)
    _, store = serve(tricks={"always": endless})
    with pytest.raises(Incomplete, match="more than 1048576 bytes"):
        store.read()
    gateway, _ = serve(tricks={"always": dripping})
    began = time.monotonic()
    with pytest.raises(Incomplete, match="no whole answer in 0 s"):
        Client(gateway.url, 0.001, seconds=0.4).get("/api/v1/memory/stats")
    assert time.monotonic() - began < 3


# --- who may ask whom


def test_a_token_is_sent_and_a_wrong_one_is_named_without_it(serve, monkeypatch):
    gateway, store = serve(token=TOKEN)
    monkeypatch.setenv("RSCLAW_TOKEN", TOKEN)
    assert store.read().height == 3
    monkeypatch.setenv("RSCLAW_TOKEN", "wr" + "ong")
    with pytest.raises(Unauthorised, match="refused the token") as refused:
        store.read()
    assert refused.value.code == 12 and "wrong" not in str(refused.value)
    assert len(gateway.seen) == 4  # a refused token is not tried again


def test_a_token_file_must_be_private(serve, monkeypatch, tmp_path):
    _, store = serve(token=TOKEN)
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o644)
    monkeypatch.setenv("RSCLAW_TOKEN_FILE", str(path))
    with pytest.raises(MemopsError, match="others may read the token"):
        store.read()
    path.chmod(0o600)
    assert store.read().height == 3


def test_a_token_never_follows_a_redirect(serve, monkeypatch):
    monkeypatch.setenv("RSCLAW_TOKEN", TOKEN)
    thief, _ = serve()
    _, store = serve(tricks={"always": failing(307, Location=thief.url + "/api/v1/memory/stats")})
    with pytest.raises(Incomplete):
        store.read()
    assert thief.seen == []


def test_a_proxy_from_the_environment_is_not_used(serve, monkeypatch):
    proxy, _ = serve()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.setenv("RSCLAW_TOKEN", TOKEN)
    _, store = serve()
    assert store.read().height == 3 and proxy.seen == []


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fe80::1]", "0.0.0.0", "192.0.2.7", "[::ffff:169.254.169.254]"]
)
def test_other_machines_are_not_asked(host, monkeypatch):
    monkeypatch.delenv("RSCLAW_HOSTS", raising=False)
    with pytest.raises(MemopsError, match="is not this machine"):
        open_store(f"rsclaw:http://{host}:18888").read()


def test_metadata_addresses_are_not_asked_even_when_named(monkeypatch):
    monkeypatch.setenv("RSCLAW_HOSTS", "169.254.169.254")
    with pytest.raises(MemopsError, match="is not this machine"):
        open_store("rsclaw:http://169.254.169.254").read()


def test_a_named_machine_gets_no_token_unencrypted(monkeypatch):
    monkeypatch.setenv("RSCLAW_HOSTS", "192.0.2.7")
    monkeypatch.setenv("RSCLAW_TOKEN", TOKEN)
    with pytest.raises(MemopsError, match="not sent unencrypted"):
        open_store("rsclaw:http://192.0.2.7").read()


@pytest.mark.parametrize("tail", ["http://user:pw@127.0.0.1:1", "http://127.0.0.1:1/?token=x"])
def test_secrets_in_an_address_are_refused_and_not_repeated(tail):
    with pytest.raises(MemopsError, match="give only host and port") as refused:
        open_store(f"rsclaw:{tail}")
    assert "pw" not in str(refused.value) and "token=x" not in str(refused.value)


def test_where_nothing_answers_no_store_is_found(serve):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(StoreNotFound, match="nothing answers there"):
        open_store(f"rsclaw:http://127.0.0.1:{port}").read()
    _, store = serve(tricks={"always": failing(404)})
    with pytest.raises(StoreNotFound, match="no such route"):
        store.read()


def test_the_api_is_never_written(serve, tmp_path):
    gateway, store = serve()
    for attempt in (
        lambda: store.write(None),
        lambda: store.revert([]),
        lambda: store.restore(tmp_path),
    ):
        with pytest.raises(PlanRefused, match="can only be read"):
            attempt()
    assert gateway.seen == [] and store.capabilities == {"snapshot", "live_read"}
    assert store.identity() == {"kind": "rsclaw", "path": gateway.url, "schema": "api v1"}


def test_a_file_is_compared_with_its_gateway(serve):
    _, store = serve()
    records = store.read()
    assert disagreements(records, stats(FEW)) == []
    assert disagreements(records.head(2), stats(FEW)) == [
        "the file has 2 documents, the gateway 3",
        "kind 'fact': the file has 1, the gateway 2",
        "scope 'agent:main:cron': the file has 0, the gateway 1",
    ]
