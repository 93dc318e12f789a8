"""Bad input: each with its exit code and one sentence that names the thing, and nothing changed."""

import json
import os
import re
import shlex
import shutil
import sqlite3

import pytest

from memops.schema import STORES

NOW = "2026-06-01T00:00:00Z"


@pytest.fixture
def store(memops, twins):
    return memops, memops.write("m.jsonl", twins)


def brain(folder, sql="CREATE TABLE other(x)"):
    path = folder / "ws" / "memory" / "brain.db"
    path.parent.mkdir(parents=True)
    con = sqlite3.connect(path)
    con.execute(sql)
    con.commit()
    con.close()
    return path


def assert_refused(memops, code, *argv, says=()):
    """Run a command that must fail; its sentence and JSON must agree and hold what `says` says."""
    said = memops(*argv)
    assert memops.code == code, (memops.code, memops.err)
    assert (said["rc"], said["code"]) == (code, code)
    assert "Traceback" not in memops.err
    assert said["message"] in memops.err
    for word in [says] if isinstance(says, str) else says:
        assert word in said["message"] + said["hint"], said
    return said


@pytest.mark.parametrize("kind", STORES)
def test_a_missing_store_is_not_found_and_not_made(memops, kind):
    path = memops.folder / "nowhere"
    assert_refused(memops, 10, "plan", f"{kind}:{path}", says=str(path))
    assert not path.exists()


ODD = ["memory/\udcff/x.md", "memory/a\nb/x.md", "memory/\udce4.md", "memory/new\nline.md"]


@pytest.mark.parametrize("path", ODD)
def test_a_note_whose_name_or_folder_is_no_text_is_passed_over_and_told_on_one_line(memops, path):
    root = memops.folder / "ws"
    (root / path).parent.mkdir(parents=True)
    (root / "MEMORY.md").write_text("# M\n\n- Anna sings.\n")
    (root / path).write_text("- hello\n")
    address = f"openclaw:{root}"
    assert memops("nightly", address)[0]["records"] == 0 and memops.code == 0, memops.err
    assert memops("inspect", address)["total"] == 1
    says = memops("doctor", address)["findings"][0]["says"]
    assert "a name that is no text" in says and says.isprintable()
    said = memops("init", address, "--into", str(memops.folder / "memops.toml"))
    assert memops.code == 0 and says in said["stores"][0]["findings"][0]


def test_an_argument_or_a_folder_that_is_no_text_in_utf8_is_refused(memops, monkeypatch):
    root = memops.folder / "ws\udcff"
    root.mkdir()
    for argv in (("plan", f"openclaw:{root}"), ("show", "jsonl:m.jsonl", "\udcff")):
        assert_refused(memops, 2, *argv, says="is no text in UTF-8")
    monkeypatch.chdir(root)
    for command in ("plan", "doctor", "init", "nightly"):
        assert_refused(memops, 2, command, "openclaw:.", says="is no text in UTF-8")


@pytest.mark.parametrize("kind", ["openclaw", "xinghebot", "clawseed"])
@pytest.mark.parametrize(
    "command", ["snapshot", "plan", "audit", "doctor", "inspect", "migrate", "duplicates"]
)
def test_a_folder_of_something_else_is_no_store_without_records(memops, kind, command):
    (memops.folder / "code" / "docs").mkdir(parents=True)
    (memops.folder / "code" / "README.md").write_text("# A program\n\n- it is fast\n")
    assert_refused(memops, 10, command, f"{kind}:{memops.folder / 'code'}", says="code")


def test_nodes_that_are_none_are_not_collected(memops):
    assert_refused(memops, 10, "collect", str(memops.folder), says="no xinghebot store")


@pytest.mark.parametrize(
    ("kind", "given", "meant", "held"),
    [
        ("openclaw", "home", "home/workspace", "home/workspace/MEMORY.md"),
        ("openclaw", "ws/memory", "ws", "ws/memory/2026-06-01.md"),
        ("xinghebot", "home", "home/project/memory", "home/project/memory/daily/2026-06-01.md"),
        ("xinghebot", "root/sessions", "root", "root/sessions/2026-06-01-run.md"),
    ],
)
def test_a_folder_beside_the_store_is_answered_with_the_store(memops, kind, given, meant, held):
    (memops.folder / held).parent.mkdir(parents=True)
    (memops.folder / held).write_text("- a fact\n")
    address = f"{kind}:{memops.folder / given}"
    assert_refused(
        memops, 10, "plan", address, says=f"did you mean {kind}:{memops.folder / meant}?"
    )


