"""What a compilation carries along: bound values, names, common table expressions and open SELECTs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ekr.cypher import ast
from ekr.cypher.errors import CypherError, Position
from ekr.cypher.schema import GraphSchema
from ekr.cypher.types import CypherType, quote, sql_type

FROM_END = '"~from"'
TO_END = '"~to"'


@dataclass(frozen=True)
class Sql:
    """An SQL expression and its Cypher type."""

    text: str
    type: CypherType


class NotALambda(Exception):
    """Raised inside a lambda body that needs a row of the graph; the caller then writes a subquery."""


class Context:
    """One compilation: the schema, the query's text and parameters, and every bound value so far.

    `referenced` names the relationships and paths that are used; nothing has to be kept of the others.
    """

    def __init__(self, schema: GraphSchema, text: str, parameters: Mapping[str, Any], referenced: set[str]) -> None:
        self.schema = schema
        self.text = text
        self.parameters = parameters
        self.referenced = referenced
        self.values: dict[str, Any] = {}
        self._count = 0

    def fresh(self, prefix: str) -> str:
        """A name that occurs nowhere else in the SQL."""
        self._count += 1
        return f"{prefix}{self._count}"

    def column(self, name: str) -> str:
        """A column name that recalls a variable's name without repeating what the user wrote."""
        readable = re.sub(r"[^a-z0-9]+", "_", name.lower())[:20].strip("_")
        return self.fresh(f"{readable or 'c'}_") if readable.isascii() and readable[:1].isalpha() else self.fresh("c_")

    def bind(self, value: Any, kind: CypherType) -> Sql:
        """A bound value as an SQL expression."""
        name = self.fresh("p")
        self.values[name] = _by_position(value)
        return Sql(f"CAST(${name} AS {sql_type(kind, self.schema.id_type)})", kind)

    def bind_text(self, value: str) -> str:
        return self.bind(value, CypherType("String")).text

    def cast(self, value: Sql, kind: CypherType) -> Sql:
        """`value` as `kind`, to which it is known to unify."""
        if value.type == kind:
            return value
        return Sql(f"CAST({value.text} AS {sql_type(kind, self.schema.id_type)})", kind)

    def fail(self, problem: str, at: Position | None) -> NoReturn:
        raise self.error(problem, at)

    def error(self, problem: str, at: Position | None) -> CypherError:
        return CypherError(problem, at, self.text)

    def used_values(self, sql: str) -> dict[str, Any]:
        """The bound values that the finished SQL mentions."""
        mentioned = set(re.findall(r"\$(p\d+)\b", sql))
        return {name: value for name, value in self.values.items() if name in mentioned}


def _by_position(value: Any) -> Any:
    """A bound value whose maps have the field names that Map types have in SQL."""
    if isinstance(value, dict):
        return {f"f{place}": _by_position(item) for place, item in enumerate(value.values())}
    return [_by_position(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass
class Block:
    """The common table expressions of one (sub)query, in order."""

    tables: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, sql: str, header: str = "", materialized: bool = False) -> str:
        kind = "AS MATERIALIZED" if materialized else "AS"
        self.tables.append((name, f"{name}{header} {kind} ({sql})"))
        return name

    def prefix(self) -> str:
        return "WITH RECURSIVE " + ",\n".join(text for _, text in self.tables) + "\n" if self.tables else ""


class Scope:
    """Variables that expressions can see. `outer` is the enclosing query or lambda."""

    def __init__(self, context: Context, outer: Scope | None = None) -> None:
        self.context = context
        self.outer = outer
        self.variables: dict[str, Sql] = {}

    def find(self, name: str) -> tuple[Sql, Scope] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name], scope
            scope = scope.outer
        return None

    def row(self, kind: str, id_text: str) -> str:
        """The alias of the node's (kind `node`) or relationship's (`edge`) row in this scope."""
        raise NotALambda

    def check_subquery(self) -> None:
        """Raise NotALambda where SQL allows no subquery."""
        scope: Scope | None = self
        while scope is not None and not isinstance(scope, Select):
            if isinstance(scope, LambdaScope):
                raise NotALambda
            scope = scope.outer


class LambdaScope(Scope):
    """The parameter of an SQL lambda."""


