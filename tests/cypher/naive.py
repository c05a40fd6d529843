"""A matcher that follows the definition of Cypher literally, on Python objects: no SQL, no cleverness.

It shares nothing with the compiler but the parser's tree. `None` is null; conditions are True, False or None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ekr.cypher import ast
from ekr.cypher.parser import parse

AGGREGATES = {"count", "sum", "avg", "min", "max", "collect"}


@dataclass(frozen=True)
class N:
    id: str
    labels: tuple[str, ...] = field(compare=False)
    properties: dict[str, Any] = field(compare=False, hash=False)


@dataclass(frozen=True)
class R:
    id: str
    type: str = field(compare=False)
    start: str = field(compare=False)
    end: str = field(compare=False)
    properties: dict[str, Any] = field(compare=False, hash=False)


@dataclass(frozen=True)
class P:
    nodes: tuple[N, ...]
    relationships: tuple[R, ...]


@dataclass
class Graph:
    nodes: dict[str, N]
    relationships: list[R]


Row = dict[str, Any]


class TooBig(Exception):
    """The query makes more rows than a literal evaluation can go through in a test."""


MOST_ROWS = 2_000


def evaluate(graph: Graph, text: str, parameters: dict[str, Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of a query."""
    query = parse(text)
    machine = Machine(graph, parameters)
    columns: list[str] = []
    rows: list[tuple[Any, ...]] = []
    for part in query.parts:
        names, found = machine.single(part)
        columns = columns or names
        order = [names.index(c) for c in columns]
        rows += [tuple(row[i] for i in order) for row in found]
    if len(query.parts) > 1 and not query.keep_duplicates:
        rows = list({repr_key(row): row for row in rows}.values())
    return columns, rows


def repr_key(value: Any) -> str:
    """Equal for values that DISTINCT merges."""
    if isinstance(value, list | tuple):
        return "[" + ",".join(repr_key(v) for v in value) + "]"
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return f"#{float(value)!r}"
    if isinstance(value, N | R):
        return f"<{value.id}>"
    if isinstance(value, P):
        return repr_key([value.nodes, value.relationships])
    return repr(value)


