"""The runner of compatibility vectors, on vectors of its own."""

import json
import subprocess
import sys
from pathlib import Path

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


def test_a_file_without_parity_implementations_is_unsupported(tmp_path):
    path = tmp_path / "nobody.json"
    path.write_text(json.dumps({"meta": {}, "slug": [{"id": "1"}, {"id": "2"}]}))
    done = subprocess.run([sys.executable, str(RUN), str(path)], capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert said["slug"].pop("reason")
    assert said == {"slug": {"passed": 0, "failed": 0, "unsupported": 2}}
    assert done.returncode == 0
