"""Strings that a query compares names with and that no name is like: the usual reason for an empty result."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ekr.cypher import ast
from ekr.cypher.errors import CypherError, nearest, unknown_name
from ekr.cypher.parser import parse
from ekr.cypher.schema import Connection, GraphSchema
from ekr.cypher.types import quote

_MOST_NAMES = 50_000
_LABELLED = re.compile(r"\(\s*([a-z_]\w*)\s*:[\w|:\s]*", re.IGNORECASE)
_CONDITIONS = {
    "=": "{} = $1",
    "CONTAINS": "contains({}, $1)",
    "STARTS WITH": "starts_with({}, $1)",
    "ENDS WITH": "ends_with({}, $1)",
}


def string_literals(text: str) -> list[ast.Literal]:
    """Every string in a query, in the order of the text. Raises CypherError when it cannot be parsed."""
    found = [p for p in ast.walk(parse(text)) if isinstance(p, ast.Literal) and isinstance(p.value, str)]
    return sorted(found, key=lambda literal: literal.at.offset)


def unknown_names(connection: Connection, schema: GraphSchema, text: str, key: str = "name") -> list[CypherError]:
    """An error, with place and nearest name, for each string to which no node's name compares.

    Looks at `=`, IN, CONTAINS, STARTS WITH, ENDS WITH and property maps. Raises CypherError when the query cannot be
    parsed.
    """
    if key not in schema.nodes.properties:
        return []
    compared = [pair for part in ast.walk(parse(text)) for pair in _compared(part, key)]
    if not compared:
        return []
    column, relation = quote(key), schema.nodes.relation
    cursor = connection.cursor()
    try:
        missing = [
            literal
            for operator, literal in sorted(compared, key=lambda pair: pair[1].at.offset)
            if not cursor.execute(
                f"SELECT 1 FROM {relation} WHERE {_CONDITIONS[operator].format(column)} LIMIT 1",  # noqa: S608
                [str(literal.value)],
            ).fetchone()
        ]
        names = _names(cursor, relation, column) if missing else []
    finally:
        cursor.close()
    return [_unknown(literal, names, text) for literal in missing]


def without_wrong_labels(connection: Connection, schema: GraphSchema, text: str, key: str = "name") -> str:
    """The query without the labels of nodes of which the name tells that they have others.

    `(a:Work)` with `a.name = 'Turin'` becomes `(a)`: a name that exists tells the thing, a label is easily mistaken.
    Raises CypherError when the query cannot be parsed.
    """
    tree = ast.walk(parse(text))
    nodes = [part for part in tree if isinstance(part, ast.NodePattern)]
    wrong: set[str] = set()
    for part in tree:
        if isinstance(part, ast.Comparison) and len(part.rest) == 1 and part.rest[0][0] == "=":
            sides = (part.first, part.rest[0][1])
            named = next((s.subject for s in sides if _is_property(s, key)), None)  # type: ignore[attr-defined]
            literal = next((s for s in map(_string, sides) if s), None)
            if isinstance(named, ast.Variable) and literal is not None:
                groups = [group for node in nodes if node.variable == named.name for group in node.groups]
                if groups and not _has_labels(connection, schema, str(literal.value), groups, key):
                    wrong.add(named.name)
    for node in sorted(nodes, key=lambda n: -n.at.offset):
        if node.variable in wrong:
            shape = _LABELLED.match(text, node.at.offset)
            if shape:
                text = text[: node.at.offset] + f"({shape[1]}" + text[shape.end() :]
    return text


def _has_labels(connection: Connection, schema: GraphSchema, name: str, groups: Sequence[ast.Names], key: str) -> bool:
    """Whether a node of that name has a label of each group; true where no node has the name."""
    label = quote(schema.label_column)
    listed = label if schema.labels_are_lists else f"[{label}]"
    cursor = connection.cursor()
    try:
        query = f"SELECT {listed} FROM {schema.nodes.relation} WHERE {quote(key)} = $1 LIMIT 50"  # noqa: S608
        found = [set(row[0]) for row in cursor.execute(query, [name]).fetchall()]
    finally:
        cursor.close()
    wanted = [{label for part in group for label in schema.resolve_labels(part.text)} for group in groups]
    return not found or any(all(labels & group for group in wanted) for labels in found)


def _names(cursor: Any, relation: str, column: str) -> list[str]:
    query = f"SELECT DISTINCT {column} FROM {relation} WHERE {column} IS NOT NULL ORDER BY 1 LIMIT {_MOST_NAMES}"  # noqa: S608
    return [str(row[0]) for row in cursor.execute(query).fetchall()]


def _unknown(literal: ast.Literal, names: Collection[str], text: str) -> CypherError:
    value = str(literal.value)
    begun = sum(name.startswith(f"{value} ") for name in names)
    if begun > 1:
        problem = f"no name is '{value}', but {begun} begin so: write WHERE n.name STARTS WITH '{value}'"
        return CypherError(problem, literal.at, text)
    near = nearest(value, names)
    if near is None:
        folded = value.casefold()
        near = next((name for name in sorted(names, key=len) if folded and folded in name.casefold()), None)
    if near is None:
        return CypherError(f"no name in the graph is like '{value[:60]}'", literal.at, text)
    return unknown_name("name", value, [near], literal.at, text)


def _compared(part: object, key: str) -> Iterator[tuple[str, ast.Literal]]:
    """The strings that a part of a query compares the property with, and how."""
    if isinstance(part, ast.NodePattern) and part.properties is not None:
        yield from (("=", s) for name, value in part.properties.entries if name == key and (s := _string(value)))
    elif isinstance(part, ast.Comparison):
        sides = [part.first, *(operand for _, operand in part.rest)]
        equal = all(operator == "=" for operator, _ in part.rest)
        if equal and any(_is_property(side, key) for side in sides):
            yield from (("=", s) for side in sides if (s := _string(side)))
    elif isinstance(part, ast.Binary) and _is_property(part.left, key):
        if part.operator == "IN" and isinstance(part.right, ast.ListLiteral):
            yield from (("=", s) for item in part.right.items if (s := _string(item)))
        elif part.operator in _CONDITIONS and (s := _string(part.right)):
            yield part.operator, s


def _is_property(part: object, key: str) -> bool:
    return isinstance(part, ast.Property) and part.key == key


def _string(part: object) -> ast.Literal | None:
    return part if isinstance(part, ast.Literal) and isinstance(part.value, str) else None
