"""Nodes and relationships: their properties, labels and ids."""

from __future__ import annotations

from ekr.cypher import ast, types
from ekr.cypher.compile import expressions, values
from ekr.cypher.compile.context import Scope, Sql, label_test, names_sql
from ekr.cypher.errors import Position, unknown_name
from ekr.cypher.schema import View
from ekr.cypher.types import BOOLEAN, NULL, STRING, quote


def prop(expression: ast.Property, scope: Scope) -> Sql:
    if isinstance(expression.subject, ast.Variable):
        subject, owner = values.variable(expression.subject.name, expression.subject.at, scope)
    else:
        subject, owner = expressions.compile_expression(expression.subject, scope), None
    return property_of(subject, owner, expression.key, expression.at, scope)


def property_of(subject: Sql, owner: Scope | None, key: str, at: Position, scope: Scope) -> Sql:
    """A property of a node or relationship (joined when `owner` knows the variable), or a map's entry."""
    if subject.type.kind == "Map":
        for place, (field, kind) in enumerate(subject.type.fields):
            if field == key:
                return Sql(f"struct_extract({subject.text}, 'f{place}')", kind)
        raise unknown_name("key", key, [n for n, _ in subject.type.fields], at, scope.context.text, "keys")
    if subject.type.kind == "Null":
        return Sql("NULL", NULL)
    if subject.type.kind not in types.ENTITIES:
        scope.context.fail(f"a {subject.type} has no property '{key}'", at)
    schema = scope.context.schema
    is_node = subject.type.kind == "Node"
    name = schema.node_property(key) if is_node else schema.edge_property(key)
    view = schema.nodes if is_node else schema.edges
    if name is None:
        raise unknown_name("property", key, view.properties, at, scope.context.text, "properties")
    if name == "id" and "id" not in view.properties:
        return id_of(subject, scope)
    return stored(entity_column(subject, owner, name, scope), name, view)


def entity_column(subject: Sql, owner: Scope | None, column: str, scope: Scope) -> str:
    """A column of the row behind an entity."""
    kind = "node" if subject.type.kind == "Node" else "edge"
    if owner is not None:
        return f"{owner.row(kind, subject.text)}.{quote(column)}"
    scope.check_subquery()
    schema = scope.context.schema
    relation = schema.nodes.relation if kind == "node" else schema.edges.relation
    alias = scope.context.fresh("x")
    return f"(SELECT {alias}.{quote(column)} FROM {relation} {alias} WHERE {alias}.id = {subject.text})"  # noqa: S608


def stored(column: str, name: str, view: View) -> Sql:
    """A stored property as the SQL type that expressions of its Cypher type have."""
    kind = view.properties[name]
    return Sql(f"CAST({column} AS {types.sql_type(kind, 'VARCHAR')})" if name in view.narrow else column, kind)


def id_of(subject: Sql, scope: Scope) -> Sql:
    kind = types.from_duckdb(scope.context.schema.id_type) or STRING
    id_type = scope.context.schema.id_type
    wanted = types.sql_type(kind, id_type)
    return Sql(subject.text if wanted == id_type else f"CAST({subject.text} AS {wanted})", kind)


def has_labels(expression: ast.HasLabels, scope: Scope) -> Sql:
    subject, owner = values.variable(expression.variable.name, expression.variable.at, scope)
    values.require(subject, types.ENTITIES, "what has a label", expression.variable.at, scope)
    schema = scope.context.schema
    alias = owner.row("node" if subject.type.kind == "Node" else "edge", subject.text)
    if subject.type.kind == "Node":
        tests = label_test(scope.context, alias, expression.groups)
    else:
        tests = [
            f"{alias}.type IN {names_sql(scope.context, [t for n in g for t in schema.resolve_types(n.text)])}"
            for g in expression.groups
        ]
    return Sql("(" + " AND ".join(tests) + ")", BOOLEAN)
