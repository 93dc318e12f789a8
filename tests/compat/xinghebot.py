"""XingheBot's daily grammar, as the store reads it."""

from memops.stores.markdown_lines import entries
from memops.stores.xinghebot import XingheBot


def daily_line_key(case):
    """Its key for duplicates: kind, folded text, sorted tags."""
    found = list(entries(case["input"].encode(), "daily/2026-02-24.md", XingheBot.grammar))
    native = found[0].fields.get("_native", {}) if found else {}
    if "kind" not in native:
        return case["expected"] == {"ok": False, "key": ""}
    text = " ".join(found[0].text.lower().split())
    tags = ",".join(f"#{tag}" for tag in sorted(found[0].fields.get("tags", [])))
    key = "|".join(part for part in (native["kind"].lower(), text, tags) if part)
    return case["expected"] == {"ok": True, "key": key}


GROUPS = {"daily_line_key": daily_line_key}
