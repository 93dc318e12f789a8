"""Defaults of the policy: a value each, and the sentence that explains it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any


def setting(default: Any, why: str) -> Any:
    """Return a dataclass field with its default and the sentence that explains it."""
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata={"why": why})
    return field(default=default, metadata={"why": why})


def written(value: Any) -> str:
    """Return a setting's value as a TOML file holds it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def in_toml(described: Iterable[tuple[str, Any, str]]) -> str:
    """Return settings (dotted name, value, sentence) as a TOML file holds them."""
    lines, section = list[str](), None
    for name, value, why in described:
        head, key = name.split(".")
        lines += ["", f"[policy.{head}]"] if head != section else []
        section = head
        lines.append(f"{key} = {written(value)}  # {why}")
    return "\n".join(lines[1:])


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
