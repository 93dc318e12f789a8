"""Served flows: schedules, approval, crashes and recovery, under real Prefect servers."""

import contextlib
import json
import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from memops import locks
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
    lines += ["[policy.unattended]", 'rules = {"*" = "always"}', ""]
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


def test_a_night_awaits_approval_for_minutes_without_a_process_and_expires_after_them(
    folder, where
):
    """One plan waits for six minutes, is approved through the API and done; the other expires.

    A plan lives for ten from when it is made, so that a busy machine has four to begin the approval.
    """
    api, contents = where
    stores = {"mine": ("clawseed", "30 3 * * *"), "yours": ("openclaw", "30 3 * * *")}
    configured(folder, stores, "[flows]\napproval_minutes = 10\n")
    texts = said_by(folder / "clawseed")
    untouched = files_below(folder / "openclaw")
    with served.serving(folder, api):
        begun = time.monotonic()
        nights = {name: api.start(f"nightly-{name}") for name in stores}
        said = {name: api.ended(run) for name, run in nights.items()}
        planned = time.monotonic()
        for name, kind, message in said.values():
            assert (name, kind) == ("AwaitingApproval", "COMPLETED"), message
            assert "the limit is" in message and "(exit 34)" in message
        plans = {
            name: message.split(" review ")[1].split()[0] for name, (_, _, message) in said.items()
        }
        waits = [a for a in api("/artifacts/filter", {"limit": 200}) if a["key"] == "approval-mine"]
        assert f"apply {plans['mine']} --approve" in waits[0]["data"]
        form = f"[in the form of apply]({api.url.removesuffix('/api')}/deployments/deployment/"
        assert form in waits[0]["data"]
        time.sleep(max(0.0, begun + 360 - time.monotonic()))
        approved = api.start("apply", plan=plans["mine"], approve=True, by="a test")
        name, kind, message = api.ended(approved)
        assert kind == "COMPLETED", message
        assert "approved by a test" in message and "memops rollback" in message
        assert api.run(nights["mine"])["state"]["name"] == "Approved"
        time.sleep(max(0.0, planned + 610 - time.monotonic()))
        late = api.ended(api.start("apply", plan=plans["yours"], approve=True))
        assert late[:2] == ("PlanRefused", "FAILED") and "(exit 22)" in late[2]
        assert files_below(folder / "openclaw") == untouched
        again = api.ended(api.start("nightly-yours"))
        assert again[0] == "StillAwaitingApproval"  # a plan of its own, and nothing new in it
        assert api.run(nights["yours"])["state"]["name"] == "ApprovalExpired"
    tasks = api("/task_runs/filter", {"limit": 200})
    steps = {t["name"].rsplit("-", 1)[0] for t in tasks if t["flow_run_id"] == nights["mine"]["id"]}
    assert {"recover", "take snapshot", "plan step", "grade plan", "apply step", "prune"} <= steps
    done = [a["data"] for a in api("/artifacts/filter", {"limit": 200}) if a["type"] == "progress"]
    assert set(done) == {100.0}
    runs = [r for r in served.memops(folder, "runs")[1] if r["run"]]
    assert [(r["state"], r["store"].split(":")[0]) for r in runs] == [("verified", "clawseed")]
    assert len(texts) > 100
    output = [(folder / name).read_bytes() for name in ("serve.log", "server.log")]
    book = (folder / ".memops" / "log.jsonl").read_bytes()
    assert nights["mine"]["id"].encode() in book
    assert not held(texts, contents(), api.texts().encode(), book, *output)


