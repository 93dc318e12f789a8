"""A fork server: command lines in processes of their own, without a fresh interpreter for each.

The server has memops loaded and has never run anything of it; each request forks it. What runs in
the child is the real command line, from a process group of its own, and dies as any process does.
"""

import json
import os
import signal
import subprocess
import sys
from functools import cache

SERVER = """
import json, os, sys
sys.dont_write_bytecode = True
import memops.cli.planning, memops.cli.runs, memops.cli.stores, memops.cli.reading, memops.steps, memops.apply
import memops.stores.clawseed, memops.stores.openclaw, memops.stores.tables, memops.rules
from memops import cli
from memops.stores.sqlite import write as sqlite_write

def child(asked):
    os.setsid()
    os.environ.update(asked["env"])
    for name, number in (("out", 1), ("err", 2)):
        said = os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_WRONLY) if asked["limit"] else said, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sqlite_write.MOST = asked["batch"]
    if asked["limit"]:
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["limit"], asked["limit"]))
    if asked["before"]:
        exec(asked["before"], {})
    os.umask(0o077)
    code = cli.run(asked["argv"])
    sys.stdout.flush(), sys.stderr.flush()
    os._exit(code)

for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "start":
        pid = os.fork()
        if pid == 0:
            try:
                child(asked)
            finally:
                os._exit(1)
        said = pid
    else:
        pid, status = os.waitpid(asked["pid"], os.WNOHANG if asked["do"] == "poll" else 0)
        said = os.waitstatus_to_exitcode(status) if pid else None
    print(json.dumps(said), flush=True)
"""


class Forked:
    """A child of the server, with the verbs of `subprocess.Popen` that the tests use."""

    def __init__(self, server, argv, folder, env=None, batch=200, limit=0, before=""):
        self.server, self.returncode, Forked.made = server, None, getattr(Forked, "made", 0) + 1
        self.out, self.err = (str(folder / f"said-{Forked.made}.{n}") for n in ("out", "err"))
        asked = {"argv": [str(a) for a in argv], "env": env or {}, "batch": batch, "limit": limit}
        asked |= {"out": self.out, "err": self.err, "before": before}
        self.pid = server.ask(do="start", **asked)

    def poll(self):
        if self.returncode is None:
            self.returncode = self.server.ask(do="poll", pid=self.pid)
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            self.returncode = self.server.ask(do="wait", pid=self.pid)
        return self.returncode

    def communicate(self):
        self.wait()
        said = []
        for path in (self.out, self.err):
            with open(path, "rb") as file:
                said.append(file.read())
            os.unlink(path)
        return tuple(said)

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


LIVE = []


class Server:
    def __init__(self, root):
        env = {**os.environ, "PYTHONPATH": root, "POLARS_MAX_THREADS": "2"}
        env.pop("MEMOPS_FAIL", None)
        LIVE.append(self)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )

    def ask(self, **asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@cache
def server(root):
    """Return the one server of this process for the memops at a root; it ends with us."""
    return Server(root)
