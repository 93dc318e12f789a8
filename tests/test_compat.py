"""The runner of compatibility vectors, on vectors of its own."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import memops
from tests.compat import Case, rows_of
from tests.compat.openclaw import GROUPS as OPENCLAW
from tests.compat.rsclaw import GROUPS
from tests.compat.run import _outcome

MARKS = OPENCLAW["recall_metadata"]
half_life = GROUPS["effective_half_life"]

RUN = Path(__file__).parent / "compat" / "run.py"


def test_vectors_are_counted_by_group(tmp_path):
    right = {"input": {"importance": 0.5}, "expected": {"days": 63.51}}
    wrong = {"input": {"importance": 0.5}, "expected": {"days": 99}}
    vectors = [
        {"group": "effective_half_life", "name": "right", **right},
        {"group": "effective_half_life", "name": "wrong", **wrong},
        {"group": "effective_half_life", "name": "crash", "input": {}, "expected": {}},
        {"group": "effective_half_life", "name": "bug", "peer_bug": True, **right},
        {"group": "embedder_swap", "name": "x", "input": {}, "expected": {}},
    ]
    path = tmp_path / "rsclaw.json"
    path.write_text(json.dumps({"about": "x", "vectors": vectors}))
    command = [sys.executable, str(RUN), str(path), "--failures"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    said = json.loads(done.stdout)
    assert "--parity" in said["effective_half_life"].pop("reason")
    assert said["embedder_swap"].pop("reason").startswith("by ")
    assert said == {
        "effective_half_life": {"passed": 1, "failed": 2, "unsupported": 1},
        "embedder_swap": {"passed": 0, "failed": 0, "unsupported": 1},
    }
    assert done.returncode == 1
    assert "wrong" in done.stderr and "crash" in done.stderr
    parity = subprocess.run([*command, "--parity"], capture_output=True, text=True, cwd=tmp_path)
    assert json.loads(parity.stdout)["effective_half_life"]["passed"] == 2


@pytest.mark.parametrize(
    ("over", "says"),
    [
        ({"input": {"importance": 0.5, "beta": 2}}, "input.beta"),
        ({"expected": {"days": 63.51, "floor": 1}}, "expected.floor"),
        ({"clock": "accessed"}, "clock"),
    ],
)
def test_a_case_with_a_field_that_its_check_does_not_know_fails_and_names_it(over, says):
    case = {
        "group": "effective_half_life",
        "name": "right",
        "input": {"importance": 0.5},
        "expected": {"days": 63.51},
    }
    said = []
    assert _outcome(half_life, "effective_half_life", case, False, said.append) == "passed"
    assert _outcome(half_life, "effective_half_life", case | over, False, said.append) == "failed"
    assert said == [f"effective_half_life: right: does not know the field {says}"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "- The tap drips <!-- trigger: tap, sink --> <!-- importance: 7 -->",
            {"importance": 7, "triggers": "tap; sink", "projectKey": None},
        ),
        ("- The tap drips", {"importance": None, "triggers": None, "projectKey": None}),
    ],
)
def test_what_an_openclaw_line_is_marked_with_is_read_as_its_agent_reads_it(line, expected):
    asked = {"line": line, "curatedRoot": True, "projectScopeEligible": True}
    case = {"name": "marks", "input": asked, "expected": expected}
    said = []
    assert _outcome(MARKS, "recall_metadata", case, False, said.append) == "passed", said


def test_what_is_compared_or_listed_whole_was_looked_at():
    case = Case({"a": {"b": [{"c": 1, "d": 2}]}, "e": {"f": 1}, "g": 3})
    assert case.unread() == ["a", "e", "g"]
    assert case["a"]["b"][0]["c"] == 1 and case["e"] == {"f": 1}
    assert case.unread({"g"}) == ["a.b.d"]
    assert {**case["a"]} and case.unread() == ["g"]
    with pytest.raises(KeyError, match="d"):
        rows_of(Case({"b": [{"c": 1, "d": 2}]})["b"], "c")


PEERS = ("hygiene/decay.py",)


def test_what_only_vectors_run_is_not_in_memops():
    package = Path(memops.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    words = Counter(word for text in sources.values() for word in re.findall(r"\w+", text))
    own = [package / name for name in PEERS] + [*package.glob("stores/[cox]*.py")]
    defined = [
        f"{path.name}: {node.name}"
        for path in own
        for node in ast.parse(sources[path]).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and words[node.name] == 1
    ]
    assert defined == []


def test_a_file_without_parity_implementations_is_unsupported(tmp_path):
    path = tmp_path / "nobody.json"
    path.write_text(json.dumps({"meta": {}, "slug": [{"id": "1"}, {"id": "2"}]}))
    done = subprocess.run([sys.executable, str(RUN), str(path)], capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert said["slug"].pop("reason")
    assert said == {"slug": {"passed": 0, "failed": 0, "unsupported": 2}}
    assert done.returncode == 0
