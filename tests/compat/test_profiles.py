"""Profiles: each engine's search with its habits, and OpenClaw's functions by worked values."""

import polars as pl
import pytest

from memops.policy import Policy
from memops.schema import from_rows, instant
from memops.search.retrieve import search
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
        k,
    )
    return run.select("doc_id", "rank").rows()


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
