"""Turns: so many stores are at work at once, and one that is killed lets go."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from memops.nights.several import turn
from memops.settings import Flows, Settings

HOLD = """
import sys, time
from pathlib import Path
from memops.nights.several import turn
from memops.settings import Settings
with turn(Settings(state=Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_store_waits_for_its_turn_and_one_that_is_killed_gives_it_back(tmp_path):
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, "-c", HOLD, str(tmp_path)]
    child = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    got = threading.Event()

    def wait():
        with turn(Settings(state=tmp_path)):
            got.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not got.wait(1.5)
    with turn(Settings(state=tmp_path, flows=Flows(at_once=2))):
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert got.wait(10)
    waiting.join()
