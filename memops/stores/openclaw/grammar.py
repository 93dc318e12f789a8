"""OpenClaw's grammar: daily notes, curated files, session captures and topic notes, unit by unit.

No grammar is enforced there, so all that real notes mix is accepted: bullets, paragraphs,
`## 10:30 AM - Title` blocks, `## Retain` bullets (`- O(c=0.95) @Entity: ...`), directives under an
`observed` comment, promoted bullets with their score, `user:` and `assistant:` lines.
"""

import re
from functools import lru_cache
from typing import Any

from memops.documents.leads import CLOCK, DATE
from memops.documents.units import Place
from memops.schema import TOMBSTONE
from memops.stores.markdown import fields
from memops.stores.markdown.entries import WORDS, Grammar, parted

DATED = re.compile(r"^(?:\./)?memory/(?:.+/)?(\d{4}-\d{2}-\d{2})(?:-[^/]*)?\.md$")
INSERTED = "memory/memops/"
"""Where records of ours go: undated files, which its search never fades, with no provenance row."""

_DREAMT = ("memory/dreaming/", "memory/.dreams/")
_RETAIN = {"W": "fact", "B": "note", "O": "preference", "S": "summary"}
_LEAD = re.compile(
    r"^\s*(?:(?:[-*+•‣▪◦]|\d{1,9}[.)])(?:\s+|$)|(?:>\s?)+)?(?:\[(?P<box>[ xX])\]\s+)?"
)
_TYPED = re.compile(
    r"^(?P<type>[WBOS])(?:\(c=(?P<c>\d?\.?\d+)\))?\s+(?P<entities>(?:@[^\s:：@]+[,\s]*)+[:：]\s*)?"
)
_COMMENTS = re.compile(r"(?:\s*<!--(?:(?!-->).)*-->)+\s*$", re.S)
_SCORE = re.compile(r"\s*\[score=[^\]\n]*\]\s*$")
_TAGS = re.compile(r"(?:\s+#(?![\d]+(?:\s|$))[\w/-]*[^\W\d][\w/-]*)+\s*$")
_ROLE = re.compile(  # "System: [2026-03-04 ..." is what the software puts into a turn
    r"^(?!(?-i:System): \[\d)(?:[-*+]\s+)?(?:\*\*)?(?P<role>user|assistant|tool|system)(?:\*\*)?\s*[:：]\s*",
    re.I,
)
_CAPTURE = re.compile(r"^#\s*Session\s*[:：]\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}")  # a stamp
_META = re.compile(
    r"^\s*[-*+]\s+\*\*(?:Session (?:Key|ID)|Source|Reason|Channel|Agent|Model)\*\*\s*[:：]"
)
_OWNED = re.compile(r"^\s*<!--\s*(?:openclaw-memory-(?:promotion|lineage):|observed:)")
_MANAGED = re.compile(r"^\s*<!--\s*openclaw:dreaming:\w+:(start|end)\s*-->\s*$")
_NOTED = re.compile(r"^\d{4}-?\d{2}-?\d{2}(?!\d)")
INSTRUCTIONS = ("SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md")


