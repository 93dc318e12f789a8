"""The flows under Prefect's test harness; under real servers in test_flows_served."""

import importlib.util
import json
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memops import __version__
from tests.served import free_port
from tests.test_read_back import meddled

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
import asyncio, importlib, json, sys
sys.path.insert(0, sys.argv[1])
from prefect.client.orchestration import get_client
from prefect.testing.utilities import prefect_test_harness
{prelude}

async def read():
    async with get_client() as client:

        async def listed(what):
            body = {{"limit": 200}}
            return (await client.request("POST", f"/{{what}}/filter", json=body)).json()

        artifacts, runs, tasks = [await listed(w) for w in ("artifacts", "flow_runs", "task_runs")]
        return {{
            "artifacts": sorted((a["type"], a["key"]) for a in artifacts),
            "text": "".join(str(a["data"]) for a in artifacts),
            "runs": [(r["name"], r["state"]["name"], r["state"]["message"]) for r in runs],
            "tasks": sorted((t["name"].rsplit("-", 1)[0], t["state"]["name"]) for t in tasks),
            "parameters": [r["parameters"] for r in runs],
        }}

with prefect_test_harness(server_startup_timeout=180):
    ends = {{}}
    for title, (name, given) in json.loads(sys.argv[2]).items():
        flow = getattr(importlib.import_module(name), name)
        state = flow(**given, return_state=True)
        ends[title] = (state.name, state.type.value, state.message)
    said = asyncio.run(read())
print(json.dumps({{"ends": ends, **said}}, default=str))
"""


def run_flows(asked, prelude="", **env):
    """Run flows one after the other under one harness: {title: (flow, parameters)}."""
    argv = [sys.executable, "-c", RUN.format(prelude=prelude), str(ROOT / "flows")]
    done = subprocess.run(
        [*argv, json.dumps(asked)],
        env=os.environ | QUIET | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.fixture
def common(tmp_path):
    pytest.importorskip("prefect")
    return {"state": str(tmp_path / "state"), "now": NOW}


@pytest.mark.flows
def test_every_flow_ends_in_a_state_that_says_how(common, tmp_path):
    samples(tmp_path)
    store = f"clawseed:{tmp_path / 'clawseed'}"
    night = {"store": store, "suite": "sample/clawseed", **common}
    undone = meddled(tmp_path / "undone")
    roots = [f"甲={tmp_path / 'openclaw'}", str(tmp_path / "nowhere")]
    said, logged = run_flows(
        {
            "kept": (
                "migrate",
                {
                    "store": store,
                    "approval_minutes": 0,
                    "policy": {"unattended": {"rules": {"*": "always"}}},
                    **common,
                },
            ),
            "night": ("nightly", {**night, "approve": True}),
            "limits": (
                "nightly",
                {**night, "limits": {"records": 0}, "policy": {"gate": {"seed": 8}}},
            ),
            "lost": ("nightly", {"store": f"clawseed:{tmp_path / 'nowhere'}", **common}),
            "undone": ("nightly", {"store": undone, "approve": True, **common}),
            "odd": ("nightly", {"store": store, "policy": {"gaet": {}}, **common}),
            "audit": ("audit", {"store": store, "fail_on": ["secrets"], **common}),
            "collect": ("collect", {"roots": roots, **common}),
        }
    )
    ends = {title: tuple(end[:2]) for title, end in said["ends"].items()}
    assert ends.pop("night") in [("Completed", "COMPLETED"), ("CompletedWithSkips", "COMPLETED")]
    assert ends == {
        "kept": ("AwaitingApproval", "COMPLETED"),
        "limits": ("Completed", "COMPLETED"),
        "lost": ("StoreNotFound", "FAILED"),
        "undone": ("ReadBackFailed", "FAILED"),
        "odd": ("MemopsError", "FAILED"),
        "audit": ("Completed", "COMPLETED"),
        "collect": ("StoreNotFound", "FAILED"),
    }
    messages = {title: end[2] for title, end in said["ends"].items()}
    assert "the limit is" in messages["kept"]
    assert "(exit 10)" in messages["lost"]
    assert "4 records do not read as written (exit 33)" in messages["undone"]
    assert "gate" in messages["odd"]
    names = {title.split(" ")[0] for title, _, _ in said["runs"]}
    assert names == {"migrate", "nightly", "audit", "collect"}
    assert {"markdown", "table", "progress"} <= {kind for kind, _ in said["artifacts"]}
    steps = {name for name, _ in said["tasks"]}
    assert {"take snapshot", "plan step", "grade plan", "apply step", "audit store"} <= steps
    assert "redact_secrets" in said["text"]
    assert f"Undo: `memops --state {common['state']} rollback " in said["text"]
    with sqlite3.connect(f"file:{tmp_path / 'clawseed'}/memory/brain.db?mode=ro", uri=True) as con:
        rows = con.execute("SELECT content FROM memories WHERE length(content) > 20").fetchall()
    texts = [row[0] for row in rows]
    assert len(texts) > 100
    shown = json.dumps(said, ensure_ascii=False) + logged
    assert not [text for text in texts if text in shown]


@pytest.mark.flows
def test_proposals_are_asked_about_once_after_what_may_run_unattended(common, tmp_path, twins):
    store = tmp_path / "m.jsonl"
    held = {"id": "s", "kind": "fact", "text": "The password is " + "Tz9" + "-qv7Lm2-xR4"}
    rows = [*twins[:4], held]
    store.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    night = {"store": f"jsonl:{store}", "limits": {"share": 1.0}, "state": common["state"]}
    rules = {"*": "always", "merge_exact": "never"}
    night["policy"] = {"unattended": {"rules": rules}}
    said, _ = run_flows({"first": ("nightly", night), "second": ("nightly", night)})
    assert "password is Tz9" not in store.read_text()
    first, second = said["ends"]["first"], said["ends"]["second"]
    assert tuple(first[:2]) == ("AwaitingApproval", "COMPLETED")
    assert "1 records changed without asking" in first[2] and "wait (merge_exact" in first[2]
    assert " review " in first[2] and first[2].endswith("(exit 34)")
    assert tuple(second[:2]) == ("StillAwaitingApproval", "COMPLETED")
    assert sorted(state for _, state, _ in said["runs"]) == [
        "ApprovalExpired",
        "StillAwaitingApproval",
    ]
    assert "--accept NUMBER|RULE|all" in said["text"]


TRIPS = """
from memops import steps
from memops.rules import RULES

