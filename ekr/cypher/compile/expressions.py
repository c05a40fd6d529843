"""Expressions to SQL, with Cypher's three-valued logic and static types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ekr.cypher import ast
from ekr.cypher.compile import comprehensions, entities, functions, operators, subqueries, values
from ekr.cypher.compile.context import Scope, Sql
from ekr.cypher.compile.values import require
from ekr.cypher.types import BOOLEAN, NULL


def compile_expression(expression: ast.Expression, scope: Scope) -> Sql:
    """The SQL of an expression in a scope. Raises CypherError on a type error."""
    return _compilers()[type(expression)](expression, scope)


def condition(expression: ast.Expression, scope: Scope) -> str:
    """The SQL of something that must be true. Raises CypherError when it is no Boolean."""
    found = compile_expression(expression, scope)
    require(found, {"Boolean"}, "a condition", expression.at, scope)
    return found.text


def is_null(expression: ast.IsNull, scope: Scope) -> Sql:
    inner = compile_expression(expression.operand, scope)
    return Sql(f"({inner.text} IS {'NOT ' if expression.negated else ''}NULL)", BOOLEAN)


def case(expression: ast.Case, scope: Scope) -> Sql:
    subject = compile_expression(expression.subject, scope) if expression.subject else None
    tests, results = [], []
    for when, then in expression.branches:
        if subject is None:
            tests.append(condition(when, scope))
        else:
            tests.append(operators.compare(subject, "=", compile_expression(when, scope), when.at, scope))
        results.append(compile_expression(then, scope))
    results.append(compile_expression(expression.otherwise, scope) if expression.otherwise else Sql("NULL", NULL))
    both, cast = values.unify_all(results, "the branches of CASE", expression.at, scope)
    branches = " ".join(f"WHEN {t} THEN {r}" for t, r in zip(tests, cast, strict=False))
    return Sql(f"CASE {branches} ELSE {cast[-1]} END", both)


def index(expression: ast.Index, scope: Scope) -> Sql:
    subject = compile_expression(expression.subject, scope)
    if isinstance(expression.index, ast.Literal) and isinstance(expression.index.value, str):
        key = ast.Property(expression.subject, expression.index.value, at=expression.index.at)
        return entities.prop(key, scope)
    require(subject, {"List"}, "what [ ] looks into", expression.at, scope)
    place = compile_expression(expression.index, scope)
    require(place, {"Integer"}, "a list index", expression.index.at, scope)
    item = subject.type.item or NULL
    if "Null" in (subject.type.kind, place.type.kind, item.kind):
        return Sql("NULL", NULL)
    text = functions.bind(
        [subject.text, place.text],
        lambda v: f"CASE WHEN {v[1]} >= 0 THEN list_extract({v[0]}, {v[1]} + 1) ELSE list_extract({v[0]}, {v[1]}) END",
        scope,
    )
    return Sql(text, item)


def slice_(expression: ast.Slice, scope: Scope) -> Sql:
    subject = compile_expression(expression.subject, scope)
    require(subject, {"List"}, "what [ .. ] cuts", expression.at, scope)
    ends = []
    for end, default in ((expression.start, "0"), (expression.end, None)):
        found = compile_expression(end, scope) if end else None
        if found and end:
            require(found, {"Integer"}, "the end of a slice", end.at, scope)
        ends.append(found.text if found else default)
    if subject.type.kind == "Null" or "NULL" in ends:
        return Sql("NULL", NULL)
    parts = [subject.text, ends[0] or "0", *([ends[1]] if ends[1] else [])]

    def cut(v: list[str]) -> str:
        size = f"len({v[0]})"
        first = f"CASE WHEN {v[1]} >= 0 THEN {v[1]} ELSE greatest({size} + {v[1]}, 0) END"
        last = f"CASE WHEN {v[2]} >= 0 THEN least({v[2]}, {size}) ELSE {size} + {v[2]} END" if len(v) > 2 else size
        missing = " OR ".join(f"{part} IS NULL" for part in v)
        whole = f"list_filter({v[0]}, lambda item, place: place > {first} AND place <= {last})"
        return f"CASE WHEN {missing} THEN NULL ELSE {whole} END"

    return Sql(functions.bind(parts, cut, scope), subject.type)


@cache
def _compilers() -> dict[type[ast.Expression], Callable[[Any, Scope], Sql]]:
    """Which function compiles which expression; built late because the modules need each other."""
    return {
        ast.Literal: values.literal,
        ast.Parameter: values.parameter,
        ast.Variable: lambda e, scope: values.variable(e.name, e.at, scope)[0],
        ast.ListLiteral: values.list_literal,
        ast.MapLiteral: values.map_literal,
        ast.Property: entities.prop,
        ast.HasLabels: entities.has_labels,
        ast.Logical: operators.logical,
        ast.Comparison: operators.comparison,
        ast.Binary: operators.binary,
        ast.Unary: operators.unary,
        ast.IsNull: is_null,
        ast.FunctionCall: functions.call,
        ast.Case: case,
        ast.Index: index,
        ast.Slice: slice_,
        ast.ListComprehension: comprehensions.compile_comprehension,
        ast.Quantifier: comprehensions.compile_comprehension,
        ast.PatternPredicate: subqueries.compile_subquery,
        ast.PatternComprehension: subqueries.compile_subquery,
        ast.Subquery: subqueries.compile_subquery,
    }
