"""No secret leaves a store: planted in every column of every kind, sought in all that comes of it."""

import json
import os
import random
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.cli import COMMANDS, run
from memops.safety.masking import aliased, masked_table, masked_text, masked_value
from memops.schema import RECORDS
from memops.stores import open_store
from tests import secret_corpus as corpus
from tests.counts import few
from tests.stores import clawseed_db
from tests.test_secret_artefacts import for_restore, holding, spellings
from tests.trust.scene import rows

NOW = "2026-06-01T12:00:00Z"
WORDS = {"kind", "tier", "form", "role", "sensitivity"}
TEXTS = [
    n for n, kind in RECORDS.items() if kind in (pl.String, pl.List(pl.String)) and n not in WORDS
]


def token(name):
    """A secret of a known make, another one for each name."""
    return corpus.TOKENS["github"](random.Random(name))


def table(folder, kind):
    """A table with a record for each column that can hold a secret, said twice, and plain ones."""
    rows = []
    for nth, name in enumerate(TEXTS):
        for twin in "ab":
            row = {
                "id": f"{name}-{twin}",
                "kind": "fact",
                "text": f"Gate {nth} of the depot opens at {nth}:30",
            }
            row |= {"created_at": "2026-01-01T00:00:00Z", "scope": "default"}
            if twin == "a":
                value = {"tags": [token(name)], "extra": json.dumps({"note": token(name)})}
                said = (
                    f"{row['text']} with {token(name)}"
                    if name == "text"
                    else f"agent:{token(name)}"
                )
                row |= {name: value.get(name, said)}
            rows.append(row)
    path = folder / f"m.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        from memops.schema import from_rows

        from_rows(rows).write_parquet(path)
    return f"{kind}:{path}", {name: token(name) for name in TEXTS}


def clawseed(folder):
    names = ("id", "key", "content", "namespace", "session_id", "superseded_by", "category")
    rows = []
    for nth, name in enumerate(names):
        for twin in "ab":
            row = {
                "key": f"k_{name}_{twin}",
                "content": f"Gate {nth} of the depot opens at {nth}:30",
            }
            if twin == "a":
                row[name] = f"{row.get(name, 'agent')}:{token(name)}"
            rows.append(row)
    clawseed_db.build(folder / "ws", rows)
    return f"clawseed:{folder / 'ws'}", {name: token(name) for name in names}


def openclaw(folder):
    names = ("file", "heading", "line", "comment", "curated")
    notes = folder / "ws" / "memory"
    notes.mkdir(parents=True)
    (notes / f"notes-{token('file')}.md").write_text(
        "# Notes\n\n- The depot opens at seven on weekdays\n- Marek has the spare key of the depot\n"
    )
    (notes / "2026-05-02.md").write_text(
        f"# 2026-05-02\n\n## About {token('heading')}\n\n- The depot opens at seven on weekdays\n"
        f"<!-- {token('comment')} -->\n- The deploy of the depot uses {token('line')} since May\n"
    )
    (folder / "ws" / "MEMORY.md").write_text(
        f"# MEMORY\n\n- The vault of the depot: {token('curated')}\n"
    )
    for path in (folder / "ws").rglob("*.md"):
        os.utime(path, (1.7e9, 1.7e9))
    return f"openclaw:{folder / 'ws'}", {name: token(name) for name in names}


def xinghebot(folder):
    names = ("text", "tag", "source", "curated")
    day = folder / "mem" / "daily" / "2026-05-02.md"
    day.parent.mkdir(parents=True)
    stamp = "2026-05-02T10:00:00Z"
    day.write_text(
        f"- {stamp} [fact] The deploy of the depot uses {token('text')} #work (source=run-1)\n"
        f"- {stamp} [fact] The depot opens at seven #{token('tag')} (source=run-1)\n"
        f"- {stamp} [fact] The depot opens at seven #work (source={token('source')})\n"
    )
    (folder / "mem" / "MEMORY.md").write_text(
        f"# MEMORY\n\n## Notes\n\n- The vault: {token('curated')}\n"
    )
    return f"xinghebot:{folder / 'mem'}", {name: token(name) for name in names}


