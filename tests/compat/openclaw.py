"""OpenClaw's paths and line annotations, as the store reads them."""

from memops.stores.markdown_fields import day_in
from memops.stores.markdown_lines import Place
from memops.stores.openclaw import OpenClaw
from memops.stores.openclaw_grammar import DATED

STORE = OpenClaw("workspace")


def dated_path(case):
    found = DATED.match(case["input"])
    day = day_in(found[1]) if found else None
    evergreen = STORE.wanted(case["input"]) and found is None
    return {"date": day and day.isoformat(), "evergreen": evergreen} == case["expected"]


def strip_annotations(case):
    prefix, text, _, _ = STORE.grammar.split(case["input"], Place("MEMORY.md"))
    return prefix + text == case["expected"]


def recall_metadata(case):
    path = "MEMORY.md" if case["input"]["curatedRoot"] else "memory/topic.md"
    *_, fields = STORE.grammar.split(case["input"]["line"], Place(path))
    native = fields.get("_native", {})
    found = {
        "importance": native.get("importance"),
        "triggers": "; ".join(native.get("triggers", [])) or None,
        "projectKey": native.get("project"),
    }
    return found == case["expected"]


def provenance_tracked_path(case):
    path = case["input"]
    written = STORE.wanted(path) and STORE.reads(path) and path.endswith(".md")
    *_, fields = STORE.grammar.split("- a", Place(path))
    return (path if written and not fields["_readonly"] else None) == case["expected"]


GROUPS = {
    "dated_path": dated_path,
    "strip_annotations": strip_annotations,
    "recall_metadata": recall_metadata,
    "provenance_tracked_path": provenance_tracked_path,
}