def trips(records, ctx):
    for text in records["text"].to_list():
        if "odd" in text:
            raise ValueError("cannot read " + repr(text))
    return RULES[0](records, ctx)

steps.RULES = (trips, *RULES)
"""


@pytest.mark.slow
@pytest.mark.flows
def test_a_night_over_twenty_stores_names_the_three_that_fail(common, tmp_path, twins):
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in twins[:12]]
    odd = json.dumps({"id": "x", "kind": "fact", "text": "the odd gate opens at 门卫老周"}) + "\n"
    stores = {f"s{n:02}": "".join(lines) for n in range(17)}
    stores |= {"gone": None, "torn": "".join(lines)[:-30], "odd": "".join([*lines, odd])}
    tables = []
    for name, text in stores.items():
        path = tmp_path / f"{name}.jsonl"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        tables.append(f'[stores.{name}]\naddress = "jsonl:{path}"\n')
    config = tmp_path / "memops.toml"
    config.write_text("\n".join([*tables, "[policy.limits]\nshare = 1.0\n"]))
    said, logged = run_flows({"all": ("nights", {"config": str(config), **common})}, TRIPS)
    name, kind, message = said["ends"]["all"]
    assert (name, kind) == ("StoresFailed", "FAILED")
    assert message.startswith("17 of 20 stores good; ")
    for word in ("gone", "(exit 10)", "torn", "(exit 20)", "odd", "ValueError", "(exit 1)"):
        assert word in message
    states = [state for title, state, _ in said["runs"] if title.startswith("nightly")]
    assert sorted(set(states)) == ["Bug", "Completed", "Corrupt", "StoreNotFound"]
    assert states.count("Completed") == 17
    everything = json.dumps(said, ensure_ascii=False) + logged
    assert "老周" not in everything


SERVED = """
import asyncio, json, sys, tomllib, yaml
sys.path.insert(0, sys.argv[1])
from datetime import datetime, timezone
from pathlib import Path
from prefect.server.schemas.schedules import CronSchedule
from serving import deployments
from flowing import _task
from memops import steps
assert _task(steps.take_snapshot) is _task(steps.take_snapshot)  # a task is made once
from memops.settings import read

made = deployments(read(Path(sys.argv[2]), None))
found = {}
for item in made:
    dates = []
    for entry in item.schedules or []:
        cron = CronSchedule(cron=entry.schedule.cron, timezone=entry.schedule.timezone)
        for start in (datetime(2026, 3, 27, tzinfo=timezone.utc), datetime(2026, 10, 23, tzinfo=timezone.utc)):
            dates += [str(d.astimezone(timezone.utc)) for d in asyncio.run(cron.get_dates(4, start=start))]
    schema = item._parameter_openapi_schema.properties
    found[item.name] = {"dates": dates, "tags": item.tags, "given": item.parameters,
                        "version": item.version,
                        "form": {k: v.get("description") for k, v in schema.items()}}
