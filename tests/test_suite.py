"""Suites: what is read, what is refused, and whose records count as the evidence."""

import json

import polars as pl
import pytest

from memops.errors import Corrupt, MemopsError, StoreNotFound
from memops.evaluation.golden import as_rows, load
from memops.evaluation.grading import PER_QUERY, Grades, freeze, frozen, grade
from memops.evaluation.lineage import qrels
from memops.evaluation.statistics import compared
from memops.evaluation.suites import check
from memops.models.encode import Lsa
from memops.plan import delete, edit, outcome, put
from memops.policy import Policy
from memops.schema import TOMBSTONE, from_rows
from memops.search.retrieve import RETRIEVERS, search
from memops.state.lineage import lineage

TEXTS = {
    "home": "Anna lives in Berlin", "cat": "the cat is called Miso", "tea": "用户喜欢喝乌龙茶",
    "port": "the server listens on port 8080", "deploy": "deploys happen on Fridays",
    "note": "Anna said that the cat is called Miso and that deploys wait for Friday",
}  # fmt: skip
QUERIES = [
    {
        "query_id": "q1", "text": "where does Anna live", "scope": "u", "category": "fact",
        "relevant": {"home": 1},
    },
    {
        "query_id": "q2", "text": "用户爱喝什么茶", "scope": "u", "category": "preference",
        "nuggets": ["乌龙"],
    },
    {"query_id": "q3", "text": "which port does the server use", "relevant": ["port"]},
    {
        "query_id": "q4", "text": "what is the cat called", "scope": "u", "nuggets": ["(?i)miso"],
        "avoid": ["cat"],
    },
    {"query_id": "q5", "text": "who won the match", "answerable": False},
]  # fmt: skip


def store(**more):
    return from_rows(
        [{"id": i, "text": t, "scope": "u", "kind": "fact"} for i, t in (TEXTS | more).items()]
    )


def folder(tmp_path, rows=QUERIES, head='measures = ["R@5", "RR@10", "leak@5"]\n'):
    made = tmp_path / "golden"
    made.mkdir(exist_ok=True)
    (made / "suite.toml").write_text(head, encoding="utf-8")
    (made / "queries.jsonl").write_text(
        "\n".join(json.dumps(r, ensure_ascii=False) for r in rows), encoding="utf-8"
    )
    return made


def units(suite, records, edges=None):
    return [
        (q, u, d)
        for q, u, d in qrels(suite, records, edges)
        .filter(~pl.col("avoid"))
        .select("query_id", "unit", "doc_id")
        .rows()
    ]


def test_a_suite_is_read_and_written_back(tmp_path):
    suite = load(folder(tmp_path))
    assert suite.measures == ("R@5", "RR@10", "leak@5")
    assert suite.queries.select("query_id", "category", "lang").rows()[:2] == [
        ("q1", "fact", "en"),
        ("q2", "preference", "zh"),
    ]
    (tmp_path / "again").mkdir()
    again = load(folder(tmp_path / "again", as_rows(suite)))
    assert again.digest() == suite.digest() and as_rows(again) == as_rows(suite)


