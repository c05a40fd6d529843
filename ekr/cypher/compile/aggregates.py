"""Grouping: the columns without an aggregate are the keys, and each aggregate is computed per group."""

from __future__ import annotations

from ekr.cypher import ast
from ekr.cypher.compile import expressions, values
from ekr.cypher.compile.context import Select, Sql, sort_terms
from ekr.cypher.rewrite import aggregates_in, is_aggregate, substitute
from ekr.cypher.types import FLOAT, INTEGER, NUMBERS, list_of


def aggregate_select(state: Select, items: list[ast.Item]) -> tuple[Select, dict[str, Sql]]:
    """A SELECT over the groups, and the items by name in it."""
    context = state.context
    keys = [item for item in items if not aggregates_in(item.expression)]
    calls: list[ast.FunctionCall] = []
    for item in items:
        calls += [c for c in aggregates_in(item.expression) if c not in calls]
    key_values = {item.name: expressions.compile_expression(item.expression, state) for item in keys}
    call_values = [_aggregate(call, state) for call in calls]
    name = context.fresh("t")
    key_columns = {item.name: context.column(item.name) for item in keys}
    call_columns = [context.column(call.name) for call in calls]
    columns = [f"{key_values[n].text} AS {c}" for n, c in key_columns.items()]
    columns += [f"{value.text} AS {c}" for value, c in zip(call_values, call_columns, strict=True)]
    # Positions, not texts: a key that is a bare constant would be read as a position itself.
    group = [str(i + 1) for i in range(len(keys))]
    state.block.add(name, state.render(columns, group=group))
    select = Select(context, state.block, state.outer)
    select.sources.append(name)
    for item in keys:
        select.variables[item.name] = Sql(f"{name}.{key_columns[item.name]}", key_values[item.name].type)
    hidden = {
        f"~{column}": Sql(f"{name}.{column}", value.type)
        for column, value in zip(call_columns, call_values, strict=True)
    }
    grouped = dict(select.variables)
    select.variables.update(hidden)

    def choose(part: ast.Expression) -> ast.Expression | None:
        for item in keys:
            if part == item.expression:
                return ast.Variable(item.name, at=part.at)
        if is_aggregate(part):
            place = next(i for i, call in enumerate(calls) if call == part)
            return ast.Variable(f"~{call_columns[place]}", at=part.at)
        return None

    for item in items:
        if item.name not in grouped:
            grouped[item.name] = expressions.compile_expression(substitute(item.expression, choose), select)
    select.variables = {item.name: grouped[item.name] for item in items}
    return select, dict(select.variables)


def _aggregate(call: ast.FunctionCall, state: Select) -> Sql:
    """One aggregate over the rows of a group; all but count(*) leave nulls out."""
    if call.star:
        return Sql("count(*)", INTEGER)
    value = expressions.compile_expression(call.arguments[0], state)
    if value.type.kind == "Null":
        value = Sql("CAST(NULL AS BIGINT)", value.type)
    name = call.name.lower()
    distinct = "DISTINCT " if call.distinct else ""
    if name == "count":
        return Sql(f"count({distinct}{value.text})", INTEGER)
    if name == "collect":
        order = f" {sort_terms(state.order)}" if state.order and not call.distinct else ""
        present = f"FILTER (WHERE {value.text} IS NOT NULL)"
        return Sql(f"coalesce(list({distinct}{value.text}{order}) {present}, [])", list_of(value.type))
    if name in {"min", "max"}:
        if value.type.kind in {"Node", "Relationship", "Path", "Map", "List"}:
            state.context.fail(f"{call.name}() cannot order a {value.type}; use one of its properties", call.at)
        return Sql(f"{name}({value.text})", value.type)
    return _numeric(call, name, distinct, value, state)


def _numeric(call: ast.FunctionCall, name: str, distinct: str, value: Sql, state: Select) -> Sql:
    values.require(value, NUMBERS, f"the argument of {call.name}()", call.at, state)
    if name == "sum":
        whole = value.type.kind != "Float"
        total = f"coalesce(sum({distinct}{value.text}), 0)"
        return Sql(f"CAST({total} AS {'BIGINT' if whole else 'DOUBLE'})", INTEGER if whole else FLOAT)
    number = f"CAST({value.text} AS DOUBLE)"
    if name == "avg":
        return Sql(f"avg({distinct}{number})", FLOAT)
    if name in {"stdev", "stdevp"}:
        spread = "stddev_samp" if name == "stdev" else "stddev_pop"
        return Sql(f"coalesce({spread}({distinct}{number}), 0.0)", FLOAT)
    share = expressions.compile_expression(call.arguments[1], state)
    values.require(share, NUMBERS, f"the share in {call.name}()", call.at, state)
    quantile = f"CAST({share.text} AS DOUBLE)"
    if name == "percentilecont":
        return Sql(f"quantile_cont({distinct}{number}, {quantile})", FLOAT)
    return Sql(f"quantile_disc({distinct}{value.text}, {quantile})", value.type)
