"""Checking: what a TOML file's table makes of a type, or what is said of it, with file and line."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from memops.errors import MemopsError, did_you_mean

HINT = "`memops config policy` lists what [policy] may say, with its meaning"
_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")


def loaded(path: Path) -> tuple[dict[str, Any], str]:
    """Return a TOML file as a table and as it is written; raises MemopsError for one that is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows put a mark first
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise MemopsError(f"{path}: line {line} is no UTF-8", "save it as UTF-8") from error
    except IsADirectoryError as error:
        raise MemopsError(f"{path} is a folder, no settings file", "name a file") from error
    except (ValueError, RecursionError) as error:
        raise MemopsError(f"{path}: not valid TOML: {error}", "mend that line") from error


def checked(
    kind: Any, table: Any, where: str, at: Sequence[str] = (), text: str = "", hint: str = HINT
) -> Any:
    """Return what a table makes of a type; raises MemopsError that names each setting and its line.

    The table stands at `at` in the file `where`, which reads `text`; `hint` is for where no name is
    unknown.
    """
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(table)
    except ValidationError as error:
        said = error.errors(include_url=False, include_context=False)
        sentences = dict.fromkeys(_sentence(one, at, text) for one in said)
        known = next(filter(None, (_hint(kind, one) for one in said)), hint)
        raise MemopsError(f"{where}: {'; '.join(sentences)}", known) from error


def named_in(table: Any, kinds: Mapping[str, Any]) -> Any:
    """Return the type of a table of those entries that it names, if all are known: making types takes long."""
    known = isinstance(table, Mapping) and table.keys() <= kinds.keys()
    return tables(**{n: kind for n, kind in kinds.items() if not known or n in table})


@cache
def tables(**kinds: Any) -> Any:
    """Return the type of a table of these entries, of which none must be there, and no others may."""
    from typing_extensions import TypedDict  # which pydantic asks for, and brings

    made = TypedDict("made", kinds, total=False)  # type: ignore[misc]
    setattr(made, "__pydantic_config__", {"extra": "forbid"})  # noqa: B010
    return made


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _sentence(error: Mapping[str, Any], at: Sequence[str], text: str) -> str:
    path = [*at, *(part for part in error["loc"] if part != "[key]")]
    line, name = line_of(text, path), ".".join(map(str, path))
    place = f"line {line}: " if line else ""
    if error["type"] in _UNKNOWN:
        return f"{place}unknown setting {name}"
    if error["type"] in ("missing", "missing_argument"):
        return f"{place}{name} is missing"
    if error["type"] in ("dataclass_type", "dict_type"):
        return f"{place}{name} must be a table"
    said = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "not")
    return f"{place}{name} is {_cut(error['input'])}, {said}"


def _cut(value: Any) -> str:
    return said if len(said := repr(value)) <= 40 else f"{said[:39]}…"


def _hint(kind: Any, error: Mapping[str, Any]) -> str:
    """What a name that is unknown may have been meant for."""
    if error["type"] not in _UNKNOWN:
        return ""
    known = _names(kind, error["loc"][:-1])
    return did_you_mean(str(error["loc"][-1]), known, f"known: {', '.join(known)}")


def _names(kind: Any, path: Sequence[str | int]) -> list[str]:
    """The names that a table at this place of a type has."""
    for part in path:
        inner = get_args(kind) if get_origin(kind) is dict else None
        kind = inner[1] if inner else get_type_hints(kind)[str(part)]
    return [name for name in get_type_hints(kind) if not name.startswith("__")]


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line on which a setting of a TOML text begins, or the table that lacks it; 0 for none."""
    lines, without = text.split("\n"), 0
    for n in range(1, len(lines) + 1):
        try:
            table: Any = tomllib.loads("\n".join(lines[:n]))
        except tomllib.TOMLDecodeError:
            continue
        for part in path:
            table = table.get(part) if isinstance(table, Mapping) else None
        if table is not None:
            return without + 1
        without = n
    return line_of(text, path[:-1]) if text and path else 0