def test_the_digest_is_of_what_is_asked_and_not_of_the_order_of_lines(tmp_path):
    one = load(folder(tmp_path)).digest()
    assert load(folder(tmp_path, QUERIES[::-1])).digest() == one
    assert (
        load(folder(tmp_path, [*QUERIES[1:], QUERIES[0] | {"relevant": {"cat": 1}}])).digest()
        != one
    )


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"query_id": "q"}, "line 1: text is missing"),
        ({"query_id": "q", "text": "x", "relevent": {}}, "line 1: unknown setting relevent"),
        ({"query_id": "q", "text": "x", "relevant": {"a": -1}}, "relevant.a is -1, not greater"),
        ({"query_id": "q", "text": "x", "nuggets": ["("]}, "no regular expression"),
        ({"query_id": "q", "text": "x", "nuggets": [""]}, "an empty text"),
        (
            {"query_id": "q", "text": "x", "as_of": "2025-01-01"},
            "as_of is '2025-01-01', no instant with a time zone",
        ),
        ([1], "line 1: not a JSON object"),
        ({"query_id": "q", "text": "x", "as_of": 5}, "line 1: as_of is 5, not a valid string"),
        (
            {"query_id": "q", "text": "x", "category": ["a"]},
            "line 1: category is .*, not a valid string",
        ),
        (
            {"query_id": "q", "text": "x", "answerable": "no"},
            "answerable is 'no', not a valid boolean",
        ),
        ({"query_id": "q", "text": "x", "relevant": [1]}, "relevant must be a table"),
        (
            {"query_id": "q", "text": "x", "relevant": {"a": True}},
            "relevant.a is True, not a valid integer",
        ),
        (
            {"query_id": "q", "text": "x", "relevant": {"a": 10**20}},
            "not less than or equal to 1000",
        ),
        ({"query_id": "q", "text": "x", "relevant": "a"}, "relevant must be a table"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, row, says):
    with pytest.raises(Corrupt, match=says):
        load(folder(tmp_path, [row]))


def test_what_is_missing_or_unknown_is_named(tmp_path):
    with pytest.raises(StoreNotFound, match=r"suite\.toml: no such file"):
        load(tmp_path / "nowhere")
    with pytest.raises(MemopsError, match="unknown measure 'NDCG@10'"):
        load(folder(tmp_path, head='measures = ["NDCG@10"]\n'))
    with pytest.raises(MemopsError, match="line 1: unknown setting retrever"):
        load(folder(tmp_path, head='retrever = "rrf"\n'))
    with pytest.raises(Corrupt, match="query 'q1' stands twice"):
        load(folder(tmp_path, [QUERIES[0], QUERIES[0]]))


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ('k = "ten"', "line 1: k is 'ten', not a valid integer"),
        ("k = 0", "k is 0, not greater"),
        ("k = 5\nmeasures = ['R@10']", "R@10 looks beyond the first 5"),
        ('measures = "R@5"', "measures is 'R@5', not a valid list"),
        ("measures = [1]", "measures.0 is 1, not a valid string"),
        ('retriever = "hybird"', "retriever is 'hybird', no retriever"),
        ("floors = 3", "floors must be a table"),
        ('[floors]\nall = "high"', "line 2: floors.all is 'high', not a valid number"),
        ("[floors]\nwrong = 0.5", "floors.wrong is 'wrong', no slice"),
        ('[floors]\n"kind:facts" = 0.5', "floors.kind:facts is 'kind:facts', no kind of record"),
        ('[floors]\n"category:facts" = 0.5', "no query is in 'category:facts'"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(tmp_path, head, says):
    with pytest.raises(MemopsError, match=says) as refused:
        load(folder(tmp_path, head=head))
    assert "suite.toml: " in refused.value.message


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path):
    path = folder(tmp_path) / "queries.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(path.parent).queries.height == len(QUERIES)


def test_a_nugget_is_held_by_every_record_of_the_scope_that_matches(tmp_path):
    suite = load(folder(tmp_path))
    records = pl.concat(
        [store(), from_rows([{"id": "other", "text": "Miso is a soup", "scope": "v"}])]
    )
    assert [u for u in units(suite, records) if u[0] == "q4"] == [
        ("q4", "(?i)miso", "cat"),
        ("q4", "(?i)miso", "note"),
    ]