listed = yaml.safe_load((Path(sys.argv[1]) / "prefect.yaml").read_text())["deployments"]
for entry in listed:
    path, name = entry["entrypoint"].split(":")
    module = __import__(Path(path).stem)
    assert set(entry.get("parameters", {})) <= set(getattr(module, name).parameters.properties)
print(json.dumps(found))
"""


def test_flows_find_each_other_without_touching_the_path():
    texts = [path.read_text() for path in (ROOT / "flows").glob("*.py")]
    assert not [text for text in texts if "sys.path" in text]
    assert sum(len(text.splitlines()) for text in texts) < 1000


@pytest.mark.flows
def test_a_night_comes_once_a_day_also_when_the_clocks_change(tmp_path):
    pytest.importorskip("prefect")
    config = tmp_path / "memops.toml"
    config.write_text(
        '[stores.heim]\naddress = "jsonl:m.jsonl"\nschedule = "30 2 * * *"\n'
        'timezone = "Europe/Berlin"\n[stores.home]\naddress = "jsonl:n.jsonl"\n'
    )
    argv = [sys.executable, "-c", SERVED, str(ROOT / "flows"), str(config)]
    done = subprocess.run(argv, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert list(found) == ["nightly-heim", "nightly-home", *OTHERS]
    nights = [date[:16] for date in found["nightly-heim"]["dates"]]
    assert [night[:10] for night in nights] == [
        "2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30",
        "2026-10-23", "2026-10-24", "2026-10-25", "2026-10-26",
    ]  # fmt: skip
    assert {night[11:] for night in nights} <= {"00:30", "01:00", "01:30"}
    assert found["nightly-home"]["dates"][0] == "2026-03-27 03:30:00+00:00"
    assert found["nightly-heim"]["given"]["config"] == str(config)
    assert found["nightly-heim"]["tags"] == ["memops", "heim"]
    assert {"store", "limits", "policy", "approval_minutes"} <= set(found["migrate"]["form"])
    unsaid = [
        (name, field)
        for name, it in found.items()
        for field, said in it["form"].items()
        if not said
    ]
    assert unsaid == []
    assert {it["version"] for it in found.values()} == {__version__}
    more = "".join(f'[stores.s{n}]\naddress = "jsonl:{n}.jsonl"\n' for n in range(60))
    config.write_text(f'[flows]\nschedule = "15 4 * * *"\n{more}')
    done = subprocess.run(argv, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    fleet = json.loads(done.stdout.splitlines()[-1])
    assert list(fleet) == OTHERS
    assert fleet["nights"]["dates"][0] == "2026-03-27 04:15:00+00:00"


OTHERS = ["apply", "migrate", "nights", "recall-gate", "audit", "collect"]


TIMED = """
import sys, time
sys.path.insert(0, sys.argv[1])
from flowing import reach
begun = time.monotonic()
try:
    reach()
except Exception as error:
    print(time.monotonic() - begun, error)
"""


@pytest.mark.flows
def test_where_the_server_is_out_of_reach_flows_fail_in_a_sentence_and_commands_work(tmp_path):
    """One server that is not there, and one that never answers; neither takes half a minute."""
    pytest.importorskip("prefect")
    store = tmp_path / "m.jsonl"
    store.write_text('{"id": "a", "text": "The depot opens at nine"}\n')
    memops = [sys.executable, "-c", "from memops.cli import main; main()"]
    by_hand = [sys.executable, str(ROOT / "flows" / "nightly.py"), f"jsonl:{store}"]

    def run(argv, port):
        env = {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PYTHONPATH": str(ROOT)}
        env = os.environ | QUIET | env | {"PREFECT_HOME": str(tmp_path / "home")}
        return subprocess.run(
            argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    port = free_port()
    for argv in ([*memops, "serve"], by_hand):
        done = run(argv, port)
        assert done.returncode == 10
        assert "does not answer" in done.stderr
        assert "Traceback" not in done.stderr
    assert run([*memops, "nightly", f"jsonl:{store}"], port).returncode == 0
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        timed = [sys.executable, "-c", TIMED, str(ROOT / "flows")]
        for asked in (port, mute.getsockname()[1]):
            seconds, _, said = run(timed, asked).stdout.partition(" ")
            assert float(seconds) < 30
            assert "does not answer" in said


def test_without_prefect_serving_names_the_extra_and_the_rest_works(tmp_path):
    gone = "['prefect', 'torch', 'sentence_transformers']"
    hide = f"import sys; sys.modules |= dict.fromkeys({gone}); from memops.cli import run; sys.exit(run(sys.argv[1:]))"

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
    from memops.errors import MemopsError
    from memops.models.encode import open_encoder

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MemopsError) as error:
        open_encoder(str(tmp_path / "model"))
    assert "memops[models]" in error.value.message + error.value.hint
