"""Whom rsclaw's API is asked with, and how: tokens, machines, redirects, and no writing."""

import socket

import polars as pl
import pytest

from memops.errors import Incomplete, MemopsError, PlanRefused, StoreNotFound, Unauthorised
from memops.schema import from_rows
from memops.stores import Work, open_store
from tests.stores.rsclaw_gateway import TOKEN, failing

from .restoring import put_back
from .samples import NOW


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
    rows = from_rows([])
    for attempt in (
        lambda: store.write(Work(rows, rows, NOW, lambda live, counts: {}, lambda undo: None)),
        lambda: store.revert([]),
        lambda: put_back(store, tmp_path),
    ):
        with pytest.raises(PlanRefused, match="can only be read"):
            attempt()
    assert gateway.seen == [] and store.capabilities == {"snapshot", "live_read"}
    assert store.identity() == {"kind": "rsclaw", "path": gateway.url, "schema": "api v1"}


def test_what_is_forgotten_leaves_a_copy_and_the_others_stay(serve, tmp_path):
    _, store = serve()
    store.copy(tmp_path)
    whole = store.load(tmp_path)
    gone = whole["id"][0]
    store.forget(tmp_path, [gone])
    assert store.load(tmp_path).equals(whole.filter(pl.col("id") != gone))
    assert whole["text"][0].encode() not in (tmp_path / "docs.json").read_bytes()
