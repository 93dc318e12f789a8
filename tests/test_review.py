import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops import snapshot
from memops.commands import reviewing
from memops.context import Context
from memops.plan import edit, put
from memops.refusals import KEY, REFUSED, hanging, refusals, withheld
from memops.rules import propose
from memops.rules.merge_exact import merge_exact
from memops.schema import from_rows
from memops.state import evidence
from memops.stores import open_store
from memops.stores.markdown import edit as editing
from memops.stores.tables import Jsonl

from .stores import samples

NOW = "2026-06-01T00:00:00Z"
SAID = [
    "The depot opens at 7:30",
    "用户养了一只猫",
    "Ines runs the print workshop",
    "仓库钥匙在蓝色门后",
]


@pytest.fixture
def planned(memops):
    """Four facts, each said twice, and a plan that merges them."""
    rows = [
        {"id": f"{n}{twin}", "kind": "fact", "text": text + end, "created_at": f"2026-0{1 + (twin == 'b')}-01T00:00:00Z", "access_count": 1}
        for n, text in enumerate(SAID)
        for twin, end in (("a", ""), ("b", "!"))
    ]  # fmt: skip
    path = memops.write("m.jsonl", rows)
    return memops, path, plan(memops, path)["plan"]


def plan(memops, path):
    return memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)


def lines(memops, name):
    text = (memops.state / "plans" / name / "ops.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def merged(path):
    return Jsonl(str(path)).read().drop_nulls("superseded_by")["id"].to_list()


class Terminal:
    """A pseudo-terminal with `memops review` in it."""

    def __init__(self, memops, name, *more):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(memops.folder)
            code = "from memops.cli import main; main()"
            os.execv(
                sys.executable,
                [sys.executable, "-c", code, "--state", str(memops.state), "review", name, *more],
            )
        self.seen = ""

    def until(self, words, seconds=60):
        """Read until these words come; return what came before them."""
        end = time.monotonic() + seconds
        while words not in self.seen:
            if time.monotonic() > end or not self._read(end):
                raise AssertionError(f"{words!r} did not come after {self.seen!r}")
        before, _, self.seen = self.seen.partition(words)
        return before

    def press(self, key):
        os.write(self.fd, key.encode())

    def ended(self):
        while self._read(time.monotonic() + 60):
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.seen

    def _read(self, end):
        ready, _, _ = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))
        try:
            data = os.read(self.fd, 65536) if ready else b""
        except OSError:
            data = b""
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


ASKS = "save and quit: "


def test_two_clusters_rejected_at_a_terminal_are_not_proposed_the_next_night(planned):
    memops, path, name = planned
    terminal = Terminal(memops, name)
    pages = []
    for key in "rkrk":
        pages.append(terminal.until(ASKS))
        terminal.press(key)
    code, end = terminal.ended()
    assert code == 0
    assert "keeper 0a" in pages[0] and "用户养了一只猫!" in pages[1]
    assert "4 of 8 changes stay, 4 rejected" in end
    assert memops("apply", name, "--approve")["applied"] == 4
    assert merged(path) == ["1b", "3b"]
    again = plan(memops, path)
    assert (again["ops"], again["refused"]) == (0, 4)
    refused = (memops.state / "plans" / again["plan"] / "refused.jsonl").read_text(encoding="utf-8")
    reasons = {json.loads(line)["reason"] for line in refused.splitlines()}
    assert reasons == {"a person refused it, and its evidence is as it was"}


def test_a_review_goes_on_where_it_stopped(planned):
    memops, _, name = planned
    first = Terminal(memops, name)
    assert "keeper 0a" in first.until(ASKS)
    first.press("r")
    first.until(ASKS)
    first.press("q")
    end = first.ended()[1]
    assert "6 of 8 changes stay, 2 rejected" in end
    assert f"review {name}" in end and "--approve" not in end  # nothing is undecided and offered
    second = Terminal(memops, name)
    assert "keeper 1a" in second.until(ASKS)
    second.press("x")
    assert "0 of 8 changes stay, 8 rejected" in second.ended()[1]


