"""The state folder is its user's alone: what others own or may write to is refused, not mended."""

import os
import stat

import pytest

from memops import settings
from memops.errors import MemopsError


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o720, 0o702])
def test_a_state_folder_that_others_may_write_to_is_refused(memops, mode):
    memops.state.mkdir()
    memops.state.chmod(mode)
    said = memops("runs")
    assert (memops.code, said["hint"]) == (2, f"chmod go-w {memops.state}")
    assert "may be written by others" in said["message"]
    assert list(memops.state.iterdir()) == []


def test_so_is_one_with_such_a_folder_in_it(memops):
    (memops.state / "plans").mkdir(parents=True)
    (memops.state / "plans").chmod(0o775)
    assert str(memops.state / "plans") in memops("runs")["message"]
    (memops.state / "plans").chmod(0o755)
    assert memops("runs") == []


@pytest.mark.parametrize("which", [".", "runs"])
def test_a_state_folder_of_another_user_is_refused(tmp_path, monkeypatch, which):
    (tmp_path / "runs").mkdir()
    if os.geteuid() == 0:
        os.chown(tmp_path / which, 4711, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(MemopsError, match="belongs to user"):
        settings.read(None, tmp_path)


def test_a_state_folder_that_is_not_there_yet_is_made_private(memops, twins):
    old = os.umask(0)
    try:
        memops("snapshot", f"jsonl:{memops.write('m.jsonl', twins)}")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(p.stat().st_mode) for p in [memops.state, *memops.state.rglob("*")]}
    assert (memops.code, modes) == (0, {0o700, 0o600})


def test_a_link_to_a_private_folder_will_do(memops, tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    memops.state.symlink_to(tmp_path / "real")
    assert memops("runs") == []
