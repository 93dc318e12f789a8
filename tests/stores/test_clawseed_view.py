"""MEMORY_SNAPSHOT.md as memops writes it: clawseed reads every entry, memops every byte."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memops.stores import open_store
from memops.stores.clawseed.view import entries, parsed, view, without_text
from tests.counts import few
from tests.strategies import NOW

from .clawseed_db import build, execute

ODD = [
    "User likes tea",
    "用户喜欢喝茶\n\n而且住在杭州",
    "a\n---\nb",
    "*Created: by hand*\nkept",
    "before\n### `not a heading`\nafter",
    "  spaced  \r\nlines\n",
    "",
    "\u2028 odd \ufeff text 🙂 {braces} `ticks`",
]


def store(tmp_path, texts=ODD, **more):
    rows = [{"content": text, "key": f"k{n}", **more} for n, text in enumerate(texts)]
    path = build(tmp_path / "ws", rows)
    return path, open_store(f"clawseed:{tmp_path / 'ws'}")


def test_every_entry_comes_back_exactly_and_clawseed_reads_as_many(tmp_path):
    path, made = store(tmp_path, namespace="团队", importance=0.25, session_id="s1")
    execute(path, "UPDATE memories SET superseded_by = 'k1' WHERE key = 'k0'")
    execute(path, "UPDATE memories SET category = 'daily' WHERE key = 'k7'")
    text = view(made.read(), NOW)
    back = {row["key"]: row for row in entries(text)}
    assert {key: row["text"] for key, row in back.items()} == {f"k{n}": ODD[n] for n in range(1, 7)}
    assert {(r["scope"], r["importance"], r["session_id"]) for r in back.values()} == {
        ("团队", 0.25, "s1")
    }
    record = made.read().filter(key="k3").to_dicts()[0]
    native = json.loads(record["extra"])
    assert back["k3"]["id"] == record["id"]
    assert back["k3"]["created_at"] == native["created_at"]
    read = dict(parsed(text))
    assert set(read) == set(back) and "**Total core memories:** 6" in text
    assert read["k2"] == "a\n\\---\nb" and read["k4"].split("\n")[1] == "\\### `not a heading`"


@few(50)
@given(st.lists(st.text(max_size=40) | st.sampled_from(ODD), min_size=1, max_size=5))
def test_whatever_a_text_says_it_comes_back(texts):
    import polars as pl

    from memops.schema import from_rows

    native = {"category": "core", "created_at": "2026-05-01T08:00:00+08:00"}
    native |= {"updated_at": "2026-05-01T08:00:00+08:00"}
    rows = [
        {"id": f"i{n}", "key": f"{text[:5]}{n}", "text": text, "extra": json.dumps(native)}
        for n, text in enumerate(texts)
    ]
    records = from_rows(rows).with_columns(pl.col("id"))
    text = view(records, NOW)
    found = {row["id"]: (row["key"], row["text"]) for row in entries(text)}
    assert found == {row["id"]: (row["key"], row["text"]) for row in rows}
    assert len(parsed(text)) == len(rows)


def test_the_file_is_written_and_imported(memops, tmp_path):
    path, _ = store(tmp_path)
    address = f"clawseed:{tmp_path / 'ws'}"
    printed = memops("view", address)
    assert printed["path"] is None and not (tmp_path / "ws" / "MEMORY_SNAPSHOT.md").exists()
    said = memops("view", address, "--write")
    assert (said["entries"], memops.code) == (8, 0)
    (tmp_path / "memops.toml").write_text(f"[import.core]\npath = {json.dumps(said['path'])}\n")
    new = f"jsonl:{tmp_path / 'new.jsonl'}"
    done = memops("import", "core", "--to", new)
    assert done["applied"] == 7 and len(done["passed_over"]) == 1  # the empty one
    back = open_store(new).read()
    assert set(back["text"]) == {text for text in ODD if text}
    assert set(back["tier"]) == {"core"} and back["created_at"].null_count() == 0
    assert path.exists()


def test_a_forgotten_text_leaves_the_view_too(tmp_path):
    _, made = store(tmp_path)
    text = view(made.read(), NOW)
    clean = without_text(text, [ODD[2], ODD[4]])
    kept = {row["text"] for row in entries(clean)}
    assert kept == set(ODD) - {ODD[2], ODD[4]}


def test_a_store_without_core_memories_has_no_view(memops, tmp_path):
    store(tmp_path, ["x"], category="daily")
    refused = memops("view", f"clawseed:{tmp_path / 'ws'}", "--write")
    assert memops.code == 2 and "no live core memory" in refused["message"]
    (tmp_path / "m.jsonl").write_text("")
    assert "no clawseed store" in memops("view", f"jsonl:{tmp_path / 'm.jsonl'}")["message"]
