"""Any retriever is graded and gated by its run file; no store, no suite, no state."""

import json
import math
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from memops import cli

QUERIES = [f"q{n}" for n in range(40)]


def run_file(path, good):
    """A run that finds the right document of the first `good` queries first, of the others never."""
    lines = []
    for n, query in enumerate(QUERIES):
        docs = ["right" if n < good else "other", "b", "c"]
        lines += [f"{query} Q0 {query}-{doc} {9 - r} {3 - r} mine" for r, doc in enumerate(docs)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def qrels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"{q} 0 {q}-right 1\n" for q in QUERIES))
    return str(path)


def run(capsys, *argv):
    code = cli.run([*argv])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_run_is_graded_by_its_scores(qrels, tmp_path, capsys):
    code, out, _ = run(capsys, "grade", "--run", run_file(tmp_path / "r", 30), "--qrels", qrels, "--json")  # fmt: skip
    assert code == 0
    means = json.loads(out)["grades"]
    assert means == pytest.approx(dict.fromkeys(("R@5", "R@10", "Success@1", "RR@10", "nDCG@10"), 0.75))  # fmt: skip


def test_its_grades_are_those_of_the_reference_implementation(qrels, tmp_path, capsys):
    measures = pytest.importorskip("ir_measures")
    path = tmp_path / "odd.trec"
    lines = [f"q{n} Q0 q{n}-{'right' if r == n % 7 else r} 0 {10 - r} x" for n in range(20) for r in range(7)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    code, out, _ = run(capsys, "grade", "--run", str(path), "--qrels", qrels, "--json")
    ours = json.loads(out)["grades"]
    theirs = measures.calc_aggregate(
        [measures.R @ 5, measures.RR @ 10, measures.nDCG @ 10],
        measures.read_trec_qrels(qrels), measures.read_trec_run(str(path)),
    )  # fmt: skip
    for measure, value in theirs.items():
        assert math.isclose(ours[str(measure)], value, abs_tol=1e-6)


def test_a_worse_run_fails_and_every_query_stands_in_the_junit_file(qrels, tmp_path, capsys):
    old, new = run_file(tmp_path / "old", 36), run_file(tmp_path / "new", 20)
    argv = ["gate", "--run", new, "--qrels", qrels, "--baseline-run", old, "--junit", "j.xml"]
    code, out, _ = run(capsys, *argv)
    assert code == 30 and "R@10" in out
    suite = ET.parse("j.xml").getroot()[0]
    assert len(suite) == 1 + len(QUERIES) == int(suite.get("tests"))
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {"verdict", *(f"query q{n}" for n in range(20, 36))}
    argv[2], argv[6] = old, new
    assert run(capsys, *argv)[0] == 0


def test_a_run_is_recorded_as_the_baseline_and_what_few_queries_cannot_tell_says_how(
    qrels, tmp_path, capsys
):
    old, new = run_file(tmp_path / "old", 30), run_file(tmp_path / "new", 34)
    lost = [f"q{n}-right" for n in range(10)]
    text = (tmp_path / "new").read_text()
    (tmp_path / "new").write_text(re.sub(rf"\b({'|'.join(lost)})\b", "gone", text))
    argv = ["gate", "--run", new, "--qrels", qrels, "--baseline-run", old]
    code, out, _ = run(capsys, *argv)
    assert code == 31 and "too few queries" in out and f"--baseline-run {old} --accept" in out
    code, out, _ = run(capsys, *argv, "--accept")
    assert code == 0 and f"recorded as the baseline: {old}" in out
    assert (tmp_path / "old").read_bytes() == (tmp_path / "new").read_bytes()


def test_a_baseline_that_is_replaced_is_told_beside_the_new_one(qrels, tmp_path, capsys):
    base = ["--qrels", qrels, "--baseline-run", str(tmp_path / "base.trec"), "--accept"]
    assert "before  accepted" not in run(capsys, "gate", "--run", run_file(tmp_path / "r", 30), *base)[1]  # fmt: skip
    code, out, _ = run(capsys, "gate", "--run", run_file(tmp_path / "r", 20), *base)
    assert code == 0 and re.search(r"(?m)^R@10 +0\.750 +0\.500 +-0\.250$", out)
    (tmp_path / "base.trec").write_text("nothing of a run")
    assert "before  accepted" not in run(capsys, "gate", "--run", str(tmp_path / "r"), *base)[1]


def test_no_name_of_a_file_or_query_acts_on_a_terminal(qrels, tmp_path, capsys):
    (tmp_path / "r\x1b[2J").write_text("q0 Q0 a x\x1b 1 t\n")
    (tmp_path / "odd").write_text("q\x1b 0 a 1\n")
    (tmp_path / "r").write_text("q\x1b Q0 b 1 1 t\n")
    (tmp_path / "b").write_text("q\x1b Q0 a 1 1 t\n")
    _, out, err = run(capsys, "gate", "--run", str(tmp_path / "r\x1b[2J"), "--qrels", qrels)
    assert "\x1b" not in out + err and "\\x1b[2J" in err
    judged = ["--qrels", str(tmp_path / "odd"), "--baseline-run", str(tmp_path / "b")]
    _, out, err = run(capsys, "gate", "--run", str(tmp_path / "r"), *judged)
    assert "\x1b" not in out + err and "| q\\x1b |" in out


def test_without_a_run_before_it_nothing_is_decided(qrels, tmp_path, capsys):
    code, _, err = run(capsys, "gate", "--run", run_file(tmp_path / "r", 9), "--qrels", qrels)
    assert code == 31 and "--baseline-run" in err


def test_a_baseline_that_is_cut_short_passes_no_run(qrels, tmp_path, capsys):
    base, worse = Path(run_file(tmp_path / "base", 36)), run_file(tmp_path / "worse", 24)
    cut = tmp_path / "cut"
    cut.write_text("".join(base.read_text().splitlines(keepends=True)[: 24 * 3]))
    given = ["--run", worse, "--qrels", qrels, "--baseline-run"]
    code, _, err = run(capsys, "gate", *given, str(cut))
    assert code == 31 and "says nothing of 16 judged queries" in err and "q24" in err
    assert run(capsys, "gate", *given, str(base))[0] == 30
    assert run(capsys, "gate", *given, str(cut), "--accept")[0] == 0


def test_a_byte_order_mark_and_odd_spaces_are_no_part_of_columns(tmp_path, capsys):
    (tmp_path / "judged").write_text("\ufeffq0 0 a\u00a0b 1\r\n", encoding="utf-8")
    (tmp_path / "run").write_text("\ufeffq0 Q0 a\u00a0b 1 1 t\u2028x\r\n", encoding="utf-8")
    told = ["grade", "--run", str(tmp_path / "run"), "--qrels", str(tmp_path / "judged"), "--json"]
    code, out, err = run(capsys, *told)
    assert code == 0, err
    assert json.loads(out)["grades"]["R@10"] == 1 and json.loads(out)["unanswered"] == []


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("q0 Q0 a 1\n", 20, "line 1 has 4 columns, not 6"),
        ("q0 Q0 a 1 2.5\n", 20, "line 1 has 5 columns, not 6"),
        ("q0 Q0 a 1 2.5 x\nq0 Q0 b 2 1.5 x y\n", 20, "line 2 has 7 columns, not 6"),
        ("q0 Q0 a 1 high x\n", 20, "line 1: 'high' is no number"),
        ("q0 Q0 a 1 2 x\nq0 Q0 a 2 1 x\n", 20, "line 2: 'a' comes twice for query 'q0'"),
        ("q0 Q0 a 1 nan x\n", 20, "line 1: 'nan' is no number"),
        ("", 20, "no line is in it"),
        ("query-0 Q0 a 1 2 x\n", 20, "answers no query that"),
        (None, 10, "no such file"),
    ],
)
def test_a_file_that_is_no_run_is_named_with_its_line(qrels, tmp_path, capsys, text, code, words):
    path = tmp_path / "bad.trec"
    if text is not None:
        path.write_text(text)
    got, _, err = run(capsys, "grade", "--run", str(path), "--qrels", qrels)
    assert (got, words in err) == (code, True), err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"q0": {"a": 1}}\n', "line 1 has 3 columns, not 4"),
        ("query-id corpus-id score\n", "`query 0 document grade`"),
        ("q0 Q0 a 1 2.5 x\n", "line 1 has 6 columns, not 4"),
        ("q0 0 a nan\n", "line 1: 'nan' is no number"),
        ("q0 0 a 1\nq0 0 a 2\n", "line 2: 'a' comes twice for query 'q0'"),
        ("q0 0 a 0\n", "no document has a grade above 0"),
        ("", "no line is in it"),
    ],
)
def test_judgements_that_are_none_end_with_one_sentence_and_record_nothing(
    qrels, tmp_path, capsys, text, words
):
    bad, new = tmp_path / "bad.txt", run_file(tmp_path / "new", 30)
    bad.write_text(text)
    argv = ["gate", "--run", new, "--qrels", str(bad), "--baseline-run", "base", "--accept"]
    code, out, err = run(capsys, *argv)
    assert (code, out, words in err, err.count("\n")) == (20, "", True, 2), err
    assert not Path("base").exists()