def test_a_review_that_is_killed_keeps_what_was_decided(planned):
    memops, _, name = planned
    terminal = Terminal(memops, name)
    terminal.until(ASKS)
    terminal.press("r")
    terminal.until(ASKS)
    os.kill(terminal.pid, 9)
    terminal.ended()
    assert len(lines(memops, name)) == 6


def test_one_change_of_a_cluster_can_be_rejected_and_a_decision_taken_back(planned):
    memops, _, name = planned
    terminal = Terminal(memops, name)
    terminal.until(ASKS)
    terminal.press("r")
    terminal.until(ASKS)
    terminal.press("u")
    assert "keeper 0a" in terminal.until(ASKS)
    terminal.press("s")
    assert "1 change, keeper 0a" in terminal.until(ASKS)
    terminal.press("r")
    assert "keeper 1a" in terminal.until(ASKS)  # the keeper's gain went with what it absorbed
    terminal.press("a")
    assert "6 of 8 changes stay, 2 rejected" in terminal.ended()[1]


def test_changes_are_rejected_by_number_and_by_rule_without_a_terminal(planned):
    memops, path, name = planned
    number = next(op["seq"] for op in lines(memops, name) if op["id"] == "2b")
    said = memops("review", name, "--reject", str(number))
    gone = {op["seq"] for op in lines(memops, name)}
    assert (said["left"], len(said["rejected_now"])) == (6, 2)
    assert number not in gone
    back = memops("review", name, "--keep", ",".join(map(str, said["rejected_now"])))
    assert (back["left"], back["rejected"]) == (8, 0)
    assert memops("review", name, "--reject-rule", "merge_exact")["left"] == 0
    assert plan(memops, path)["ops"] == 0
    assert memops("review", name, "--keep-rule", "merge_exact")["left"] == 8
    assert plan(memops, path)["ops"] == 8


def test_a_refused_change_is_proposed_again_once_its_evidence_changes(planned):
    memops, path, name = planned
    memops("review", name, "--reject-rule", "merge_exact")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["access_count"] += 3  # being used is no evidence
        if row["id"] == "1a":
            row["text"] += "。"
    memops.write("m.jsonl", rows)
    again = plan(memops, path)["plan"]
    assert sorted((op["id"], op["op"]) for op in lines(memops, again)) == [
        ("1a", "update"),
        ("1b", "merge"),
    ]


def test_what_does_not_exist_is_refused(planned):
    memops, _, name = planned
    assert "no change 99" in memops("review", name, "--reject", "99")["message"]
    assert "no change by 'retitle'" in memops("review", name, "--reject-rule", "retitle")["message"]
    memops("review", name, "--reject", "1,two")
    assert memops.code == 2
    assert len(lines(memops, name)) == 8


def test_a_plan_that_was_applied_is_not_reviewed_until_it_is_rolled_back(planned):
    memops, _, name = planned
    run = memops("apply", name, "--approve")["run"]
    assert f"memops rollback {run}" in memops("review", name, "--reject", "1")["hint"]
    assert memops.code == 22
    memops("rollback", run)
    assert memops("review", name, "--reject-rule", "merge_exact")["left"] == 0


def test_a_secret_is_masked_and_no_text_is_remembered(memops):
    secret = "ghp_" + "Wd49" * 9
    rows = [{"id": i, "kind": "fact", "text": f"令牌 {secret}"} for i in "ab"]
    path = memops.write("m.jsonl", rows)
    name = memops("plan", f"jsonl:{path}", "--rule", "merge_exact", "--now", NOW)["plan"]
    said = memops("review", name)
    assert "令牌" in json.dumps(said, ensure_ascii=False) and secret not in json.dumps(said)
    memops("review", name, "--reject-rule", "merge_exact")
    kept = next(memops.state.rglob("stores/*/refused.jsonl")).read_text(encoding="utf-8")
    assert secret not in kept and "令牌" not in kept and len(kept.splitlines()) == said["changes"]


