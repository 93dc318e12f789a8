"""What several tests need: the command line in this process, and a small store of records."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from memops import failpoints
from memops.cli import run
from tests import shapes
from tests.counts import full

# The same examples in every run of a change's own tests, so that red means the change; the slow
# command asks for new ones, and more, with --hypothesis-profile=default.
settings.register_profile("repeated", derandomize=True, database=None, max_examples=30)
settings.load_profile("repeated")

_LONG = Path(__file__).with_name("long.txt")


LONG = [line for line in _LONG.read_text().splitlines() if line and line[0] != "#"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give the slow suite what `long.txt` names, whole tests or one of their cases, and every law."""
    for item in items:
        law = full() and getattr(item.obj, "is_hypothesis_test", False)
        if law or item.nodeid in LONG or item.nodeid.split("[")[0] in LONG:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def nobodys_state(tmp_path_factory):
    """Keep commands that name no state folder out of that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state-home"))
        yield


@pytest.fixture(autouse=True)
def all_earned(monkeypatch, request):
    """Let every change run unattended, in tests that are not about what has earned it."""
    if "earned" not in request.keywords:
        monkeypatch.setattr("memops.state.evidence.marked", lambda plan, *rest: plan)


class Memops:
    """The command line with a state folder of its own; `code` is the last exit code."""

    def __init__(self, folder, capsys):
        self.folder, self.state, self.capsys, self.code = folder, folder / "state", capsys, 0

    def __call__(self, *argv):
        self.code = run(["--state", str(self.state), *map(str, argv), "--json"])
        out = self.capsys.readouterr()
        self.err = out.err
        said = json.loads(out.out) if out.out.strip() else None
        shapes.documented(list(map(str, argv)), said)
        if isinstance(said, dict) and isinstance(said.get("hint"), str):  # as if it were typed here
            said["hint"] = said["hint"].replace(f"memops --state {self.state} ", "memops ")
        return said

    def write(self, name, rows):
        path = self.folder / name
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        path.write_text("".join(lines), encoding="utf-8")
        return path


def _memops_in(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("MEMOPS_CONFIG", "MEMOPS_DEBUG", "MEMOPS_STATE"):
        monkeypatch.delenv(name, raising=False)
    failpoints.passed.clear()
    return Memops(folder, capsys)


@pytest.fixture
def memops(tmp_path, capsys, monkeypatch):
    return _memops_in(tmp_path, capsys, monkeypatch)


@pytest.fixture(scope="module")
def _prepared_folders(tmp_path_factory):
    return tmp_path_factory.mktemp("used"), tmp_path_factory.mktemp("kept"), []


@pytest.fixture
def prepared(_prepared_folders, capsys, monkeypatch):
    """Call with what prepares a folder: done once in a module, and every test finds it as it was then."""
    used, kept, said = _prepared_folders

    def prepare(make):
        if said:
            shutil.rmtree(used)
            shutil.copytree(kept, used, symlinks=True)
        memops = _memops_in(used, capsys, monkeypatch)
        if not said:
            said.append(make(memops))
            shutil.copytree(used, kept, symlinks=True, dirs_exist_ok=True)
        return memops, said[0]

    return prepare


@pytest.fixture
def twins():
    """Forty facts, each said twice, in English and in Chinese."""
    said = [f"Gate {n} of the depot opens at {n % 12}:30" for n in range(20)]
    said += [f"仓库第 {n} 扇门的密码箱编号是 {n * 37}" for n in range(20)]
    return [
        {
            "id": f"{n:02}{twin}",
            "kind": "fact",
            "text": text,
            "source": "user",
            "created_at": f"2026-0{1 + (twin == 'b')}-01T00:00:00Z",
        }
        for n, text in enumerate(said)
        for twin in "ab"
    ]
