"""The live schema of a graph: what labels, relationship types and properties there are, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ekr.cypher.types import CypherType, from_duckdb, quote, sql_type
from ekr.errors import StoreError

_NODE_ROLES = frozenset({"id", "label", "labels"})
_EDGE_ROLES = frozenset({"id", "src", "dst", "type"})


class Connection(Protocol):
    """What is asked of a DuckDB connection: cursors of their own."""

    def cursor(self) -> Any: ...


@dataclass(frozen=True)
class View:
    """One relation of the graph: its quoted SQL name and its properties with their types, in column order.

    `narrow` names the properties whose columns are of another SQL type than expressions use (INTEGER, ENUM, …).
    """

    relation: str
    properties: Mapping[str, CypherType]
    narrow: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GraphSchema:
    """Names, types and counts, most frequent first. Read once per generation of a store.

    `nodes` has columns id, label VARCHAR (or labels VARCHAR[] for several) and properties; `edges` has id, src,
    dst, type and properties. Ids are unique within each view and every src and dst is the id of a node.
    `label_properties` and `type_properties` name the properties that at least one member has.
    """

    nodes: View
    edges: View
    label_column: str
    labels_are_lists: bool
    id_type: str
    labels: Mapping[str, int]
    types: Mapping[str, int]
    label_properties: Mapping[str, tuple[str, ...]]
    type_properties: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, connection: Connection, nodes: str = "kg_nodes", edges: str = "kg_edges") -> GraphSchema:
        """Read the schema of two views (or tables) over a connection. Raises StoreError when one is malformed."""
        cursor = connection.cursor()
        try:
            node_columns = _columns(cursor, nodes, ("id",))
            edge_columns = _columns(cursor, edges, ("id", "src", "dst", "type"))
            label_column = next((c for c in ("labels", "label") if c in node_columns), None)
            if label_column is None:
                raise StoreError(f"{nodes} has no column label; rebuild the store")
            is_list = node_columns[label_column].endswith("[]")
            node_view = _view(nodes, node_columns, _NODE_ROLES)
            edge_view = _view(edges, edge_columns, _EDGE_ROLES)
            key = f"unnest({quote(label_column)})" if is_list else quote(label_column)
            labels, label_properties = _census(cursor, node_view, key)
            types, type_properties = _census(cursor, edge_view, "type")
            return cls(
                nodes=node_view,
                edges=edge_view,
                label_column=label_column,
                labels_are_lists=is_list,
                id_type=node_columns["id"],
                labels=labels,
                types=types,
                label_properties=label_properties,
                type_properties=type_properties,
            )
        finally:
            cursor.close()

    def resolve_labels(self, name: str) -> list[str]:
        """The labels of the graph that equal `name` regardless of case."""
        return _folded(name, self.labels)

    def resolve_types(self, name: str) -> list[str]:
        """The relationship types of the graph that equal `name` regardless of case."""
        return _folded(name, self.types)

    def node_property(self, name: str) -> str | None:
        """The node property meant by `name`, exact or else regardless of case; `id` is the id itself."""
        return _property(name, self.nodes.properties)

    def edge_property(self, name: str) -> str | None:
        """The relationship property that is meant by `name`, exact or else regardless of case."""
        return _property(name, self.edges.properties)

    def describe(self) -> dict[str, Any]:
        """The schema as plain data, for `--schema` and for prompts."""
        return {
            "labels": [
                {"label": label, "count": count, "properties": self._typed(self.label_properties[label], self.nodes)}
                for label, count in self.labels.items()
            ],
            "relationship_types": [
                {"type": name, "count": count, "properties": self._typed(self.type_properties[name], self.edges)}
                for name, count in self.types.items()
            ],
        }

    def _typed(self, names: Iterable[str], view: View) -> dict[str, str]:
        return {name: str(view.properties[name]) for name in names}


def read_connections(connection: Connection, schema: GraphSchema) -> list[tuple[str, str, str, int]]:
    """(source label, relationship type, target label, count), most frequent first: which types join what.

    A node with several labels counts under the first of them.
    """
    label = quote(schema.label_column)
    source, target = (f"{a}.{label}{'[1]' if schema.labels_are_lists else ''}" for a in ("a", "b"))
    cursor = connection.cursor()
    try:
        rows = cursor.execute(
            f"SELECT {source} AS source, e.type, {target} AS target, count(*) AS n "  # noqa: S608
            f"FROM {schema.edges.relation} e JOIN {schema.nodes.relation} a ON a.id = e.src "
            f"JOIN {schema.nodes.relation} b ON b.id = e.dst GROUP BY ALL ORDER BY n DESC, source, type, target"
        ).fetchall()
    finally:
        cursor.close()
    return [(str(a), str(t), str(b), int(n)) for a, t, b, n in rows]


def _columns(cursor: Any, relation: str, needed: tuple[str, ...]) -> dict[str, str]:
    import duckdb

    try:
        rows = cursor.execute(f"DESCRIBE {quote(relation)}").fetchall()
    except duckdb.CatalogException as error:
        raise StoreError(f"the graph has no {relation}; run: ekr ingest") from error
    columns = {str(row[0]): str(row[1]) for row in rows}
    missing = [c for c in needed if c not in columns]
    if missing:
        raise StoreError(f"{relation} has no column {', '.join(missing)}; rebuild the store")
    return columns


def _view(relation: str, columns: Mapping[str, str], roles: frozenset[str]) -> View:
    typed = {name: kind for name, sql in columns.items() if name not in roles and (kind := from_duckdb(sql))}
    narrow = frozenset(name for name, kind in typed.items() if sql_type(kind, "VARCHAR") != columns[name])
    return View(quote(relation), typed, narrow)


def _census(cursor: Any, view: View, key: str) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    counts = ", ".join(f"count({quote(p)})" for p in view.properties)
    listed = ", ".join(quote(p) for p in view.properties)
    rows = cursor.execute(
        f"SELECT key, count(*){', ' + counts if counts else ''} FROM "  # noqa: S608
        f"(SELECT {key} AS key{', ' + listed if listed else ''} FROM {view.relation}) "
        "WHERE key IS NOT NULL GROUP BY key ORDER BY 2 DESC, 1"
    ).fetchall()
    names = list(view.properties)
    present = {str(row[0]): tuple(n for n, c in zip(names, row[2:], strict=True) if c) for row in rows}
    return {str(row[0]): int(row[1]) for row in rows}, present


def _folded(name: str, names: Iterable[str]) -> list[str]:
    folded = name.casefold()
    return [known for known in names if known.casefold() == folded]


def _property(name: str, properties: Mapping[str, CypherType]) -> str | None:
    if name in properties or name == "id":
        return name
    same = _folded(name, properties)
    return same[0] if len(same) == 1 else None
