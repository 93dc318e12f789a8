import json
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops.commands import inspecting
from memops.hygiene.decay import relevance
from memops.policy import Policy
from memops.schema import TOMBSTONE, from_rows
from memops.stores import open_store

from .stores import samples

NOW = "2026-06-01T12:00:00Z"
AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
KINDS = ("jsonl", "clawseed", "openclaw")
ENGLISH, CHINESE = "Rosa prefers tea to coffee", "用户的猫叫麻薯"


@pytest.fixture(params=KINDS)
def store(request, tmp_path, memops):
    return samples.BUILDERS[request.param](tmp_path)


def held(store):
    """What the store itself holds, sorted, as text and whether it is live."""
    return sorted(open_store(store).read().select("text", pl.col("superseded_by").is_null()).rows())


def inspect(memops, store, *options):
    return memops("inspect", store, "--now", NOW, "--limit", "0", *options)["records"]


def id_of(memops, store, words):
    (row,) = inspect(memops, store, "--text", words)
    return row["id"]


def fact(id, text, **fields):
    return {"id": id, "kind": "fact", "text": text, "created_at": "2026-05-30T00:00:00Z", **fields}


def test_a_pin_holds_until_it_is_undone(memops, store):
    id, before = id_of(memops, store, CHINESE), held(store)
    done = memops("pin", store, id, "--now", NOW)
    assert (memops.code, done["applied"], done["ids"], done["state"]) == (0, 1, [id], "verified")
    assert memops("show", store, id, "--now", NOW)["record"]["pinned"] is True
    assert memops("pin", store, id, "--now", NOW)["ops"] == 0
    assert memops("unpin", store, id, "--now", NOW)["applied"] == 1
    assert memops("show", store, id, "--now", NOW)["record"]["pinned"] is False
    assert held(store) == before


def test_a_forgotten_record_is_hidden_and_its_undo_brings_it_back(memops, store):
    before, ids = held(store), [id_of(memops, store, words) for words in (ENGLISH, CHINESE)]
    done = memops("forget", store, *ids, "--now", NOW)
    assert (memops.code, done["applied"], sorted(done["ids"])) == (0, 2, sorted(ids))
    assert done["undo"] == f"memops rollback {done['run']}"
    left = [r["text"] for r in inspect(memops, store)]
    assert ENGLISH not in left and CHINESE not in left
    assert memops("show", store, ids[0], "--now", NOW)["why"][0] == "hidden from recall: retired"
    assert memops("forget", store, *ids, "--now", NOW)["ops"] == 0
    memops("rollback", done["run"])
    assert (memops.code, held(store)) == (0, before)
    assert len(inspect(memops, store, "--text", CHINESE)) == 1


def test_an_edited_record_says_the_new_text_until_it_is_undone(memops, store):
    before, id = held(store), id_of(memops, store, CHINESE)
    done = memops(
        "edit", store, id, "--text", "用户的猫叫年糕", "--importance", "0.7", "--now", NOW
    )
    assert (memops.code, done["applied"], done["state"]) == (0, 1, "verified")
    (row,) = inspect(memops, store, "--text", "年糕")
    assert (row["text"], row["importance"], [row["id"]]) == ("用户的猫叫年糕", 0.7, done["ids"])
    assert inspect(memops, store, "--text", "麻薯") == []
    past = memops("show", store, row["id"], "--now", NOW)["history"]
    assert [(e["rule"], e["reason"], e["became"]) for e in past] == [
        ("edit", "a person changed its text, importance", "applied")
    ]
    memops("rollback", done["run"])
    assert held(store) == before


def test_what_was_stored_lately_is_forgotten_together(memops, store):
    count = len(inspect(memops, store))
    recent = [r["id"] for r in inspect(memops, store, "--since", "31d")]
    done = memops("forget", store, "--last", "31d", "--now", NOW)
    assert 0 < len(recent) < count
    assert (done["applied"], sorted(done["ids"])) == (len(recent), sorted(recent))
    assert len(inspect(memops, store)) == count - len(recent)


def test_only_the_plan_is_made_when_asked(memops, tmp_path):
    store = samples.BUILDERS["clawseed"](tmp_path)
    id, before = id_of(memops, store, ENGLISH), held(store)
    made = memops("forget", store, id, "--plan-only", "--now", NOW)
    assert (made["ops"], made["applied"], held(store)) == (1, 0, before)
    assert memops("apply", made["plan"], "--approve")["applied"] == 1
    assert inspect(memops, store, "--text", ENGLISH) == []


