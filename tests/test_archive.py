"""What left a store is found again and brought back."""

import json
import os
from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 6, 1, 2, tzinfo=UTC)


def found(memops, address, text):
    said = memops("inspect", address, "--archived", "--text", text)
    return [(r["id"], r["text"]) for r in said["records"]]


def texts(memops, address):
    return sorted(r["text"] for r in memops("inspect", address)["records"])


def test_a_deleted_record_is_found_in_the_archive_without_its_secret_and_comes_back(memops):
    secret = "sk-" + "proj-" + "Zk3" * 12
    rows = [
        {
            "id": "a",
            "kind": "session",
            "text": f"上次会议说定了新的报价 {secret}",
            "superseded_by": "memops:tombstone",
            "valid_to": (NOW - timedelta(days=90)).isoformat(),
        },
        {"id": "b", "kind": "fact", "text": "The user lives in Leeds"},
    ]
    rows += [{"id": f"c{n}", "kind": "fact", "text": f"Shelf {n} is in row {n}"} for n in range(8)]
    path = memops.write("m.jsonl", rows)
    address = f"jsonl:{path}"
    plan = memops("plan", address, "--rule", "delete_retired", "--now", NOW.isoformat())
    assert plan["by_op"] == {"tombstone": 1}
    memops("apply", plan["plan"])
    assert len(path.read_text().splitlines()) == 9
    ((id_, text),) = found(memops, address, "新的报价")
    assert id_ == "a" and secret not in text
    told = memops("show", address, "a")
    assert (
        told["why"][0] == "deleted: it is in the archive only"
        and told["lineage"]["replaced_by"] == []
    )
    assert told["back"] == f"memops records recover {address} a" and secret not in json.dumps(told)
    kept = next(memops.state.glob("stores/*/archive/*.jsonl"))
    assert secret not in kept.read_text() and (kept.stat().st_mode & 0o777) == 0o600
    assert memops("recover", address, "a")["applied"] == 1
    assert texts(memops, address)[-1].startswith("上次会议说定了新的报价")
    assert found(memops, address, "新的报价") == []
    done = memops("purge", address, "a")
    assert done["places"]["archive"] == 1
    assert not any("新的报价" in p.read_text() for p in memops.state.glob("stores/*/archive/*"))


def test_a_line_that_left_its_file_comes_back_as_a_line(memops):
    root = memops.folder / "ws"
    root.mkdir()
    memory = root / "MEMORY.md"
    memory.write_text("# Memory\n\n- 用户在学陶艺\n- The user lives in Leeds\n", encoding="utf-8")
    old = (NOW - timedelta(days=1)).timestamp()
    os.utime(memory, (old, old))
    address = f"openclaw:{root}"
    (line,) = [r["id"] for r in memops("inspect", address)["records"] if "陶艺" in r["text"]]
    memops("forget", address, line)
    assert "陶艺" not in memory.read_text()
    ((id_, text),) = found(memops, address, "陶艺")
    assert (id_, text) == (line, "用户在学陶艺")
    said = memops("recover", address, line)
    assert said["skipped"] == [], json.dumps(said)
    assert "用户在学陶艺" in texts(memops, address)
    assert "用户在学陶艺" in (root / "memory/memops/fact.md").read_text()
    memops("recover", address, "nothing-like-it")
    assert memops.code == 2
