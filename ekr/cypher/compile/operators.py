"""Operators: logic, comparison, arithmetic, strings, membership."""

from __future__ import annotations

from ekr.cypher import ast, types
from ekr.cypher.compile import expressions, functions
from ekr.cypher.compile.context import Scope, Sql
from ekr.cypher.compile.values import require
from ekr.cypher.errors import Position
from ekr.cypher.types import BOOLEAN, FLOAT, INTEGER, NULL, NUMBERS, STRING, list_of


def logical(expression: ast.Logical, scope: Scope) -> Sql:
    """AND, OR, XOR: SQL's three-valued logic is Cypher's."""
    operands = []
    for operand in expression.operands:
        found = expressions.compile_expression(operand, scope)
        require(found, {"Boolean"}, f"a side of {expression.operator}", operand.at, scope)
        operands.append(found.text if found.type.kind == "Boolean" else "CAST(NULL AS BOOLEAN)")
    if expression.operator == "XOR":
        text = operands[0]
        for operand_text in operands[1:]:
            text = f"({text} <> {operand_text})"
        return Sql(text, BOOLEAN)
    return Sql("(" + f" {expression.operator} ".join(operands) + ")", BOOLEAN)


def comparison(expression: ast.Comparison, scope: Scope) -> Sql:
    left = expressions.compile_expression(expression.first, scope)
    parts = []
    for operator, operand in expression.rest:
        right = expressions.compile_expression(operand, scope)
        parts.append(compare(left, operator, right, operand.at, scope))
        left = right
    return Sql(parts[0] if len(parts) == 1 else "(" + " AND ".join(parts) + ")", BOOLEAN)


def compare(left: Sql, operator: str, right: Sql, at: Position, scope: Scope) -> str:
    """`left operator right`; types that can never be equal or ordered are an error."""
    left, right = temporal(left, right)
    if "Null" in (left.type.kind, right.type.kind):
        return "CAST(NULL AS BOOLEAN)"
    both = types.unify(left.type, right.type)
    if both is None:
        scope.context.fail(f"{left.type} and {right.type} cannot be compared with {operator}", at)
    if operator not in {"=", "<>"} and both.kind in {*types.ENTITIES, "Path", "Map"}:
        scope.context.fail(f"a {both} has no order; compare one of its properties", at)
    if both.kind in {"List", "Map"}:
        left, right = scope.context.cast(left, both), scope.context.cast(right, both)
    return f"({left.text} {operator} {right.text})"


def temporal(left: Sql, right: Sql) -> tuple[Sql, Sql]:
    """A string beside a date or time is read as one."""
    if left.type.kind == "Temporal" and right.type.kind in {"String", "Temporal"} and left.type != right.type:
        return left, Sql(f"CAST({right.text} AS {left.type.sql})", left.type)
    if right.type.kind == "Temporal" and left.type.kind == "String":
        return Sql(f"CAST({left.text} AS {right.type.sql})", right.type), right
    return left, right


_STRING_TESTS = {"CONTAINS": "contains", "STARTS WITH": "starts_with", "ENDS WITH": "suffix", "=~": "regexp_full_match"}


def binary(expression: ast.Binary, scope: Scope) -> Sql:
    """Every operator with two sides but comparison and logic."""
    left = expressions.compile_expression(expression.left, scope)
    right = expressions.compile_expression(expression.right, scope)
    if expression.operator in _STRING_TESTS:
        return string_test(left, right, expression, scope)
    if expression.operator == "IN":
        return contains(left, right, expression, scope)
    if expression.operator == "+":
        return plus(left, right, expression, scope)
    return arithmetic(left, right, expression, scope)


def string_test(left: Sql, right: Sql, expression: ast.Binary, scope: Scope) -> Sql:
    operator = expression.operator
    for side, place in ((left, expression.left), (right, expression.right)):
        require(side, {"String"}, f"a side of {operator}", place.at, scope)
    if "Null" in (left.type.kind, right.type.kind):
        return Sql("CAST(NULL AS BOOLEAN)", BOOLEAN)
    return Sql(f"{_STRING_TESTS[operator]}({left.text}, {right.text})", BOOLEAN)


