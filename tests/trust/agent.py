"""An agent in a process of its own that writes to a store and logs each acknowledgement.

usage: agent.py clawseed DB LOG SEED PAUSE [ID..]            ids: rows of others that it edits, too
       agent.py clawseed-reopen DB LOG SEED PAUSE             a connection a row, and only new rows
       agent.py reopen|keep|rewrite|bursts FILE,.. LOG SEED PAUSE

It works until its standard input closes. Each line of the log is JSON, written once the store has
the change for good: what was done, to what, what stands there now, and how long it took.
"""

import json
import random
import select
import sqlite3
import sys
import time

UPSERT = (
    "INSERT INTO memories(id, key, content, category, created_at, updated_at, namespace, importance)"
    " VALUES (?, ?, ?, 'project', ?, ?, 'default', 0.5)"
)


def stopped(pause):
    """Wait for a moment; true once nobody wants us to go on."""
    ready, _, _ = select.select([sys.stdin], [], [], pause)
    return bool(ready) and not sys.stdin.read(1)


class Log:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115

    def ack(self, started, **what):
        line = {**what, "ms": round(1000 * (time.monotonic() - started), 2)}
        self.file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.file.flush()


def clawseed(db, log, rng, pause, foreign):
    """Insert, edit, supersede and forget rows of its own; edit rows of others."""
    connection = sqlite3.connect(db, timeout=5, isolation_level=None)
    own, n = [], 0
    log.ack(time.monotonic(), op="ready")
    while not stopped(pause):
        n += 1
        did, started = rng.random(), time.monotonic()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{n:06d}+00:00"
        text = f"Tool {n} of the agent hangs on hook {rng.getrandbits(40):010x}"
        if did < 0.6 or not own:
            id_ = f"agent-{n:06d}"
            connection.execute(UPSERT, (id_, f"key_{id_}", text, stamp, stamp))
            own.append(id_)
            log.ack(started, op="put", id=id_, content=text)
        elif did < 0.85:
            mine = foreign and rng.random() < 0.3
            id_ = rng.choice(foreign if mine else own)
            edit = "UPDATE memories SET content = ?, updated_at = ? WHERE id = ?"
            if connection.execute(edit, (text, stamp, id_)).rowcount:
                log.ack(started, op="put", id=id_, content=text)
        elif did < 0.92:
            old, new = rng.choice(own), rng.choice(own)
            edit = "UPDATE memories SET superseded_by = ? WHERE id = ?"
            if connection.execute(edit, (f"key_{new}", old)).rowcount:
                log.ack(started, op="link", id=old, link=f"key_{new}")
        else:
            id_ = own.pop(rng.randrange(len(own)))
            if connection.execute("DELETE FROM memories WHERE id = ?", (id_,)).rowcount:
                log.ack(started, op="forget", id=id_)


def insertions(db, log, rng, pause):
    """Insert a row after another, each on a connection of its own."""
    log.ack(time.monotonic(), op="ready")
    n = 0
    while not stopped(pause):
        n, started = n + 1, time.monotonic()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{n:06d}+00:00"
        text = f"Tool {n} of the agent hangs on hook {rng.getrandbits(40):010x}"
        connection = sqlite3.connect(db, timeout=5, isolation_level=None)
        connection.execute(UPSERT, (f"agent-{n:06d}", f"key_agent-{n:06d}", text, stamp, stamp))
        connection.close()
        log.ack(started, op="put", id=f"agent-{n:06d}", content=text)


def markdown(mode, paths, log, rng, pause):
    """Add lines to notes in turn, by one of three manners of writing."""
    kept = {p: open(p, "a", encoding="utf-8") for p in paths} if mode == "keep" else {}  # noqa: SIM115
    n = 0
    log.ack(time.monotonic(), op="ready")
    while not stopped(pause):
        n += 1
        if mode == "bursts" and n % 20 == 0:
            time.sleep(rng.uniform(0, 0.5))
        path, started = paths[n % len(paths)], time.monotonic()
        line = f"- the agent saw token{n:06d}x{rng.getrandbits(40):010x}\n"
        if mode == "keep":
            kept[path].write(line)
            kept[path].flush()
        elif mode in ("reopen", "bursts"):
            with open(path, "a", encoding="utf-8") as out:
                out.write(line)
        else:
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as out:
                out.write(text + line)
        log.ack(started, op="line", path=path, line=line)


def main(kind, target, log, seed, pause, *foreign):
    rng, log = random.Random(int(seed)), Log(log)
    if kind == "clawseed":
        clawseed(target, log, rng, float(pause), list(foreign))
    elif kind == "clawseed-reopen":
        insertions(target, log, rng, float(pause))
    else:
        markdown(kind, target.split(","), log, rng, float(pause))


if __name__ == "__main__":
    main(*sys.argv[1:])