def test_nothing_happens_when_one_of_the_ids_is_unknown(memops, tmp_path):
    store = samples.BUILDERS["openclaw"](tmp_path)
    id, before = id_of(memops, store, ENGLISH), held(store)
    said = memops("forget", store, id, "no-such-record", "--now", NOW)
    assert (memops.code, held(store)) == (2, before)
    assert "no record 'no-such-record'; nothing was changed" in said["message"]


def test_a_person_may_do_what_no_rule_may(memops):
    path = memops.write(
        "m.jsonl", [fact("a", "A", pinned=True, tier="core"), fact("b", "B", tier="core")]
    )
    assert memops("forget", f"jsonl:{path}", "a", "--now", NOW)["applied"] == 1
    assert (
        memops("edit", f"jsonl:{path}", "b", "--tier", "peripheral", "--now", NOW)["applied"] == 1
    )
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(r["id"], r.get("superseded_by"), r["tier"]) for r in rows] == [
        ("a", TOMBSTONE, "core"),
        ("b", None, "peripheral"),
    ]


def test_the_nights_after_respect_pins_and_forgets(memops):
    old = {"importance": 0.1, "created_at": "2024-01-01T00:00:00Z"}
    texts = [
        "The gate code sheet hangs in the hall",
        "仓库钥匙在蓝色门后",
        "Ines runs the print workshop",
    ]
    twin = "Ines runs the print workshop!"
    rows = [fact(f"r{n}", text, **old) for n, text in enumerate([*texts, twin])]
    path = memops.write("m.jsonl", rows)
    store = f"jsonl:{path}"
    memops("pin", store, "r0", "--now", NOW)
    memops("forget", store, "r2", "r3", "--now", NOW)
    ops = [json.loads(line) for line in _ops(memops, store)]
    assert [(op["rule"], op["id"]) for op in ops] == [("demote_faded", "r1")]
    after = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [r["id"] for r in after if r.get("superseded_by") == TOMBSTONE] == ["r2", "r3"]


def _ops(memops, store):
    plan = memops("plan", store, "--now", NOW)["plan"]
    return (memops.state / "plans" / plan / "ops.jsonl").read_text(encoding="utf-8").splitlines()


def test_an_edit_says_what_the_next_night_would_make_of_it(memops):
    path = memops.write(
        "m.jsonl", [fact("a", "用户喜欢红茶", importance=0.9, access_count=9, tier="core")]
    )
    done = memops("edit", f"jsonl:{path}", "a", "--tier", "working", "--now", NOW)
    assert done["tonight"] == [
        {"id": "a", "rule": "promote_used", "reason": "used 9 times, importance 0.9"}
    ]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--kind", "opinion", "unknown kind 'opinion'"),
        ("--tier", "best", "unknown tier 'best'"),
        ("--importance", "7", "importance 7.0 is not between 0 and 1"),
        ("--text", "  ", "a record without text says nothing"),
    ],
)  # fmt: skip
def test_values_that_no_record_may_have_are_refused(memops, option, value, said):
    path = memops.write("m.jsonl", [fact("a", "A")])
    assert said in memops("edit", f"jsonl:{path}", "a", option, value)["message"]
    assert memops.code == 2


def test_a_secret_is_not_edited_into_a_store_and_not_echoed(memops):
    secret = "ghp_" + "Zk81" * 9
    path = memops.write("m.jsonl", [fact("a", "A")])
    before = path.read_bytes()
    said = memops("edit", f"jsonl:{path}", "a", "--text", f"token {secret}")
    assert (memops.code, path.read_bytes()) == (2, before)
    assert "the new text holds a secret" in said["message"]
    kept = (
        [p.read_bytes() for p in memops.state.rglob("*") if p.is_file()]
        if memops.state.exists()
        else []
    )
    assert secret not in memops.err + json.dumps(said) and not any(
        secret.encode() in k for k in kept
    )


def test_a_hidden_record_is_neither_edited_nor_pinned(memops):
    path = memops.write("m.jsonl", [fact("a", "A", superseded_by="b"), fact("b", "B")])
    for command in (["pin"], ["edit"]):
        extra = ["--text", "C"] if command == ["edit"] else []
        said = memops(*command, f"jsonl:{path}", "a", *extra)
        assert (memops.code, "is hidden (b)" in said["message"]) == (2, True)