class Machine:
    def __init__(self, graph: Graph, parameters: dict[str, Any]) -> None:
        self.graph = graph
        self.parameters = parameters

    # clauses

    def single(self, query: ast.SingleQuery) -> tuple[list[str], list[list[Any]]]:
        rows: list[Row] = [{}]
        names: list[str] = []
        for clause in query.clauses:
            if isinstance(clause, ast.Match):
                matched: list[Row] = []
                for row in rows:
                    matched += self.match(clause, row)
                    if len(matched) > MOST_ROWS:
                        raise TooBig
                rows = matched
            elif isinstance(clause, ast.Unwind):
                rows = [{**row, clause.variable: v} for row in rows for v in self.unwind(clause, row)]
            else:
                names, rows = self.project(clause, rows)
        return names, [[row[n] for n in names] for row in rows]

    def unwind(self, clause: ast.Unwind, row: Row) -> list[Any]:
        value = self.value(clause.source, row)
        return [] if value is None else value if isinstance(value, list) else [value]

    def match(self, clause: ast.Match, row: Row) -> list[Row]:
        found = []
        for tried, out in enumerate(self.paths(list(clause.paths), row, frozenset())):
            if tried > MOST_ROWS:
                raise TooBig
            if clause.where is None or self.value(clause.where, out) is True:
                found.append(out)
        if found or not clause.optional:
            return found
        names = {
            part.variable
            for path in clause.paths
            for part in (path, *path.nodes, *path.relationships)
            if part.variable is not None
        }
        return [{**dict.fromkeys(names - set(row)), **row}]

    def paths(self, paths: list[ast.PathPattern], row: Row, used: frozenset[str]) -> Iterator[Row]:
        if not paths:
            yield row
            return
        first, *rest = paths
        source = self.shortest(first, row) if first.kind != "plain" else self.chain(first, row, used)
        for bound, now_used in source:
            yield from self.paths(rest, bound, used | now_used)

    def chain(self, path: ast.PathPattern, row: Row, used: frozenset[str]) -> Iterator[tuple[Row, frozenset[str]]]:
        for node in self.graph.nodes.values():
            start = self.bind_node(path.nodes[0], node, row)
            if start is not None:
                yield from self.extend(path, 0, node, start, used, (node,), ())

    def extend(
        self,
        path: ast.PathPattern,
        at: int,
        node: N,
        row: Row,
        used: frozenset[str],
        nodes: tuple[N, ...],
        rels: tuple[R, ...],
    ) -> Iterator[tuple[Row, frozenset[str]]]:
        if at == len(path.relationships):
            yield ({**row, path.variable: P(nodes, rels)} if path.variable else row), used
            return
        pattern = path.relationships[at]
        length = pattern.length or ast.Range(1, 1)
        for steps, ends in self.trails(pattern, node, row, used, length):
            bound = dict(row)
            if pattern.variable is not None:
                value: Any = list(steps) if pattern.length else steps[0]
                if pattern.variable in row and row[pattern.variable] != value:
                    continue
                bound[pattern.variable] = value
            last = ends[-1] if ends else node
            after = self.bind_node(path.nodes[at + 1], last, bound)
            if after is not None:
                taken = used | {r.id for r in steps}
                yield from self.extend(path, at + 1, last, after, taken, nodes + ends, rels + steps)

    def trails(
        self, pattern: ast.RelationshipPattern, node: N, row: Row, used: frozenset[str], length: ast.Range
    ) -> Iterator[tuple[tuple[R, ...], tuple[N, ...]]]:
        if length.least == 0:
            yield (), ()
        if length.most == 0:
            return
        for rel, other in self.steps(pattern, node):
            if rel.id in used or not self.fits(pattern, rel, row):
                continue
            rest = ast.Range(max(0, length.least - 1), None if length.most is None else length.most - 1)
            for rels, nodes in self.trails(pattern, other, row, used | {rel.id}, rest):
                yield (rel, *rels), (other, *nodes)

    def steps(self, pattern: ast.RelationshipPattern, node: N) -> Iterator[tuple[R, N]]:
        for rel in self.graph.relationships:
            if pattern.direction in {"out", "both"} and rel.start == node.id:
                yield rel, self.graph.nodes[rel.end]
            if pattern.direction in {"in", "both"} and rel.end == node.id:
                if pattern.direction == "both" and rel.start == rel.end:
                    continue
                yield rel, self.graph.nodes[rel.start]

    def fits(self, pattern: ast.RelationshipPattern, rel: R, row: Row) -> bool:
        if pattern.types and rel.type.lower() not in {t.text.lower() for t in pattern.types}:
            return False
        return self.has_properties(pattern.properties, rel.properties, row)

    def has_properties(self, wanted: ast.MapLiteral | None, properties: dict[str, Any], row: Row) -> bool:
        entries = wanted.entries if wanted else ()
        return all(equal(properties.get(k), self.value(v, row)) is True for k, v in entries)

    def bind_node(self, pattern: ast.NodePattern, node: N, row: Row) -> Row | None:
        if pattern.variable in row and row[pattern.variable] != node:
            return None
        labels = {label.lower() for label in node.labels}
        if any(not labels & {name.text.lower() for name in group} for group in pattern.groups):
            return None
        bound = {**row, pattern.variable: node} if pattern.variable else row
        return bound if self.has_properties(pattern.properties, node.properties, bound) else None

    def shortest(self, path: ast.PathPattern, row: Row) -> Iterator[tuple[Row, frozenset[str]]]:
        """The shortest walk for each pair of ends (all of them for allShortestPaths)."""
        rel = path.relationships[0]
        marked = ast.PathPattern("~path", path.nodes, path.relationships, at=path.at)
        best: dict[tuple[str, str], list[Row]] = {}
        for found, _ in self.chain(marked, row, frozenset()):
            walk = found["~path"]
            key = (walk.nodes[0].id, walk.nodes[-1].id)
            size = len(walk.relationships)
            if key[0] == key[1] and size > 0:
                continue
            if key not in best or len(best[key][0]["~path"].relationships) > size:
                best[key] = [found]
            elif len(best[key][0]["~path"].relationships) == size:
                best[key].append(found)
        for rows in best.values():
            for found in rows if path.kind == "all_shortest" else rows[:1]:
                walk = found.pop("~path")
                if path.variable:
                    found[path.variable] = walk
                if rel.variable:
                    found[rel.variable] = list(walk.relationships)
                yield found, frozenset()

    # projections

    def project(self, clause: ast.Projection, rows: list[Row]) -> tuple[list[str], list[Row]]:
        items = list(clause.items)
        if clause.star:
            names = list(rows[0]) if rows else []
            items = [ast.Item(ast.Variable(n, at=clause.at), n, False, at=clause.at) for n in names] + items
        grouped = any(has_aggregate(i.expression) for i in items)
        pairs: list[tuple[Row, Row]] = []
        if grouped:
            keys = [i for i in items if not has_aggregate(i.expression)]
            groups: dict[str, list[Row]] = {}
            for row in rows:
                groups.setdefault(repr_key([self.value(i.expression, row) for i in keys]), []).append(row)
            if not keys and not groups:
                groups[""] = []
            for members in groups.values():
                first = members[0] if members else {}
                out = {i.name: self.value(i.expression, first, members) for i in items}
                pairs.append((out, {**first, **out}))
        else:
            for row in rows:
                out = {i.name: self.value(i.expression, row) for i in items}
                pairs.append((out, {**row, **out}))
        names = [i.name for i in items]
        if clause.distinct:
            pairs = list({repr_key([out[n] for n in names]): (out, seen) for out, seen in pairs}.values())
        for key in reversed(clause.order):
            matching = [i.name for i in items if i.expression == key.expression]

            def sort_value(pair: tuple[Row, Row], key: ast.SortKey = key, matching: list[str] = matching) -> Any:
                value = pair[0][matching[0]] if matching else self.value(key.expression, pair[1])
                return order_key(value)

            pairs.sort(key=sort_value, reverse=key.descending)
        skip = self.value(clause.skip, {}) if clause.skip else 0
        limit = self.value(clause.limit, {}) if clause.limit else None
        pairs = pairs[skip : None if limit is None else skip + limit]
        kept = [out for out, _ in pairs]
        if clause.where is not None:
            kept = [row for row in kept if self.value(clause.where, row) is True]
        return names, kept

    # expressions

    def value(self, part: ast.Expression, row: Row, group: list[Row] | None = None) -> Any:  # noqa: PLR0911, PLR0912
        def of(inner: ast.Expression) -> Any:
            return self.value(inner, row, group)

        match part:
            case ast.Literal(value):
                return value
            case ast.Parameter(name):
                return self.parameters[name]
            case ast.Variable(name):
                return row[name]
            case ast.Property(subject, key):
                owner = of(subject)
                return None if owner is None else owner.properties.get(key)
            case ast.ListLiteral(items):
                return [of(i) for i in items]
            case ast.Unary(operator, operand):
                value = of(operand)
                if value is None:
                    return None
                return (not value) if operator == "NOT" else -value if operator == "-" else value
            case ast.Logical(operator, operands):
                return logical(operator, [of(o) for o in operands])
            case ast.Comparison(first, rest):
                answers, left = [], of(first)
                for operator, operand in rest:
                    right = of(operand)
                    answers.append(compare(operator, left, right))
                    left = right
                return logical("AND", answers)
            case ast.IsNull(operand, negated):
                return (of(operand) is None) != negated
            case ast.Binary(operator, left_part, right_part):
                return binary(operator, of(left_part), of(right_part))
            case ast.HasLabels(variable, groups):
                node = of(variable)
                if node is None:
                    return None
                own = {x.lower() for x in (node.labels if isinstance(node, N) else (node.type,))}
                return all(own & {n.text.lower() for n in g} for g in groups)
            case ast.Index(subject, index):
                items, place = of(subject), of(index)
                if items is None or place is None:
                    return None
                return items[place] if -len(items) <= place < len(items) else None
            case ast.Slice(subject, start, end):
                items = of(subject)
                low, high = (of(start) if start else 0), (of(end) if end else len(items or []))
                return None if None in (items, low, high) else items[low:high]
            case ast.Case(subject, branches, otherwise):
                for when, then in branches:
                    hit = of(when) if subject is None else equal(of(subject), of(when))
                    if hit is True:
                        return of(then)
                return of(otherwise) if otherwise else None
            case ast.ListComprehension(variable, source, where, projection):
                items = of(source)
                if items is None:
                    return None
                kept = [i for i in items if where is None or self.value(where, {**row, variable: i}) is True]
                return [self.value(projection, {**row, variable: i}) for i in kept] if projection else kept
            case ast.Quantifier(kind, variable, source, where):
                items = of(source)
                if items is None:
                    return None
                return quantify(kind, [self.value(where, {**row, variable: i}) for i in items])
            case ast.PatternPredicate(path):
                return any(True for _ in self.paths([path], row, frozenset()))
            case ast.PatternComprehension(path, where, projection):
                return [
                    self.value(projection, found)
                    for found in self.paths([path], row, frozenset())
                    if where is None or self.value(where, found) is True
                ]
            case ast.Subquery(kind, matches):
                rows = [row]
                for clause in matches:
                    rows = [out for each in rows for out in self.match(clause, each)]
                return bool(rows) if kind == "exists" else len(rows)
            case ast.FunctionCall():
                if part.name.lower() in AGGREGATES:
                    return self.aggregate(part, group or [])
                return self.function(part.name.lower(), [of(a) for a in part.arguments])
        raise AssertionError(part)

    def aggregate(self, call: ast.FunctionCall, group: list[Row]) -> Any:
        if call.star:
            return len(group)
        values = [v for v in (self.value(call.arguments[0], row) for row in group) if v is not None]
        if call.distinct:
            values = list({repr_key(v): v for v in values}.values())
        return {
            "count": len,
            "collect": list,
            "sum": sum,
            "avg": lambda v: sum(v) / len(v) if v else None,
            "min": lambda v: min(v, default=None),
            "max": lambda v: max(v, default=None),
        }[call.name.lower()](values)

    def function(self, name: str, args: list[Any]) -> Any:
        if name == "coalesce":
            return next((a for a in args if a is not None), None)
        if name == "exists":
            return args[0] if isinstance(args[0], bool) else args[0] is not None
        if any(a is None for a in args):
            return None
        functions: dict[str, Callable[..., Any]] = {
            "id": lambda x: x.id,
            "labels": lambda n: list(n.labels),
            "type": lambda r: r.type,
            "startnode": lambda r: self.graph.nodes[r.start],
            "endnode": lambda r: self.graph.nodes[r.end],
            "keys": lambda x: [k for k, v in x.properties.items() if v is not None],
            "nodes": lambda p: list(p.nodes),
            "relationships": lambda p: list(p.relationships),
            "length": lambda p: len(p.relationships),
            "size": len,
            "head": lambda v: v[0] if v else None,
            "last": lambda v: v[-1] if v else None,
            "tail": lambda v: v[1:],
            "range": lambda a, b, s=1: list(range(a, b + (1 if s > 0 else -1), s)),
            "reverse": lambda v: v[::-1],
            "tolower": str.lower,
            "toupper": str.upper,
            "trim": lambda s: s.strip(" "),
            "replace": str.replace,
            "split": str.split,
            "substring": lambda s, a, n=None: s[a:] if n is None else s[a : a + n],
            "left": lambda s, n: s[:n],
            "right": lambda s, n: s[max(0, len(s) - n) :],
            "tostring": lambda v: str(v).lower() if isinstance(v, bool) else str(v),
            "tointeger": to_integer,
            "tofloat": to_float,
            "abs": abs,
            "ceil": lambda v: float(math.ceil(v)),
            "floor": lambda v: float(math.floor(v)),
            "round": lambda v: float(math.floor(v + 0.5)),
            "sign": lambda v: (v > 0) - (v < 0),
            "sqrt": lambda v: math.sqrt(v) if v >= 0 else math.nan,
        }
        return functions[name](*args)