def test_what_a_redaction_would_mask_is_shown_to_who_asks_for_it_at_a_terminal(memops):
    secret = "gh" + "p_" + "Wd49" * 9
    path = memops.write("m.jsonl", [{"id": "a", "kind": "fact", "text": f"The token is {secret}"}])
    name = memops("plan", f"jsonl:{path}", "--rule", "redact_secrets", "--now", NOW)["plan"]
    masked = Terminal(memops, name)
    page = masked.until(ASKS)
    assert f"review {name} --reveal" in page and secret not in page
    masked.press("q")
    masked.ended()
    for answer in "ny":
        terminal = Terminal(memops, name, "--reveal")
        terminal.until("Show them? [y/N]: ")
        terminal.press(f"{answer}\n")
        assert (secret in terminal.until(ASKS)) == (answer == "y")
        terminal.press("q")
        assert secret not in terminal.ended()[1]
    memops("review", name, "--reveal")
    assert memops.code == 2 and "nowhere else" in memops.err
    held = [p for p in (memops.state / "plans").rglob("*") if p.is_file()]
    assert not [p for p in held if secret.encode() in p.read_bytes()]


def test_hanging_changes_go_with_what_they_hang_on():
    records = from_rows([{"id": i, "kind": "fact", "text": i} for i in "abcn"])
    new = from_rows([{"id": "new", "kind": "fact", "text": "made"}])
    rows = {row["id"]: records.filter(pl.col("id") == row["id"]) for row in records.to_dicts()}
    changes = pl.concat(
        [
            edit(rows["b"], "supersede", "same", superseded_by="a", evidence=["a"]),
            edit(rows["c"], "supersede", "same", superseded_by="a", evidence=["a"]),
            edit(rows["a"], "update", "takes over", access_count=3, evidence=["b", "c"]),
            put(new, "a fact in a note", derived_from=["n"]),
            edit(
                rows["n"],
                "supersede",
                "its facts are extracted",
                superseded_by="new",
                evidence=["new"],
            ),
        ]
    ).with_columns(rule=pl.lit("merge_some"))
    held = [hanging(changes, records, pl.Series([n])).to_list() for n in range(5)]
    assert held == [[0, 2], [1, 2], [2], [3, 4], [4]]


@settings(deadline=None, max_examples=10)
@given(
    st.lists(st.sampled_from(["tea", "tea!", "猫", "猫。", "key"]), min_size=2, max_size=9),
    st.data(),
)
def test_what_is_refused_stays_refused_and_the_rest_is_planned_as_before(texts, data):
    records = from_rows(
        [{"id": f"{n}", "kind": "fact", "text": t, "access_count": n} for n, t in enumerate(texts)]
    )
    ctx = Context(now=samples.NOW)
    changes, _ = propose(records, ctx, [merge_exact])
    nths = (
        data.draw(st.lists(st.integers(0, max(changes.height - 1, 0)), max_size=3))
        if changes.height
        else []
    )
    going = hanging(changes, records, pl.Series(nths, dtype=pl.UInt32))
    refused = refusals(changes, records)[going.to_list()] if nths else REFUSED.to_frame()
    refused = refused.select(*KEY).with_columns(code=pl.lit("guard.refused"))
    kept, held = withheld(changes, records, refused)
    assert kept.height + held.height == changes.height
    assert held["id"].to_list() == changes["id"].gather(going).to_list()
    again, withdrawn = propose(records, ctx, [merge_exact], refused)
    assert again.equals(kept)
    assert set(withdrawn["id"]) <= set(held["id"])


def test_digests_do_not_depend_on_the_order_of_rows(planned):
    memops, _, name = planned
    begun = reviewing.begun(name, memops.state)
    changes = begun.plan.changes
    one = refusals(changes, begun.records)
    other = refusals(changes.reverse(), begun.records.reverse())
    assert one.equals(other.reverse())
    assert one["digest"].n_unique() == changes.height


