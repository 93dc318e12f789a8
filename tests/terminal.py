"""A pseudo-terminal of eighty columns, in which a command is run as a person would."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading

COLUMNS = 80


def typed(argv, cwd, on=("stdout", "stderr"), **env):
    """Run memops with these streams on a terminal; returns its exit code, what was seen, and the rest."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    seen = []

    def read():
        try:
            while part := os.read(ours, 4096):
                seen.append(part)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    streams = {name: theirs if name in on else subprocess.PIPE for name in ("stdout", "stderr")}
    plain = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "memops", *map(str, argv)],
        cwd=cwd, env=plain | {"TERM": "xterm"} | env, stdin=subprocess.DEVNULL,
        text=True, check=False, **streams,
    )  # fmt: skip
    os.close(theirs)
    reader.join(10)
    os.close(ours)
    text = b"".join(seen).decode().replace("\r\n", "\n")
    return done.returncode, text, (done.stdout or "") + (done.stderr or "")
