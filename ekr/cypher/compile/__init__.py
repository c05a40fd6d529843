"""The compiler: one query to one DuckDB statement with bound values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ekr.cypher import types
from ekr.cypher.check import check
from ekr.cypher.compile.clauses import Result, compile_single
from ekr.cypher.compile.context import Block, Context, Sql, sort_terms
from ekr.cypher.parser import parse
from ekr.cypher.rewrite import referenced_names
from ekr.cypher.schema import GraphSchema
from ekr.cypher.types import CypherType


@dataclass(frozen=True)
class CompiledQuery:
    """`sql` with named parameters, the `values` bound to them, and the result's column names and types."""

    sql: str
    values: dict[str, Any]
    columns: tuple[str, ...]
    types: tuple[CypherType, ...]


def compile_query(
    text: str,
    schema: GraphSchema,
    params: Mapping[str, Any] | None = None,
    max_rows: int | None = None,
) -> CompiledQuery:
    """Parse, check and compile a query. With `max_rows` the statement gives one row more, so a cut shows.

    Raises CypherError: syntax, an unknown name, a type error, a missing parameter.
    """
    query = parse(text)
    parameters = dict(params or {})
    check(query, schema, parameters, text)
    context = Context(schema, text, parameters, referenced_names(query))
    block = Block()
    results = [
        compile_single(part, block, context, _only_set(query.parts, query.keep_duplicates)) for part in query.parts
    ]
    if len(results) == 1:
        sql, kinds = _single(results[0]), results[0].types
    else:
        sql, kinds = _union(results, query.keep_duplicates, context, query.at)
    if max_rows is not None:
        sql += f" LIMIT {context.bind(max_rows + 1, types.INTEGER).text}"
    sql = block.prefix() + sql
    return CompiledQuery(sql, context.used_values(sql), results[0].names, kinds)


def _only_set(parts: tuple[Any, ...], keep_duplicates: bool) -> bool:
    return len(parts) > 1 and not keep_duplicates


def _select(columns: list[str], table: str) -> str:
    listed = ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
    return f"SELECT {listed} FROM {table}"  # noqa: S608


def _single(result: Result) -> str:
    return f"{_select(list(result.columns), result.table)} {sort_terms(result.order)}".strip()


def _union(results: list[Result], keep: bool, context: Context, at: Any) -> tuple[str, tuple[CypherType, ...]]:
    names = results[0].names
    kinds: list[CypherType] = []
    for name in names:
        kind = types.NULL
        for result in results:
            found = types.unify(kind, result.types[result.names.index(name)])
            if found is None:
                context.fail(f"column '{name}' has different types in the parts of the UNION", at)
            kind = found
        kinds.append(kind)
    parts = []
    for result in results:
        places = [result.names.index(name) for name in names]
        columns = [
            context.cast(Sql(result.columns[p], result.types[p]), kind).text
            for p, kind in zip(places, kinds, strict=True)
        ]
        # A part's own ORDER BY has chosen its rows where it has a LIMIT; a union has no order of its own.
        parts.append(_select(columns, result.table))
    return f"SELECT * FROM ({(' UNION ALL ' if keep else ' UNION ').join(parts)})", tuple(kinds)  # noqa: S608