def rsclaw(folder):
    from memops.stores.rsclaw.docs import packed
    from memops.stores.rsclaw.redb import Table
    from memops.stores.rsclaw.redb_build import build

    names = ("id", "scope", "text", "tags", "abstract_text", "overview_text")
    docs = []
    for nth, name in enumerate(names):
        said = f"Gate {nth} of the depot opens at {nth}:30"
        doc = {
            "id": f"d{nth}", "scope": "agent:main", "kind": "fact", "text": said,
            "created_at": 1767225600, "accessed_at": 1767225600, "access_count": 1, "importance": 0.5,
            "tier": "Working", "abstract_text": said, "overview_text": said, "tags": [], "pinned": False,
        }  # fmt: skip
        doc[name] = [token(name)] if name == "tags" else f"agent:{token(name)}"
        docs += [doc, doc | {"id": f"e{nth}", "text": said, "tags": [], "scope": "agent:main"}]
    rows = sorted((d["id"].encode(), packed(d, b"")) for d in docs)
    path = folder / "memory.redb"
    path.write_bytes(build({"memory_docs": Table(b"\x01&str", b"\x01&[u8]", rows)}))
    return f"rsclaw:{path}", {name: token(name) for name in names}


KINDS = {
    "jsonl": lambda folder: table(folder, "jsonl"),
    "parquet": lambda folder: table(folder, "parquet"),
    "clawseed": clawseed,
    "openclaw": openclaw,
    "xinghebot": xinghebot,
    "rsclaw": rsclaw,
}


ELSEWHERE = {
    "curator",  # asks a model; what it is told is masked in test_curator, what it prints by `emit`
    "bench", "encoder", "tune", "judge_test",  # read labelled files and texts that a person gives, no store's records
    "demo", "serve", "deploy", "init", "config",  # make their own store or settings, or start other programs
    "collect", "import", "embed", "view", "extract", "resume",  # of some kinds only
}  # fmt: skip


class Watched:
    """The command line, whose every output is sought for secrets, printed as JSON and for people."""

    def __init__(self, memops, secrets):
        self.memops, self.secrets, self.leaks, self.called = memops, secrets, set(), set()
        self.ways = {name: spellings(value) for name, value in secrets.items()}

    def __call__(self, *argv, twice=True, may=(0, 3)):
        said = None
        for mode in (["--json"], [])[: 1 + twice]:
            code = run(["--state", str(self.memops.state), *map(str, argv), *mode])
            out = self.memops.capsys.readouterr()
            assert code in may, (argv, code, out.err)
            said = json.loads(out.out) if mode and out.out.strip() else said
            whole = (out.out + out.err).encode()
            for name, ways in self.ways.items():
                if any(way.search(whole) for way in ways):
                    self.leaks.add((argv[0], "--json" if mode else "text", name))
        self.called.add(argv[0])
        self.code = code
        return said

    def held(self, *folders):
        """Names of secrets in files that are not there to restore or undo, with the files."""
        return sorted(
            (name, path)
            for folder in folders
            for name, value in self.secrets.items()
            for path in holding(folder, value)
            if not for_restore(f"/{path}")
        )


SLOW = ("parquet", "clawseed", "xinghebot", "rsclaw")
MOST = [pytest.param(kind, marks=[pytest.mark.slow] * (kind in SLOW)) for kind in KINDS]