def test_a_merged_line_whose_bytes_left_its_file_can_be_forgotten_too(memops, tmp_path):
    store = samples.BUILDERS["openclaw"](tmp_path)
    said = "Rosa keeps the spare keys of the workshop behind the blue door"
    day = tmp_path / "ws" / "memory" / "2026-05-30.md"
    day.write_text(f"# 2026-05-30\n\n## Keys\n- {said}\n- {said}\n", encoding="utf-8")
    twins = [r["id"] for r in inspect(memops, store, "--text", said)]
    plan = memops("plan", store, "--rule", "merge_exact", "--now", NOW)["plan"]
    assert memops("apply", plan, "--approve")["applied"] == 1
    keeper = id_of(memops, store, said)
    (gone,) = set(twins) - {keeper}
    assert memops("show", store, gone, "--now", NOW)["record"]["superseded_by"] == keeper
    done = memops("forget", store, gone, "--now", NOW)
    assert (done["applied"], done["state"]) == (1, "verified")
    assert memops("show", store, gone, "--now", NOW)["record"]["superseded_by"] == TOMBSTONE
    memops("rollback", done["run"])
    assert memops("show", store, gone, "--now", NOW)["record"]["superseded_by"] == keeper


def test_inspect_masks_secrets_and_its_search_cannot_tell_them(memops, capsys):
    secret = "ghp_" + "Qm27" * 9
    path = memops.write(
        "m.jsonl", [fact("a", f"令牌 {secret} 给 CI"), fact("b", "Ｆｕｌｌ width TEA")]
    )
    assert secret not in json.dumps(inspect(memops, f"jsonl:{path}"))
    assert inspect(memops, f"jsonl:{path}", "--text", secret[8:20]) == []
    assert [r["id"] for r in inspect(memops, f"jsonl:{path}", "--text", "full WIDTH tea")] == ["b"]
    assert secret not in json.dumps(memops("show", f"jsonl:{path}", "a"))


def test_inspect_filters_by_kind_tier_and_scope(memops):
    path = memops.write("m.jsonl", [
        fact("a", "A", tier="core"), fact("b", "B", scope="agent:main"),
        fact("c", "C", superseded_by="a"),
        {"id": "d", "kind": "note", "text": "D"},
    ])  # fmt: skip
    store = f"jsonl:{path}"
    ids = [
        [r["id"] for r in inspect(memops, store, *options)]
        for options in (
            [],
            ["--tier", "core"],
            ["--scope", "agent:main"],
            ["--kind", "note"],
            ["--since", "3d"],
        )
    ]
    assert ids == [["a", "b", "d"], ["a"], ["b"], ["d"], ["a", "b"]]
    assert memops("inspect", store, "--limit", "1", "--now", NOW)["total"] == 3


def test_inspect_lists_by_the_age_that_it_shows(memops):
    path = memops.write("m.jsonl", [
        fact("a", "The gate opens at 7", created_at="2026-05-20T00:00:00Z"),
        fact("b", "用户的猫叫麻薯", created_at="2026-01-05T00:00:00Z", updated_at="2026-05-31T00:00:00Z"),
        fact("c", "The kiln is in the yard", created_at="2026-05-25T00:00:00Z"),
        fact("d", "用户住在泉州", created_at="2026-02-01T00:00:00Z", accessed_at="2026-05-23T00:00:00Z"),
        {"id": "e", "text": "Nobody knows when"},
    ])  # fmt: skip
    rows = inspect(memops, f"jsonl:{path}")
    assert [(r["id"], r["age_days"]) for r in rows] == [
        ("b", 1.5), ("c", 7.5), ("d", 9.5), ("a", 12.5), ("e", None)
    ]  # fmt: skip
    settings = memops.folder / "created.toml"
    settings.write_text('[policy.decay]\nclock = "created"\n', encoding="utf-8")
    rows = memops("--config", settings, "inspect", f"jsonl:{path}", "--now", NOW)["records"]
    assert [r["id"] for r in rows] == ["c", "a", "d", "b", "e"]


def test_show_tells_lineage_and_history(memops):
    said = ["The depot opens at 7:30", "The depot opens at 7:30.", "用户养猫"]
    rows = [fact(f"r{n}", text) for n, text in enumerate(said)]
    store = f"jsonl:{memops.write('m.jsonl', rows)}"
    plan = memops("plan", store, "--rule", "merge_exact", "--now", NOW)["plan"]
    memops("apply", plan, "--approve")
    keeper, gone = (
        memops("show", store, "r0", "--now", NOW),
        memops("show", store, "r1", "--now", NOW),
    )
    assert keeper["lineage"] == {"replaced_by": [], "absorbed": [{"id": "r1", "text": said[1]}]}
    assert gone["lineage"] == {"replaced_by": [{"id": "r0", "text": said[0]}], "absorbed": []}
    assert [(e["op"], e["rule"], e["of"], e["became"]) for e in keeper["history"]] == [
        ("merge", "merge_exact", "r1", "applied")
    ]
    assert gone["why"][0] == "hidden from recall: replaced by r0"
    memops("rollback", keeper["history"][0]["run"])
    assert memops("show", store, "r1", "--now", NOW)["history"][0]["became"] == "taken back"


