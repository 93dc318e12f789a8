"""clawseed's own scores and formats, on worked examples."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.compat import clawseed_rules as formats
from tests.compat import clawseed_rules as scores
from tests.compat.clawseed_chunks import chunks
from tests.compat.fused import reciprocal_ranks

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_similarity_is_jaccard_until_both_sides_have_a_vector():
    assert scores.jaccard("a b c", "b c d") == 0.5 == scores.similarity("a b c", "b c d")
    assert scores.overlap("a b c", "b c d") == pytest.approx(2 / 3)
    both = scores.similarity("a b c", "b c d", ([1, 0], [1, 1]))
    assert both == pytest.approx(0.4 * 0.5 + 0.4 * 0.5**0.5 + 0.2 * 2 / 3)
    assert scores.jaccard("", " ") == 1.0 and scores.jaccard("", "a") == 0.0
    assert scores.cosine([1, float("nan")], [1, 1]) == 0.0 == scores.cosine([1], [1, 2])


def test_words_inside_words_count_as_signs_of_contradiction():
    assert scores.contradiction("Ann owns a notebook", "Ann owns a book") == 0.4
    assert scores.contradiction("Ann prefers tea at all times", "Ann likes tea lately") == 0.6
    assert scores.contradiction("Ann prefers tea at all times", "Ann likes tea now at times") == 1.0
    assert scores.contradiction("小安喜欢茶", "小安不喜欢茶") == 0.0


def test_only_live_core_rows_under_other_keys_are_superseded():
    same = {"content": "The door code is 1 2 3 4 5", "category": "core", "superseded_by": None}
    rows = [
        {"id": "1", "key": "a", **same}, {"id": "2", "key": "mine", **same},
        {"id": "3", "key": "b", **same, "category": "daily"},
        {"id": "4", "key": "c", **same, "superseded_by": "a"},
        {"id": "5", "key": "d", **same, "content": "[SUPERSEDED by 'a'] The door code is 1 2 3 4"},
    ]  # fmt: skip
    assert scores.conflicting(rows, "mine", "The door code is 1 2 3 4 6") == ["1"]


def test_importance_needs_two_words_to_pass_the_promotion_threshold():
    assert scores.importance("we must ship", "core") < 0.8 < scores.importance(
        "we must always ship", "core"
    )  # fmt: skip
    assert scores.importance("必须上线", "core") == 0.7


def test_fusions_rank_by_score_then_id():
    fused = reciprocal_ranks([("x", 0.2), ("y", 0.9)], [("x", 3.0)], 60, 5)
    assert [row["id"] for row in fused] == ["x", "y"]
    assert fused[0]["score"] == pytest.approx(1 / 62 + 1 / 61)
    mixed = scores.weighted_sum([("x", 0.5)], [("y", 8.0), ("x", 4.0)], (0.7, 0.3), 5)
    assert [(row["id"], round(row["score"], 6)) for row in mixed] == [("x", 0.5), ("y", 0.3)]


def test_a_turn_is_cut_at_fifty_bytes_and_chinese_at_the_last_space():
    assert formats.turn_summary("[note]\n# head\nshort line\n\nother") == "short line other"
    assert formats.turn_summary("User: 明天下午三点在会议室讨论预算并且准备好全部材料") == "User:…"
    assert formats.curated("长" * 51) == "长" * 17 + "…"


def test_vectors_survive_their_bytes():
    assert formats.vector_of(formats.vector_bytes([1.5, -0.25])) == [1.5, -0.25]
    assert formats.vector_of(b"\0\0\0\0\1") == [0.0]


def test_hygiene_keeps_superseded_rows_when_its_floor_bites():
    def rows(n, link=None):
        return [{"category": "daily", "superseded_by": link, "updated_at": f"2026-01-{i + 1:02d}"}
                for i in range(n)]  # fmt: skip

    both = rows(6) + rows(4, "k")
    gone = formats.pruned(both, "daily", "2026-05", 2)
    assert [row["updated_at"] for row in gone] == [f"2026-01-0{i}" for i in (1, 2, 3, 4)]
    assert len(formats.pruned(both, "daily", "2026-05", 0)) == 10
    assert formats.pruned(both, "daily", "2026-05", 6) == []
    assert formats.floor_of("daily", 5, 0, None) == 0 and formats.floor_of("core", None, 1, 2) == 0


def test_hygiene_is_due_after_twelve_hours_or_when_its_state_is_unreadable():
    report = '"last_report": {"pruned_conversation_rows": 0, "pruned_daily_rows": 0}'

    def due(hours):
        at = (NOW - timedelta(hours=hours)).isoformat()
        return formats.hygiene_due(f'{{"last_run_at": "{at}", {report}}}', NOW)

    assert [due(11.9), due(12)] == [False, True]
    unread = (None, "", "[]", '{"last_run_at": null}', '{"last_run_at": "2026-06-01T00:00:00Z"}')
    assert all(formats.hygiene_due(state, NOW) for state in unread)


def test_modes_are_parsed_or_named():
    assert formats.conflict_mode("Combined(j=1,c=0,b=0)") == "combined(j=1,c=0,b=0)"
    assert formats.merge_strategy("weighted(v=0.25,kw=0.75)") == "weighted(v=0.25,kw=0.75)"
    for bad in ("bm25", "combined(j=1)", "combined(j=x,c=0,b=0)"):
        with pytest.raises(ValueError, match=r"ConflictMode|combined weights"):
            formats.conflict_mode(bad)


def test_chunks_repeat_their_heading_and_never_split_a_line():
    text = "intro\n## 标题\n" + "\n\n".join(f"段落{n}" * 4 for n in range(3))
    assert chunks(text, 12) == [
        (None, "intro"),
        ("## 标题", "## 标题\n段落0段落0段落0段落0"),
        ("## 标题", "## 标题\n段落1段落1段落1段落1"),
        ("## 标题", "## 标题\n段落2段落2段落2段落2"),
    ]
    assert chunks("one long line", 0) == [(None, "one long line")]


def test_a_small_database_is_started_again_from_the_snapshot():
    starts = [formats.would_hydrate(size, True) for size in (None, 0, 4095, 4096)]
    assert starts == [True, True, True, False] and not formats.would_hydrate(None, False)


def test_the_index_is_asked_for_any_of_the_words():
    assert formats.index_query('door "code') == '"door" OR ""code"'
    assert formats.skipped_by_autosave(" [Memory Context] x") and not formats.skipped_by_autosave(
        "x"
    )
    assert formats.superseded("k", "tea") == "[SUPERSEDED by 'k'] tea"
