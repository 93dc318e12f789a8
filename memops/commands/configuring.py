"""Configuring: every setting with its value, where it comes from, and what it may be."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memops import settings as settings_of
from memops.errors import MemopsError
from memops.policy import described
from memops.policy.checking import line_of, loaded
from memops.settings import Settings
from memops.stores import open_store

_SECRET = ("webhook", "email", "command", "ping")
"""Addresses that may hold a password: only that they are set is told."""


def shown(settings: Settings, given: dict[str, str]) -> list[dict[str, Any]]:
    """Return every setting: name, value, where it comes from, and why it is there."""
    table, text = loaded(settings.path) if settings.path else ({}, "")
    rows = [{"name": "config", "value": settings.path, "from": given.get("config", "here")}]
    rows[0] |= {} if settings.path else {"value": None, "from": "no memops.toml here"}
    whose = given.get("state") or _whence(settings, table, text, ("state",))
    if settings.path is None and "state" not in given:
        whose = "here" if settings.state.parent == Path.cwd() else "per user: no .memops is here"
    rows.append({"name": "state", "value": str(settings.state), "from": whose})
    for path, value, why in _values(settings):
        where = _whence(settings, table, text, path)
        told = "set" if value and path[-1] in _SECRET else value
        rows.append({"name": ".".join(path), "value": told, "from": where, "why": why})
    return rows


def checked(settings: Settings) -> dict[str, Any]:
    """Return what was checked; raises MemopsError for a store that is not there, or a suite that no night can read."""
    from memops.evaluation.golden import load, suite_folder

    for name, store in settings.stores.items():
        try:
            place = open_store(store.address).place()
            if not os.path.lexists(place):
                raise MemopsError(f"nothing is at {place}")
            if store.suite:
                load(suite_folder(store.suite))
        except MemopsError as error:
            error.message = f"{settings.path}: stores.{name}: {error.message}"
            raise
    given = sum(row["from"] != "default" for row in shown(settings, {})[2:])
    return {"config": str(settings.path), "stores": len(settings.stores), "given": given}


def schema() -> dict[str, Any]:
    """Return the JSON schema of a settings file, for editors."""
    from pydantic import TypeAdapter

    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    made: dict[str, Any] = TypeAdapter(settings_of.shape()).json_schema()
    return draft | made | {"title": "memops.toml"}


def _values(settings: Settings) -> Iterator[tuple[tuple[str, ...], Any, str]]:
    yield ("encoder",), settings.encoder, "what turns texts into vectors"
    yield ("query_instruction",), settings.instruction, "what stands before a query"
    for name, store in settings.stores.items():
        for key, value in vars(store).items():
            if value is not None:
                yield ("stores", name, key), value, ""
    for section in ("flows", "monitor", "notify"):
        for key, value in vars(getattr(settings, section)).items():
            yield (section, key), value, ""
    for name, value, why in described(settings.policy):
        yield ("policy", *name.split(".")), value, why


def _whence(settings: Settings, table: Any, text: str, path: tuple[str, ...]) -> str:
    """The file and line that set a value, or that nobody did."""
    for part in path:
        table = table.get(part) if isinstance(table, dict) else None
    if table is None or settings.path is None:
        return "default"
    return f"{settings.path.name}:{line_of(text, path)}"
