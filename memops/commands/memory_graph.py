"""The file of an MCP memory server: a graph of entities with observations, and of relations.

Its reference server writes one entity or relation a line, and prints both in one object:
https://github.com/modelcontextprotocol/servers/tree/main/src/memory
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ENDS = ("from", "to", "relationType")
_TOLD = ("type", "name", "entityType", "observations")


def is_graph(entries: Sequence[Any]) -> bool:
    """Tell whether an export's entries are those of such a file, in lines or in one object."""
    return any(_is_entity(entity) for entry in entries for entity in _nodes(entry))


def statements(entry: Any) -> Iterator[Any]:
    """Yield what an entry says as values of our columns: one for an observation or relation.

    A text names its entity, as it has to stand by itself in a store that keeps no subject. What is
    neither an entity nor a relation is yielded as it is.
    """
    for node in _nodes(entry):
        if _is_entity(node):
            yield from _observed(node)
        elif isinstance(node, Mapping) and all(isinstance(node.get(n), str) for n in _ENDS):
            text = f"{node['from']} {node['relationType'].replace('_', ' ')} {node['to']}"
            about = {"subject": node["from"], "tags": ["relation"], "kind": "relationship"}
            yield about | {"text": text}
        else:
            yield node


def _nodes(entry: Any) -> Iterator[Any]:
    whole = isinstance(entry, Mapping) and isinstance(entry.get("entities"), list)
    if not whole:
        yield entry
        return
    yield from entry["entities"]
    yield from entry.get("relations") or ()


def _is_entity(node: Any) -> bool:
    return (
        isinstance(node, Mapping)
        and isinstance(node.get("name"), str)
        and isinstance(node.get("entityType"), str)
        and isinstance(node.get("observations"), list)
    )


def _observed(entity: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    name, sort = entity["name"], entity["entityType"]
    rest = {key: value for key, value in entity.items() if key not in _TOLD}
    told = {"subject": name, "tags": [sort]} | ({"entity": rest} if rest else {})
    for said in entity["observations"]:
        if isinstance(said, str) and said.strip():
            text = said if name.casefold() in said.casefold() else f"{name}: {said}"
            yield told | {"text": text, "kind": "fact"}
    if not entity["observations"]:
        yield told | {"text": f"{name}: {sort}", "kind": "entity"}