@pytest.mark.parametrize(("kind", "mark"), [("openclaw", "SOUL.md"), ("xinghebot", "daily/")])
def test_a_store_that_holds_nothing_yet_has_a_night(memops, kind, mark):
    (memops.folder / "ws").mkdir()
    if mark.endswith("/"):
        (memops.folder / "ws" / mark).mkdir()
    else:
        (memops.folder / "ws" / mark).write_text("# Who I am\n")
    assert memops("plan", f"{kind}:{memops.folder / 'ws'}")["ops"] == 0 and memops.code == 0


def test_an_address_without_a_kind_is_explained(memops):
    assert_refused(memops, 10, "snapshot", "nowhere", says="KIND:PATH")


def test_an_unknown_kind_is_named(memops):
    assert_refused(memops, 2, "snapshot", "mongo:x", says=["mongo", "clawseed"])


def test_a_file_that_is_no_database_is_corrupt(memops):
    path = memops.folder / "ws" / "memory" / "brain.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database" * 400)
    assert_refused(memops, 20, "snapshot", f"clawseed:{memops.folder / 'ws'}", says="brain.db")
    path.write_bytes(b"")
    assert_refused(memops, 20, "snapshot", f"clawseed:{memops.folder / 'ws'}", says="brain.db")
    assert path.read_bytes() == b""


def test_a_database_without_memories_is_corrupt(memops):
    path = brain(memops.folder)
    before = path.read_bytes()
    assert_refused(memops, 20, "snapshot", f"clawseed:{memops.folder / 'ws'}", says="memories")
    assert path.read_bytes() == before


def test_a_locked_database_is_locked(memops):
    path = brain(
        memops.folder, "CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT, content TEXT)"
    )
    con = sqlite3.connect(path, isolation_level=None)
    con.execute("BEGIN EXCLUSIVE")
    assert_refused(memops, 11, "snapshot", f"clawseed:{memops.folder / 'ws'}", says="brain.db")
    con.close()


def test_an_unreadable_file_is_named(store):
    memops, path = store
    if os.geteuid() == 0:
        path.unlink()
        path.mkdir()
        assert_refused(memops, 10, "snapshot", f"jsonl:{path}", says="m.jsonl")
    else:
        path.chmod(0)
        assert_refused(memops, 26, "snapshot", f"jsonl:{path}", says="m.jsonl")


def test_a_root_that_is_a_link_out_of_itself_is_refused(memops):
    (memops.folder / "elsewhere").mkdir()
    (memops.folder / "elsewhere" / "MEMORY.md").write_text("- a fact\n")
    (memops.folder / "ws").mkdir()
    (memops.folder / "ws" / "memory").symlink_to(memops.folder / "elsewhere")
    (memops.folder / "ws" / "MEMORY.md").symlink_to(memops.folder / "elsewhere" / "MEMORY.md")
    said = memops("snapshot", f"openclaw:{memops.folder / 'ws'}")
    if memops.code == 0:
        assert said["rows"] == 0
    else:
        assert memops.code in (10, 20)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "a"', "line 3"),
        ('{"id": "a", "colour": "red"}', "colour"),
        ('{"id": "a", "tier": "Core"}', "Core"),
        ('{"id": "00a"}', "00a"),
        ('["a"]', "line 3"),
    ],
)
def test_a_bad_line_of_a_table_is_named(memops, twins, line, says):
    path = memops.write("m.jsonl", twins[:2])
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    assert_refused(memops, 20, "plan", f"jsonl:{path}", says=says)


@pytest.mark.parametrize("how", ["flipped", "cut", "missing", "added", "manifest", "foreign"])
def test_a_damaged_snapshot_is_named_and_not_planned_from(store, how):
    memops, path = store
    folder = memops.state / "snapshots" / memops("snapshot", f"jsonl:{path}")["snapshot"]
    raw = folder / "raw" / "records.jsonl"
    raw.chmod(0o600)
    data = raw.read_bytes()
    if how == "flipped":
        raw.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    elif how == "cut":
        raw.write_bytes(data[:-20])
    elif how == "missing":
        (folder / "records.parquet").unlink()
    elif how == "added":
        (folder / "raw" / "more").write_text("x")
    elif how == "manifest":
        (folder / "manifest.json").unlink()
    else:
        (folder / "manifest.json").write_text('{"format": 99}')
    assert_refused(memops, 20, "check", str(folder), says=folder.name)
    memops("plan", str(folder))
    assert memops.code == 20


def test_a_good_snapshot_checks(store):
    memops, path = store
    name = memops("snapshot", f"jsonl:{path}")["snapshot"]
    assert memops("check", name)["ok"]


