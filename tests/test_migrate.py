"""The one-off migration on a real store: what it leaves, that it is done once, that it is undone."""

import json

import polars as pl

from memops.schema import LIVE
from memops.stores import open_store
from memops.stores.redb import Table
from memops.stores.redb_build import build
from memops.stores.rsclaw_docs import abstract, overview, packed

NOW = "2026-06-01T12:00:00Z"
CHATTER = [
    "在吗", "快点啊", "继续", "ok", "thanks!", "帮我查下天气", "今天有什么新闻", "哈哈", "怎么又报错了",
    "画一只猫", "搜一下附近的药店", "what time is it?", "好的", "辛苦了", "再试一次", "lol", "你在吗？",
    "把它删掉", "晚安", "find me a cheap flight to Rome", "A2A regression: reply with your agent id",
    "tool_call repair: your last JSON was invalid, resend arguments only", "我的幸运数字是啥？",
]  # fmt: skip
TOLD = ["我叫东升，幸运数字是 88", "我喜欢喝绿茶", "我喜欢喝绿茶。", "我喜欢喝绿茶！"]


def store(folder):
    docs = [
        {"id": f"d{n:02}", "scope": "agent:main", "kind": "note", "text": text, "created_at": 1_775_000_000 + n,
         "accessed_at": 1_775_000_000 + n, "access_count": 0, "importance": 0.5, "tier": "Working",
         "abstract_text": abstract(text), "overview_text": overview(text), "tags": [], "pinned": False}
        for n, text in enumerate([*CHATTER, *TOLD])
    ]  # fmt: skip
    docs.append(docs[0] | {"id": "r1", "kind": "remember", "text": "每次发布前先跑一遍回归测试"})
    path = folder / "memory.redb"
    rows = [(d["id"].encode(), packed(d, b"")) for d in docs]
    path.write_bytes(build({"memory_docs": Table(b"\x01&str", b"\x01&[u8]", rows)}))
    return path


def test_a_polluted_store_becomes_knowledge_once_and_is_undone(memops, tmp_path):
    path = store(tmp_path)
    before = open_store(f"rsclaw:{path}").read()
    night = memops("migrate", f"rsclaw:{path}", "--approve", "--now", NOW)
    assert memops.code == 0, memops.err
    live = open_store(f"rsclaw:{path}").read().filter(LIVE)
    assert sorted(live.select("kind", "text", "access_count").rows()) == [
        ("entity", "用户的名字是东升", 0),
        ("entity", "用户的幸运数字是88", 0),
        ("preference", "用户喜欢喝绿茶", 2),
        ("remember", "每次发布前先跑一遍回归测试", 0),
    ]
    assert live.filter(pl.col("text").str.contains("幸运数字"))["text"].to_list() == [
        "用户的幸运数字是88"
    ]
    again = memops("migrate", f"rsclaw:{path}", "--plan-only", "--now", NOW)
    assert again["ops"] == 0, json.dumps(again["by_rule"])
    memops("rollback", night["run"])
    assert memops.code == 0
    assert open_store(f"rsclaw:{path}").read().equals(before)
