"""Every number of a real night's page, recomputed from the store before and after."""

import contextlib
import io
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from memops.cli import run
from memops.reports import words
from memops.schema import LIVE
from memops.snapshot import find
from tests.pages import Page
from tests.stores import clawseed_db, samples

NOW = "2026-06-01T12:00:00Z"
AGES = {
    "<1 d": 1,
    "<7 d": 7,
    "<30 d": 30,
    "<90 d": 90,
    "<180 d": 180,
    "<365 d": 365,
    ">=365 d": 10**6,
}


class Night:
    """One night of a sample store: its page, its plan, and the records before and after."""

    def __init__(self, kind, folder):
        self.folder, self.seen = folder, []
        samples.polluted(folder)
        address = f"{kind}:{folder / kind}"
        self.before = self.read(address)
        graded = [self.graded(kind)]  # before the night, whose lineage would tell more of it
        [said] = self.memops(
            "nightly", address, "--suite", f"sample/{kind}", "--approve", "--now", NOW
        )
        assert "report" in said, said
        self.said, self.after = said, self.read(address)
        self.grades = [*graded, self.graded(kind)]
        ops = (folder / "state" / "plans" / said["plan"] / "ops.jsonl").read_text(encoding="utf-8")
        self.ops = [json.loads(line) for line in ops.splitlines()]
        self.page = Page(Path(said["report"]).read_text(encoding="utf-8"))

    def memops(self, *argv):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run(["--state", str(self.folder / "state"), *map(str, argv), "--json"])
        return json.loads(out.getvalue())

    def graded(self, kind):
        """The grades of what was read last."""
        return self.memops("grade", self.seen[-1], "--suite", f"sample/{kind}")["grades"]

    def read(self, address):
        taken = self.memops("snapshot", address)["snapshot"]
        self.seen.append(taken)
        return find(taken, self.folder / "state").records()

    def rows(self, label):
        """The body of a table as text cells."""
        return self.page.tables[label][1:]


@pytest.fixture(
    scope="module", params=["clawseed", pytest.param("openclaw", marks=pytest.mark.slow)]
)
def night(request, tmp_path_factory):
    return Night(request.param, tmp_path_factory.mktemp("night"))


def number(text):
    return float(text.replace(",", "").split()[0])


def counted(records, column):
    return Counter(dict(records.filter(LIVE).group_by(column).len().iter_rows()))


def sides(before, after):
    """Rows of name, before, after and difference, as a page writes them."""
    names = {*before, *after}
    return {
        n: (before.get(n, 0), after.get(n, 0), after.get(n, 0) - before.get(n, 0)) for n in names
    }


def told(rows):
    return {
        name: tuple(int(number(c)) for c in cells)
        for name, *cells in rows
        if any(number(c) for c in cells)
    }


def test_every_number_is_that_of_the_store_before_and_after(night):
    before, after, ids = night.before, night.after, night.page.ids
    rows = [number(part) for part in ids["n-rows"].split("→")]
    assert rows == [before.height, after.height]
    live = [number(part) for part in ids["n-live"].split("→")]
    assert live == [before.filter(LIVE).height, after.filter(LIVE).height]
    assert number(ids["n-proposed"]) == len(night.ops) == number(ids["n-applied"])
    assert (number(ids["n-skipped"]), number(ids["n-refused"])) == (0, 0)

    for label, column in (
        ("Live records by kind", "kind"),
        ("Live records by scope", "scope"),
        ("Live records by tier", "tier"),
    ):
        assert told(night.rows(label)) == sides(counted(before, column), counted(after, column)), (
            label
        )
    rules = {rule: (what, number(total)) for rule, what, total in night.rows("Changes by rule")}
    assert {r: total for r, (_, total) in rules.items()} == Counter(op["rule"] for op in night.ops)
    for rule, (what, _) in rules.items():
        ops = Counter(op["op"] for op in night.ops if op["rule"] == rule)
        assert dict(part.rsplit(" ", 1) for part in what.split(", ")) == {
            op: str(n) for op, n in ops.items()
        }

    tier = pl.when(LIVE).then("tier").otherwise(pl.lit("hidden"))
    moved = before.select("id", was=tier).join(
        after.select("id", now=tier), on="id", how="full", coalesce=True
    )
    moved = moved.with_columns(
        pl.col("was").fill_null("new"), pl.col("now").fill_null("hidden")
    ).filter(pl.col("was") != pl.col("now"))
    flow = {(a, b): int(number(n)) for a, b, n in night.rows("Tier flow")}
    if night.said["store"].startswith("clawseed"):  # ids of Markdown records move with their text
        assert flow == Counter(moved.select("was", "now").iter_rows())
    hidden = sum(n * ((now == "hidden") - (was == "hidden")) for (was, now), n in flow.items())
    new = sum(n for (was, _), n in flow.items() if was == "new")
    assert hidden - new == live[0] - live[1]

    floors = {(scope, kind): int(number(n)) for scope, kind, n, *_ in night.rows("Floors")}
    assert floors == dict(
        ((s, k), n) for s, k, n in after.filter(LIVE).group_by("scope", "kind").len().iter_rows()
    )
    for _, _, n, floor, spare in night.rows("Floors"):
        assert number(n) - number(floor) == number(spare.replace("!", ""))


