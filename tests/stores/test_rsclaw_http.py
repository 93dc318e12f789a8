"""Reading by rsclaw's API from a server that does what gateways do, and worse."""

import gzip
import json
import time

import pytest

from memops.errors import Incomplete
from memops.stores.rsclaw.http import Client
from tests.stores.rsclaw_gateway import FEW, MANY, doc, failing, honest, stats


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

    monkeypatch.setattr("memops.models.endpoint.MAX_BYTES", 1 << 20)
    _, store = serve(tricks={"always": endless})
    with pytest.raises(Incomplete, match="more than 1048576 bytes"):
        store.read()
    gateway, _ = serve(tricks={"always": dripping})
    monkeypatch.setattr("memops.models.endpoint.MAX_SECONDS", 0.4)
    began = time.monotonic()
    with pytest.raises(Incomplete, match="no whole answer in 0 s"):
        Client(gateway.url, 0.001).get("/api/v1/memory/stats")
    assert time.monotonic() - began < 3
