"""The semantic check: every name in a query exists, and stands where it may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ekr.cypher import ast
from ekr.cypher.errors import Position
from ekr.cypher.names import VALUE, Kind, NameChecker, Variables
from ekr.cypher.rewrite import aggregates_in, is_aggregate, substitute
from ekr.cypher.schema import GraphSchema


def check(query: ast.Query, schema: GraphSchema, parameters: Mapping[str, Any], text: str) -> None:
    """Raise CypherError at the first name that is unknown or out of place."""
    checker = _Checker(schema, parameters, text)
    columns = [checker.single(part) for part in query.parts]
    for part, names in zip(query.parts[1:], columns[1:], strict=True):
        if set(names) != set(columns[0]):
            checker.fail(
                f"the parts of a UNION return different columns ({', '.join(columns[0])} and {', '.join(names)}); "
                "give them the same names with AS",
                part.clauses[-1].at,
            )


class _Checker(NameChecker):
    """Walks the clauses with the variables that each can see."""

    # clauses

    def single(self, query: ast.SingleQuery) -> list[str]:
        scope: dict[str, Kind] = {}
        for clause in query.clauses:
            if isinstance(clause, ast.Match):
                scope = self.match(clause, scope)
            elif isinstance(clause, ast.Unwind):
                self.expression(clause.source, scope)
                self.new_name(clause.variable, scope, clause.at)
                scope = {**scope, clause.variable: VALUE}
            else:
                scope = self.projection(clause, scope)
        return list(scope)

    def new_name(self, name: str, scope: Variables, at: Position) -> None:
        if name in scope:
            self.fail(f"variable '{name}' already exists; choose another name", at)

    def match(self, clause: ast.Match, scope: Variables) -> dict[str, Kind]:
        inner = dict(scope)
        seen: set[str] = set()
        for path in clause.paths:
            self.bind_pattern(path, inner, scope, seen)
        for path in clause.paths:
            self.pattern_values(path, inner)
        if clause.where is not None:
            self.expression(clause.where, inner)
            self.no_shortest_filter(clause)
        return inner

    def no_shortest_filter(self, clause: ast.Match) -> None:
        """Cypher looks for the shortest path among those that pass; this compiler finds it first."""
        for path in clause.paths:
            inside = {path.variable, *(r.variable for r in path.relationships)} - {None}
            if path.kind == "plain" or clause.where is None:
                continue
            for part in ast.walk(clause.where):
                if isinstance(part, ast.Variable) and part.name in inside:
                    self.fail(
                        f"a condition on the shortest path '{part.name}' goes after it: "
                        f"WITH … WHERE, not in the WHERE of its MATCH",
                        part.at,
                    )

    def bind_pattern(self, path: ast.PathPattern, inner: dict[str, Kind], outer: Variables, seen: set[str]) -> None:
        for node in path.nodes:
            labels = self.labels(node.groups)
            if node.variable is None:
                continue
            known = inner.get(node.variable)
            if known is not None and known.kind not in {"node", "value"}:
                self.fail(f"'{node.variable}' is a {known.kind}, not a node", node.at)
            before = known.names if known else frozenset()
            inner[node.variable] = Kind(
                known.kind if known else "node", (before & labels if before and labels else before or labels)
            )
        for rel in path.relationships:
            names = self.types(rel.types)
            if rel.variable is None:
                continue
            if rel.variable in seen or (rel.variable in inner and rel.variable not in outer):
                self.fail(f"'{rel.variable}' stands twice in one MATCH; name each relationship once", rel.at)
            seen.add(rel.variable)
            known = outer.get(rel.variable)
            if known is not None and (
                rel.length or path.kind != "plain" or known.kind not in {"relationship", "value"}
            ):
                self.fail(f"variable '{rel.variable}' already exists; choose another name", rel.at)
            kind = "relationships" if rel.length is not None else "relationship"
            inner[rel.variable] = known or Kind(kind, names)
        if path.variable is not None:
            self.new_name(path.variable, inner, path.at)
            inner[path.variable] = Kind("path")

    def pattern_values(self, path: ast.PathPattern, scope: Variables) -> None:
        members = [(node.properties, Kind("node", self.labels(node.groups))) for node in path.nodes]
        members += [(rel.properties, Kind("relationship", self.types(rel.types))) for rel in path.relationships]
        for properties, kind in members:
            for key, value in properties.entries if properties else ():
                self.property_name(kind, key, properties.at if properties else path.at)
                self.expression(value, scope)

    def projection(self, clause: ast.Projection, scope: Variables) -> dict[str, Kind]:
        if clause.star and not scope:
            self.fail("there is nothing to return: * stands for the variables, and there are none", clause.at)
        after: dict[str, Kind] = dict(scope) if clause.star else {}
        for item in clause.items:
            self.expression(item.expression, scope, aggregates=True)
            if not clause.final and not item.aliased and not isinstance(item.expression, ast.Variable):
                self.fail(f"give '{item.name}' a name with AS; WITH passes on names only", item.at)
            if item.name in after:
                self.fail(f"two columns are named '{item.name}'; give one another name with AS", item.at)
            is_variable = isinstance(item.expression, ast.Variable)
            after[item.name] = scope.get(item.expression.name, VALUE) if is_variable else VALUE  # type: ignore[attr-defined]
        grouped = any(aggregates_in(item.expression) for item in clause.items)
        if grouped:
            self.mixed_items(clause)
        self.order(clause, scope, after, settled=grouped or clause.distinct)
        for amount in (clause.skip, clause.limit):
            if amount is not None:
                self.expression(amount, {})
        if clause.where is not None:
            self.hint_lost(clause.where, scope, after)
            self.expression(clause.where, after)
        return after

    def hint_lost(self, where: ast.Expression, before: Variables, after: Variables) -> None:
        for part in ast.walk(where):
            if isinstance(part, ast.Variable) and part.name in before and part.name not in after:
                self.fail(f"'{part.name}' is not passed on by this WITH; add it: WITH {part.name}, …", part.at)

    def mixed_items(self, clause: ast.Projection) -> None:
        """Beside an aggregate only grouping keys may stand."""
        keys = [item for item in clause.items if not aggregates_in(item.expression)]

        def drop(part: ast.Expression) -> ast.Expression | None:
            known = is_aggregate(part) or any(part == key.expression for key in keys)
            return ast.Literal(None, at=part.at) if known else None

        bound = {p.variable for i in clause.items for p in ast.walk(i.expression)
                 if isinstance(p, ast.ListComprehension | ast.Quantifier)}  # fmt: skip
        for item in clause.items:
            if not aggregates_in(item.expression):
                continue
            for part in ast.walk(substitute(item.expression, drop)):
                if isinstance(part, ast.Variable) and part.name not in bound:
                    self.fail(
                        f"'{part.name}' stands beside an aggregate; return it as a column of its own, "
                        f"or aggregate in a WITH first",
                        part.at,
                    )

    def order(self, clause: ast.Projection, scope: Variables, after: Variables, settled: bool) -> None:
        expressions = [item.expression for item in clause.items]
        visible = after if settled else {**scope, **after}

        def drop(part: ast.Expression) -> ast.Expression | None:
            return ast.Literal(None, at=part.at) if part in expressions else None

        for key in clause.order:
            rest = substitute(key.expression, drop)
            if settled:
                for part in ast.walk(rest):
                    if is_aggregate(part):
                        self.fail("sort by an aggregate that is also returned: give it a name with AS", key.at)
                    if isinstance(part, ast.Variable) and part.name in scope and part.name not in after:
                        self.fail(
                            f"after DISTINCT or an aggregate, sort only by what is returned, not by '{part.name}'",
                            part.at,
                        )
            self.expression(rest, visible)

    # expressions

    def expression(self, part: ast.Expression, scope: Variables, aggregates: bool = False) -> None:
        """Check an expression. `aggregates` says that an aggregate may stand in it."""
        match part:
            case ast.Variable(name):
                if name not in scope:
                    self.unknown("variable", name, scope, part.at, "variables here")
            case ast.Parameter(name):
                if name not in self.parameters:
                    given = [f"${p}" for p in self.parameters]
                    self.unknown("parameter", f"${name}", given, part.at, "parameters given")
            case ast.HasLabels(variable, groups):
                self.expression(variable, scope)
                for group in groups:
                    if scope[variable.name].kind == "relationship":
                        self.types(group)
                    else:
                        self.labels((group,))
            case ast.ListComprehension() | ast.Quantifier():
                self.comprehension(part, scope, aggregates)
            case ast.PatternPredicate() | ast.PatternComprehension() | ast.Subquery():
                self.subquery(part, scope)
            case _:
                self.parts(part, scope, aggregates)

    def parts(self, part: ast.Expression, scope: Variables, aggregates: bool) -> None:
        inside = aggregates
        if isinstance(part, ast.FunctionCall):
            self.function_name(part, aggregates)
            inside = aggregates and not is_aggregate(part)
        for child in ast.children(part):
            if isinstance(child, ast.Expression):
                self.expression(child, scope, inside)
        if isinstance(part, ast.Property) and isinstance(part.subject, ast.Variable):
            self.property_name(scope[part.subject.name], part.key, part.at)

    def comprehension(self, part: ast.ListComprehension | ast.Quantifier, scope: Variables, aggregates: bool) -> None:
        self.expression(part.source, scope, aggregates)
        inner = {**scope, part.variable: self.element(part.source, scope)}
        if part.where is not None:
            self.expression(part.where, inner)
        if isinstance(part, ast.ListComprehension) and part.projection is not None:
            self.expression(part.projection, inner)

    def subquery(self, part: ast.PatternPredicate | ast.PatternComprehension | ast.Subquery, scope: Variables) -> None:
        if isinstance(part, ast.Subquery):
            inner = dict(scope)
            for match in part.matches:
                inner = self.match(match, inner)
            return
        if isinstance(part, ast.PatternComprehension):
            inner = self.match(ast.Match(False, (part.path,), part.where, at=part.at), scope)
            self.expression(part.projection, inner)
            return
        named = [(node.variable, node.at) for node in part.path.nodes]
        named += [(rel.variable, rel.at) for rel in part.path.relationships]
        for name, at in named:
            if name is not None and name not in scope:
                known = "a pattern in a condition binds nothing new; variables here"
                self.unknown("variable", name, scope, at, known)
        self.match(ast.Match(False, (part.path,), None, at=part.at), scope)

    def element(self, source: ast.Expression, scope: Variables) -> Kind:
        """What the members of a list are, as far as its text shows."""
        if isinstance(source, ast.FunctionCall):
            return {"nodes": Kind("node"), "relationships": Kind("relationship")}.get(source.name.lower(), VALUE)
        if isinstance(source, ast.Variable) and scope[source.name].kind == "relationships":
            return Kind("relationship", scope[source.name].names)
        return VALUE
