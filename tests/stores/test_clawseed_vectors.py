"""Vectors for rows without one: only the model that made the others may fill the gaps."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pytest

from memops.errors import MemopsError
from memops.stores.clawseed.vectors import fill, lacking, refuse_other_model

from .clawseed_db import build, cell, digest, execute, in_step, vector


@dataclass(frozen=True)
class Seeded:
    """An encoder whose vectors depend on the text and on which model it is."""

    model: str
    dims: int = 4
    speaks: bool = True

    def encode(self, texts):
        seeds = [hashlib.sha256(f"{self.model}{text}".encode()).digest() for text in texts]
        made = [np.random.default_rng(list(seed)).normal(size=self.dims) for seed in seeds]
        return np.array([v / np.linalg.norm(v) for v in made], dtype=np.float32)


OWN = Seeded("gte")
TEXTS = ["User likes tea", "用户喜欢喝茶", "gap one", "缺口二", "hidden gap", " "]


@pytest.fixture
def path(tmp_path):
    made = OWN.encode(TEXTS)
    rows = [{"content": text} for text in TEXTS]
    for n in (0, 1):
        rows[n]["embedding"] = vector(*made[n].tolist())
    rows[4]["superseded_by"] = "key0000"
    path = build(tmp_path / "ws", rows)
    execute(path, "UPDATE memories SET embedding_content_hash = NULL WHERE key = 'key0003'")
    return path


def test_the_gaps_are_filled_as_clawseed_would_have(path):
    rows = lacking(path)
    assert [text for _, text in rows] == ["gap one", "缺口二"]
    assert refuse_other_model(path, OWN) == 2
    assert fill(path, rows, OWN) == 2
    assert cell(path, "id0003", "embedding") == vector(*OWN.encode(["缺口二"])[0].tolist())
    assert cell(path, "id0003", "embedding_content_hash") == digest("缺口二")
    assert cell(path, "id0004", "embedding") is None
    assert in_step(path) and lacking(path) == []


@pytest.mark.parametrize("other", [Seeded("bge"), Seeded("gte", dims=3)])
def test_another_model_is_refused(path, other):
    with pytest.raises(MemopsError, match="2 of 2 differ"):
        refuse_other_model(path, other)


def test_without_a_vector_of_this_text_nothing_tells_the_model(path):
    execute(path, "UPDATE memories SET embedding_content_hash = '0000'")
    with pytest.raises(MemopsError, match="no vector to compare"):
        refuse_other_model(path, OWN)


def test_vectors_that_are_no_numbers_are_of_no_model(path):
    execute(path, "UPDATE memories SET embedding = ? WHERE key = 'key0000'",
            vector(*[float("nan")] * 4))  # fmt: skip
    with pytest.raises(MemopsError, match="1 of 2 differ"):
        refuse_other_model(path, OWN)


def test_a_row_that_the_agent_writes_meanwhile_is_left_to_it(path):
    rows = lacking(path)
    execute(path, "UPDATE memories SET content = 'newer' WHERE key = 'key0002'")
    assert fill(path, rows, OWN) == 1
    assert cell(path, "id0002", "embedding") is None


def test_the_command_refuses_a_model_that_is_not_the_stores(memops, path):
    refused = memops("embed", f"clawseed:{path}", "--model", "lsa", "--approve")
    assert memops.code == 2, refused
    assert cell(path, "id0002", "embedding") is None