def test_evidence_follows_merges_migration_and_supersession(tmp_path):
    suite = load(folder(tmp_path, QUERIES[:1]))
    records = store(town="Anna lives in the capital, Berlin", city="home: Berlin")
    assert units(suite, records) == [("q1", "home", "home")]
    merged = edit(records.filter(pl.col("id") == "home"), "supersede", "same", superseded_by="town")
    after = outcome(records, merged)
    assert units(suite, after) == [("q1", "home", "town")]
    made = put(
        from_rows([{"id": "new", "text": "Anna: Berlin", "scope": "u"}]),
        "split",
        derived_from=["town"],
    )
    gone = delete(after.filter(pl.col("id").is_in(["home", "town"])), "split")
    plan = pl.concat([merged, made, gone])
    assert units(suite, outcome(records, plan), lineage(plan)) == [("q1", "home", "new")]
    assert units(suite, outcome(records, plan)) == [("q1", "home", None)]


def test_a_circle_of_supersession_ends(tmp_path):
    records = store().with_columns(
        superseded_by=pl.col("id").replace_strict({"home": "cat", "cat": "home"}, default=None)
    )
    assert units(load(folder(tmp_path, QUERIES[:1])), records) == [("q1", "home", None)]


def test_deleting_evidence_lowers_recall_and_never_its_denominator(tmp_path):
    suite = load(folder(tmp_path))
    records = store()
    encoder = frozen(suite, records)
    before = grade(records, suite, Policy(), encoder).means()
    tombstone = edit(
        records.filter(pl.col("id") == "home"), "tombstone", "gone", superseded_by=TOMBSTONE
    )
    deleted = grade(records.filter(pl.col("id") != "home"), suite, Policy(), encoder).means()
    hidden = grade(outcome(records, tombstone), suite, Policy(), encoder).means()
    assert before["R@5"] == 1.0
    assert deleted["R@5"] == hidden["R@5"] == 0.75


def test_grades_come_with_grep_and_rrf_and_survive_a_file(tmp_path):
    suite = load(folder(tmp_path))
    graded = grade(store(), suite, Policy())
    assert graded.per_query["retriever"].unique(maintain_order=True).to_list() == [
        "grep",
        "rrf",
        "hybrid",
    ]
    assert graded.per_query["query_id"].unique().sort().to_list() == ["q1", "q2", "q3", "q4"]
    again = Grades.from_json(json.loads(json.dumps(graded.to_json())))
    order = ["retriever", "query_id", "measure"]
    assert again.per_query.sort(order).equals(graded.per_query.sort(order))
    assert again.fingerprints == graded.fingerprints
    table = {(r, s, m): v for r, s, m, _, v in graded.aggregates().rows()}
    assert table["hybrid", "lang:zh", "R@5"] == 1.0 and table["hybrid", "all", "leak@5"] == 0.25


def test_the_judged_retriever_is_compared_with_each_other_query_by_query():
    count = 20
    values = {"bm25": [0.0] * 12 + [1.0] * 8, "hybrid": [1.0] * 11 + [0.0] + [1.0] * 8}
    about = {n: [None] * 2 * count for n in ("category", "lang", "kind", "age")}
    rows = pl.DataFrame(
        {
            "retriever": ["bm25"] * count + ["hybrid"] * count,
            "query_id": [f"q{i:02}" for i in range(count)] * 2,
            "measure": ["R@10"] * 2 * count, "value": values["bm25"] + values["hybrid"], **about,
        },
        schema_overrides=PER_QUERY,
    ).select(PER_QUERY.names())  # fmt: skip
    (row,) = compared(Grades("s", "hybrid", rows, {}, 1), Policy().gate)
    assert (row["against"], row["won"], row["tied"], row["lost"]) == ("bm25", 11, 9, 0)
    assert row["difference"] == 0.55 and 0.3 < row["low"] < 0.55 < row["high"]
    assert row["p"] == pytest.approx(2 / 2**11, abs=1e-6)
    # Of leaks, the fewer are the better.
    leaks = rows.with_columns(measure=pl.lit("leak@5"))
    (row,) = compared(Grades("s", "hybrid", leaks, {}, 1), Policy().gate)
    assert (row["won"], row["lost"]) == (0, 11)