class Select(Scope):
    """A SELECT under construction: sources, conditions, variables; columns come when it is rendered."""

    def __init__(self, context: Context, block: Block, outer: Scope | None = None) -> None:
        super().__init__(context, outer)
        self.block = block
        self.sources: list[str] = []
        self.lookups: list[str] = []
        self.conditions: list[str] = []
        self.rows: dict[tuple[str, str], str] = {}
        self.certain: set[str] = set()
        self.order: list[tuple[str, bool]] = []

    def row(self, kind: str, id_text: str) -> str:
        alias = self.rows.get((kind, id_text))
        if alias is None:
            schema = self.context.schema
            relation = schema.nodes.relation if kind == "node" else schema.edges.relation
            alias = self.rows[kind, id_text] = self.context.fresh("n" if kind == "node" else "e")
            if id_text in self.certain:
                self.sources.append(f"{relation} {alias}")
                self.conditions.append(f"{alias}.id = {id_text}")
            else:
                self.lookups.append(f"LEFT JOIN {relation} {alias} ON {alias}.id = {id_text}")
        return alias

    def render(
        self,
        columns: Iterable[str],
        *,
        distinct: bool = False,
        group: Iterable[str] = (),
        tail: str = "",
    ) -> str:
        """The SELECT as text."""
        listed = ", ".join(columns) or "1 AS unit"
        parts = [f"SELECT {'DISTINCT ' if distinct else ''}{listed}"]
        if self.sources:
            parts.append("FROM " + " CROSS JOIN ".join(self.sources) + "".join(f" {j}" for j in self.lookups))
        if self.conditions:
            parts.append("WHERE " + " AND ".join(self.conditions))
        grouped = ", ".join(group)
        if grouped:
            parts.append(f"GROUP BY {grouped}")
        if tail:
            parts.append(tail)
        return " ".join(parts)

    def is_unit(self) -> bool:
        """Whether nothing was matched yet: one row without columns."""
        return not self.sources and not self.conditions and not self.variables

    def close(
        self, carry: Iterable[str] = (), extra: Iterable[str] = (), materialized: bool = False, tail: str = ""
    ) -> Closed:
        """Store this SELECT as a table with its variables, its order and the expressions in `carry`."""
        name = self.context.fresh("t")
        taken: dict[str, str] = {}
        for variable, sql in self.variables.items():
            taken.setdefault(sql.text, self.context.column(variable))
        for text in carry:
            taken.setdefault(text, self.context.fresh("k"))
        for text, _ in self.order:
            taken.setdefault(text, self.context.fresh("s"))
        columns = [f"{text} AS {column}" for text, column in taken.items()] + list(extra)
        self.block.add(name, self.render(columns, tail=tail), materialized=materialized)
        return Closed(name, {text: f"{name}.{column}" for text, column in taken.items()}, self)

    def follow(self, closed: Closed) -> Select:
        """A SELECT over a stored table, with the same variables."""
        following = Select(self.context, self.block, self.outer)
        following.sources.append(closed.name)
        following.variables = {n: Sql(closed.moved[s.text], s.type) for n, s in self.variables.items()}
        following.certain = {closed.moved[t] for t in self.certain if t in closed.moved}
        following.order = [(closed.moved[t], d) for t, d in self.order]
        return following


@dataclass(frozen=True)
class Closed:
    """A stored table: its name, and where each carried expression now is."""

    name: str
    moved: dict[str, str]
    select: Select


def sort_terms(order: Iterable[tuple[str, bool]]) -> str:
    """ORDER BY in Cypher's order, where nulls are the largest values; empty when there is nothing to sort by."""
    # DuckDB refuses to sort by a bare literal, which would change nothing anyway.
    terms = [(text, down) for text, down in order if text not in {"TRUE", "FALSE", "NULL"}]
    listed = ", ".join(f"{text} DESC NULLS FIRST" if down else f"{text} ASC NULLS LAST" for text, down in terms)
    return f"ORDER BY {listed}" if listed else ""


def names_sql(context: Context, names: Iterable[str]) -> str:
    """A parenthesised list of bound strings."""
    return "(" + ", ".join(context.bind_text(n) for n in names) + ")"


def label_test(context: Context, alias: str, groups: Iterable[ast.Names]) -> list[str]:
    """Conditions that the node row `alias` has one label of each group."""
    column = f"{alias}.{quote(context.schema.label_column)}"
    tests = []
    for group in groups:
        found = [label for name in group for label in context.schema.resolve_labels(name.text)]
        if context.schema.labels_are_lists:
            wanted = "[" + ", ".join(context.bind_text(n) for n in found) + "]"
            tests.append(f"list_has_any({column}, {wanted})")
        else:
            tests.append(f"{column} IN {names_sql(context, found)}")
    return tests
