"""After a night, no file of memops but the bytes for restore holds a secret, in whatever spelling."""

import base64
import json
import random
import re
from urllib.parse import quote

import polars as pl

from memops.stores import open_store
from tests import secret_corpus as corpus

FORMATS = ("github", "npm", "aws", "openai", "slack", "stripe")


def planted():
    """Secrets of known formats, by name."""
    rng = random.Random(12)
    made = {name: corpus.TOKENS[name](rng) for name in FORMATS if name in corpus.TOKENS}
    return made | {"password": "Blue7!" + "river", "key": corpus.pem("RSA ")(rng)}


def rows(secrets):
    """Records that hold them in text, key, tags and native fields, in both languages."""
    texts = ["the deploy uses {} since May", "部署用的密钥是 {}，别外传", "see {}\nand rotate it"]
    out = [
        {
            "id": f"{name}{n}",
            "text": text.format(f"password: {value}" if name == "password" else value),
        }
        for name, value in secrets.items()
        for n, text in enumerate(texts)
    ]
    token = next(iter(secrets.values()))
    out.append({"id": "key", "text": "a plain fact", "key": f"uses_{token}", "tags": ["x", token]})
    out.append({"id": "native", "text": "another fact", "extra": json.dumps({"token": token})})
    return [{"kind": "fact", "created_at": "2026-01-01T00:00:00Z"} | row for row in out]


def spellings(secret):
    """The secret plain, escaped, in base64 (at each of three alignments), URL-encoded and split."""
    raw = secret.encode()
    coded = [
        base64.b64encode(b"\0" * pad + raw)[4 * bool(pad) : -4].rstrip(b"=") for pad in range(3)
    ]
    split = re.compile(rb"\s*".join(re.escape(bytes([b])) for b in raw if not chr(b).isspace()))
    once = json.dumps(secret)[1:-1]
    plain = [raw, once.encode(), json.dumps(once)[1:-1].encode()]
    plain += [quote(secret, safe="").encode(), *coded]
    return [re.compile(re.escape(way)) for way in plain if len(way) > 8] + [split]


def holding(folder, secret):
    """Files of a folder that hold it, tables read as text, those for restore left out."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data += json.dumps(pl.read_parquet(path).to_dicts(), default=str).encode()
        if any(way.search(data) for way in spellings(secret)):
            found.append(str(path.relative_to(folder)))
    return found


def for_restore(path):
    """The exception, readable by its owner alone: a snapshot's raw copy, and what undoes a run."""
    return "/raw/" in path or path.endswith("/undo.jsonl")


def test_only_the_bytes_for_restore_and_undo_hold_a_secret_after_a_night(memops):
    secrets = planted()
    assert len(secrets) >= 6
    address = f"jsonl:{memops.write('m.jsonl', rows(secrets))}"
    said = [memops("audit", address), memops("nightly", address, "--approve")]
    assert memops.code == 0, memops.err
    said += [memops("plan", address), memops("inspect", address), memops("show", address, "key")]
    taken = memops("snapshot", address)
    said += [taken, memops("report", taken["snapshot"])]
    memops("plan", address, "--policy", memops.write("odd.toml", []))
    kept = set()
    for name, secret in secrets.items():
        held = holding(memops.state, secret)
        kept.update(held)
        assert [path for path in held if not for_restore(path)] == [], name
        assert not any(way.search(json.dumps(said).encode()) for way in spellings(secret)), name
        assert not any(way.search(memops.err.encode()) for way in spellings(secret)), name
        assert holding(memops.folder, secret) == [f"state/{path}" for path in held], name
    assert {path.rsplit("/", 1)[-1] for path in kept} == {"undo.jsonl", "records.jsonl"}
    assert {(memops.state / path).stat().st_mode & 0o077 for path in kept} == {0}


def test_a_purge_leaves_no_spelling_of_a_secret_anywhere(memops):
    secrets = planted()
    made = rows(secrets)
    address = f"jsonl:{memops.write('m.jsonl', [*made, {'id': 'kept', 'text': 'tea'}])}"
    memops("snapshot", address)
    memops("nightly", address, "--approve")
    assert any(holding(memops.state, secret) for secret in secrets.values())
    said = memops("purge", address, *(row["id"] for row in made))
    assert memops.code == 0, memops.err
    assert said["removed"] == len(made)
    assert [holding(memops.folder, secret) for secret in secrets.values()] == [[]] * len(secrets)
    assert open_store(address).read()["id"].to_list() == ["kept"]
