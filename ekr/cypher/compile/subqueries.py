"""Patterns inside expressions: predicates, comprehensions, EXISTS { } and COUNT { }, as correlated subqueries."""

from __future__ import annotations

from ekr.cypher import ast
from ekr.cypher.compile import expressions
from ekr.cypher.compile.context import Block, Scope, Select, Sql
from ekr.cypher.compile.patterns import compile_match
from ekr.cypher.types import BOOLEAN, INTEGER, list_of


def compile_subquery(expression: ast.PatternPredicate | ast.PatternComprehension | ast.Subquery, scope: Scope) -> Sql:
    """A correlated subquery over a pattern whose known variables are those of `scope`."""
    scope.check_subquery()
    block = Block()
    select = Select(scope.context, block, scope)
    if isinstance(expression, ast.Subquery):
        exists = expression.kind == "exists"
        for match in expression.matches:
            select = compile_match(select, match, exists)
        if exists:
            return Sql(f"EXISTS ({block.prefix()}{select.render(['1'])})", BOOLEAN)
        return Sql(f"({block.prefix()}{select.render(['count(*)'])})", INTEGER)
    if isinstance(expression, ast.PatternPredicate):
        match = ast.Match(False, (expression.path,), None, at=expression.at)
        select = compile_match(select, match, True)
        return Sql(f"EXISTS ({block.prefix()}{select.render(['1'])})", BOOLEAN)
    match = ast.Match(False, (expression.path,), expression.where, at=expression.at)
    select = compile_match(select, match, False)
    result = expressions.compile_expression(expression.projection, select)
    text = select.render([f"list({result.text})"])
    return Sql(f"coalesce(({block.prefix()}{text}), [])", list_of(result.type))
