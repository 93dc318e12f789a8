"""Categories and keys of clawseed's rows: what they say of a record, and those that one is given."""

import re

from memops.schema import KINDS

_KIND = {"core": "fact", "daily": "note", "conversation": "session"}
_CATEGORY = {"session": "conversation"}
_ROLE = {"core": "curated", "daily": "daily", "conversation": "session"}
_SOURCES = (
    (re.compile(r"user_msg$|webhook_msg_"), "channel"),
    (re.compile(r"daily_\d{4}-\d\d-\d\d_|core_[0-9a-f]{8}-[0-9a-f]{4}-"), "consolidation"),
)


def kind_of(category: str) -> str:
    """Return the kind of a category; a custom one may be named after a kind."""
    own = category.lower()
    return _KIND.get(category) or (own if own in KINDS else "note")


def tier_of(category: str) -> str:
    """Return the tier of a category."""
    return "core" if category == "core" else "working"


def role_of(category: str) -> str:
    """Return what a category is for; a custom one is a subject's."""
    return _ROLE.get(category, "topic")


def subject_of(key: str | None) -> str | None:
    """Return what a row is said of: the key, where the agent chose it and no code made it."""
    made = not key or not key.strip() or key.startswith(own_key("")) or source_of(key) is not None
    return None if made else key


def category_for(kind: str, tier: str) -> str:
    """Return the category of a new row: what recall prefers for core, else the kind's name."""
    return "core" if tier == "core" else _CATEGORY.get(kind, kind)


def own_key(id_: str) -> str:
    """Return the key of a record that brings none, or whose key is taken."""
    return f"memops_{id_}"


def source_of(key: str | None) -> str | None:
    """Return where a row comes from, as far as its key tells."""
    for pattern, source in _SOURCES:
        if key and pattern.match(key):
            return source
    return None
