"""Who is told of nights, by real sockets and a real program; and that trouble changes no night."""

import http.server
import json
import shlex
import sys
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops.cli import run
from memops.nights import notices
from memops.state import history
from tests import served

NOW = "2026-06-01T12:00:00Z"


class Ping(http.server.BaseHTTPRequestHandler):
    """Takes what a monitor of dead men takes."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.received.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *said):
        pass


def settings(memops, stores, notify, more=""):
    lines = [f'[stores.{name}]\naddress = "{at}"' for name, at in stores.items()]
    text = "\n".join([*lines, "[notify]", *notify, more])
    (memops.folder / "memops.toml").write_text(text, encoding="utf-8")


def night(memops, *argv):
    code = run(["--state", str(memops.state), "nightly", *argv])
    return code, memops.capsys.readouterr()


def test_a_night_that_fails_or_waits_is_told_of_by_every_way_with_the_line_to_type(memops, twins):
    path = memops.write("m.jsonl", twins)
    script = "import os, sys; open('told', 'w').write(os.environ['MEMOPS_SUBJECT'] + chr(10) + sys.stdin.read())"  # fmt: skip
    with (
        served.listening(served.Webhook) as (web, posts),
        served.listening(served.Mail) as (smtp, mails),
        served.listening(Ping) as (alive, pings),
    ):
        ways = [
            f'webhook = "http://127.0.0.1:{web}/memops?room=7"',
            f'email = "mailto://127.0.0.1:{smtp}?from=memops@example.org&to=me@example.org"',
            f"command = {json.dumps(shlex.join([sys.executable, '-c', script]))}",
            f'ping = "http://127.0.0.1:{alive}/alive"',
        ]
        stores = {"home": f"jsonl:{path}", "gone": f"jsonl:{path}.not"}
        settings(memops, stores, ways)
        code, out = night(memops, "--now", NOW)
        assert code == 10 and "not told" not in out.err
        (plan,) = (p.name for p in memops.state.glob("plans/*"))
        subject, text = posts[0]["subject"], posts[0]["text"]
        assert subject == "memops: gone failed; home waiting for a person"
        assert f"memops --state {memops.state} review {plan}" in text and "(exit 10)" in text
        assert "depot" not in text and "the limit is 10%" in text
        assert mails[0]["subject"] == subject and mails[0]["to"] == "me@example.org"
        assert plan in mails[0].get_payload(decode=True).decode()
        assert (memops.folder / "told").read_text() == f"{subject}\n{text}"
        assert [path for path, _ in pings] == ["/alive/fail"]
        night(memops, "home", "--now", NOW)  # the same waits: nobody is told again
        assert [path for path, _ in pings] == ["/alive/fail", "/alive"] and len(posts) == 1


def test_good_nights_are_told_of_on_request_and_a_place_out_of_reach_changes_nothing(memops, twins):
    path = memops.write("m.jsonl", twins[:1])
    port, hidden = served.free_port(), "hid" + "den"
    ways = [f'webhook = "http://127.0.0.1:{port}/{hidden}"', 'tell = ["nightly"]']
    settings(memops, {"home": f"jsonl:{path}"}, ways)
    code, out = night(memops, "--now", NOW)
    assert code == 0 and "memops: not told: notify.webhook: " in out.err and hidden not in out.err
    assert memops("config", "notify")["webhook"] != "sent" and memops.code == 10
    with served.listening(served.Webhook) as (web, posts):
        settings(memops, {"home": f"jsonl:{path}"}, [ways[0].replace(str(port), str(web)), ways[1]])
        assert night(memops, "--now", NOW)[0] == 0
        assert posts[0]["subject"] == "memops: 1 stores good"
        assert memops("config", "notify") == {"webhook": "sent"} and memops.code == 0
        assert posts[1]["subject"] == "memops: a try"


def test_the_digest_comes_once_a_week_and_counts_what_the_nights_did(memops, twins):
    path = memops.write("m.jsonl", twins[:1])
    with served.listening(served.Webhook) as (web, posts):
        settings(memops, {"home": f"jsonl:{path}"}, [f'webhook = "http://127.0.0.1:{web}/"'])
        for day in (1, 2, 5, 7, 8, 9):
            night(memops, "--now", f"2026-06-0{day}T02:00:00Z")
        assert len(posts) == 1
    assert posts[0]["subject"] == "memops: 7 days to 2026-06-08: 4 nights of 1 stores"
    assert posts[0]["text"] == "home: 4 nights, 0 records changed; live records 1 -> 1"


def test_the_digest_says_what_failed_and_how_recall_went():
    at = datetime(2026, 6, 8, tzinfo=UTC)
    rows = [
        {"store": "home", "at": at - timedelta(days=d), "code": c, "applied": 2, "live": 50 - d,
         "recall": [{"measure": "R@10", "value": 0.9 - d / 100}]}
        for d, c in ((9, 1), (3, 0), (2, 30), (1, 0))
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema_overrides=history.NIGHTS).select(
        *(pl.col(n) if n in rows[0] else pl.lit(None, t).alias(n) for n, t in history.NIGHTS.items())
    )  # fmt: skip
    subject, text = notices.digest(table, at, 7.0)
    assert subject == "memops: 7 days to 2026-06-08: 3 nights of 1 stores, 1 failed"
    assert text == (
        "home: 3 nights, 6 records changed, 1 failed; live records 47 -> 49; R@10 0.870 -> 0.890"
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('webhook = "example.org"', "no address, such as https"),
        ('email = "me@example.org"', "mailto"),
        ('tell = ["always"]', "nightly"),
        ("digest_days = -1", "digest_days"),
    ],
)
def test_what_is_no_way_to_tell_is_refused_by_name_and_line(memops, line, words):
    settings(memops, {"home": "jsonl:m.jsonl"}, [line])
    assert run(["config", "check"]) == 2
    said = memops.capsys.readouterr().err
    assert "memops.toml" in said and "notify" in said and words in said
