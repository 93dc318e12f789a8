"""Served flows: schedules, approval, crashes and recovery, under real Prefect servers."""

import json
import os
import shutil
import sqlite3
import time

import pytest

from tests import served
from tests.test_flows import samples

pytestmark = [pytest.mark.slow, pytest.mark.flows]
EVERY_MINUTE = "* * * * *"


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("prefect")
    samples(tmp_path)
    return tmp_path


def configured(folder, stores, more=""):
    """Write memops.toml with sample stores by name: (kind, schedule)."""
    lines = []
    for name, (kind, schedule) in stores.items():
        lines += [f"[stores.{name}]", f'address = "{kind}:{folder / kind}"']
        lines += [f'suite = "sample/{kind}"', f'schedule = "{schedule}"', ""]
    (folder / "memops.toml").write_text("\n".join([*lines, more]), encoding="utf-8")


def said_by(store):
    """What a clawseed store holds: texts and keys worth looking for."""
    with sqlite3.connect(f"file:{store}/memory/brain.db?mode=ro", uri=True) as con:
        rows = con.execute("SELECT content FROM memories WHERE length(content) > 12").fetchall()
    return sorted({row[0] for row in rows})


def forms(texts):
    """A text as a file may hold it: UTF-8, and as JSON spells it once and twice."""
    for text in texts:
        once = json.dumps(text)[1:-1]
        yield from {text.encode(), once.encode(), json.dumps(once)[1:-1].encode()}


def held(texts, *blobs):
    """The forms of texts that any of the bytes hold."""
    return [form for form in forms(texts) if any(form in blob for blob in blobs)]


def files_below(folder):
    return [p.read_bytes() for p in folder.rglob("*") if p.is_file()]


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, folder):
    """A server on either database: its API, and what the database holds as bytes."""
    if request.param == "sqlite":
        with served.server(folder) as api:
            yield api, lambda: b"\0".join(files_below(folder / "home"))
        return
    if served.postgres() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with served.database(folder) as (url, dump), served.server(folder, url) as api:
        yield api, lambda: dump() + b"\0".join(files_below(folder / "home"))


def test_a_schedule_fires_nights_that_wait_for_a_person(folder, where):
    """One night is approved through the API and goes on; the other expires and changes nothing."""
    api, contents = where
    stores = {"mine": ("clawseed", EVERY_MINUTE), "yours": ("openclaw", EVERY_MINUTE)}
    configured(folder, stores, "[flows]\napproval_minutes = 0.5\n")
    texts = said_by(folder / "clawseed")
    untouched = files_below(folder / "openclaw")
    with served.serving(folder, api):

        def approved():
            for run in api.runs("PAUSED", flow="nightly mine"):
                answer = {"run_input": {"approve": True, "by": "a test"}}
                return api(f"/flow_runs/{run['id']}/resume", answer)

        assert served.until(approved, 400)["status"] == "ACCEPT"
        done = served.until(lambda: api.runs(flow="nightly mine"), 300)[0]
        # The server may call a pause that ran out a failure, until the run itself goes on.
        expired = served.until(lambda: api.runs("COMPLETED", flow="nightly yours"), 300)[0]
    assert (done["state"]["name"], done["state_type"]) in [
        ("Completed", "COMPLETED"), ("CompletedWithSkips", "COMPLETED"),
    ]  # fmt: skip
    assert done["auto_scheduled"]
    assert {"memops", "mine"} <= set(done["tags"])
    state = expired["state"]
    assert (state["name"], state["type"]) == ("ApprovalExpired", "COMPLETED"), state["message"]
    assert "the limit is" in state["message"]
    assert files_below(folder / "openclaw") == untouched
    artifacts = api("/artifacts/filter", {"limit": 200})
    mine = {(a["type"], a["key"]) for a in artifacts if a["flow_run_id"] == done["id"]}
    assert {
        ("markdown", "approval-mine"), ("markdown", "night-mine"), ("table", "changes-mine"),
    } <= mine  # fmt: skip
    assert {"progress"} <= {kind for kind, _ in mine}
    tasks = [t for t in api("/task_runs/filter", {"limit": 200}) if t["flow_run_id"] == done["id"]]
    assert {t["name"].rsplit("-", 1)[0] for t in tasks} == {
        "recover", "take snapshot", "plan step", "grade plan", "apply step", "report step",
        "prune",
    }  # fmt: skip
    assert {t["state_name"] for t in tasks} == {"Completed"}
    runs = served.memops(folder, "runs")[1]
    made = [(r["state"], r["store"].split(":")[0]) for r in runs if r["run"]]
    assert made == [("verified", "clawseed")]
    assert len(texts) > 100
    output = [(folder / name).read_bytes() for name in ("serve.log", "server.log")]
    book = (folder / ".memops" / "log.jsonl").read_bytes()
    assert done["id"].encode() in book
    assert not held(texts, contents(), api.texts().encode(), book, *output)