def arithmetic(left: Sql, right: Sql, expression: ast.Binary, scope: Scope) -> Sql:
    """Whole numbers stay whole: 7 / 2 is 3."""
    operator = expression.operator
    for side, place in ((left, expression.left), (right, expression.right)):
        require(side, NUMBERS, f"a side of {operator}", place.at, scope)
    if "Null" in (left.type.kind, right.type.kind):
        return Sql("CAST(NULL AS BIGINT)", INTEGER)
    whole = left.type == right.type == INTEGER
    if operator == "^":
        return Sql(f"pow(CAST({left.text} AS DOUBLE), CAST({right.text} AS DOUBLE))", FLOAT)
    if operator in "/%" and not whole:
        left, right = scope.context.cast(left, FLOAT), scope.context.cast(right, FLOAT)
    if operator == "/" and whole:
        operator = "//"
    return Sql(f"({left.text} {operator} {right.text})", INTEGER if whole else FLOAT)


def plus(left: Sql, right: Sql, expression: ast.Binary, scope: Scope) -> Sql:
    kinds = (left.type.kind, right.type.kind)
    if "Null" in kinds:
        other = right.type if kinds[0] == "Null" else left.type
        return Sql(f"CAST(NULL AS {types.sql_type(other, scope.context.schema.id_type)})", other)
    if "List" in kinds:
        left_list = left if kinds[0] == "List" else Sql(f"[{left.text}]", list_of(left.type))
        right_list = right if kinds[1] == "List" else Sql(f"[{right.text}]", list_of(right.type))
        both = types.unify(left_list.type, right_list.type)
        if both is None:
            scope.context.fail(f"{left.type} and {right.type} do not fit in one list", expression.at)
        first, second = scope.context.cast(left_list, both), scope.context.cast(right_list, both)
        return Sql(f"({first.text} || {second.text})", both)
    if set(kinds) <= NUMBERS:
        return Sql(f"({left.text} + {right.text})", INTEGER if kinds == ("Integer", "Integer") else FLOAT)
    if "String" in kinds and set(kinds) <= {"String", "Boolean", *NUMBERS}:
        return Sql(f"({functions.to_text(left)} || {functions.to_text(right)})", STRING)
    raise scope.context.error(f"{left.type} and {right.type} cannot be added", expression.at)


def contains(item: Sql, source: Sql, expression: ast.Binary, scope: Scope) -> Sql:
    """Membership: unknown when it is not found and something compared was null."""
    require(source, {"List"}, "the right side of IN", expression.right.at, scope)
    if source.type.kind == "Null":
        return Sql("CAST(NULL AS BOOLEAN)", BOOLEAN)
    both = types.unify(item.type, source.type.item or NULL)
    if both is None:
        scope.context.fail(f"{item.type} cannot be IN a {source.type}", expression.at)
    source, item = scope.context.cast(source, list_of(both)), scope.context.cast(item, both)
    if isinstance(expression.right, ast.ListLiteral) and all(
        isinstance(i, ast.Literal) and i.value is not None for i in expression.right.items
    ):
        found = f"list_contains({source.text}, {item.text})"
        if not expression.right.items:
            return Sql("FALSE", BOOLEAN)
        return Sql(f"CASE WHEN {item.text} IS NOT NULL THEN {found} END", BOOLEAN)
    text = functions.bind(
        [source.text, item.text],
        lambda v: (
            f"CASE WHEN {v[0]} IS NULL THEN NULL WHEN len({v[0]}) = 0 THEN FALSE WHEN {v[1]} IS NULL THEN NULL "
            f"WHEN list_contains({v[0]}, {v[1]}) THEN TRUE "
            f"WHEN list_count({v[0]}) < len({v[0]}) THEN NULL ELSE FALSE END"
        ),
        scope,
    )
    return Sql(text, BOOLEAN)


def unary(expression: ast.Unary, scope: Scope) -> Sql:
    operand = expressions.compile_expression(expression.operand, scope)
    if expression.operator == "NOT":
        require(operand, {"Boolean"}, "what NOT negates", expression.operand.at, scope)
        return Sql(f"(NOT {operand.text})", BOOLEAN)
    require(operand, NUMBERS, f"what {expression.operator} stands before", expression.operand.at, scope)
    return Sql(f"(-{operand.text})", operand.type) if expression.operator == "-" else operand