def test_accepting_in_a_review_starts_the_flow_where_a_night_waits(folder, twins):
    """Without a server it is carried out at once; nothing is asked or told of twice."""
    store = folder / "m.jsonl"
    store.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in twins[:8]))
    with served.listening(served.Webhook) as (web, posts), served.server(folder) as api:
        (folder / "memops.toml").write_text(
            f'[stores.mine]\naddress = "jsonl:{store}"\n[policy.limits]\nshare = 1.0\n'
            '[policy.unattended]\nrules = {"*" = "always", "merge_exact" = "never"}\n'
            f'[notify]\nwebhook = "http://127.0.0.1:{web}/memops"\n'
        )
        env = {"PREFECT_API_URL": api.url, "PREFECT_HOME": str(folder / "home")}
        with served.serving(folder, api):
            nights = [api.start("nightly-mine")]
            asked = api.ended(nights[0])
            served.until(lambda: posts, 120)
            (waits,) = [a for a in api("/artifacts/filter") if a["key"] == "approval-mine"]
            form = f"[in the form of apply]({api.url.removesuffix('/api')}/deployments/deployment/"
            assert form in waits["data"]
            nights.append(api.start("nightly-mine"))
            name, _, message = api.ended(nights[1])
            assert (asked[0], name) == ("AwaitingApproval", "StillAwaitingApproval")
            assert api.run(nights[0])["state"]["name"] == "ApprovalExpired"
            plan = message.split(" review ")[1].split()[0]
            code, said = served.memops(folder, "review", plan, "--accept", "1", **env)
            assert (code, "run" in said) == (0, False)
            (flow,) = [r for r in api("/flow_runs/filter") if r["name"] == said["flow_run"]]
            done = api.ended(flow)
            assert done[1] == "COMPLETED" and "still wait" in done[2]
            assert api.run(nights[1])["state"]["name"] == "StillAwaitingApproval"
            code, said = served.memops(folder, "review", plan, "--accept", "all", **env)
            (flow,) = [r for r in api("/flow_runs/filter") if r["name"] == said["flow_run"]]
            assert api.ended(flow)[1] == "COMPLETED"
            assert api.run(nights[1])["state"]["name"] == "Approved"
        # a server that is busy may tell of a state twice; of the second night it tells nothing
        assert {p["subject"].rsplit(" ", 1)[1] for p in posts} == {"AwaitingApproval"}
        held = json.loads(store.read_text().splitlines()[0])
        assert held["id"] == twins[0]["id"]
        assert served.memops(folder, "plan", "mine")[1]["ops"] == 0
    plan = memops_waiting(folder, twins)
    code, said = served.memops(folder, "review", plan, "--accept", "all", **env)  # nobody is there
    assert (code, said["applied"] > 0) == (0, True)


def memops_waiting(folder, twins):
    """A plan that waits, of a night without Prefect."""
    (folder / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in twins[:12]))
    return served.memops(folder, "nightly", "mine")[1][0]["plan"]


def test_a_schedule_fires_a_night(folder):
    configured(folder, {"mine": ("clawseed", EVERY_MINUTE)}, "[policy.limits]\nshare = 1.0\n")
    with served.server(folder) as api, served.serving(folder, api):
        done = served.until(lambda: api.runs(flow="nightly mine"), 300)[0]
    assert done["auto_scheduled"] and done["state_type"] == "COMPLETED"
    assert {"memops", "mine"} <= set(done["tags"])


SILENT = """
import sys, time
from prefect import flow, tags
if sys.argv[1] == "stranger":

    @flow
    def stranger():
        time.sleep(400)

    stranger()
else:
    from nightly import nightly
    with tags("memops"):
        nightly("yours")
"""