class OpenClawGrammar(Grammar):
    """What the files of an OpenClaw workspace mean."""

    def comment(self, text: str) -> str:
        """Marks of promotion and lineage and what was observed belong to what is below them."""
        if managed := _MANAGED.match(text):
            return managed[1]
        return "own" if _OWNED.match(text) else ""

    def furniture(self, line: str, place: Place) -> bool:
        """The head of a captured session."""
        return bool(_META.match(line))

    def spoken(self, place: Place) -> bool:
        """What was said in a captured session."""
        return captured(place)

    def turn(self, line: str) -> bool:
        """A speaker's line."""
        return bool(_ROLE.match(line))

    def noted(self, place: Place) -> bool:
        """A day's notes."""
        return bool(_NOTED.match(place.path.rpartition("/")[2]))

    def role(self, place: Place) -> str:
        """By name, as OpenClaw does it; what dreams wrote is the machine's, what was said a session's."""
        name = place.path.rpartition("/")[2]
        if place.path == "MEMORY.md":
            return "curated"
        if name == "USER.md":
            return "profile"
        if instructions(place.path):
            return "instructions"
        if machine(place):
            return "machine"
        if captured(place):
            return "session"
        return "daily" if _NOTED.match(name) else "topic"

    def split(self, text: str, place: Place, kind: str) -> tuple[str, str, str, dict[str, Any]]:
        """Return what stands before the statement, the statement, what stands after, columns."""
        start, given = _start(text, place) if kind in WORDS else (0, {})
        end = _tail(text, start) if kind in WORDS else len(text)
        return parted(text, start, end, lambda suffix, said: _fields(place, given, suffix, said))


def captured(place: Place) -> bool:
    """Tell whether a place is inside a captured session."""
    return any(_CAPTURE.match(heading) for heading in place.under)


def curated(path: str) -> bool:
    """Tell whether a file is one that the agent always has before it."""
    return path == "MEMORY.md" or path.rpartition("/")[2] == "USER.md"


def machine(place: Place) -> bool:
    """Tell whether the agent's software keeps a place for itself: what it dreams, and its state."""
    return place.managed or place.path.startswith(_DREAMT)


def instructions(path: str) -> bool:
    """Tell whether a file says how the agent is to act: memops reads it and leaves it as it is."""
    name = path.rpartition("/")[2]
    return path in INSTRUCTIONS or path.startswith("skills/") or name.endswith(".template.md")


def _start(entry: str, place: Place) -> tuple[int, dict[str, Any]]:
    """Return where the statement begins and what stands before it says."""
    given: dict[str, Any] = {}
    if captured(place) and (said := _ROLE.match(entry)):
        return said.end(), {"role": said["role"].lower()}
    lead = _LEAD.match(entry)
    start = lead.end() if lead else 0
    if lead and lead["box"]:
        given["box"] = lead["box"]
    dated = DATED.match(place.path)
    if found := (CLOCK if dated else DATE).match(entry[start:]):
        given |= {k: v for k, v in found.groupdict().items() if v}
        start += found.end()
    if found := _TYPED.match(entry[start:]):
        under_retain = any(h.strip("# \t").lower() == "retain" for h in place.under)
        if under_retain or found["entities"] or found["c"]:
            given |= {k: v for k, v in found.groupdict().items() if v}
            start += found.end()
    return start, given


def _tail(entry: str, start: int) -> int:
    """Return where the statement ends: before comments, score and trailing tags."""
    end = len(entry)
    for pattern in (_COMMENTS, _SCORE, _TAGS):
        if found := pattern.search(entry, start, end):
            end = found.start() if found.start() > start else end
    return end


def _fields(place: Place, given: dict[str, Any], suffix: str, text: str) -> dict[str, Any]:
    kind = _kind(place, given)
    core = curated(place.path) and kind != "project_state"  # a task has an end
    day, clock = _when(place, given, suffix)
    above = " ".join(place.above)
    recall = _recall_metadata(place.path, suffix)
    rated = recall["importance"] / 10 if recall["importance"] else None
    entities = re.findall(r"@([^\s:：@,]+)", given.get("entities", ""))
    return fields.plain(
        {
            "kind": kind,
            "tier": "core" if core else "peripheral" if kind == "session" else "working",
            "importance": rated or max(fields.importance_of(kind), fields.CORE_IMPORTANCE if core else 0),
            "confidence": float(given["c"]) if "c" in given and float(given["c"]) <= 1 else None,
            "created_at": fields.at(day, clock),
            "superseded_by": TOMBSTONE if re.search(r"status:\s*superseded", above) else None,
            "source": "compaction" if machine(place) else given.get("role"),
            "tags": [f"@{name}" for name in entities] + _tags_of(suffix),
            "_by_line": bool(day and clock is None and not core),
            "_readonly": machine(place),
            "_native": fields.plain(
                {
                    "done": given.get("box", " ") != " " or None,
                    "type": given.get("type"),
                    "clock": "local" if clock else None,
                    **recall,
                }
            ),
        }
    )  # fmt: skip