def test_ages_and_weights_are_those_of_the_records(night):
    at = datetime(2026, 6, 1, 12, tzinfo=UTC)

    def ages(records):
        out = Counter()
        for row in records.filter(LIVE).select(t=pl.coalesce("updated_at", "created_at"))["t"]:
            days = max((at - row).total_seconds() / 86400, 0) if row else None
            out[
                "unknown"
                if days is None
                else next(n for n, most in AGES.items() if int(days) < most)
            ] += 1
        return out

    def weights(records):
        return Counter(
            f"{low / 10:.1f}-{low / 10 + 0.2:.1f}"
            for v in records.filter(LIVE)["importance"]
            for low in [min(int(v * 5 + 1e-9), 4) * 2]
        )

    assert told(night.rows("Importance")) == sides(weights(night.before), weights(night.after))
    page = told(night.rows("Age"))
    assert {n: v[0] for n, v in page.items() if v[0]} == ages(night.before)
    assert sum(v[1] for v in page.values()) == night.after.filter(LIVE).height


def test_recall_is_what_grading_the_stores_gives(night):
    was, now = (g["aggregates"]["hybrid"] for g in night.grades)
    shown = {
        name: (number(a), number(b), number(d))
        for name, a, b, d, _ in night.rows("Recall before and after")
    }
    assert set(shown) <= set(was) and len(shown) >= 4
    for name, (a, b, difference) in shown.items():
        assert (a, b) == (pytest.approx(was[name], abs=6e-4), pytest.approx(now[name], abs=6e-4)), (
            name
        )
        assert difference == pytest.approx(now[name] - was[name], abs=1.1e-3)


def test_what_is_taken_back_is_told_on_a_page_made_anew(night):
    one = next(op for op in night.ops if op["op"] == "merge")
    back = night.memops("rollback", night.said["run"], "--only", one["seq"])["seqs"]
    night.memops("report", night.said["run"])
    page = Page(Path(night.said["report"]).read_text(encoding="utf-8"))
    assert number(page.ids["n-applied"]) == len(night.ops) - len(
        {op["id"] for op in night.ops if op["seq"] in back}
    )
    assert "taken back" in " ".join(page.text)


def test_every_reason_of_a_night_is_said_in_chinese_too(night):
    say = words.Speaker("zh")
    told = {op["code"]: say.reason({"args": {}, **op}) for op in night.ops}
    assert len(told) >= 5
    assert [code for code, text in told.items() if not re.search("[\u4e00-\u9fff]", text)] == []


def test_what_waits_for_a_person_stands_first_on_the_page_with_why(memops, tmp_path):
    rows = [
        {"key": "user_msg_1", "content": "The review of the depot is on Monday"},
        {"key": "webhook_msg_2", "content": "The review of the depot is now on Thursday"},
    ]
    stamps = ("2026-01-01T00:00:00+00:00", "2026-05-01T00:00:00+00:00")
    dated = [
        row | {"category": "daily", "created_at": at, "updated_at": at}
        for row, at in zip(rows, stamps, strict=True)
    ]
    clawseed_db.build(tmp_path / "ws", dated)
    (said,) = memops("nightly", f"clawseed:{tmp_path / 'ws'}", "--now", NOW)
    assert (said["waiting"], said["applied"]) == (1, 0)
    whole = Path(said["report"]).read_text(encoding="utf-8")
    top = whole[whole.index('id="person"') : whole.index('id="overview"')]
    assert "Nothing is waiting" not in top
    assert "wait for a person&#39;s word: 1" in top and "is trusted less than it" in top
    assert all(row["content"].rpartition(" ")[2] in top for row in rows)


def test_the_report_of_an_applied_plan_is_that_of_its_run(memops, twins):
    path = memops.write("m.jsonl", twins)
    plan = memops("plan", f"jsonl:{path}")["plan"]
    assert "nothing has been written" in Path(memops("report", plan)["path"]).read_text("utf-8")
    run = memops("apply", plan, "--approve")["run"]
    page = Path(memops("report", plan)["path"]).read_text("utf-8")
    assert "nothing has been written" not in page and run in page


def test_a_page_counts_what_was_rejected_and_what_no_run_has_carried_out(memops, twins):
    path = memops.write("m.jsonl", twins)
    plan = memops("plan", f"jsonl:{path}", "--now", NOW)["plan"]
    memops("review", plan, "--accept", "1,2", "--reject", "3,4,5")

    def page():
        read = Page(Path(memops("report", plan)["path"]).read_text(encoding="utf-8"))
        return "".join(read.text), read.ids

    text, ids = page()
    assert "2 of 40 proposed changes were applied" in text and "3 rejected by a person." in text
    assert (ids["n-proposed"], ids["n-applied"], ids["n-live"]) == ("40", "2", "80 → 78")
    memops("apply", plan, "--approve")
    text, ids = page()
    assert (ids["n-proposed"], ids["n-applied"], ids["n-live"]) == ("40", "37", "80 → 43")
    assert f"rollback {plan}-1 --only 1" in text and f"rollback {plan}-2 --only 6" in text
