"""Evidence: what judged changes and people's answers let run unattended."""

import json

import polars as pl
import pytest

from memops import autonomy
from memops.commands import label_sheets
from memops.policy import Policy, Unattended, from_table
from memops.state import evidence

pytestmark = pytest.mark.earned
SHAPE = {"rule": "merge_exact", "intent": "merge", "code": "merge.exact", "family": "rows"}


def stands(right, harmful, harmless=0, **policy):
    rows = [SHAPE | {"right": right, "harmless": harmless, "harmful": harmful}]
    return autonomy.standing(pl.DataFrame(rows, autonomy.EVIDENCE), Unattended(**policy)).row(
        0, named=True
    )


def test_enough_changes_without_harm_earn_it_and_one_harm_among_few_loses_it():
    assert not stands(74, 0)["may"]
    assert stands(75, 0)["may"] and stands(40, 0, harmless=35)["may"]
    assert not stands(75, 1)["may"]
    assert stands(75, 1, lower=0.9)["may"]
    assert not stands(75, 0)["may_curated"] and stands(183, 0)["may_curated"]
    assert stands(0, 80)["lower"] == 0


def test_the_bound_is_that_of_the_exact_interval():
    from scipy.stats import binomtest

    wanted = binomtest(70, 75).proportion_ci(0.95, method="exact").low
    assert stands(70, 5)["lower"] == pytest.approx(wanted)


def test_the_narrowest_word_of_the_policy_holds():
    said = {
        "*": "never",
        "clawseed/*": "earned",
        "merge_near": "always",
        "rsclaw/merge_near": "never",
    }
    policy = Unattended(rules=said)
    kinds = [("merge_exact", "openclaw"), ("merge_exact", "clawseed")]
    kinds += [("merge_near", "clawseed"), ("merge_near", "rsclaw")]
    assert [autonomy.decided(rule, kind, policy) for rule, kind in kinds] == [
        "never",
        "earned",
        "always",
        "never",
    ]


def test_the_policy_takes_no_other_word():
    with pytest.raises(Exception, match="always"):
        from_table({"unattended": {"rules": {"merge_exact": "sometimes"}}}, "test")


def test_leaked_prompts_of_documents_have_earned_it_and_every_record_says_who_judged(tmp_path):
    known = evidence.standing(Policy(), tmp_path, None).filter(pl.col("may"))
    shape = ("quarantine_injected", "hostile.own_prompt", "documents")
    assert shape in set(known.select("rule", "code", "family").iter_rows())
    for record in evidence.judged():
        assert record["by"] and record["texts"] and record["judged"]


def test_a_record_whose_texts_were_used_in_building_does_not_count():
    row = SHAPE | {"right": 80, "harmless": 0, "harmful": 0}
    assert evidence.counted([{"unseen": False, "changes": [row]}]).is_empty()
    assert evidence.counted([{"unseen": True, "changes": [row]}])["right"].sum() == 80


@pytest.fixture
def planned(memops, twins, monkeypatch):
    """A plan of merges where merging has earned it."""
    record = {"unseen": True, "changes": [SHAPE | {"right": 183, "harmless": 6, "harmful": 1}]}
    told = evidence.judged
    monkeypatch.setattr(
        evidence, "judged", lambda folder=None: told(folder) if folder else [record]
    )
    path = memops.write("m.jsonl", twins)
    made = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", "2026-06-01T00:00:00Z")
    return memops, path, made