def _tags_of(suffix: str) -> list[str]:
    bared = re.sub(r"<!--.*?-->|\[score=[^\]]*\]", " ", suffix, flags=re.S)
    return re.findall(r"#(\S*[^\W\d]\S*)", bared)


def _recall_metadata(path: str, suffix: str) -> dict[str, Any]:
    """Importance, triggers and project of an entry, as its search reads them."""
    weights = [int(n) for n in re.findall(r"<!--\s*importance:\s*(\d+)\s*-->", suffix)]
    said = re.findall(r"<!--\s*trigger:\s*(.*?)\s*-->", suffix)
    triggers = [t.strip() for part in said for t in re.split(r"[,;]", part)]
    project = re.search(r"<!--\s*project:\s*(\S+)\s*-->", suffix)
    host, slash, rest = project[1].partition("/") if project else ("", "", "")
    return {
        "importance": next((n for n in weights if 1 <= n <= 10), None) if curated(path) else None,
        "triggers": list(dict.fromkeys(t for t in triggers if t)) if curated(path) else [],
        "project": f"{host.lower()}{slash}{rest}" or None,
    }


def _kind(place: Place, given: dict[str, Any]) -> str:
    if machine(place):
        return "summary"
    if "role" in given or captured(place):
        return "session"
    if "type" in given:
        return _RETAIN[given["type"]]
    if "box" in given:
        return "project_state"
    if place.path.rpartition("/")[2] == "USER.md":
        return "preference"
    if place.path.startswith(INSERTED):
        return fields.kind_of(place.path[len(INSERTED) : -3]) or "note"
    for heading in reversed(place.under):
        if found := _heading_kind(heading):
            return found
    return "fact" if curated(place.path) else "note"


@lru_cache(maxsize=4096)
def _heading_kind(heading: str) -> str | None:
    """Return the kind that a short heading names; a long one is a title and names nothing."""
    title = re.sub(r"^[\s#]+|\(?\d{4}-\d{2}-\d{2}\)?", "", heading).strip()
    title = re.sub(r"^\d{1,2}:\d{2}(?::\d{2})?\s*(?:[AaPp]\.?[Mm]\.?)?\s*[-–—:：|]?\s*", "", title)
    short = len(title.split()) <= 3 and len(re.findall(r"[\u2e80-\u9fff]", title)) <= 8
    return fields.kind_of(title) if short and title else None


def _when(place: Place, given: dict[str, Any], suffix: str) -> tuple[Any, Any]:
    """Return day and time of day of an entry, as far as the file tells."""
    if "day" in given:
        return fields.day_in(given["day"]), fields.time_in(given.get("clock", ""))
    if observed := re.search(r"<!--\s*observed:\s*(\S+)", " ".join(place.above)):
        return fields.day_in(observed[1]), None
    if origin := re.search(r"\[score=[^\]]*\bsource=([^\]\s]+)", suffix):
        return fields.day_in(origin[1]), None
    dated = DATED.match(place.path)
    if not dated or not (day := fields.day_in(dated[1])):
        return None, None
    if "clock" in given:
        return day, fields.time_in(given["clock"])
    for heading in reversed(place.under):
        if clock := fields.time_in(heading):
            return (fields.day_in(heading) or day), clock
    stem = re.search(r"\d{4}-\d{2}-\d{2}-(\d{2})(\d{2})(?:-\d+)?\.md$", place.path)
    return day, fields.time_in(f"{stem[1]}:{stem[2]}") if stem else None
