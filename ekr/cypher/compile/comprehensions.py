"""List comprehensions and quantifiers: an SQL lambda where that is enough, else a subquery over the list."""

from __future__ import annotations

from ekr.cypher import ast
from ekr.cypher.compile import expressions, values
from ekr.cypher.compile.context import Block, LambdaScope, NotALambda, Scope, Select, Sql
from ekr.cypher.types import BOOLEAN, NULL, list_of


def compile_comprehension(expression: ast.ListComprehension | ast.Quantifier, scope: Scope) -> Sql:
    """`[x IN list WHERE … | …]`, or all / any / none / single over a list."""
    source = expressions.compile_expression(expression.source, scope)
    values.require(source, {"List"}, "what IN goes through", expression.source.at, scope)
    if source.type.kind == "Null":
        return Sql("NULL", NULL if isinstance(expression, ast.ListComprehension) else BOOLEAN)
    try:
        return _as_lambda(expression, source, scope)
    except NotALambda:
        scope.check_subquery()
        return _as_subquery(expression, source, scope)


def _as_lambda(expression: ast.ListComprehension | ast.Quantifier, source: Sql, scope: Scope) -> Sql:
    inner = LambdaScope(scope.context, scope)
    name = scope.context.fresh("x")
    item = source.type.item or NULL
    inner.variables[expression.variable] = Sql(name, item)
    text = source.text
    if isinstance(expression, ast.Quantifier):
        test = expressions.condition(expression.where, inner)
        tests = f"list_transform({text}, lambda {name}: {test})"
        verdict = scope.context.fresh("b")
        found = f"list_contains({verdict}, TRUE)"
        unknown = f"list_count({verdict}) < len({verdict})"
        failed = f"list_contains({verdict}, FALSE)"
        true = f"len(list_filter({verdict}, lambda each: each))"
        answer = {
            "any": f"CASE WHEN {found} THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END",
            "none": f"CASE WHEN {found} THEN FALSE WHEN {unknown} THEN NULL ELSE TRUE END",
            "all": f"CASE WHEN {failed} THEN FALSE WHEN {unknown} THEN NULL ELSE TRUE END",
            "single": f"CASE WHEN {true} > 1 THEN FALSE WHEN {unknown} THEN NULL ELSE {true} = 1 END",
        }[expression.kind]
        guarded = f"CASE WHEN {verdict} IS NOT NULL THEN {answer} END"
        return Sql(f"list_extract(list_transform([{tests}], lambda {verdict}: {guarded}), 1)", BOOLEAN)
    if expression.where is not None:
        text = f"list_filter({text}, lambda {name}: {expressions.condition(expression.where, inner)})"
    if expression.projection is None:
        return Sql(text, source.type)
    result = expressions.compile_expression(expression.projection, inner)
    return Sql(f"list_transform({text}, lambda {name}: {result.text})", list_of(result.type))


def _as_subquery(expression: ast.ListComprehension | ast.Quantifier, source: Sql, scope: Scope) -> Sql:
    context = scope.context
    inner = Select(context, Block(), scope)
    alias = context.fresh("u")
    inner.sources.append(f"(SELECT unnest({source.text}) AS item, unnest(range(len({source.text}))) AS place) {alias}")
    inner.variables[expression.variable] = Sql(f"{alias}.item", source.type.item or NULL)
    if isinstance(expression, ast.Quantifier):
        test = expressions.condition(expression.where, inner)
        unknown = f"count({test}) < count(*)"
        answer = {
            "any": f"CASE WHEN bool_or({test}) THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END",
            "none": f"CASE WHEN bool_or({test}) THEN FALSE WHEN {unknown} THEN NULL ELSE TRUE END",
            "all": f"CASE WHEN NOT bool_and({test}) THEN FALSE WHEN {unknown} THEN NULL ELSE TRUE END",
            "single": (
                f"CASE WHEN count(*) FILTER (WHERE {test}) > 1 THEN FALSE WHEN {unknown} THEN NULL "
                f"ELSE count(*) FILTER (WHERE {test}) = 1 END"
            ),
        }[expression.kind]
        text = inner.render([answer])
        return Sql(f"CASE WHEN {source.text} IS NOT NULL THEN ({text}) END", BOOLEAN)
    if expression.where is not None:
        inner.conditions.append(expressions.condition(expression.where, inner))
    result = (
        expressions.compile_expression(expression.projection, inner)
        if expression.projection
        else inner.variables[expression.variable]
    )
    text = inner.render([f"list({result.text} ORDER BY {alias}.place)"])
    return Sql(f"CASE WHEN {source.text} IS NOT NULL THEN coalesce(({text}), []) END", list_of(result.type))