def test_the_commands_of_every_day_print_and_write_no_secret_of_any_column(memops, tmp_path):
    home, pages = tmp_path / "home", tmp_path / "pages"
    home.mkdir(), pages.mkdir()
    address, secrets = KINDS["jsonl"](home)
    did = Watched(memops, secrets)
    plan = did("plan", address, "--now", NOW)["plan"]
    did("review", plan)
    did("report", plan, "-o", pages / "plan.html", twice=False)
    did("show", address, _ids(did, address)[0])
    did("apply", plan, "--approve", may=(0, 3, 22), twice=False)
    assert any(holding(memops.state, value) for value in secrets.values())  # to restore and undo
    assert did.leaks == set()
    assert did.held(memops.state, pages) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_command_prints_or_writes_a_secret_of_any_column(memops, tmp_path, kind):
    home = tmp_path / "home"
    home.mkdir()
    address, secrets = KINDS[kind](home)
    did = Watched(memops, secrets)
    before = did("snapshot", address, twice=False)["snapshot"]
    assert holding(memops.state, next(iter(secrets.values())))
    plan = did("plan", address, "--now", NOW)["plan"]
    did("review", plan)
    for op in _lines(memops.state / "plans" / plan / "ops.jsonl")[:8]:
        did("explain", plan, op["id"])
    for argv in (
        ("inspect", address), ("audit", address), ("doctor", address), ("conflicts", address),
        ("duplicates", address), ("simulate", address),
        ("report", plan), ("report", before), ("suite", "init", address),
        ("suite", "review", kind, "--rest", "keep"), ("suite", "check", kind, "--store", address),
        ("suite", "export", kind, "-o", tmp_path / "beir", "--format", "beir", "--store", address),
        ("grade", address, "--suite", kind), ("plan", address, "--without", "redact_secrets"),
        ("evidence", "sheet", plan, "-o", tmp_path / "sheet"),  # holds what it is about, as it says
        ("migrate", address, "--plan-only"), ("check",), ("stores",), ("policy",), ("rules",),
    ):  # fmt: skip
        did(*argv)
    records = did("inspect", address, "--limit", "0", twice=False)["records"]
    for record in records[:12]:
        did("show", address, record["id"])
    did("apply", plan, "--approve", may=(0, 3, 22), twice=False)
    did("gate", address, "--suite", kind, "--accept")
    if kind == "xinghebot":
        did("collect", f"a={home / 'mem'}", f"b={home / 'mem'}")
    ids = _ids(did, address)
    for verb in ("pin", "unpin", "forget", "recover"):
        did(verb, address, *ids[:6], twice=False)
    ids = _ids(did, address)
    did("edit", address, ids[-1], "--importance", "0.7")
    did("nightly", address, "--approve", "--now", NOW, twice=False)
    after = did("snapshot", address, twice=False)["snapshot"]
    did("diff", before, after)
    did("inspect", address, "--archived")
    for one in did("runs"):
        did("report", one["run"] or one["plan"])
    did("history"), did("prune")
    runs = [one["run"] for one in did("runs", twice=False) if one["run"]]
    did("rollback", runs[0], twice=False)
    if kind == "clawseed":
        did("view", address, may=(0, 2))
    if kind not in ("jsonl", "parquet"):
        did("extract", "--from", address, may=(0, 10))
    did("status", may=(0, 32))
    ids = _ids(did, address)
    did("purge", address, ids[0], "--dry-run")
    did("purge", address, ids[1])
    did("restore", before, twice=False)
    assert did.leaks == set()
    assert did.held(memops.state, tmp_path / "evals", tmp_path / "beir") == []
    assert set(COMMANDS) - did.called == ELSEWHERE - did.called


def _ids(did, address):
    return [record["id"] for record in did("inspect", address, twice=False)["records"]]


def _lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def native(folder):
    """The store's own bytes, by path, without its backups; of a table and a database its rows."""
    if (table := folder / "m.parquet").exists():
        return pl.read_parquet(table).rows()
    db = folder / "ws" / "memory" / "brain.db"
    if db.exists():
        return rows(db)
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and "backups" not in p.parts)
    return {p: p.read_bytes() for p in files}


