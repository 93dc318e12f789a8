"""A real OpenClaw indexes and searches a workspace that memops has edited.

Installs `openclaw@2026.9` and the Node that it wants from the npm registry, into a temporary
folder or the one that MEMOPS_OPENCLAW names, which is then kept. What runs afterwards has a home
of its own, keyword search only, and no network.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

VERSION, NODE = "2026.9", "24"
WAIT = 900

pytestmark = pytest.mark.slow

CURATED = """# Memory

## Preferences
<!-- openclaw-memory-promotion:memory:memory/2026-05-02.md:3:3 -->
- The depot opens at 7:30 on weekdays [score=0.812 signals=4 source=memory/2026-05-02.md:3-3] <!-- importance: 8 -->
- Rosa prefers tea to coffee <!-- trigger: drinks, kitchen -->
- 发布前要先做灰度验证
"""
DAY = "# 2026-05-02\n\n- 09:00 The spare key hangs behind the blue door\n- 09:30 用户的猫叫麻薯\n"
MARKERS = (
    "<!-- openclaw-memory-promotion:memory:memory/2026-05-02.md:3:3 -->",
    "<!-- importance: 8 -->",
    "<!-- trigger: drinks, kitchen -->",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folders for PATH; skips, saying why, where npm or a package is not to be had."""
    if shutil.which("npm") is None:
        pytest.skip("cannot run: there is no npm on this machine")
    kept = os.environ.get("MEMOPS_OPENCLAW")
    base = Path(kept).absolute() if kept else tmp_path_factory.mktemp("openclaw")
    node, app = base / "node", base / "app"
    path = os.environ["PATH"]
    for prefix, package in ((node, f"node@{NODE}"), (app, f"openclaw@{VERSION}")):
        if not (prefix / "node_modules").is_dir():
            command = [
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(prefix),
                package,
            ]
            env = os.environ | {"PATH": path, "HOME": str(base)}
            done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=WAIT)
            if done.returncode:
                said = [line for line in done.stderr.splitlines() if "npm error" in line][:3]
                pytest.skip(f"cannot run: npm install {package} failed: {'; '.join(said)}")
        path = (
            f"{node}/node_modules/node/bin:{node}/node_modules/.bin:{app}/node_modules/.bin:{path}"
        )
    return path


class Agent:
    """OpenClaw's command line, without a network."""

    def __init__(self, home, path):
        self.workspace = home / ".openclaw" / "workspace"
        (self.workspace / "memory").mkdir(parents=True)
        (self.workspace / "MEMORY.md").write_text(CURATED, encoding="utf-8")
        (self.workspace / "memory" / "2026-05-02.md").write_text(DAY, encoding="utf-8")
        config = {
            "memory": {"search": {"provider": "none"}},
            "agents": {"defaults": {"workspace": str(self.workspace)}},
        }
        (home / ".openclaw" / "openclaw.json").write_text(json.dumps(config))
        closed = "http://127.0.0.1:9"
        proxies = {
            name: closed for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        }
        self.env = {"HOME": str(home), "PATH": path, "NO_COLOR": "1", **proxies}
        alone = subprocess.run(["unshare", "-n", "true"], capture_output=True)
        self.prefix = ["unshare", "-n"] if alone.returncode == 0 else []

    def __call__(self, *argv):
        command = [*self.prefix, "openclaw", *argv]
        done = subprocess.run(command, capture_output=True, text=True, env=self.env, timeout=WAIT)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def found(self, query):
        out = self("memory", "search", query, "--json")
        return "\n".join(hit["snippet"] for hit in json.loads(out[out.index("{") :])["results"])

    def files(self):
        return {p: p.read_bytes() for p in sorted(self.workspace.rglob("*.md"))}


def test_an_edited_workspace_is_indexed_and_searched_with_its_markers(memops, tmp_path, installed):
    home = tmp_path / "home"
    home.mkdir()
    agent = Agent(home, installed)
    agent("memory", "index", "--force")
    assert "depot opens at 7:30" in agent.found("depot opens")
    assert "spare key" in agent.found("spare key")
    store = f"openclaw:{agent.workspace}"
    ids = {row["text"]: row["id"] for row in memops("inspect", store)["records"]}
    memops(
        "edit",
        store,
        ids["The depot opens at 7:30 on weekdays"],
        "--text",
        "The depot opens at 8:15 on weekdays",
    )
    assert memops.code == 0, memops.err
    memops("forget", store, ids["The spare key hangs behind the blue door"])
    assert memops.code == 0, memops.err
    edited = agent.files()
    text = edited[agent.workspace / "MEMORY.md"].decode()
    assert text == CURATED.replace("7:30", "8:15")
    assert all(marker in text for marker in MARKERS)
    agent("memory", "index", "--force")
    hits = agent.found("depot opens")
    assert "8:15" in hits and "7:30" not in hits
    assert "spare key" not in agent.found("spare key")
    assert "麻薯" in agent.found("用户的猫叫麻薯")  # a run of Han characters is one word to it
    assert agent.files() == edited
    status = json.loads(agent("memory", "status", "--json"))[0]["status"]
    assert (status["provider"], status["dirty"]) == ("none", False)
