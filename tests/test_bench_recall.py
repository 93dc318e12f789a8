"""The recall bench: what it reads, what it hides, and encoders that cannot be had."""

import gzip
import json

import pytest

from memops.errors import Corrupt, MemopsError, StoreNotFound
from memops.evaluation.bench import read_pairs, recall_run
from memops.models.encode import open_encoder

CORPUS = [
    {"id": "a", "text": "I moved to Lisbon", "scope": "s", "speaker": "Ann", "session": 1, "seq": 1, "timestamp": "2025-05-08T10:00:00", "superseded_by": "b"},
    {"id": "b", "text": "I moved to Porto", "scope": "s", "speaker": "Ann", "session": 2, "seq": 5, "timestamp": "2025-06-08"},
    {"id": "c", "text": "我搬到里斯本", "scope": "t", "speaker": None, "caption": None},
]  # fmt: skip
QUERIES = [
    {"id": "q1", "text": "Where did Ann move?", "scope": "s", "seq": 3},
    {"id": "q2", "text": "Where did Ann move?", "scope": "s", "seq": 9},
    {"id": "q3", "text": "搬到哪里", "scope": "t"},
    {"id": "q4", "text": "May 2025", "scope": "s", "seq": 3},
]


def write(folder, name, rows):
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as handle:
        handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "corpus", CORPUS)
    write(tmp_path, "queries", QUERIES)
    return tmp_path


@pytest.mark.parametrize("retriever", ["bm25", "dense", "rrf", "hybrid"])
def test_a_query_sees_its_scope_before_its_time_and_nothing_superseded_by_then(folder, retriever):
    rows = list(recall_run(folder, retriever, "lsa", 5))
    found = {(row["query_id"], row["doc_id"], row["rank"]) for row in rows}
    assert {("q1", "a", 1), ("q2", "b", 1), ("q3", "c", 1), ("q4", "a", 1)} == found
    assert set(rows[0]) == {"query_id", "doc_id", "rank", "score"}


def test_a_folder_without_its_files_and_a_damaged_one_are_named(tmp_path):
    with pytest.raises(StoreNotFound, match="corpus"):
        list(recall_run(tmp_path, "bm25", "lsa", 5))
    (tmp_path / "corpus.jsonl.gz").write_bytes(b"not gzip")
    with pytest.raises(Corrupt, match="corpus"):
        list(recall_run(tmp_path, "bm25", "lsa", 5))


@pytest.mark.slow
def test_a_folder_that_holds_no_model_is_a_usage_error(tmp_path):
    with pytest.raises(MemopsError) as caught:
        open_encoder(str(tmp_path))
    assert caught.value.code == 2


def test_without_the_extra_a_model_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MemopsError) as caught:
        open_encoder("some/model")
    assert "sentence-transformers is not installed" in str(caught.value)
    assert caught.value.hint == "pip install 'memops[models]'"


@pytest.mark.parametrize(
    "line", ['{"a": "The mill opens at six"}', '["a", "b"]', '{"a": 1, "b": 2}']
)
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "x", "b": "y"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(Corrupt, match="line 2: no pair"):
        read_pairs(path)