def test_the_score_is_the_sum_of_its_parts():
    row = from_rows(
        [{"id": "a", "importance": 0.4, "access_count": 2, "created_at": AT - timedelta(days=20)}]
    )
    said = inspecting.scored(row, AT, Policy())
    parts = sum(said[name] * weight for name, weight in said["weights"].items())
    assert said["relevance"] == pytest.approx(parts)
    assert said["age_days"] == pytest.approx(20.0)


@pytest.mark.parametrize("importance", [0.05, 0.2, 0.4])
def test_the_day_of_fading_is_where_the_score_crosses(importance):
    row = from_rows([{"id": "a", "importance": importance, "created_at": AT - timedelta(days=2)}])
    said = inspecting.fading(row, AT, Policy())
    before, after = (
        row.select(relevance(said["on"] + timedelta(days=d), Policy().decay)).item()
        for d in (-0.1, 0)
    )
    assert after < 0.15 <= before


def test_what_never_fades_says_why():
    rows = [{"id": "a", "pinned": True}, {"id": "b", "importance": 0.9, "created_at": AT}]
    said = [inspecting.fading(from_rows([row]), AT, Policy()) for row in rows]
    assert [(s["on"], s["why"]) for s in said] == [
        (None, "pinned records never fade"),
        (None, "its importance and uses alone keep it above that"),
    ]


def test_texts_cannot_forge_lines_or_colours_of_a_listing(memops, capsys):
    from memops.cli import run

    path = memops.write(
        "m.jsonl", [fact("a", "red \x1b[31m\nb  fact  core"), fact("b", "长" * 300)]
    )
    run(["--state", str(memops.state), "inspect", f"jsonl:{path}", "--now", NOW])
    out = capsys.readouterr().out
    assert "\x1b" not in out and "red \\x1b[31m\\x0ab  fact  core" in out
    assert len(out.strip().splitlines()) == 5
    run(["--state", str(memops.state), "show", f"jsonl:{path}", "a", "--now", NOW])
    assert "\x1b" not in capsys.readouterr().out


def test_as_many_records_are_taken_back_as_were_changed_wherever_the_change_was_kept(memops, store):
    """A pin is the overlay's where the store has no place for it; a hidden line left its file."""
    first, second, third = [r["id"] for r in inspect(memops, store)][:3]
    done = memops("pin", store, first, second, "--now", NOW)
    assert done["applied"] == 2
    assert memops("rollback", done["run"])["applied"] == 2
    assert memops("rollback", done["run"])["applied"] == 0
    done = memops("forget", store, third, "--now", NOW)
    again = memops("forget", store, third, "--now", "2026-06-02T12:00:00Z")
    assert (done["applied"], again["applied"]) == (1, 0)
    assert memops("rollback", done["run"])["applied"] == 1
    pinned = memops("pin", store, first, second, "--now", NOW)["run"]
    assert memops("rollback", pinned, "--only", "1")["applied"] == 1
    assert memops("rollback", pinned, "--only", "1")["applied"] == 0
    assert memops("rollback", pinned)["applied"] == 1


def test_an_edit_shows_a_text_as_its_store_keeps_it(memops, store):
    id, given = id_of(memops, store, ENGLISH), "Rosa drinks water\nand, on Sundays,\n\nmilk"
    done = memops("edit", store, id, "--text", given, "--now", NOW)
    (row,) = inspect(memops, store, "--text", "Rosa drinks")
    (field,) = [f for f in done["changes"][0]["becomes"] if f["field"] == "text"]
    assert (memops.code, field["after"]) == (0, row["text"])
    assert ("note" in done) == (row["text"] != given)
    again = memops("edit", store, row["id"], "--text", given, "--now", NOW)
    assert (memops.code, again["ops"]) == (0, 0)


def test_an_edit_of_a_note_shows_the_one_line_that_is_written(memops, tmp_path):
    (tmp_path / "ws").mkdir()
    path = tmp_path / "ws" / "MEMORY.md"
    path.write_text("# Memory\n\n- Liv keeps bees\n")
    store = f"openclaw:{tmp_path / 'ws'}"
    done = memops("edit", store, id_of(memops, store, "Liv"), "--text", "Liv keeps\n\nhens")
    (field,) = [f for f in done["changes"][0]["becomes"] if f["field"] == "text"]
    assert (memops.code, field["after"], "note" in done) == (0, "Liv keeps hens", True)
    assert path.read_text() == "# Memory\n\n- Liv keeps hens\n"
