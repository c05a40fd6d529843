"""Values of a result for others: as plain data for JSON, and as one line of text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ekr.cypher.results import Node, Path, Relationship


def plain(value: Any) -> Any:  # noqa: PLR0911 - one a kind of value
    """The value as JSON holds it.

    A node is `{id, labels, properties}`, a relationship `{id, type, start, end, properties}`, a path
    `{nodes, relationships}`; a number that JSON lacks is the string "NaN", "Infinity" or "-Infinity".
    """
    match value:
        case Node():
            return {"id": value.id, "labels": list(value.labels), "properties": plain(value.properties)}
        case Relationship():
            ends = {"start": value.start, "end": value.end}
            return {"id": value.id, "type": value.type, **ends, "properties": plain(value.properties)}
        case Path():
            return {"nodes": plain(value.nodes), "relationships": plain(value.relationships)}
        case list() | tuple():
            return [plain(item) for item in value]
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def shown(value: Any) -> str:  # noqa: PLR0911 - one a kind of value
    """The value as a person reads it: a node by its name, a path with its arrows, null as nothing."""
    match value:
        case None:
            return ""
        case str():
            return value
        case Node():
            return str(value.properties.get("name") or f"{':'.join(value.labels)} {value.id}")
        case Relationship():
            return f"[{value.type}]"
        case Path():
            return _path(value)
        case list() | tuple():
            return ", ".join(shown(item) for item in value)
        case Mapping():
            return ", ".join(f"{key}: {shown(item)}" for key, item in value.items())
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6g}"
        case _:
            return json.dumps(plain(value), ensure_ascii=False)


def _path(path: Path) -> str:
    parts = [shown(path.nodes[0])]
    for before, rel, after in zip(path.nodes, path.relationships, path.nodes[1:], strict=False):
        forward = rel.start == before.id and rel.end == after.id
        parts.append(f"-[{rel.type}]-> {shown(after)}" if forward else f"<-[{rel.type}]- {shown(after)}")
    return " ".join(parts)
