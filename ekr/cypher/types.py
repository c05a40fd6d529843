"""The static types of expressions: DuckDB needs them, Cypher leaves them to run time."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class CypherType:
    """`kind` names the type; `item` is a list's element type, `fields` a map's entries.

    Nodes and relationships are carried as their ids, paths as the ids of both, maps as structs with the fields
    f0, f1, … Values of a map with `sql` "present" are left out of results where they are null.
    """

    kind: str
    item: CypherType | None = None
    fields: tuple[tuple[str, CypherType], ...] = ()
    sql: str = ""

    def __str__(self) -> str:
        if self.kind == "List":
            return f"List of {self.item}" if self.item and self.item.kind != "Null" else "List"
        return self.kind


NULL = CypherType("Null")
BOOLEAN = CypherType("Boolean")
INTEGER = CypherType("Integer")
FLOAT = CypherType("Float")
STRING = CypherType("String")
NODE = CypherType("Node")
RELATIONSHIP = CypherType("Relationship")
PATH = CypherType("Path")

NUMBERS = frozenset({"Integer", "Float"})
ENTITIES = frozenset({"Node", "Relationship"})

_INTEGERS = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"))
_WIDE = frozenset({"UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE"})


def list_of(item: CypherType) -> CypherType:
    return CypherType("List", item=item)


def map_of(fields: tuple[tuple[str, CypherType], ...]) -> CypherType:
    return CypherType("Map", fields=fields)


def from_duckdb(name: str) -> CypherType | None:
    """The Cypher type of a DuckDB column type; None for one the subset does not show (BLOB, STRUCT, …)."""
    if name.endswith("[]"):
        item = from_duckdb(name[:-2])
        return list_of(item) if item else None
    for names, kind in ((_INTEGERS, INTEGER), (_WIDE, FLOAT), ({"BOOLEAN"}, BOOLEAN), ({"VARCHAR"}, STRING)):
        if name in names:
            return kind
    if name.startswith("DECIMAL"):
        return FLOAT
    if name.startswith("ENUM"):
        return STRING
    return CypherType("Temporal", sql=name) if re.match(r"(DATE|TIMESTAMP|TIME)\b", name) else None


def unify(left: CypherType, right: CypherType) -> CypherType | None:
    """The narrowest type that holds values of both; None when there is none."""
    if left == right or right.kind == "Null":
        return left
    if left.kind == "Null":
        return right
    if left.kind in NUMBERS and right.kind in NUMBERS:
        return FLOAT
    if left.kind == right.kind == "List":
        item = unify(left.item or NULL, right.item or NULL)
        return list_of(item) if item else None
    same_keys = [k for k, _ in left.fields] == [k for k, _ in right.fields]
    return _unify_maps(left, right) if left.kind == right.kind == "Map" and same_keys else None


def _unify_maps(left: CypherType, right: CypherType) -> CypherType | None:
    fields = []
    for (key, mine), (_, other) in zip(left.fields, right.fields, strict=True):
        both = unify(mine, other)
        if both is None:
            return None
        fields.append((key, both))
    return map_of(tuple(fields))


def quote(identifier: str) -> str:
    """An SQL identifier in quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def sql_type(kind: CypherType, id_type: str) -> str:
    """The DuckDB type that carries values of `kind`, where ids are of `id_type`."""
    if kind.kind == "List":
        return sql_type(kind.item or NULL, id_type) + "[]"
    if kind.kind == "Map":
        return (
            "STRUCT(" + ", ".join(f"f{place} {sql_type(t, id_type)}" for place, (_, t) in enumerate(kind.fields)) + ")"
        )
    if kind.kind == "Path":
        return f"STRUCT(nodes {id_type}[], relationships {id_type}[])"
    simple = {
        "Boolean": "BOOLEAN",
        "Integer": "BIGINT",
        "Float": "DOUBLE",
        "String": "VARCHAR",
        "Null": "VARCHAR",
        "Node": id_type,
        "Relationship": id_type,
    }
    return simple.get(kind.kind) or kind.sql