def test_a_baseline_keeps_its_encoder_so_that_another_day_can_be_compared(tmp_path):
    suite = load(folder(tmp_path))
    accepted = grade(store(), suite, Policy())
    freeze(accepted, suite.folder)
    grown = store(more="the cat moved to Munich", again="乌龙茶卖完了")
    assert grade(grown, suite, Policy()).fingerprints == accepted.fingerprints
    (suite.folder / "encoder.npz").unlink()
    assert grade(grown, suite, Policy()).fingerprints != accepted.fingerprints


def test_a_damaged_baseline_is_corrupt():
    for held in ({}, {"version": 99}, {"version": 1, "suite": "s"}):
        with pytest.raises(Corrupt):
            Grades.from_json(held)


def test_check_names_the_query_and_the_evidence_that_is_nowhere(tmp_path):
    rows = [
        QUERIES[0] | {"relevant": {"gone": 1}},
        QUERIES[1] | {"nuggets": ["龙井"]},
        {"query_id": "q9", "text": "why"},
    ]
    problems = {
        (p.query_id, p.id): p.says
        for p in check(load(folder(tmp_path, rows)), store())
        if p.level == "error"
    }
    assert problems == {
        ("q1", "gone"): "query 'q1': evidence 'gone' is not in the store",
        ("q2", "龙井"): "query 'q2': no record matches the nugget '龙井'",
        ("q9", None): "query 'q9' has neither evidence nor nuggets",
    }


def test_evidence_that_everybody_reads_is_evidence_for_a_persona(tmp_path):
    rows = [
        {"query_id": "own", "text": "When do we close?", "scope": "luna", "relevant": ["shut"]},
        {"query_id": "said", "text": "日历叫什么", "scope": "luna", "nuggets": ["港湾"]},
        {
            "query_id": "none",
            "text": "When do we close on Friday?",
            "scope": "nova",
            "relevant": ["shut"],
        },
        {"query_id": "foreign", "text": "Who sings?", "scope": "luna", "relevant": ["song"]},
        {"query_id": "typo", "text": "Who sings here?", "scope": "lnua", "relevant": ["song"]},
    ]
    said = {"shut": ("public", "The office closes at 19:00"), "cal": ("public", "公用日历叫港湾"),
            "tea": ("luna", "Luna likes tea"), "song": ("vega", "Vega sings")}  # fmt: skip
    records = from_rows(
        [{"id": i, "scope": s, "text": t, "kind": "fact"} for i, (s, t) in said.items()]
    )
    suite = load(folder(tmp_path, rows))
    errors = [p.says for p in check(suite, records) if p.level == "error"]
    assert errors == [
        "query 'foreign': evidence 'song' is in another scope",
        "query 'typo': the store has no scope 'lnua'",
        "query 'typo': evidence 'song' is in another scope",
    ]
    assert ("said", "港湾", "cal") in units(suite, records)
    for retriever in RETRIEVERS:
        run = search(
            records, suite.queries, retriever, Lsa().fitted([t for _, t in said.values()]), Policy()
        )
        top = dict(run.filter(pl.col("rank") <= 5).group_by("query_id").agg("doc_id").rows())
        assert "shut" in top["own"] and "song" not in top["own"], retriever


def test_check_warns_of_ambiguous_leaked_and_few_queries(tmp_path):
    rows = [QUERIES[0], QUERIES[0] | {"query_id": "q7", "text": "Where does Anna live?"}]
    problems = check(load(folder(tmp_path, rows)), store(leak="where does Anna live??"))
    assert {p.level for p in problems} == {"warning"}
    said = " | ".join(p.says for p in problems)
    for part in (
        "queries 'q1', 'q7' ask the same",
        "stands in the store as record 'leak'",
        "2 queries show large losses only",
    ):
        assert part in said


def test_a_sound_suite_has_no_errors(tmp_path):
    assert [p for p in check(load(folder(tmp_path)), store()) if p.level == "error"] == []