def test_without_a_terminal_what_waits_is_listed(planned):
    memops, _, name = planned
    code = "from memops.cli import main; main()"
    argv = [sys.executable, "-c", code, "--state", str(memops.state), "review", name]
    out = subprocess.run(argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert out.stdout.count("merge_exact: 2 changes") == 4
    assert "8 of those that stay are not decided on" in out.stdout


@pytest.fixture(scope="module")
def polluted(tmp_path_factory):
    return samples.polluted(tmp_path_factory.mktemp("polluted"))


@pytest.mark.parametrize(
    ("kind", "rule", "op"),
    [("clawseed", "merge_exact", "merge"), ("openclaw", "supersede_conflicting", "supersede")],
)
def test_one_change_of_a_run_is_taken_back_and_not_proposed_again(memops, polluted, kind, rule, op):
    shutil.copytree(polluted / kind, memops.folder / kind)
    address, rules = f"{kind}:{memops.folder / kind}", ("--rule", rule)
    before = read(memops, address)
    made = memops("plan", address, *rules, "--now", NOW)
    run = memops("apply", made["plan"], "--approve")["run"]
    one, *others = [line for line in lines(memops, made["plan"]) if line["op"] == op]
    assert one["id"] not in shown(read(memops, address))

    back = memops("rollback", run, "--only", one["seq"])
    assert (memops.code, back["state"]) == (0, "verified")
    assert one["seq"] in back["seqs"]
    after = read(memops, address)
    assert shown(after)[one["id"]] == shown(before)[one["id"]]
    assert not {line["id"] for line in others if line["seq"] not in back["seqs"]} & {*shown(after)}
    again = memops("plan", address, *rules, "--now", NOW)
    assert one["id"] not in {line["id"] for line in lines(memops, again["plan"])}
    assert memops("rollback", run, "--only", one["seq"])["applied"] == 0

    memops("rollback", run)
    assert memops.code == 0
    assert read(memops, address).equals(before)


def test_only_a_run_that_ended_is_taken_back_in_part(planned):
    memops, path, name = planned
    run = memops("apply", name)["run"]
    assert memops("rollback", run, "--only", "99")["hint"] == "they are 1 to 8"
    memops("rollback", run)
    assert "is rolled-back; nothing was taken" in memops("rollback", run, "--only", 1)["message"]
    assert memops.code == 2


def read(memops, address):
    """The store's records as memops sees them, overlay joined."""
    taken = memops("snapshot", address)
    return snapshot.find(taken["snapshot"], memops.state).records().sort("id")


def shown(records):
    live = records.filter(pl.col("superseded_by").is_null())
    return {row["id"]: row for row in live.drop("origin", "extra").to_dicts()}


def test_what_a_store_cannot_take_is_proposed_once(memops, tmp_path, monkeypatch):
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    lines = [
        f"- The kiln of bay {n} was fired twice in the week of {n} May and is cold again"
        for n in range(24)
    ]
    section = "\n".join(["## Kilns", "", *lines, "", ""])
    (root / "memory" / "2026-02-03.md").write_text(
        f"# 2026-02-03\n\n{section}## Glaze\n\n- dry\n\n{section}"
    )
    made = memops("plan", f"openclaw:{root}", "--now", NOW)
    assert made["ops"] > 0
    monkeypatch.setattr(editing, "_reads_well", lambda state, some, grammar: not some)
    done = memops("apply", made["plan"], "--approve")
    assert {skip["why"] for skip in done["skipped"]} == {
        "the lines around it would read differently"
    }
    again = memops("plan", f"openclaw:{root}", "--now", NOW)
    assert (again["ops"], again["refused"]) == (0, made["ops"])
    assert evidence.answered(memops.state, open_store(f"openclaw:{root}").identity()).is_empty()