def test_queries_that_a_run_says_nothing_of_are_named_and_count_as_0(qrels, tmp_path, capsys):
    old, new = run_file(tmp_path / "old", 40), run_file(tmp_path / "new", 40)
    lines = (tmp_path / "new").read_text().splitlines(keepends=True)
    (tmp_path / "new").write_text("".join(lines[:-3]))
    code, out, _ = run(capsys, "gate", "--run", new, "--qrels", qrels, "--baseline-run", old)
    assert code == 0 and f"{new} says nothing of 1 judged query, counted as 0: q39" in out
    code, out, _ = run(capsys, "grade", "--run", new, "--qrels", qrels)
    assert "0.9750" in out and "counted as 0: q39" in out


def test_a_gate_without_a_baseline_says_how_to_record_it_and_from_then_on_it_gates(
    qrels, tmp_path, capsys
):
    old, new = run_file(tmp_path / "old", 36), run_file(tmp_path / "new", 20)
    argv = ["gate", "--run", old, "--qrels", qrels, "--baseline-run", "base.trec"]
    code, _, err = run(capsys, *argv)
    assert code == 31
    record = shlex.split(err.splitlines()[1].partition("memops ")[2])
    assert record == [*argv, "--accept"] and run(capsys, *record)[0] == 0
    argv[2] = new
    code, out, _ = run(capsys, *argv)
    assert code == 30
    assert shlex.split(out.splitlines()[-1].partition("memops ")[2]) == [*argv, "--accept"]


