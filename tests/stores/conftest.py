"""A clawseed workspace with the rows of `clawseed_sample`, its store and its database; rsclaw's API."""

import pytest

from memops.stores import open_store
from tests.stores.clawseed_db import build
from tests.stores.clawseed_sample import SAMPLE
from tests.stores.rsclaw_gateway import Gateway


@pytest.fixture
def ws(tmp_path):
    build(tmp_path / "ws", SAMPLE)
    return tmp_path / "ws"


@pytest.fixture
def store(ws):
    return open_store(f"clawseed:{ws}")


@pytest.fixture
def db(ws):
    return ws / "memory" / "brain.db"


@pytest.fixture
def serve(monkeypatch):
    """Start a gateway of rsclaw; returns it and a store that asks it."""
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