def lines(memops, plan):
    text = (memops.state / "plans" / plan / "ops.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_every_line_says_whether_it_may_run_unattended_and_plain_apply_does_those(planned):
    memops, _, made = planned
    assert {line["unattended"] for line in lines(memops, made["plan"])} == {True}
    assert made["unattended"] == made["ops"]


def test_what_a_person_rejects_is_held_against_its_rule_in_that_store_alone(planned):
    memops, path, made = planned
    memops("review", made["plan"], "--reject", "1")
    again = memops(
        "plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", "2026-06-01T00:00:00Z"
    )
    assert again["refused"] >= 1
    rule = next(
        r for r in memops("rules", "--store", f"jsonl:{path}") if r["rule"] == "merge_exact"
    )
    shipped = next(r for r in memops("rules") if r["rule"] == "merge_exact")
    mine = next(s for s in rule["stands"] if s["code"] == "merge.exact")
    theirs = next(
        s for s in shipped["stands"] if (s["code"], s["family"]) == ("merge.exact", "rows")
    )
    assert mine["harmful"] > theirs["harmful"] and mine["lower"] < theirs["lower"]


def test_what_a_person_accepts_is_carried_out_alone_and_counts_for_its_rule(planned):
    memops, path, made = planned
    done = memops("review", made["plan"], "--accept", "2")
    assert memops.code == 0 and done["applied"] >= 1 and done["left"] == made["ops"]
    rule = next(
        r for r in memops("rules", "--store", f"jsonl:{path}") if r["rule"] == "merge_exact"
    )
    mine = next(s for s in rule["stands"] if s["code"] == "merge.exact")
    shipped = next(s for r in memops("rules") for s in r["stands"] if r["rule"] == "merge_exact" and s["family"] == "rows")  # fmt: skip
    assert mine["right"] > shipped["right"]
    assert "has carried out change 2" in memops("review", made["plan"], "--reject", "2")["message"]
    rest = memops("review", made["plan"], "--accept", "all")
    assert rest["applied"] > 0
    assert memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", "2026-06-01T00:00:00Z")["ops"] == 0  # fmt: skip


def test_what_is_never_to_run_waits_and_plain_apply_leaves_it(memops, twins):
    (memops.folder / "memops.toml").write_text(
        '[policy.unattended]\nrules = {merge_exact = "never"}\n', encoding="utf-8"
    )
    path = memops.write("m.jsonl", twins)
    made = memops("plan", f"jsonl:{path}", "--rule", "merge_exact")
    assert made["unattended"] == 0 and made["ops"]
    assert lines(memops, made["plan"])[0]["waits"]["code"] == "autonomy.never"
    assert memops("apply", made["plan"])["applied"] == 0
    assert memops("apply", made["plan"], "--approve")["applied"] > 0


def test_proposals_of_an_older_plan_are_not_accepted_once_there_is_a_newer_one(planned):
    memops, path, made = planned
    newer = memops("plan", f"jsonl:{path}", "--now", "2026-06-02T00:00:00Z")
    said = memops("review", made["plan"], "--accept", "all")
    assert memops.code == 22 and newer["plan"] in said["message"]


def test_a_sheet_shows_changes_and_its_labels_come_back_as_counts(planned):
    memops, path, made = planned
    sheet = memops.folder / "sheet.tsv"
    assert memops("evidence", "sheet", made["plan"], "-o", sheet, "--most", "5")["changes"] == 5
    rows = label_sheets.read(sheet)
    assert set(rows["code"]) == {"merge.exact"} and rows["text"].str.len_chars().min() > 0
    labels = ["right", "right", "harmful", "harmless", ""]
    other = ["right", "harmless", "harmful", "harmless", "right"]
    for name, given in (("a.tsv", labels), ("b.tsv", other)):
        (memops.folder / name).write_bytes(
            label_sheets.written(rows.with_columns(label=pl.Series(given)))
        )
    said = memops(
        "evidence", "count", "a.tsv", "-o", "record.json", "--by", "a reader", "--texts", "made",
        "--second", "b.tsv", "--second-by", "another",
    )  # fmt: skip
    counted = said["changes"][0]
    assert (counted["right"], counted["harmless"], counted["harmful"]) == (2, 1, 1)
    assert said["second"] == {"by": "another", "n": 4, "same": 3, "kappa": 0.636}
    assert evidence.judged(memops.folder)[0]["unseen"] is True
    broken = rows.with_columns(label=pl.lit("fine"))
    sheet.write_bytes(label_sheets.written(broken))
    assert "no label 'fine'" in memops("evidence", "count", sheet, "-o", "x.json", "--by", "b", "--texts", "t")["message"]  # fmt: skip
    assert memops.code == 20
