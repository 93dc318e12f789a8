"""The one-off migration on a real store: what it leaves, that it is done once, that it is undone."""

import json
import socket
import subprocess
import sys

import polars as pl
import pytest

from memops.cli import run
from memops.policy import Policy
from memops.schema import LIVE
from memops.search.retrieve import search
from memops.stores import open_store
from memops.stores.rsclaw.docs import abstract, overview, packed
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build
from tests.stores.clawseed_db import build as clawseed

NOW = "2026-06-01T12:00:00Z"
CHATTER = [
    "在吗", "快点啊", "继续", "ok", "thanks!", "帮我查下天气", "今天有什么新闻", "哈哈", "怎么又报错了",
    "写一首诗", "搜一下附近的药店", "what time is it?", "好的", "辛苦了", "再试一次", "lol", "你在吗？",
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


def found(address):
    """The texts that a search for the lucky number finds, best first, a list a query."""
    records = open_store(address).read()
    asked = pl.DataFrame(
        {
            "query_id": ["a", "b"],
            "text": ["幸运数字", "我的幸运数字是多少"],
            "scope": ["agent:main"] * 2,
        }
    )
    run = search(records, asked, "bm25", None, Policy(), k=40)
    texts = run.join(records.select(doc_id="id", text="text"), on="doc_id", how="left")
    return (
        texts.sort("query_id", "rank")
        .group_by("query_id", maintain_order=True)
        .agg("text")["text"]
        .to_list()
    )


def test_a_polluted_store_becomes_knowledge_once_and_is_undone(memops, tmp_path):
    path = store(tmp_path)
    before = open_store(f"rsclaw:{path}").read()
    assert all("我的幸运数字是啥？" in texts for texts in found(f"rsclaw:{path}"))
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
    for texts in found(f"rsclaw:{path}"):
        assert texts[0] == "用户的幸运数字是88"
        assert "我的幸运数字是啥？" not in texts
    again = memops("migrate", f"rsclaw:{path}", "--plan-only", "--now", NOW)
    assert again["ops"] == 0, json.dumps(again["by_rule"])
    memops("rollback", night["run"])
    assert memops.code == 0
    assert open_store(f"rsclaw:{path}").read().equals(before)


def test_a_workspace_of_clawseed_is_migrated_once_and_restored_exactly(memops, tmp_path):
    said = [*CHATTER, *TOLD]
    rows = [{"content": text, "category": "daily"} for text in said]
    clawseed(tmp_path, [*rows, {"content": "每次发布前先跑一遍回归测试", "category": "core"}])
    address = f"clawseed:{tmp_path}"
    before = open_store(address).read()
    night = memops("migrate", address, "--approve", "--now", NOW)
    assert memops.code == 0, memops.err
    live = open_store(address).read().filter(LIVE)
    told = set(live["text"]) - set(before["text"])
    assert told == {"用户的名字是东升", "用户的幸运数字是88", "用户喜欢喝绿茶"}
    assert set(live["text"]) - told == {"每次发布前先跑一遍回归测试"}
    again = memops("migrate", address, "--plan-only", "--now", NOW)
    assert again["ops"] == 0, json.dumps(again["by_rule"])
    memops("rollback", night["run"])
    assert memops.code == 0
    assert open_store(address).read().equals(before)


NIGHT = """
import socket, sys
from memops.cli import run
try:
    socket.create_connection(("192.0.2.1", 80), 1)
    sys.exit("there is a network")
except OSError:
    pass
assert [name for _, name in socket.if_nameindex()] == ["lo"], socket.if_nameindex()
codes = [run(["--state", "state", *argv, "--json"]) for argv in (
    ["migrate", "jsonl:m.jsonl", "--approve"], ["nightly", "jsonl:m.jsonl"])]
assert codes == [0, 0], codes
"""


def notes(folder):
    lines = [
        {"id": f"n{n}", "scope": "agent:main", "kind": "note", "text": text,
         "created_at": "2026-05-01T00:00:00Z"}
        for n, text in enumerate([*CHATTER[:4], *TOLD])
    ]  # fmt: skip
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "m.jsonl").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_migration_and_a_night_need_no_network(tmp_path):
    """In a network namespace of their own, where there is nothing but loopback."""
    if sys.platform != "linux":
        pytest.skip("network namespaces are Linux's")
    alone = ["unshare", "--map-root-user", "--net"]
    try:
        allowed = subprocess.run([*alone, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare on this machine")
    if allowed.returncode:
        pytest.skip(f"this machine permits no network namespace: {allowed.stderr.strip()}")
    notes(tmp_path)
    done = subprocess.run(
        [*alone, sys.executable, "-c", NIGHT], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "用户的幸运数字是88" in (tmp_path / "m.jsonl").read_text("utf-8")


def test_a_migration_and_a_night_open_no_socket(memops, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError(f"a socket: {args}")

    for name in ("connect", "connect_ex", "bind", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    notes(memops.folder)
    for argv in (["migrate", "jsonl:m.jsonl", "--approve"], ["nightly", "jsonl:m.jsonl"]):
        memops(*argv, "--now", NOW)
        assert memops.code == 0, memops.err


def test_the_summary_shows_ten_samples_a_rule(memops):
    rows = [
        {"id": f"n{n:02}", "scope": "agent:main", "kind": "note", "text": f"我喜欢第{n}号茶",
         "created_at": "2026-05-01T00:00:00Z"}
        for n in range(10, 35)
    ]  # fmt: skip
    secret = "sk-" + "A1b2C3d4" * 5
    rows.append(rows[0] | {"id": "s", "text": f"openai 的 key 是 {secret}"})
    address = f"jsonl:{memops.write('m.jsonl', rows)}"
    night = memops("migrate", address, "--plan-only", "--now", NOW)
    shown = night["samples"]
    assert shown.keys() == night["by_rule"].keys()
    assert len(shown["extract_notes"]) == 10
    told = {f"用户喜欢第{n}号茶" for n in range(10, 35)} | {row["text"] for row in rows[:-1]}
    assert {row["text"] for row in shown["extract_notes"]} <= told
    assert secret not in json.dumps(night)
    run(["--state", str(memops.state), "migrate", address, "--plan-only", "--now", NOW])
    said = memops.capsys.readouterr().out
    assert "extract_notes, for example:" in said
    assert shown["extract_notes"][0]["text"] in said
    assert secret not in said