def test_a_night_killed_in_apply_is_shown_as_crashed_and_the_next_one_finishes_it(folder):
    configured(folder, {"mine": ("clawseed", EVERY_MINUTE)}, "[policy.limits]\nshare = 1.0\n")
    with served.server(folder) as api:
        with served.serving(folder, api, MEMOPS_FAIL="batch-written:1:kill"):
            crashed = served.until(lambda: api.runs("CRASHED"), 300)[0]
            remedy = served.until(lambda: [a for a in api("/artifacts/filter") if a["key"] == "remedy-mine"])  # fmt: skip
        (run,) = [r for r in served.memops(folder, "runs")[1] if r["run"]]
        assert (crashed["state"]["name"], run["state"]) == ("Crashed", "applying")
        assert f"resume {run['run']}" in remedy[0]["data"]
        assert f"rollback {run['run']}" in remedy[0]["data"]
        assert served.memops(folder, "status")[0] == 32
        with served.serving(folder, api):
            done = served.until(lambda: api.runs("COMPLETED", flow="nightly mine"), 300)[0]
        assert done["expected_start_time"] > crashed["expected_start_time"]
    runs = [r for r in served.memops(folder, "runs")[1] if r["run"]]
    assert {r["state"] for r in runs} == {"verified"}
    assert run["run"] in [r["run"] for r in runs]
    assert served.memops(folder, "status")[0] == 0


def test_a_machine_that_falls_silent_leaves_a_crashed_run(folder):
    """Server-side: the process that serves is killed together with its flow run."""
    configured(folder, {"mine": ("clawseed", EVERY_MINUTE)}, "[flows]\napproval_minutes = 30\n")
    with served.server(folder) as api:
        with served.serving(folder, api) as child:
            waiting = served.until(lambda: api.runs("PAUSED"), 300)[0]
            time.sleep(45)  # a heartbeat or two
            os.killpg(child.pid, 9)
        gone = served.until(lambda: api.runs("CRASHED"), 300)[0]
    assert gone["id"] == waiting["id"]
    assert "silent" in gone["state"]["message"]


def test_deployments_of_a_work_pool_run_under_a_worker(folder):
    configured(folder, {"mine": ("clawseed", "30 3 * * *")})
    with served.server(folder) as api:
        env = {"PREFECT_API_URL": api.url, "PREFECT_HOME": str(folder / "home")}
        code, said = served.memops(folder, "deploy", "--pool", "nights", **env)
        assert (code, said["pool"]) == (0, "nights")
        assert said["deployments"][0] == "nightly/nightly-mine"
        found = api("/deployments/filter")
        mine = next(d for d in found if d["name"] == "nightly-mine")
        assert mine["work_pool_name"] == "nights"
        assert mine["schedules"][0]["schedule"]["cron"] == "30 3 * * *"
        assert {"store", "limits", "suite"} <= set(mine["parameter_openapi_schema"]["properties"])
        audits = next(d for d in found if d["name"] == "audit")
        asked = {"parameters": {"store": "mine", "fail_on": ["secrets"]}}
        api(f"/deployments/{audits['id']}/create_flow_run", asked)
        argv = [served.sys.executable, "-m", "prefect", "worker", "start", "--pool", "nights"]
        with served.process(argv, env, folder / "worker.log", folder):
            done = served.until(lambda: api.runs(flow="audit"), 300)[0]
    assert (done["state"]["name"], done["state_type"]) == ("Findings", "COMPLETED")
    assert "secrets" in done["state"]["message"]


def test_a_night_that_is_cancelled_can_be_resumed(folder):
    shutil.rmtree(folder / "openclaw")
    configured(folder, {"mine": ("clawseed", "30 3 * * *")}, "[flows]\napproval_minutes = 30\n")
    with served.server(folder) as api, served.serving(folder, api):
        found = served.until(lambda: [d for d in api("/deployments/filter") if d["name"] == "nightly-mine"])  # fmt: skip
        served.until(lambda: api(f"/deployments/{found[0]['id']}/create_flow_run", {}))
        run = served.until(lambda: api.runs("PAUSED"), 300)[0]
        state = {"state": {"type": "CANCELLING", "name": "Cancelling"}}
        api(f"/flow_runs/{run['id']}/set_state", state)
        served.until(lambda: api.runs("CANCELLED"), 120)
    code, night = served.memops(folder, "nightly", "mine", "--approve")
    assert (code in (0, 3), night[0]["applied"] > 0) == (True, True)


def test_a_webhook_and_an_e_mail_tell_of_a_store_that_is_lost(folder):
    shutil.rmtree(folder / "clawseed")
    with (
        served.listening(served.Webhook) as (web, posts),
        served.listening(served.Mail) as (smtp, mails),
    ):
        notify = f'[notify]\nwebhook = "http://127.0.0.1:{web}/memops"\n'
        notify += f'email = "mailto://127.0.0.1:{smtp}?from=memops@example.org&to=me@example.org"\n'
        configured(folder, {"mine": ("clawseed", "30 3 * * *")}, notify)
        with served.server(folder) as api, served.serving(folder, api):
            found = served.until(lambda: [d for d in api("/deployments/filter") if d["name"] == "nightly-mine"])  # fmt: skip
            served.until(lambda: api(f"/deployments/{found[0]['id']}/create_flow_run", {}))
            done = served.until(lambda: api.runs(), 300)[0]
            served.until(lambda: posts and mails, 120)
    assert (done["state"]["name"], done["state_type"]) == ("StoreNotFound", "FAILED")
    assert "(exit 10)" in done["state"]["message"]
    assert posts[0]["subject"].startswith("memops: nightly mine")
    assert posts[0]["subject"].endswith("is StoreNotFound")
    assert "(exit 10)" in posts[0]["text"]
    assert "StoreNotFound" in mails[0]["subject"]
    assert mails[0]["to"] == "me@example.org"
