"""Profiles: each engine's search with its habits, and OpenClaw's functions by worked values."""

import polars as pl
import pytest

from memops.models.encode import Lsa
from memops.policy import Policy
from memops.schema import from_rows, instant
from memops.search.retrieve import search
from memops.stores import open_store
from tests.compat.profiles import PROFILES, profile_run

LINES = {
    "memory/2026-03-01.md#3": "The staging server listens on port 8080",
    "memory/2026-05-20.md#3": "The staging server listens on port 9090",
    "memory/2026-05-20.md#4": "用户喜欢喝黑咖啡",
    "MEMORY.md#2": "Deploys happen on Fridays, never at noon",
}  # fmt: skip


def store(**more):
    rows = []
    for i, (origin, text) in enumerate((LINES | more).items()):
        day = origin.split("/")[-1][:10] if "/" in origin else "2026-05-01"
        rows.append(
            {
                "id": f"r{i}",
                "text": text,
                "scope": "u",
                "origin": origin,
                "created_at": instant(f"{day}T00:00:00Z"),
            }
        )
    return from_rows(rows)


def found(name, text, records=None, k=5, scope=None):
    queries = pl.DataFrame(
        {"query_id": ["q"], "text": [text], "scope": [scope]}, schema_overrides={"scope": pl.String}
    )
    run = profile_run(
        name,
        store() if records is None else records,
        queries,
        None if "hybrid" not in name else ENCODER,
        k,
    )
    return run.select("doc_id", "rank").rows()


ENCODER = Lsa().fitted(list(LINES.values()))


def test_openclaw_cuts_curated_files_at_headings_and_hyphens_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path))
    (tmp_path / "MEMORY.md").write_text(
        "# Memory\n\n## Ports\n* staging uses 8080\n* production uses 9090\n1. nightly uses 7070\n"
        "- local uses 6060\n  * tunnel uses 5050\nspare uses 4040\n\n## Doors\n门在左边 uses keys\n"
    )
    texts = {
        i: text for i, text in open_store(f"openclaw:{tmp_path}").read().select("id", "text").rows()
    }
    for asked, together in {
        "staging": ["staging uses 8080", "production uses 9090", "1. nightly uses 7070"],
        "tunnel": ["local uses 6060\n  * tunnel uses 5050\nspare uses 4040"],
        "keys": ["门在左边 uses keys"],
    }.items():
        hits = found("openclaw-keyword", asked, open_store(f"openclaw:{tmp_path}").read())
        assert [texts[doc] for doc, rank in hits if rank == 1] == together


def test_openclaw_wants_every_word_and_falls_back_to_single_ones():
    # The newer day's chunk holds two lines, which share its rank; the older has faded.
    assert found("openclaw-keyword", "staging port") == [("r1", 1), ("r2", 1), ("r0", 2)]
    assert found("openclaw-keyword", "where do deploys run") == [("r3", 1)]
    assert found("openclaw-keyword", "the of and") == []


def test_openclaw_finds_no_chinese_word_inside_a_sentence():
    assert found("openclaw-keyword", "黑咖啡") == []
    assert found("openclaw-keyword", "用户喜欢喝黑咖啡") == [("r1", 1), ("r2", 1)]


def test_openclaw_hybrid_hides_old_dated_notes_behind_a_strong_hit():
    ids = [doc for doc, _ in found("openclaw-hybrid", "Deploys happen on Fridays, never at noon")]
    assert ids[0] == "r3" and "r0" not in ids


def test_xinghebot_scores_the_share_of_words_contained_newest_file_first():
    assert found("xinghebot-scan", "staging port")[:2] == [("r1", 1), ("r0", 2)]
    assert found("xinghebot-scan", "咖啡") == [("r2", 1)]
    assert found("xinghebot-scan", "喜欢 红茶") == [("r2", 1)]


def test_clawseed_falls_back_to_substrings_only_where_nothing_else_is_found():
    assert found("clawseed", "黑咖啡") == [("r2", 1)]
    assert found("clawseed", "什么咖啡") == []
    assert [doc for doc, _ in found("clawseed", "port")] == ["r0", "r1"]


def test_clawseed_cuts_before_it_drops_hidden_rows():
    rows = [
        {"id": f"r{i}", "text": "port " * (9 - i), "superseded_by": "r8" if i < 3 else None}
        for i in range(9)
    ]
    records = from_rows(rows)
    assert len(found("clawseed", "port", records, k=5)) < 5
    assert (
        len(
            search(
                records,
                pl.DataFrame({"query_id": ["q"], "text": ["port"]}),
                "bm25",
                None,
                Policy(),
                5,
            )
        )
        == 5
    )


def test_clawseed_reads_a_persona_what_is_public_beside_its_own_by_score():
    scopes = pl.Series(["luna", "public", "nova", "public"])
    records = store().with_columns(scope=scopes)
    assert {doc for doc, _ in found("clawseed", "staging server port", records, scope="luna")} == {
        "r0",
        "r1",
    }
    assert {doc for doc, _ in found("clawseed", "staging deploys", records, scope="public")} == {
        "r1",
        "r3",
    }
    assert [doc for doc, _ in found("clawseed", "staging server", records, k=1, scope="luna")] in (
        ["r0"],
        ["r1"],
    )


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_profile_stays_in_the_scope_and_takes_any_query(name):
    records = store().with_columns(scope=pl.Series(["u", "v", "u", "u"]))
    assert not {"r0"} & {doc for doc, _ in found(name, "staging server port", records, scope="v")}
    for text in ("", '"', "100% _x_ NEAR( * AND", "port"):
        assert found(name, text, records.clear()) == []
        found(name, text, records)