def test_half_of_the_options_is_a_usage_error(qrels, capsys):
    for argv in (["gate"], ["gate", "--run", "x"], ["grade", "--suite", "x"], ["gate", "s", "--run", "x", "--qrels", qrels]):  # fmt: skip
        assert run(capsys, *argv)[0] == 2


def test_the_examples_of_the_readme_are_yaml_and_call_what_there_is(qrels, tmp_path, capsys):
    yaml = pytest.importorskip("yaml")
    text = (Path(__file__).parents[1] / "docs" / "grading.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"<!-- example: (\w+) -->\n```yaml\n(.*?)```", text, re.DOTALL))
    entry = yaml.safe_load(found["hook"])["repos"][0]["hooks"][0]["entry"]
    steps = [step["run"] for step in yaml.safe_load(found["action"]) if "run" in step]
    for folder in ("out", "eval"):
        (tmp_path / folder).mkdir()
    run_file(tmp_path / "out" / "new.trec", 30)
    run_file(tmp_path / "eval" / "baseline.trec", 30)
    (tmp_path / "eval" / "qrels.txt").write_text(Path(qrels).read_text())
    for line in (entry, steps[-1]):
        assert run(capsys, *shlex.split(line)[1:])[0] == 0


def test_another_measure_warns_and_is_chosen_to_decide_with_the_line_that_is_printed(
    qrels, tmp_path, capsys
):
    first = [f"{q} Q0 {q}-{doc} 1 {3 - r} mine" for q in QUERIES for r, doc in enumerate(("right", "b"))]  # fmt: skip
    Path("old.trec").write_text("\n".join(first) + "\n")
    Path("new.trec").write_text(
        "\n".join(line.replace(" 2 mine", " 4 mine") for line in first) + "\n"
    )
    argv = ["gate", "--run", "new.trec", "--qrels", qrels, "--baseline-run", "old.trec"]
    code, out, _ = run(capsys, *argv)
    assert code == 0 and "Recall gate: warn" in out
    assert "R@10 decides, so this is a warning and ends with 0" in out
    line = re.search(r"to let (\S+) decide: memops (.*)", out)
    code, out, _ = run(capsys, *shlex.split(line[2]))
    assert code == 30 and line[1] in out
    code, _, err = run(capsys, *argv, "--measure", "RR10")
    assert code == 2 and "unknown measure 'RR10'" in err
