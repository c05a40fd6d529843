"""Ids back to nodes, relationships and paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ekr.cypher.schema import GraphSchema
from ekr.cypher.types import NULL, CypherType, quote


@dataclass(frozen=True)
class Node:
    """A node of the graph; properties that it does not have are left out."""

    id: Any
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Relationship:
    """A relationship of the graph from node `start` to node `end` (ids)."""

    id: Any
    type: str
    start: Any
    end: Any
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Path:
    """Nodes and the relationships between them, in order."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


class Entities:
    """The entities that a result mentions, read once."""

    def __init__(
        self, cursor: Any, schema: GraphSchema, rows: Sequence[Sequence[Any]], kinds: Sequence[CypherType]
    ) -> None:
        node_ids: dict[Any, None] = {}
        edge_ids: dict[Any, None] = {}
        for row in rows:
            for value, kind in zip(row, kinds, strict=True):
                _collect(value, kind, node_ids, edge_ids)
        self.node_ids = tuple(node_ids)
        self._nodes = {row["id"]: row for row in _read(cursor, schema.nodes.relation, node_ids)}
        self._edges = {row["id"]: row for row in _read(cursor, schema.edges.relation, edge_ids)}
        self._schema = schema

    def value(self, value: Any, kind: CypherType) -> Any:
        """A fetched value with ids replaced by what they stand for."""
        if value is None or kind.kind not in {"Node", "Relationship", "Path", "List", "Map"}:
            return value
        if kind.kind == "List":
            return [self.value(item, kind.item or NULL) for item in value]
        if kind.kind == "Map":
            entries = [(key, self.value(value[f"f{i}"], field)) for i, (key, field) in enumerate(kind.fields)]
            return {key: found for key, found in entries if found is not None or kind.sql != "present"}
        if kind.kind == "Path":
            nodes = tuple(self._node(i) for i in value["nodes"])
            return Path(nodes, tuple(self._relationship(i) for i in value["relationships"]))
        return self._node(value) if kind.kind == "Node" else self._relationship(value)

    def _node(self, key: Any) -> Node:
        row = self._nodes[key]
        labels = row[self._schema.label_column]
        listed = tuple(labels) if self._schema.labels_are_lists else (labels,)
        return Node(key, listed, _present(row, self._schema.nodes.properties))

    def _relationship(self, key: Any) -> Relationship:
        row = self._edges[key]
        return Relationship(key, row["type"], row["src"], row["dst"], _present(row, self._schema.edges.properties))


def _present(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names if row[name] is not None}


def _collect(value: Any, kind: CypherType, nodes: dict[Any, None], edges: dict[Any, None]) -> None:
    if value is None:
        return
    if kind.kind == "Node":
        nodes[value] = None
    elif kind.kind == "Relationship":
        edges[value] = None
    elif kind.kind == "Path":
        nodes.update(dict.fromkeys(value["nodes"]))
        edges.update(dict.fromkeys(value["relationships"]))
    elif kind.kind == "List" and kind.item is not None:
        for item in value:
            _collect(item, kind.item, nodes, edges)
    elif kind.kind == "Map":
        for place, (_, field) in enumerate(kind.fields):
            _collect(value[f"f{place}"], field, nodes, edges)


def _read(cursor: Any, relation: str, ids: Mapping[Any, None]) -> list[dict[str, Any]]:
    if not ids:
        return []
    cursor.execute(
        f"SELECT r.* FROM {relation} r WHERE r.{quote('id')} IN (SELECT unnest($ids))",  # noqa: S608
        {"ids": list(ids)},
    )
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
