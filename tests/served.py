"""A real Prefect server, on SQLite or PostgreSQL, and `memops serve` under it, for slow tests."""

import contextlib
import email
import http.server
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
}
MEMOPS = [sys.executable, "-c", "from memops.cli import main; main()"]


class Api:
    """A Prefect server's API, by its address."""

    def __init__(self, url):
        self.url = url

    def __call__(self, path, body=None, method="POST"):
        data = None if method == "GET" else json.dumps(body or {}).encode()
        asked = urllib.request.Request(
            f"{self.url}{path}", data, {"content-type": "application/json"}, method=method
        )
        text = urllib.request.urlopen(asked, timeout=60).read()
        return json.loads(text) if text else None

    def runs(self, *kinds, flow=None):
        """Flow runs that left the schedule, of these types of state, oldest first."""
        found = self("/flow_runs/filter", {"limit": 200, "sort": "EXPECTED_START_TIME_ASC"})
        chosen = [r for r in found if r["state_type"] in (kinds or ENDED)]
        return [r for r in chosen if flow is None or r["name"].startswith(flow)]

    def start(self, deployment, **parameters):
        """Start a run of a deployment, once that is there; returns the run."""
        found = until(lambda: [d for d in self("/deployments/filter") if d["name"] == deployment])
        asked = {"parameters": parameters}
        return until(lambda: self(f"/deployments/{found[0]['id']}/create_flow_run", asked))

    def run(self, given):
        """A flow run as it is now."""
        return self(f"/flow_runs/{given['id']}", method="GET")

    def ended(self, given, seconds=300):
        """A flow run, once it has ended: its name of state, type and message."""
        done = until(lambda: (r := self.run(given))["state_type"] in ENDED and r, seconds)
        return done["state"]["name"], done["state"]["type"], done["state"]["message"]

    def texts(self):
        """Every artifact and log line, as one text."""
        parts = []
        for what in ("artifacts", "logs"):
            offset = 0
            while page := self(f"/{what}/filter", {"limit": 200, "offset": offset}):
                parts += page
                offset += len(page)
        return json.dumps(parts, ensure_ascii=False)


ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def until(look, seconds=240, every=1.0):
    """What `look` returns, once it returns something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):  # a busy server says 503
            if found := look():
                return found
        time.sleep(every)
    raise AssertionError(f"nothing came in {seconds} seconds")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def process(argv, env, log, cwd=None, stop=signal.SIGTERM):
    """A process in a group of its own, which is gone afterwards; its output goes to a file."""
    with log.open("ab") as out:
        child = subprocess.Popen(
            argv,
            env=os.environ | QUIET | env,
            cwd=cwd,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, stop)
        try:
            child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


@contextlib.contextmanager
def server(folder, database=None, port=None):
    """A Prefect server of its own; yields its API, which knows its process."""
    port = port or free_port()
    env = {"PREFECT_HOME": str(folder / "home")}
    if database:
        env["PREFECT_API_DATABASE_CONNECTION_URL"] = database
    argv = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    log = folder / "server.log"
    with process([*argv, "--port", str(port)], env, log) as child:
        api = Api(f"http://127.0.0.1:{port}/api")
        api.process, api.port = child, port

        def healthy():
            try:
                return api("/health", method="GET")
            except OSError:
                return False

        until(healthy)
        yield api


@contextlib.contextmanager
def serving(folder, api, **env):
    """`memops serve` for the `memops.toml` of a folder."""
    own = {"PREFECT_API_URL": api.url, "PREFECT_HOME": str(folder / "home"), **env}
    with process([*MEMOPS, "serve"], own, folder / "serve.log", folder, signal.SIGINT) as child:
        yield child


def memops(folder, *argv, **env):
    """One command; returns its exit code and what it printed as JSON, or its sentence."""
    done = subprocess.run(
        [*MEMOPS, *argv, "--json"], cwd=folder, env=os.environ | QUIET | env,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


@contextlib.contextmanager
def listening(handler):
    """A local socket server whose handler appends what it received; yields its port and that."""
    received = []
    handler = type("Handler", (handler,), {"received": received})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as it:
        thread = threading.Thread(target=it.serve_forever, daemon=True)
        thread.start()
        yield it.server_address[1], received
        it.shutdown()


class Webhook(http.server.BaseHTTPRequestHandler):
    """Takes JSON."""

    def do_POST(self):
        self.received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *said):
        pass


class Mail(socketserver.StreamRequestHandler):
    """Takes mail, as SMTP has it since 1982."""

    def handle(self):
        self.wfile.write(b"220 here\r\n")
        text = []
        for line in iter(self.rfile.readline, b""):
            word = line.strip().upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                text = list(iter(self.rfile.readline, b".\r\n"))
                self.received.append(email.message_from_bytes(b"".join(text)))
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            if word == b"QUIT":
                return


def postgres():
    """Where PostgreSQL's programs are (Debian keeps them off the path), or None."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "initdb").exists() and (p / "postgres").exists()), None)


@contextlib.contextmanager
def database(folder):
    """A PostgreSQL cluster in a folder, run by an unprivileged user; yields its address and dump."""
    programs, port = postgres(), free_port()
    data, user = folder / "cluster", []
    data.mkdir()
    if os.geteuid() == 0:  # initdb refuses root
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        shutil.chown(data, "nobody", "nogroup")
        for part in [data, *data.parents]:
            if part.stat().st_uid == os.geteuid() and part.stat().st_mode & 0o001 == 0:
                part.chmod(part.stat().st_mode | 0o011)
    data.chmod(0o700)
    made = [*user, str(programs / "initdb"), "-D", str(data), "-U", "prefect", "--auth=trust"]
    subprocess.run([*made, "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"], check=True, capture_output=True, cwd="/")  # fmt: skip
    run = [*user, str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", "", "-F"]
    with process([*run, "-h", "127.0.0.1"], {}, folder / "postgres.log", "/", signal.SIGINT):

        def up():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        until(up, 60, 0.2)
        where = f"127.0.0.1:{port}/postgres"

        def dump():
            url = f"postgresql://prefect@{where}"
            argv = [str(programs / "pg_dump"), "--inserts", url]
            return subprocess.run(argv, check=True, capture_output=True).stdout

        yield f"postgresql+asyncpg://prefect@{where}", dump
