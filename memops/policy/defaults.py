"""Defaults of the policy: a value each, and the sentence that explains it."""

from dataclasses import field
from typing import Any


def setting(default: Any, why: str) -> Any:
    """Return a dataclass field with its default and the sentence that explains it."""
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata={"why": why})
    return field(default=default, metadata={"why": why})
