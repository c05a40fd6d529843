"""Clauses to SELECTs, one after the other, and single queries to one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ekr.cypher import ast, types
from ekr.cypher.compile import expressions
from ekr.cypher.compile.aggregates import aggregate_select
from ekr.cypher.compile.context import Block, Closed, Context, Select, Sql, sort_terms
from ekr.cypher.compile.patterns import compile_match
from ekr.cypher.rewrite import aggregates_in, substitute
from ekr.cypher.types import NULL, CypherType


@dataclass(frozen=True)
class Result:
    """The last SELECT of a single query: its columns (names, types) and its SQL pieces."""

    names: tuple[str, ...]
    types: tuple[CypherType, ...]
    columns: tuple[str, ...]
    table: str
    order: tuple[tuple[str, bool], ...]


def compile_single(query: ast.SingleQuery, block: Block, context: Context, only_set: bool) -> Result:
    """The tables of a single query. `only_set` says that duplicate result rows do not matter."""
    state = Select(context, block)
    insensitive = _insensitive(query.clauses, only_set)
    result: Result | None = None
    for clause, only in zip(query.clauses, insensitive, strict=True):
        if isinstance(clause, ast.Match):
            state = compile_match(state, clause, only)
        elif isinstance(clause, ast.Unwind):
            state = _unwind(state, clause)
        else:
            state = _project(state, clause)
            if clause.final:
                result = _result(state)
    assert result is not None
    return result


def _result(state: Select) -> Result:
    names = tuple(state.variables)
    values = [state.variables[name] for name in names]
    return Result(
        names, tuple(v.type for v in values), tuple(v.text for v in values), state.sources[0], tuple(state.order)
    )


def _insensitive(clauses: Sequence[ast.Clause], only_set: bool) -> list[bool]:
    """For each clause, whether duplicates of the rows it makes cannot change the result."""
    answers: list[bool] = []
    after = only_set
    for clause in reversed(clauses):
        if isinstance(clause, ast.Projection):
            after = _forgets_duplicates(clause, after)
        answers.append(after)
    return answers[::-1]


def _forgets_duplicates(clause: ast.Projection, after: bool) -> bool:
    calls = [call for item in clause.items for call in aggregates_in(item.expression)]
    if calls:
        return all(call.distinct or call.name.lower() in {"min", "max"} for call in calls)
    if clause.distinct:
        return True
    return after and clause.skip is None and clause.limit is None


def _unwind(state: Select, clause: ast.Unwind) -> Select:
    source = expressions.compile_expression(clause.source, state)
    if source.type.kind == "List":
        item = source.type.item or NULL
    elif source.type.kind == "Null":
        source, item = Sql("CAST([] AS VARCHAR[])", types.list_of(NULL)), NULL
    else:
        source, item = Sql(f"[{source.text}]", types.list_of(source.type)), source.type
    column = state.context.column(clause.variable)
    closed = state.close(extra=[f"unnest({source.text}) AS {column}"])
    following = state.follow(closed)
    following.variables[clause.variable] = Sql(f"{closed.name}.{column}", item)
    return following


def _project(state: Select, clause: ast.Projection) -> Select:
    items = list(clause.items)
    if clause.star:
        named = [n for n in state.variables if not n.startswith("~")]
        items = [ast.Item(ast.Variable(n, at=clause.at), n, False, at=clause.at) for n in named] + items
    grouped = any(aggregates_in(item.expression) for item in items)
    if grouped:
        projected, values = aggregate_select(state, items)
    else:
        projected = state
        values = {item.name: expressions.compile_expression(item.expression, state) for item in items}
    if clause.distinct:
        projected = _distinct(projected, values, items)
        values = dict(projected.variables)
    settled = grouped or clause.distinct
    order = _sort_keys(projected, clause, items, settled)
    kept = [] if settled and not order else order or projected.order
    projected.variables = values
    projected.order = kept
    following = projected.follow(_close_sorted(projected, clause))
    if clause.where is not None:
        following.conditions.append(expressions.condition(clause.where, following))
    return following


def _distinct(select: Select, values: dict[str, Sql], items: list[ast.Item]) -> Select:
    context = select.context
    name = context.fresh("t")
    columns = {item.name: context.column(item.name) for item in items}
    select.block.add(name, select.render([f"{values[n].text} AS {c}" for n, c in columns.items()], distinct=True))
    following = Select(context, select.block, select.outer)
    following.sources.append(name)
    following.variables = {n: Sql(f"{name}.{c}", values[n].type) for n, c in columns.items()}
    return following


def _sort_keys(select: Select, clause: ast.Projection, items: list[ast.Item], settled: bool) -> list[tuple[str, bool]]:
    """ORDER BY keys as SQL: aliases stand for their expressions, or for the columns once rows were merged."""
    by_name = {item.name: item for item in items}

    def choose(part: ast.Expression) -> ast.Expression | None:
        for item in items:
            if part == item.expression:
                return ast.Variable(item.name, at=part.at) if settled else item.expression
        if isinstance(part, ast.Variable) and part.name in by_name:
            return part if settled else by_name[part.name].expression
        return None

    keys = []
    for key in clause.order:
        found = expressions.compile_expression(substitute(key.expression, choose), select)
        if found.type.kind in {"Map", "Path"}:
            select.context.fail(f"a {found.type} has no order; sort by one of its parts", key.at)
        keys.append((found.text, key.descending))
    return keys


def _close_sorted(select: Select, clause: ast.Projection) -> Closed:
    context = select.context
    tail = ""
    if clause.skip is not None or clause.limit is not None:
        tail = sort_terms(select.order)
        for word, amount in (("LIMIT", clause.limit), ("OFFSET", clause.skip)):
            if amount is not None:
                tail += f" {word} {_amount(context, amount)}"
    return select.close(tail=tail.strip())


def _amount(context: Context, expression: ast.Expression) -> str:
    """The number of SKIP or LIMIT: a constant, not negative."""
    value: object = None
    if isinstance(expression, ast.Literal):
        value = expression.value
    elif isinstance(expression, ast.Parameter):
        value = context.parameters[expression.name]
    if type(value) is not int or value < 0:
        context.fail("SKIP and LIMIT take a whole number that is not negative, or a parameter", expression.at)
    return context.bind(value, types.INTEGER).text
