"""An agent in a process of its own that appends acknowledged lines to files, in one of three ways.

usage: agent.py reopen|keep|concat LINES LOG FILE..
"""

import sys
import time


def append(path, line):
    with open(path, "a", encoding="utf-8") as out:
        out.write(line)


def rewrite(path, line):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text + ("" if text.endswith("\n") or not text else "\n") + line)


def main(mode, lines, log, *paths):
    kept = {}
    for path in paths if mode == "keep" else ():
        kept[path] = open(path, "a", encoding="utf-8")  # noqa: SIM115
    with open(log, "w", encoding="utf-8") as acks:
        acks.write("ready\n")
        acks.flush()
        for n in range(int(lines)):
            path, token = paths[n % len(paths)], f"token{n:06d}"
            if mode == "keep":
                kept[path].write(f"- {token}\n")
                kept[path].flush()
            else:
                (append if mode == "reopen" else rewrite)(path, f"- {token}\n")
            acks.write(f"{token}\n")
            acks.flush()
            time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])