def test_a_store_that_shrank_is_not_believed(store, twins):
    memops, path = store
    memops("snapshot", f"jsonl:{path}")
    memops.write("m.jsonl", twins[:40])
    assert_refused(memops, 21, "snapshot", f"jsonl:{path}", says=["80", "40", "--accept-shrink"])
    assert memops("snapshot", f"jsonl:{path}", "--accept-shrink")["rows"] == 40


def test_what_a_night_says_of_a_store_that_shrank_can_be_typed(store, twins):
    memops, path = store
    taken = memops("snapshot", f"jsonl:{path}")["snapshot"]
    memops.write("m.jsonl", twins[:40])
    (night,) = memops("nightly", f"jsonl:{path}")
    assert memops.code == 21
    back, on = re.findall("memops ([^;,\n]+)", night["hint"])
    assert back == f"restore {taken}"
    memops(*shlex.split(on))
    assert memops.code == 0
    (night,) = memops("nightly", f"jsonl:{path}")
    assert "error" not in night


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("[policy.decay]\nhalf_live_days = 3\n", 2, "half_life_days"),
        ("[policy.limits]\nshare = 'all'\n", 2, "share"),
        ("[policy]\ndecay = 3\n", 2, "decay"),
        ("[polity]\n", 2, "polity"),
        ("[stores.a]\npath = 'x'\n", 2, "address"),
        ("[stores.a]\naddress = 'jsonl:x'\nsweet = 'y'\n", 2, "sweet"),
        ("not toml", 2, "memops.toml"),
    ],
)
def test_bad_settings_name_the_key(memops, text, code, says):
    (memops.folder / "memops.toml").write_text(text)
    assert_refused(memops, code, "runs", says=says)


def test_a_settings_file_that_is_asked_for_must_exist(memops):
    assert_refused(memops, 2, "--config", "absent.toml", "runs", says="absent.toml")


def test_unknown_names_suggest_the_near_one(store):
    memops, path = store
    assert_refused(memops, 2, "plan", f"jsonl:{path}", "--rule", "merge_exat", says="merge_exact")
    assert_refused(memops, 2, "resume", "nothing", says="nothing")
    assert_refused(memops, 22, "apply", "nothing", says="nothing")
    assert_refused(memops, 2, "plan", f"jsonl:{path}", "--now", "yesterday", says="yesterday")
    assert_refused(memops, 2, "plan", f"jsonl:{path}", "--now", "2026-06-01T00:00:00", says="zone")
    for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"):
        assert_refused(memops, 2, "plan", f"jsonl:{path}", "--now", at, says=at)
    assert_refused(memops, 2, "frobnicate", says="frobnicate")


def test_a_state_folder_that_cannot_be_written_is_named(store):
    memops, path = store
    memops.state.write_text("a file is in the way")
    assert_refused(memops, 26, "snapshot", f"jsonl:{path}", says="state")


def test_an_encoder_that_cannot_be_loaded_is_named(store):
    memops, path = store
    suite = memops.folder / "suite"
    suite.mkdir()
    (suite / "suite.toml").write_text('measures = ["R@5"]\nretriever = "hybrid"\nk = 10\n')
    query = {"query_id": "q1", "text": "gate 3", "relevant": {"03a": 1}, "answerable": True}
    (suite / "queries.jsonl").write_text(json.dumps(query) + "\n")
    argv = ("grade", f"jsonl:{path}", "--suite", suite, "--encoder", memops.folder / "no-model")
    assert_refused(memops, 2, *argv, says="no-model")


def test_a_suite_whose_evidence_is_nowhere_is_said_so(store):
    memops, path = store
    suite = memops.folder / "suite"
    suite.mkdir()
    (suite / "suite.toml").write_text('measures = ["R@5"]\nretriever = "hybrid"\nk = 10\n')
    query = {"query_id": "q1", "text": "gate 3", "relevant": {"gone": 1}, "answerable": True}
    (suite / "queries.jsonl").write_text(json.dumps(query) + "\n")
    said = memops("suite", "check", suite, "--store", f"jsonl:{path}")
    assert memops.code == 20
    assert any(p["query_id"] == "q1" and p["id"] == "gone" for p in said["problems"])
    assert_refused(memops, 2, "grade", f"jsonl:{path}", "--suite", "nowhere", says="nowhere")


def test_files_and_folders_are_private_whatever_the_umask(store):
    memops, path = store
    old = os.umask(0)
    try:
        memops("plan", f"jsonl:{path}")
    finally:
        os.umask(old)
    for item in memops.state.rglob("*"):
        assert item.stat().st_mode & 0o077 == 0, item
    shutil.rmtree(memops.state)
