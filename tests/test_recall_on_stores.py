"""Recall on a real clawseed database: what migration, supersession and deletion do to it."""

import json
import sqlite3

import pytest

from .stores.clawseed_db import build, row

NOW = "2026-06-01T12:00:00Z"
LIKED = [
    "window seats on trains", "black tea without sugar", "short meetings before lunch",
    "dark themes in editors", "paper maps on hikes", "tabs over spaces", "aisle desks at work",
    "podcasts about history",
]  # fmt: skip
LIKED_ZH = [
    "周末去爬山", "手写笔记", "骑车上班", "清淡的早餐", "听爵士乐", "科幻小说", "早睡早起", "坐地铁出门",
]  # fmt: skip
PORTS = [("staging", 8080, 9090), ("billing", 7001, 7443), ("search", 6100, 6200)]


@pytest.fixture
def store(memops):
    texts = [f"I prefer {thing}" for thing in LIKED] + [f"我喜欢{thing}" for thing in LIKED_ZH]
    # The last one says what another does, which migration merges.
    told = [*texts, "I prefer dark themes in the editor"]
    rows = [
        row(n, text, category="daily", created_at=f"2026-05-{n + 1:02}T08:00:00+00:00")
        for n, text in enumerate(told)
    ]
    for n, (name, *ports) in enumerate(PORTS):
        rows += [
            row(
                50 + 2 * n + new, f"The {name} server listens on port {port}", category="core",
                created_at=f"2026-05-{3 + 20 * new:02}T08:00:00+00:00",
                updated_at=f"2026-05-{3 + 20 * new:02}T08:00:00+00:00",
            )
            for new, port in enumerate(ports)
        ]  # fmt: skip
    path = build(memops.folder / "ws", rows)
    ids = dict(sqlite3.connect(path).execute("SELECT content, id FROM memories").fetchall())
    queries = [
        {"query_id": f"likes-{n:02}", "text": thing, "category": "likes", "relevant": [ids[text]]}
        for n, (thing, text) in enumerate(zip(LIKED + LIKED_ZH, texts, strict=True))
    ]
    for name, old, new in PORTS:
        said = f"The {name} server listens on port {{}}"
        queries.append(
            {
                "query_id": f"port-{name}", "text": f"which port does the {name} server listen on",
                "category": "ports", "relevant": [ids[said.format(new)]],
                "avoid": [ids[said.format(old)]],
            }
        )  # fmt: skip
    golden = memops.folder / "golden"
    golden.mkdir()
    (golden / "suite.toml").write_text('measures = ["R@5", "RR@10", "stale@5", "leak@5"]\n')
    (golden / "queries.jsonl").write_text(
        "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in queries), encoding="utf-8"
    )
    memops("gate", "clawseed:ws", "--suite", "golden", "--accept", "--now", NOW)
    assert memops.code == 0
    return memops


def gated(memops, now=NOW):
    said = memops("gate", "clawseed:ws", "--suite", "golden", "--now", now)
    table = {(m["measure"], m["slice"]): m for m in said["measures"]}
    return said, table


def test_a_migration_gives_new_ids_and_leaves_recall_within_its_interval(store):
    old = {r["id"] for r in store("inspect", "clawseed:ws", "--now", NOW)["records"]}
    done = store("migrate", "clawseed:ws", "--approve", "--suite", "golden", "--now", NOW)
    assert (store.code, done["skipped"]) == (0, [])
    assert done["by_rule"]["merge_near"]
    new = {r["id"] for r in store("inspect", "clawseed:ws", "--now", NOW)["records"]}
    assert len(new - old) >= 10 and len(old & new) <= 9
    said, table = gated(store)
    assert said["verdict"] == "pass", said["reasons"]
    assert table["R@5", "all"]["low"] <= 0 <= table["R@5", "all"]["high"]
    # What was superseded no longer comes first.
    assert table["stale@5", "all"]["before"] > table["stale@5", "all"]["after"] == 0
    assert table["leak@5", "all"]["after"] == 0
    # When the notes themselves are gone for good, their facts still count.
    with sqlite3.connect(store.folder / "ws/memory/brain.db") as db:
        gone = db.execute("DELETE FROM memories WHERE superseded_by IS NOT NULL").rowcount
    assert gone >= len(LIKED + LIKED_ZH)
    said, table = gated(store)
    assert said["verdict"] == "pass" and table["R@5", "all"]["after"] > 0.9


def test_deleting_evidence_lowers_recall(store):
    with sqlite3.connect(store.folder / "ws/memory/brain.db") as db:
        db.execute("DELETE FROM memories WHERE content LIKE 'I prefer%'")
    said, table = gated(store)
    assert (store.code, said["verdict"]) == (30, "fail")
    assert {q["query_id"] for q in said["lost"]} == {f"likes-{n:02}" for n in range(len(LIKED))}
    assert table["R@5", "all"]["after"] == pytest.approx(11 / 19)
