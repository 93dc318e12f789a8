"""XingheBot's grammar: daily notes, automatic summaries, curated memory, captured sessions.

A daily note is `- <UTC instant> [kind] text #tag #tag (source=id)`. Its text may hold line feeds,
written verbatim, so what follows a note and is no bullet goes on with it, unless the note has had
its source already.
"""

import re
from datetime import datetime
from typing import Any

from memops.documents.units import Place
from memops.schema import KINDS, instant
from memops.stores.markdown.entries import WORDS, Grammar, parted
from memops.stores.markdown.fields import (
    CORE_IMPORTANCE,
    at,
    day_in,
    importance_of,
    kind_of,
    plain,
    time_in,
)

DAILY = re.compile(r"^daily/(\d{4}-\d{2}-\d{2})\.md$")
KIND_NAMES = {"pref": "preference", "decision": "fact", "todo": "project_state", "note": "note"}
_NOTE = re.compile(r"^\s*-\s(?:\s*(?P<at>[^\s\[\]]+)\s+)?\[(?P<kind>(?![ xX]\])[^\]\n]{1,40})\]\s+")
_LEAD = re.compile(r"^\s*(?:(?:[-*+]|\d{1,9}[.)])(?:\s+|$)|(?:>\s?)+)?(?:\[(?P<box>[ xX])\]\s+)?")
_DATE = re.compile(
    r"^(?P<day>\d{4}-\d{2}-\d{2})(?:[ T](?P<clock>\d{2}:\d{2}(?::\d{2})?)Z?)?\s*[:：]?\s+"
)
_TURN = re.compile(r"^\s*-\s+(?P<at>\S+)\s+(?P<role>user|assistant|tool|system)\s*[:：]\s*", re.I)
_UNDATED = re.compile(r"^\s*-\s+(?P<role>user|assistant|tool|system)\s*[:：]\s*", re.I)
_MESSAGES = re.compile(r"^##\s+Messages\b")
_SOURCE = re.compile(r"\s*\(source=(?P<source>[^()\n]*)\)\s*$")
_TITLE = re.compile(r'\s+title="[^"\n]*"\s*$')
_TAGS = re.compile(r"(?:\s+#(?!\d+(?:\s|$))\S+)+\s*$")
_ALL_TAGS = re.compile(r"(?:#(?!\d+(?:\s|$))\S+(?:\s+|$))+")
_META = re.compile(r"^\s*-\s+(?:run_id|captured_at|date|generated_at|source_runs)\s*[:：]")
_RUN = re.compile(r"run-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})")
_SUMMARY = re.compile(r"^##\s+Daily Summary \(auto\)")
TEMPLATE = frozenset(
    {
        "> This file is auto-loaded into the PRIMARY agent prompt and may be auto-updated.",
        "> Keep it compact (<= 1000 chars). Avoid secrets.",
        "- (user preferences; add source=run_id when possible)",
        "- (open TODOs across sessions; include source=run_id)",
        "- (brief work record summaries; include source=run_id)",
        "- (key facts/decisions/constraints; include source=run_id; avoid secrets)",
        "- (write user preferences here)",
        "- (write stable project facts here; avoid secrets)",
        "- (write key decisions + rationale here)",
        "- (long-term TODOs across sessions)",
    }
)
"""What a fresh MEMORY.md says of itself, as XingheBot's `EnsureLayout` has written it so far."""


_STAMP = re.compile(r"^\s*<!--\s*(?:memory_md_update|auto_daily_summary):")


class XingheBotGrammar(Grammar):
    """What the files of a XingheBot memory mean."""

    def comment(self, text: str) -> str:
        """Its stamps must stay, or it would write again what it has written."""
        return "mark" if _STAMP.match(text) else ""

    def furniture(self, line: str, place: Place) -> bool:
        """The heads of captures and of automatic summaries, and the template of MEMORY.md."""
        if place.path == "MEMORY.md" and line.strip() in TEMPLATE:
            return True
        head = place.path.startswith("sessions/") and len(place.under) <= 1
        return bool(_META.match(line)) and (head or summarised(place))

    def goes_on(self, line: str, place: Place) -> bool | None:
        """A note's text may be anything, until the source that ends it."""
        if place.path.startswith("sessions/"):
            return True
        if summarised(place) or not DAILY.match(place.path):
            return None
        return not _SOURCE.search(line)

    def role(self, place: Place) -> str:
        """By folder; a summary that it writes itself is the machine's."""
        if place.path == "MEMORY.md":
            return "curated"
        if place.path.startswith("sessions/"):
            return "session"
        if summarised(place):
            return "machine"
        return "daily" if DAILY.match(place.path) else "topic"

    def split(self, text: str, place: Place, kind: str) -> tuple[str, str, str, dict[str, Any]]:
        """Return what stands before the statement, the statement, what stands after, columns."""
        start, given = _start(text, place) if kind in WORDS else (0, {})
        end = _tail(text, start, given) if kind in WORDS else len(text)
        return parted(text, start, end, lambda suffix, said: _fields(place, given, suffix))