def test_only_a_run_of_ours_whose_process_is_gone_is_called_crashed(folder):
    """Three are silent for more than five minutes: one of ours at work, one killed, a stranger's."""
    stores = {"mine": ("clawseed", "30 3 * * *"), "yours": ("openclaw", "30 3 * * *")}
    configured(folder, stores, "[policy.limits]\nshare = 1.0\n")
    flows = Path(__file__).parents[1] / "flows"
    with served.server(folder) as api, served.serving(folder, api):
        env = {"PREFECT_API_URL": api.url, "PREFECT_HOME": str(folder / "home")}
        beats = {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30"}
        env["PYTHONPATH"] = os.pathsep.join([str(flows.parent), str(flows)])
        turns = contextlib.ExitStack()  # nobody else has a turn
        turns.enter_context(locks.hold(folder / ".memops" / "locks" / "turn-0.lock"))
        mine = api.start("nightly-mine")
        argv = [served.sys.executable, "-c", SILENT]
        with (
            served.process([*argv, "stranger"], env, folder / "stranger.log", folder),
            served.process([*argv, "yours"], env | beats, folder / "yours.log", folder) as child,
        ):
            begun = time.monotonic()
            (yours,) = served.until(lambda: api.runs("RUNNING", flow="nightly yours"))
            (stranger,) = served.until(lambda: [r for r in api("/flow_runs/filter", {"limit": 200}) if r["state_type"] == "RUNNING" and not r["tags"]])  # fmt: skip
            time.sleep(max(0.0, begun + 65 - time.monotonic()))  # a heartbeat or two
            os.killpg(child.pid, 9)
            assert api.ended(yours, 420)[:2] == ("Crashed", "CRASHED")
            time.sleep(max(0.0, begun + 345 - time.monotonic()))
            assert api.run(mine)["state_type"] == "RUNNING"
            turns.close()
            assert api.ended(mine)[1] == "COMPLETED"
            assert api.ended(stranger, 120)[1] == "COMPLETED"


def test_a_server_that_is_killed_in_a_night_leaves_a_store_whose_next_night_is_good(folder):
    configured(folder, {"mine": ("clawseed", "30 3 * * *")}, "[policy.limits]\nshare = 1.0\n")
    with served.server(folder) as api, served.serving(folder, api):
        api.start("nightly-mine")
        served.until(lambda: [t for t in api("/task_runs/filter") if t["name"].startswith("plan")])
        os.killpg(api.process.pid, 9)
        time.sleep(20)
        with served.server(folder, port=api.port) as back:
            assert back.ended(back.start("nightly-mine"))[1] == "COMPLETED"
    runs = [r for r in served.memops(folder, "runs")[1] if r["run"]]
    assert {r["state"] for r in runs} == {"verified"}
    assert served.memops(folder, "status")[0] == 0


def test_twenty_stores_have_their_nights_in_one_evening(folder, where):
    """All at once; on PostgreSQL no query finds its database locked."""
    api, _ = where
    lines = []
    for n in range(20):
        (folder / f"s{n}.jsonl").write_text(json.dumps({"id": "a", "text": f"Pier {n} is closed"}))
        lines += [f"[stores.s{n}]", f'address = "jsonl:{folder}/s{n}.jsonl"']
    (folder / "memops.toml").write_text("\n".join([*lines, "[flows]", "at_once = 2"]))
    with served.serving(folder, api):
        nights = [api.start(f"nightly-s{n}") for n in range(20)]
        ends = {api.ended(run, 900)[:2] for run in nights}
    assert ends == {("Completed", "COMPLETED")}
    locked = (folder / "server.log").read_text().count("database is locked")
    print("database is locked:", locked)
    if (folder / "cluster").is_dir():
        assert locked == 0


def test_serving_ends_with_its_flows_and_is_removed_from_the_server(folder):
    configured(folder, {"mine": ("clawseed", "30 3 * * *")})
    with served.server(folder) as api:
        env = {"PREFECT_API_URL": api.url, "PREFECT_HOME": str(folder / "home")}
        turn = locks.hold(folder / ".memops" / "locks" / "turn-0.lock")  # nobody else has one
        with turn, served.serving(folder, api) as child:
            run = api.start("nightly-mine")
            served.until(lambda: api.run(run)["state_type"] == "RUNNING")
            os.kill(child.pid, 15)  # it alone, not its group
            child.wait(60)
            left = served.until(lambda: not below(child.pid) or None, 30)
            assert left
        assert [a for a in api("/automations/filter") if a["name"].startswith("memops")]
        code, said = served.memops(folder, "serve", "--remove", **env)
        assert (code, said["deployments"][0]) == (0, "apply")
        assert api("/deployments/filter") == []
        assert not [a for a in api("/automations/filter") if a["name"].startswith("memops")]


def below(group):
    """The processes of a group that are alive."""
    alive = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            alive.append(entry.parent.name)
    return alive


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
        assert f"run {run['run']} of an earlier night was finished" in done["state"]["message"]
    runs = [r for r in served.memops(folder, "runs")[1] if r["run"]]
    assert {r["state"] for r in runs} == {"verified"}
    assert run["run"] in [r["run"] for r in runs]
    assert served.memops(folder, "status")[0] == 0


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
        top = Path(__file__).parents[1]
        prefect = [served.sys.executable, "-m", "prefect"]
        for asked in (
            ["deployment", "ls"], ["flow-run", "ls"], ["work-pool", "ls"],
            ["work-pool", "create", "memops", "--type", "process"],
            ["--no-prompt", "deploy", "--all", "--prefect-file", "flows/prefect.yaml"],
        ):  # fmt: skip
            ran = served.subprocess.run(
                [*prefect, *asked],
                cwd=top,
                env=os.environ | served.QUIET | env,
                capture_output=True,
                text=True,
            )
            assert ran.returncode == 0, ran.stdout + ran.stderr
        names = {d["name"] for d in api("/deployments/filter") if d["work_pool_name"] == "memops"}
    assert names == {
        "nightly-home",
        "nights",
        "apply",
        "migrate",
        "recall-gate",
        "audit",
        "collect",
    }
    assert (done["state"]["name"], done["state_type"]) == ("Findings", "COMPLETED")
    assert "secrets" in done["state"]["message"]


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
