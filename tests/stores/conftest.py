"""A clawseed workspace with the rows of `clawseed_sample`, its store and its database."""

import pytest

from memops.stores import open_store
from tests.stores.clawseed_db import build
from tests.stores.clawseed_sample import SAMPLE


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
