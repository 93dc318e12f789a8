import importlib.util
import json
import re
import sqlite3
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memops.language.lexicon import resource

ROOT = resource("data/make_samples.py").parents[1]


def _module():
    spec = importlib.util.spec_from_file_location("make_samples", ROOT / "data/make_samples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


samples = _module()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("samples")
    samples.main(out)
    return out


def _files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def _rows(out):
    db = sqlite3.connect(f"file:{out}/clawseed/memory/brain.db?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    rows = [dict(row) for row in db.execute("SELECT * FROM memories ORDER BY rowid")]
    db.close()
    return rows


def _lines(out):
    """Lines of the workspace that hold a memory: no headings, no comments, no session heads."""
    text = "\n".join(p.read_text() for p in sorted((out / "openclaw").rglob("*.md")))
    skipped = re.compile(r"\s*$|#|<!--|- \*\*Se|- \*\*So")
    return [line for line in text.splitlines() if not skipped.match(line)]


def _queries(store):
    path = ROOT / "evals/sample" / store / "queries.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_same_seed_writes_the_same_bytes(built, tmp_path):
    samples.build(tmp_path)
    assert _files(tmp_path) == _files(built)
    assert {p.name: p.stat().st_mtime for p in tmp_path.rglob("*.md")} == {
        p.name: p.stat().st_mtime for p in built.rglob("*.md")
    }


def test_building_again_in_place_changes_nothing(tmp_path):
    samples.main(tmp_path)
    before = _files(tmp_path)
    samples.main(tmp_path)
    assert _files(tmp_path) == before


def test_another_seed_writes_other_secrets_and_another_now_other_dates(built, tmp_path):
    assert not set(samples.secrets(1).values()) & set(samples.secrets(2).values())
    samples.build(tmp_path, now=datetime(2025, 1, 10, 12, tzinfo=UTC))
    assert max(row["created_at"] for row in _rows(tmp_path)) < "2025-01-11"
    assert "2025-01-02.md" in {p.name for p in tmp_path.rglob("*.md")}


def test_the_clawseed_database_is_sound_and_its_index_in_step(built, tmp_path):
    copy = tmp_path / "brain.db"
    copy.write_bytes((built / "clawseed/memory/brain.db").read_bytes())
    db = sqlite3.connect(copy, isolation_level=None)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.execute("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
    assert (
        db.execute(
            "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'shellfish'"
        ).fetchone()[0]
        >= 1
    )
    db.execute("DELETE FROM memories WHERE key = 'user_allergy'")
    db.execute("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
    db.close()


def test_each_store_holds_about_three_hundred_records_half_of_them_chinese(built):
    for texts in ([row["content"] for row in _rows(built)], _lines(built)):
        assert 250 <= len(texts) <= 350
        chinese = sum(bool(re.search(r"[\u4e00-\u9fff]", text)) for text in texts) / len(texts)
        assert 0.4 <= chinese <= 0.6


def test_the_clawseed_store_is_polluted_in_every_way(built):
    rows = _rows(built)
    texts = [row["content"] for row in rows]
    assert {row["category"] for row in rows} == {"core", "daily", "conversation", "note"}
    assert {row["namespace"] for row in rows} == {"default", "public", "persona_luna"}
    assert len(texts) - len(set(texts)) >= 30
    keys = {row["key"] for row in rows}
    by_column = [row for row in rows if row["superseded_by"]]
    assert len(by_column) == 3 and {row["superseded_by"] for row in by_column} <= keys
    prefixed = [re.match(r"\[SUPERSEDED by '(.*?)'\] ", text) for text in texts]
    assert {m[1] for m in prefixed if m} <= keys and sum(map(bool, prefixed)) == 3
    assert all(len(row["content"].encode()) <= 53 for row in rows if row["category"] == "daily")


def test_what_clawseed_keeps_of_a_turn_is_fifty_bytes():
    assert samples.cut("User: ok\nAssistant: OK.") == "User: ok Assistant: OK."
    assert samples.cut("User: 我想知道明天杭州的天气怎么样需要带伞吗") == "User:…"
    assert samples.cut("[system] x\n# y\n\nkept") == "kept"


def test_secrets_are_in_the_stores_and_in_no_committed_file(built):
    stored = b"".join(_files(built).values())
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    committed = b"".join(
        (ROOT / name).read_bytes() for name in listed.stdout.split("\0") if (ROOT / name).is_file()
    )
    for name, value in samples.secrets().items():
        assert value.encode() in stored, name
        assert value.encode() not in committed, name


def test_identity_and_card_numbers_have_valid_check_digits():
    hidden = samples.secrets()
    weights = [2 ** (17 - i) % 11 for i in range(18)]
    digits = [10 if d == "X" else int(d) for d in hidden["citizen_id"]]
    assert sum(w * d for w, d in zip(weights, digits, strict=True)) % 11 == 1
    card = [int(d) for d in reversed(hidden["bank_card"])]
    assert sum(card[::2] + [sum(divmod(2 * d, 10)) for d in card[1::2]]) % 10 == 0


def test_suites_are_bilingual_and_know_what_must_not_come_back():
    queries = [query for store in ("clawseed", "openclaw") for query in _queries(store)]
    assert len(queries) >= 60 and len({q["query_id"] for q in queries}) == len(queries)
    assert 0.4 <= sum(q["lang"] == "zh" for q in queries) / len(queries) <= 0.6
    assert sum("avoid" in q for q in queries) >= 25
    assert sum(not q["answerable"] for q in queries) == 8
    assert {q["category"] for q in queries} == {
        "identity", "preference", "project", "procedure", "temporal", "cross-lingual", "no-answer",
    }  # fmt: skip
    for store in ("clawseed", "openclaw"):
        suite = tomllib.loads((ROOT / "evals/sample" / store / "suite.toml").read_text())
        assert suite["measures"] == ["R@5", "R@10", "Success@1", "RR@10", "nDCG@10"]


def test_all_golden_evidence_stands_in_the_stores(built):
    rows = {row["id"]: row for row in _rows(built)}
    texts = {"clawseed": [row["content"] for row in rows.values()], "openclaw": _lines(built)}
    for store, held in texts.items():
        for query in _queries(store):
            wanted = query.get("relevant", {}).keys()
            assert wanted <= rows.keys(), query["query_id"]
            assert all(rows[i]["superseded_by"] is None for i in wanted), query["query_id"]
            assert all(rows[i]["namespace"] == query["scope"] for i in wanted), query["query_id"]
            for text in [*query.get("nuggets", []), *query.get("avoid", [])]:
                assert any(text in line for line in held), (query["query_id"], text)
            right = [rows[i]["content"] for i in wanted]
            right += [t for t in held if any(n in t for n in query.get("nuggets", []))]
            for text in query.get("avoid", []):
                assert not any(text in line for line in right), (query["query_id"], text)
            assert query["answerable"] == bool(wanted or query.get("nuggets"))
            assert query["text"] not in held


def test_the_script_runs_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", str(Path(samples.__file__)), str(tmp_path / "x")],
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "x/openclaw/MEMORY.md").read_text().startswith("# Memory\n")