@pytest.mark.parametrize("kind", MOST)
def test_a_record_whose_name_holds_a_secret_is_changed_and_given_back_like_any_other(
    memops, tmp_path, kind
):
    home = tmp_path / "home"
    home.mkdir()
    address, _ = KINDS[kind](home)
    records, before = open_store(address).read(), native(home)
    odd = [i for i in records["id"] if "[redacted:" in i] or records["id"].to_list()[:2]
    done = memops("forget", address, *odd)
    assert (memops.code, done["applied"], done["skipped"]) == (0, len(odd), [])
    hidden = {r["id"] for r in memops("inspect", address, "--archived")["records"]}
    assert hidden >= {*odd}
    memops("rollback", done["run"])
    assert (memops.code, native(home)) == (0, before)
    assert open_store(address).read()["id"].to_list() == records["id"].to_list()


@pytest.mark.parametrize(
    "kind", [kind for kind in MOST if kind.values[0] not in ("parquet", "xinghebot")]
)
@pytest.mark.parametrize("then", ["resume", "rollback"])
def test_a_cut_off_run_over_such_records_ends_exactly(memops, tmp_path, monkeypatch, kind, then):
    home = tmp_path / "home"
    home.mkdir()
    address, _ = KINDS[kind](home)
    before = native(home)
    ids = open_store(address).read()["id"].to_list()[:6]
    plan = memops("forget", address, *ids, "--plan-only")["plan"]
    with monkeypatch.context() as patched:
        patched.setenv("MEMOPS_FAIL", "batch-written:1:eio")
        memops("apply", plan, "--approve")
        assert memops.code == 26
    run_ = memops("runs")[0]["run"]
    memops(then, run_)
    assert memops.code == 0, memops.err
    if then == "rollback":
        assert native(home) == before
    else:
        hidden = {r["id"] for r in memops("inspect", address, "--archived")["records"]}
        assert hidden >= {*ids}


def test_a_heading_that_looks_like_a_token_keeps_no_secret_below_it_from_being_redacted(
    memops, tmp_path
):
    note = tmp_path / "ws" / "MEMORY.md"
    note.parent.mkdir()
    secrets = [token(f"line {n}") for n in range(17)]
    lines = [f"- Machine {n} of the depot takes {secret}" for n, secret in enumerate(secrets)]
    note.write_text("\n".join(["# Memory", "", f"## {token('heading')}", "", *lines, ""]))
    os.utime(note, (1.7e9, 1.7e9))
    made = memops("plan", f"openclaw:{note.parent}", "--rule", "redact_secrets")
    assert made["refused"] == 0 and made["by_rule"]["redact_secrets"] == {"redact": 17}
    assert memops("apply", made["plan"], "--approve")["applied"] == 17
    assert not [secret for secret in secrets if secret in note.read_text()]


def test_what_is_masked_in_a_heading_is_masked_in_the_subject_that_is_made_of_it(tmp_path):
    note = tmp_path / "ws" / "MEMORY.md"
    note.parent.mkdir()
    said = {
        "heading": "## {}",
        "words": "## Old key `{}`:",
        "label": "**{}**",
        "lead": "- {}:\n  - a",
    }
    rng = random.Random(3)
    planted = [(make(rng), form) for make in corpus.TOKENS.values() for form in said.values()]
    planted = [(key, form) for key, form in planted if "\n" not in key]
    body = [f"{form.format(key)}\n\n- Fact {n}\n" for n, (key, form) in enumerate(planted)]
    note.write_text("# Memory\n\n" + "\n".join(body), encoding="utf-8")
    read = masked_table(open_store(f"openclaw:{note.parent}").read())
    subjects = [re.sub(r"[\W_]", "", said) for said in read["subject"].drop_nulls()]
    keys = {key for key, form in planted if key not in masked_text(form.format(key))}
    assert len(keys) > 100
    assert [key for key in keys if any(re.sub(r"[\W_]", "", key) in s for s in subjects)] == []


def test_a_person_may_name_such_a_record_as_the_store_does(memops):
    id_ = f"agent:{token('id')}"
    row = {"id": id_, "kind": "fact", "text": "The depot opens at seven", "created_at": NOW}
    address = f"jsonl:{memops.write('m.jsonl', [row])}"
    said = memops("show", address, id_)["record"]
    assert said["id"] == aliased(pl.Series([id_]))[0] != id_
    memops("purge", address, id_)
    assert (memops.code, open_store(address).read().height) == (0, 0)


