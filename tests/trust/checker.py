"""The checker: what an agent was told is done must stand in the store, and be explained if not.

A history is the agent's log of acknowledgements, in order. What it says last of a record is what
the store must hold.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tally:
    """What an experiment came to: runs, faults that struck, and a sentence for each failure."""

    runs: int = 0
    delivered: int = 0
    failures: list[str] = field(default_factory=list)

    def __add__(self, other):
        mine = (self.runs + other.runs, self.delivered + other.delivered)
        return Tally(*mine, self.failures + other.failures)


def history(log):
    """Return the acknowledgements of a log; a last line that was cut off is none."""
    path = Path(log)
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def slowest(acks):
    """Return the longest that the agent waited for an acknowledgement, in milliseconds."""
    return max((ack["ms"] for ack in acks), default=0.0)


def touched(acks):
    """Return ids of the records that the agent wrote."""
    return {ack["id"] for ack in acks if "id" in ack}


def lost_rows(acks, rows):
    """Return a sentence for each record that is not as it was acknowledged last.

    `rows` maps ids to {content, superseded_by}.
    """
    last = {}
    for ack in acks:
        if ack["op"] == "put":
            last.setdefault(ack["id"], {})["content"] = ack["content"]
        elif ack["op"] == "link":
            last[ack["id"]]["superseded_by"] = ack["link"]
        elif ack["op"] == "forget":
            last[ack["id"]] = None
    said = []
    for id_, want in last.items():
        row = rows.get(id_)
        if want is None and row is not None:
            said.append(f"{id_} was forgotten and is there again")
        elif want is not None and row is None:
            said.append(f"{id_} was acknowledged and is gone")
        elif want is not None:
            wrong = [name for name in want if row[name] != want[name]]
            said += [f"{id_}: {name} is not what was acknowledged last" for name in wrong]
    return said


def lost_lines(acks, files):
    """Return a sentence for each acknowledged line that its file has not exactly once."""
    said = []
    for ack in acks:
        if ack["op"] == "line":
            there = files.get(ack["path"], b"").count(ack["line"].encode())
            if there != 1:
                said.append(f"{Path(ack['path']).name} has {there} times {ack['line'].strip()!r}")
    return said


def unexplained(before, now, acks, ops, undo):
    """Return a sentence for each row that went without a deletion of the plan to account for it.

    A deletion accounts for a row when its pre-image in the undo is the row as it was.
    """
    mine = touched(acks)
    deleting = {op["id"] for op in ops if op["action"] == "delete"}
    kept = {entry["id"]: entry["before"] for entry in undo}
    said = []
    for id_ in sorted(before.keys() - now.keys() - mine):
        image = kept.get(id_)
        if id_ not in deleting:
            said.append(f"{id_} went and no change of the plan deletes it")
        elif image is None or image["content"] != before[id_]["content"]:
            said.append(f"{id_} went without the pre-image that undo needs")
    return said
