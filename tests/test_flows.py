"""The flows: under Prefect's test harness here; against a real server in the slow suite."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOW = "2026-06-01T12:00:00Z"
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
}


def samples(folder):
    where = ROOT / "data" / "make_samples.py"
    spec = importlib.util.spec_from_file_location("memops_samples", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(folder)
    return folder


RUN = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from {flow} import {flow} as flow
from prefect.client.orchestration import get_client
from prefect.testing.utilities import prefect_test_harness
from contextlib import nullcontext

async def read():
    async with get_client() as client:

        async def listed(what):
            body = {{"limit": 200}}
            return (await client.request("POST", f"/{{what}}/filter", json=body)).json()

        artifacts, runs, tasks = [await listed(w) for w in ("artifacts", "flow_runs", "task_runs")]
        return {{
            "artifacts": sorted((a["type"], a["key"]) for a in artifacts),
            "text": "".join(str(a["data"]) for a in artifacts),
            "states": [(r["name"], r["state"]["name"], r["state"]["message"]) for r in runs],
            "tasks": sorted((t["name"].rsplit("-", 1)[0], t["state"]["name"]) for t in tasks),
            "parameters": [r["parameters"] for r in runs],
        }}

with {context}:
    state = flow(**json.loads(sys.argv[2]), return_state=True)
    said = asyncio.run(read())
print(json.dumps({{"name": state.name, "type": state.type.value, "message": state.message, **said}}, default=str))
"""


def run_flow(flow, parameters, context, env):
    import json

    code = RUN.format(flow=flow, context=context)
    argv = [sys.executable, "-c", code, str(ROOT / "flows"), json.dumps(parameters)]
    done = subprocess.run(
        argv, env=os.environ | QUIET | env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def check(said, store):
    assert (said["name"], said["type"]) in [
        ("Completed", "COMPLETED"),
        ("CompletedWithSkips", "COMPLETED"),
    ]
    kinds = {kind for kind, _ in said["artifacts"]}
    assert {"markdown", "table"} <= kinds
    steps = {name for name, _ in said["tasks"]}
    assert {"take snapshot", "plan step", "grade plan", "apply step", "report step"} <= steps
    assert all(state == "Completed" for _, state in said["tasks"])
    assert "redact_secrets" in said["text"]
    con = __import__("sqlite3").connect(f"file:{store}/memory/brain.db?mode=ro", uri=True)
    texts = [
        row[0] for row in con.execute("SELECT content FROM memories WHERE length(content) > 20")
    ]
    con.close()
    assert len(texts) > 100
    shown = said["text"] + str(said["states"]) + str(said["parameters"])
    assert not [text for text in texts if text in shown]


@pytest.fixture
def night(tmp_path):
    pytest.importorskip("prefect")
    samples(tmp_path)
    store = tmp_path / "clawseed"
    return store, {
        "store": f"clawseed:{store}",
        "state": str(tmp_path / "state"),
        "suite": "sample/clawseed",
        "approve": True,
        "now": NOW,
    }


@pytest.mark.flows
def test_a_night_completes_under_the_harness_with_its_artifacts(night, tmp_path):
    store, parameters = night
    said = run_flow("nightly", parameters, "prefect_test_harness(server_startup_timeout=180)", {})
    check(said, store)


@pytest.mark.flows
def test_a_plan_beyond_its_limits_is_a_completed_flow_that_says_so(night):
    pytest.importorskip("prefect")
    store, parameters = night
    parameters |= {"approve": False, "suite": None}
    said = run_flow("migrate", parameters, "prefect_test_harness(server_startup_timeout=180)", {})
    assert (said["name"], said["type"]) == ("AwaitingApproval", "COMPLETED")
    assert "the limit is" in said["message"]


@pytest.mark.slow
@pytest.mark.flows
def test_a_night_completes_under_a_real_server(night, tmp_path):
    store, parameters = night
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = (
        os.environ
        | QUIET
        | {"PREFECT_HOME": str(tmp_path / "home"), "PREFECT_SERVER_UI_ENABLED": "false"}
    )
    argv = [
        sys.executable,
        "-m",
        "prefect",
        "server",
        "start",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    server = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/api"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{url}/health", timeout=2).read()
                break
            except OSError:
                time.sleep(0.5)
        said = run_flow(
            "nightly",
            parameters,
            "nullcontext()",
            {"PREFECT_API_URL": url, "PREFECT_HOME": str(tmp_path / "home")},
        )
        check(said, store)
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_without_prefect_serving_names_the_extra_and_the_rest_works(tmp_path):
    hide = "import sys; sys.modules['prefect'] = None; from memops.cli import run; sys.exit(run(sys.argv[1:]))"

    def memops(*argv):
        return subprocess.run(
            [sys.executable, "-c", hide, *argv],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    refused = memops("serve")
    assert refused.returncode == 2
    assert 'pip install "memops[flows]"' in refused.stderr
    assert "Traceback" not in refused.stderr
    assert memops("rules").returncode == 0
    assert memops("demo", "--into", "d").returncode in (0, 3)


def test_without_sentence_transformers_asking_for_a_model_names_the_extra(tmp_path, monkeypatch):
    from memops.encode import open_encoder
    from memops.errors import MemopsError

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MemopsError) as error:
        open_encoder(str(tmp_path / "model"))
    assert "memops[models]" in error.value.message + error.value.hint