LEFT_ALONE = [
    "0f8fad5b-d9cd-469f-a165-70867728950e", "01HZX3K7Q8V9T2M4N6P8R0S1T3", "V1StGXR8_Z5jdHi6B-myT",
    "mem_5d41402abc4b2a76b9719d911017c592", "memory/2026-05-02.md:ab3c0cd64981:0", "MEMORY.md:0a1b2c3d4e5f:12",
    "user_lang", "4111111111111111", "1764201600000", "agent:main", "session:abc123", "telegram:123456789",
    "memops:quarantine", "memops:tombstone", "default", "Zx81kQpW2mN4vB7cT9yR3uE6aS5dF0gH1jK2lO8p",
]  # fmt: skip


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_a_name_that_is_generated_or_says_what_it_names_stays(name):
    assert aliased(pl.Series([name]))[0] == name


@given(st.lists(st.tuples(st.text(max_size=12), st.sampled_from("abc"), st.text(max_size=12))))
@few(15)
def test_aliases_tell_names_apart_hold_no_secret_and_have_none_themselves(parts):
    names = sorted({f"{head}:{token(which)}/{tail}" for head, which, tail in parts})
    found = aliased(pl.Series(names, dtype=pl.String))
    assert len({*found}) == len(names)
    assert aliased(found).to_list() == found.to_list()
    for name, alias in zip(names, found, strict=True):
        inside = [which for which in "abc" if token(which) in name]
        assert not any(token(which) in alias for which in inside) or alias == name


def test_a_table_is_masked_in_every_column_and_otherwise_as_it_was():
    secret = token("x")
    plain = {
        "id": "a",
        "tags": ["b", "c"],
        "n": 1,
        "extra": '{"x": 1}',
        "text": "tea",
        "note": None,
    }
    odd = {
        "id": f"agent:{secret}", "tags": ["b", secret], "n": 2, "extra": json.dumps({"k": [secret]}),
        "text": f"use {secret}", "note": secret,
    }  # fmt: skip
    frame = pl.DataFrame([plain, odd])
    masked = masked_table(frame)
    assert masked.row(0, named=True) == plain
    assert not re.search(re.escape(secret), json.dumps(masked.row(1, named=True)))
    assert masked_table(masked).equals(masked)
    assert masked_table(frame.head(0)).equals(frame.head(0))


def test_where_in_a_note_a_record_stands_is_no_secret_and_any_other_origin_may_be():
    code = "the gate code is " + "#4821"
    table = pl.DataFrame(
        {"origin": ["memory/2026-05-01.md#4821", code], "block": ["a.md#f1f02d46.3", code]}
    )
    masked = masked_table(table)
    assert masked["origin"][0] == table["origin"][0] and masked["block"][0] == table["block"][0]
    assert all("4821" not in masked[name][1] for name in table.columns)


def test_a_nested_value_is_masked_in_keys_values_and_beside_what_tells():
    secret = token("x")
    said = masked_value({"password": "Blue7!river", secret: [{"text": f"use {secret}"}, 3, None]})
    assert secret not in json.dumps(said) and "Blue7" not in json.dumps(said)
    assert masked_value({"a": [1, "tea", ("b",)], "c": None}) == {
        "a": [1, "tea", ("b",)],
        "c": None,
    }


def test_a_text_for_people_keeps_the_names_that_it_may_be_asked_by():
    random_id, secret = "Zx81kQpW2mN4vB7cT9yR3uE6aS5dF0gH1jK2lO8p", token("x")
    text = f"token {random_id}  fact\nuse  {secret}"
    assert (
        masked_text(text, {"id": random_id})
        == f"token {random_id}  fact\nuse  [redacted:code-host-token]"
    )
    assert random_id not in masked_text(text)
