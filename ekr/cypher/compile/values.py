"""Constants, parameters and variables, and what types they have."""

from __future__ import annotations

import datetime
from typing import Any

from ekr.cypher import ast, types
from ekr.cypher.compile import expressions
from ekr.cypher.compile.context import Scope, Sql
from ekr.cypher.errors import Position, unknown_name
from ekr.cypher.types import BOOLEAN, FLOAT, INTEGER, NULL, STRING, CypherType, list_of, map_of

# bool before int, datetime before date: each is also an instance of the other.
_PYTHON_TYPES: tuple[tuple[type, CypherType], ...] = (
    (type(None), NULL),
    (bool, BOOLEAN),
    (int, INTEGER),
    (float, FLOAT),
    (str, STRING),
    (datetime.datetime, CypherType("Temporal", sql="TIMESTAMP")),
    (datetime.date, CypherType("Temporal", sql="DATE")),
)


def require(value: Sql, kinds: set[str] | frozenset[str], what: str, at: Position, scope: Scope) -> None:
    """Raise a type error unless `value` is one of `kinds` or null."""
    if value.type.kind not in kinds and value.type.kind != "Null":
        scope.context.fail(f"{what} must be {' or '.join(sorted(kinds))}, not {value.type}", at)


def unify_all(values: list[Sql], what: str, at: Position, scope: Scope) -> tuple[CypherType, list[str]]:
    """One type for all values, and their SQL as that type."""
    both = NULL
    for value in values:
        found = types.unify(both, value.type)
        if found is None:
            scope.context.fail(f"{what} are {both} and {value.type}; they must have one type", at)
        both = found
    return both, [scope.context.cast(v, both).text for v in values]


def parameter(expression: ast.Parameter, scope: Scope) -> Sql:
    """The bound value of a parameter; the semantic check has made sure that it is given."""
    value = scope.context.parameters[expression.name]
    return scope.context.bind(value, type_of_value(value, expression.name, expression.at, scope))


def type_of_value(value: Any, name: str, at: Position, scope: Scope) -> CypherType:
    """The type of a parameter's value."""
    if isinstance(value, list | tuple):
        item = NULL
        for element in value:
            found = types.unify(item, type_of_value(element, name, at, scope))
            if found is None:
                scope.context.fail(f"parameter ${name} mixes types in one list; use one type", at)
            item = found
        return list_of(item)
    if isinstance(value, dict) and value:
        return map_of(tuple((str(k), type_of_value(v, name, at, scope)) for k, v in value.items()))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        scope.context.fail(f"parameter ${name} does not fit in 64 bits", at)
    for python, kind in _PYTHON_TYPES:
        if isinstance(value, python):
            return kind
    raise scope.context.error(f"parameter ${name} has the type {type(value).__name__}, which a query cannot use", at)


def literal(expression: ast.Literal, scope: Scope) -> Sql:
    """A constant; all but null, true and false are bound."""
    value = expression.value
    if value is None:
        return Sql("NULL", NULL)
    if isinstance(value, bool):
        return Sql("TRUE" if value else "FALSE", BOOLEAN)
    return scope.context.bind(value, _constant_type(value))


def variable(name: str, at: Position, scope: Scope) -> tuple[Sql, Scope]:
    """A variable and the scope that holds it."""
    found = scope.find(name)
    if found is None:
        raise unknown_name("variable", name, scope.variables, at, scope.context.text, "variables here")
    return found


def _constant_type(value: ast.Scalar) -> CypherType:
    return next(kind for python, kind in _PYTHON_TYPES if isinstance(value, python))


def list_literal(expression: ast.ListLiteral, scope: Scope) -> Sql:
    """A list; one bound value when all its items are constants of one type."""
    if not expression.items:
        return Sql("CAST([] AS VARCHAR[])", list_of(NULL))
    constants = [i.value for i in expression.items if isinstance(i, ast.Literal)]
    if len(constants) == len(expression.items):
        kinds = {_constant_type(v) for v in constants if v is not None}
        if len(kinds) == 1:
            return scope.context.bind(constants, list_of(kinds.pop()))
    items = [expressions.compile_expression(item, scope) for item in expression.items]
    both, cast = unify_all(items, "the items of a list", expression.at, scope)
    return Sql("[" + ", ".join(cast) + "]", list_of(both))


def map_literal(expression: ast.MapLiteral, scope: Scope) -> Sql:
    """A map as a struct."""
    fields = [(key, expressions.compile_expression(value, scope)) for key, value in expression.entries]
    if not fields:
        scope.context.fail("an empty map holds nothing to return", expression.at)
    packed = ", ".join(f"f{place} := {value.text}" for place, (_, value) in enumerate(fields))
    return Sql(f"struct_pack({packed})", map_of(tuple((k, v.type) for k, v in fields)))
