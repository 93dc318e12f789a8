"""Suites of other programs, there and back."""

import json

import polars as pl
import pytest

from memops.errors import Corrupt, StoreNotFound
from memops.evaluation.exchange import read, write
from memops.evaluation.golden import load
from memops.schema import from_rows

QUERIES = [
    {"query_id": "q1", "text": "where does Anna live", "scope": "u", "category": "fact",
     "lang": "en", "answerable": True, "relevant": {"a": 2, "b": 1}},
    {"query_id": "q2", "text": "用户喝什么茶", "category": "fact", "lang": "zh",
     "answerable": True, "relevant": {"c": 1}, "nuggets": ["乌龙|龙井"], "avoid": ["咖啡"]},
    {"query_id": "q3", "text": "who won", "category": "none", "lang": "en", "answerable": False},
]  # fmt: skip
RECORDS = from_rows(
    [
        {"id": "a", "text": "Anna lives in Bonn"},
        {"id": "b", "text": "Bonn"},
        {"id": "c", "text": "喝乌龙茶"},
    ]
)


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "suite.toml").write_text('measures = ["R@5"]\n')
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in QUERIES), encoding="utf-8"
    )
    return load(folder)


def asked(rows):
    return {r["query_id"]: (r["text"], r.get("relevant")) for r in rows}


@pytest.mark.parametrize("kind", ["trec", "beir"])
def test_queries_and_judgements_come_back(suite, tmp_path, kind):
    write(suite, tmp_path / "out", kind, RECORDS)
    rows, records = read(tmp_path / "out", kind)
    assert asked(rows) == {q["query_id"]: (q["text"], q["relevant"]) for q in QUERIES[:2]}
    assert [r["id"] for r in records] == (["a", "b", "c"] if kind == "beir" else [])


def test_promptfoo_keeps_patterns_and_what_must_not_come(suite, tmp_path):
    assert write(suite, tmp_path / "out", "promptfoo") == ["tests.jsonl"]
    rows, _ = read(tmp_path / "out", "promptfoo")
    assert rows[1] | {"answerable": True} == QUERIES[1]
    assert rows[2]["answerable"] is False
    line = {
        "vars": {"question": "Which port?"},
        "assert": [{"type": "icontains", "value": "80.80"}],
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(line) + "\n")
    assert read(tmp_path / "own.jsonl", "promptfoo")[0][0]["nuggets"] == [r"80\.80"]


def test_trec_eval_reads_what_is_exported(suite, tmp_path):
    import ir_measures

    write(suite, tmp_path / "out", "trec")
    judged = list(ir_measures.read_trec_qrels(str(tmp_path / "out/qrels.txt")))
    assert [tuple(j[:3]) for j in judged] == [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 1)]


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann", "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a cat called Miso."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a cat"},
            ],
        },
        "qa": [
            {"question": "What is Ann's cat called?", "answer": "Miso", "evidence": ["D1:1"], "category": 4},
            {"question": "What is Bo's dog called?", "evidence": ["D1:2"], "category": 5},
        ],
    }
]  # fmt: skip
LONGMEM = [
    {
        "question_id": "q1", "question_type": "single-session-user", "question": "Which bike do I ride?",
        "haystack_session_ids": ["s1"], "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[
            {"role": "user", "content": "I ride a gravel bike.", "has_answer": True},
            {"role": "assistant", "content": "Nice."},
        ]],
    },
    {"question_id": "q2_abs", "question": "Which car do I drive?", "question_type": "x"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "held", "first", "categories"),
    [
        ("locomo", LOCOMO, {"conv-1:D1:1": 1}, ["single-hop", "adversarial"]),
        ("longmemeval", LONGMEM, {"q1:s1:1": 1}, ["single-session-user", "abstention"]),
    ],
)
def test_conversations_come_with_their_questions_and_can_be_graded(
    memops, kind, held, first, categories
):
    path = memops.folder / "held.json"
    path.write_text(json.dumps(held))
    said = memops("suite", "import", path, "--format", kind, "-o", "golden")
    assert (memops.code, said["queries"], said["records"]) == (0, 2, 2)
    suite = load(memops.folder / "golden")
    assert suite.queries["category"].to_list() == categories
    assert dict(suite.relevant.select("id", "grade").rows()) == first
    records = pl.read_ndjson(memops.folder / "golden/records.jsonl")
    assert records["created_at"].str.starts_with("2023-05").all()
    address = f"jsonl:{memops.folder / 'golden/records.jsonl'}"
    told = memops("grade", address, "--suite", "golden")["grades"]["aggregates"]
    assert told["hybrid"]["R@5"] == 1.0
    assert memops("suite", "export", "golden", "--format", "trec", "-o", "out")["files"] == [
        "qrels.txt", "queries.tsv",
    ]  # fmt: skip


def test_a_bad_file_is_named_with_its_line(tmp_path):
    with pytest.raises(StoreNotFound, match="no such file"):
        read(tmp_path / "nowhere", "trec")
    (tmp_path / "queries.tsv").write_text("q1\twhere\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0\n")
    with pytest.raises(Corrupt, match=r"qrels.txt: line 2 has 2 of 4 columns"):
        read(tmp_path, "trec")
    (tmp_path / "tests.jsonl").write_text(
        '{"vars": {"query": "x"}, "assert": [{"type": "llm-rubric"}]}\n'
    )
    with pytest.raises(Corrupt, match=r"line 1: cannot grade an assert of type 'llm-rubric'"):
        read(tmp_path, "promptfoo")
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(Corrupt, match="item 1: not a JSON object"):
        read(tmp_path / "x.json", "locomo")