def has_aggregate(expression: ast.Expression) -> bool:
    return any(isinstance(p, ast.FunctionCall) and p.name.lower() in AGGREGATES for p in ast.walk(expression))


def to_integer(value: Any) -> int | None:
    number = to_float(value)
    return None if number is None else math.trunc(number)


def to_float(value: Any) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def logical(operator: str, operands: list[Any]) -> Any:
    if operator == "AND":
        return False if False in operands else None if None in operands else True
    if operator == "OR":
        return True if True in operands else None if None in operands else False
    return None if None in operands else sum(operands) % 2 == 1


def equal(left: Any, right: Any) -> Any:
    return None if left is None or right is None else left == right


def compare(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    return {
        "=": lambda: left == right,
        "<>": lambda: left != right,
        "<": lambda: left < right,
        "<=": lambda: left <= right,
        ">": lambda: left > right,
        ">=": lambda: left >= right,
    }[operator]()


def binary(operator: str, left: Any, right: Any) -> Any:
    if operator == "IN":
        if right is None:
            return None
        return logical("OR", [equal(left, item) for item in right]) if right else False
    if left is None or right is None:
        return None
    if operator == "+" and (isinstance(left, list) or isinstance(right, list)):
        return (left if isinstance(left, list) else [left]) + (right if isinstance(right, list) else [right])
    if operator == "+" and (isinstance(left, str) or isinstance(right, str)):
        return f"{left}{right}"
    whole = isinstance(left, int) and isinstance(right, int)
    return {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: math.trunc(left / right) if whole else left / right,
        "%": lambda: int(math.fmod(left, right)) if whole else math.fmod(left, right),
        "^": lambda: float(left) ** right,
        "CONTAINS": lambda: right in left,
        "STARTS WITH": lambda: left.startswith(right),
        "ENDS WITH": lambda: left.endswith(right),
        "=~": lambda: re.fullmatch(right, left) is not None,
    }[operator]()


def quantify(kind: str, answers: list[Any]) -> Any:
    if kind == "any":
        return logical("OR", answers) if answers else False
    if kind == "none":
        return quantify("any", answers) if quantify("any", answers) is None else not quantify("any", answers)
    if kind == "all":
        return logical("AND", answers) if answers else True
    hits = answers.count(True)
    return False if hits > 1 else None if None in answers else hits == 1


def order_key(value: Any) -> tuple[int, Any]:
    """Null is the largest value; nodes and relationships sort by id."""
    if value is None:
        return (1, 0)
    if isinstance(value, N | R):
        return (0, value.id)
    if isinstance(value, list):
        return (0, [order_key(v) for v in value])
    return (0, value)
