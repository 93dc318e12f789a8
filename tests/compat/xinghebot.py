"""XingheBot's daily grammar, as the store reads it."""

import polars as pl

from memops.search.profiles import line_score
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


def scored(case):
    text = pl.DataFrame({"text": [case["input"]["line"]]})
    return text.select(line_score(case["input"]["query"])).item() == case["expected"]


GROUPS = {"daily_line_key": daily_line_key, "line_score": scored}