def summarised(place: Place) -> bool:
    """Tell whether a place is inside an automatic daily summary."""
    return any(_SUMMARY.match(heading) for heading in place.under)


def _start(entry: str, place: Place) -> tuple[int, dict[str, Any]]:
    for pattern in _leads(place):
        if found := pattern.match(entry):
            return found.end(), {k: v for k, v in found.groupdict().items() if v}
    lead = _LEAD.match(entry)
    start = lead.end() if lead else 0
    given = {"box": lead["box"]} if lead and lead["box"] else {}
    if found := _DATE.match(entry[start:]):
        given |= {k: v for k, v in found.groupdict().items() if v}
        start += found.end()
    return start, given


def _leads(place: Place) -> tuple[re.Pattern[str], ...]:
    """What may stand before a statement; captures gave turns no time once."""
    if not place.path.startswith("sessions/"):
        return (_NOTE,)
    messages = any(_MESSAGES.match(heading) for heading in place.under)
    return (_TURN, _UNDATED) if messages else (_TURN,)


def _tail(entry: str, start: int, given: dict[str, Any]) -> int:
    """Return where the statement ends: before source, title and tags; a note may have no other."""
    end, noted = len(entry), "kind" in given
    for pattern in () if "role" in given else (_SOURCE, _TITLE, _TAGS):
        found = pattern.search(entry, start, end)
        if found and (found.start() > start or noted):
            end = found.start()
            given |= {k: v for k, v in found.groupdict().items() if v}
    return start if noted and _ALL_TAGS.fullmatch(entry, start, end) else end


def _fields(place: Place, given: dict[str, Any], suffix: str) -> dict[str, Any]:
    kind = _kind(place, given)
    core = place.path == "MEMORY.md" and kind != "project_state"  # a task has an end
    lesser = kind in ("session", "summary")
    when, by_line = _when(place, given)
    tags = _SOURCE.sub("", suffix)
    return plain(
        {
            "kind": kind,
            "form": "task" if given.get("kind", "").strip().lower() == "todo" else None,
            "tier": "core" if core else "peripheral" if lesser else "working",
            "importance": max(importance_of(kind), CORE_IMPORTANCE if core else 0),
            "created_at": when,
            "source": "compaction" if kind == "summary" else given.get("role", "").lower() or None,
            "tags": list(dict.fromkeys(re.findall(r"(?:^|\s)#(\S+)", _TITLE.sub("", tags)))),
            "_by_line": by_line,
            "_readonly": place.path.startswith("sessions/"),
            "_native": plain(
                {
                    "kind": given.get("kind"),
                    "source": given.get("source"),
                    "done": given.get("box", " ") != " " or None,
                }
            ),
        }
    )  # fmt: skip


def _kind(place: Place, given: dict[str, Any]) -> str:
    if place.path.startswith("sessions/"):
        return "session" if "role" in given else "summary"
    if summarised(place):
        return "summary"
    if "kind" in given:
        said = given["kind"].strip().lower()
        return KIND_NAMES.get(said) or (said if said in KINDS else None) or kind_of(said) or "note"
    if "box" in given:
        return "project_state"
    for heading in reversed(place.under):
        if len(heading.split()) <= 4 and (found := kind_of(heading.strip("# \t"))):
            return "fact" if found == "note" and place.path == "MEMORY.md" else found
    return "fact" if place.path == "MEMORY.md" else "note"


def _when(place: Place, given: dict[str, Any]) -> tuple[datetime | None, bool]:
    """Return the instant of an entry, and whether its place in the file orders it."""
    if stamp := instant(given.get("at")):
        return stamp, False
    if "day" in given:
        return at(day_in(given["day"]), time_in(given.get("clock", ""))), False
    if place.path == "MEMORY.md":
        run = _RUN.search(given.get("source", ""))
        return instant("{}-{}-{}T{}:{}:{}Z".format(*run.groups())) if run else None, False
    day = at(day_in(place.path))
    return day, day is not None
