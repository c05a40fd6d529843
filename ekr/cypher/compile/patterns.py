"""MATCH: patterns to joins.

Fixed parts become one SELECT. A variable-length part needs its start nodes first, so the SELECT so far is
stored, the walks from its start nodes are computed, and a new SELECT joins them (see walks.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from ekr.cypher import ast
from ekr.cypher.compile import entities, expressions, operators, values, walks
from ekr.cypher.compile.context import FROM_END, TO_END, Select, Sql, label_test, names_sql
from ekr.cypher.rewrite import conjuncts, names_in
from ekr.cypher.types import BOOLEAN, NODE, PATH, RELATIONSHIP, list_of


@dataclass
class PatternNode:
    """All occurrences of one node in a MATCH. `place` is the SQL of its id once it is joined."""

    variable: str | None
    groups: list[ast.Names] = field(default_factory=list)
    properties: list[ast.MapLiteral] = field(default_factory=list)
    place: str | None = None
    filtered: bool = False


@dataclass
class Segment:
    """One relationship of a pattern. `edge` is the SQL of its id (of its id list when it is a walk)."""

    pattern: ast.RelationshipPattern
    left: str
    right: str
    kind: str
    types: frozenset[str] | None
    named_path: bool
    done: bool = False
    edge: str = ""
    nodes: str = ""

    @property
    def is_walk(self) -> bool:
        return self.pattern.length is not None or self.kind != "plain"


def compile_match(state: Select, match: ast.Match, insensitive: bool) -> Select:
    """`state` extended by a MATCH. `insensitive` says that only the set of result rows matters, not how many."""
    if match.optional:
        return _optional(state, match, insensitive)
    return _Matcher(state, match, insensitive).run()


def _optional(state: Select, match: ast.Match, insensitive: bool) -> Select:
    context = state.context
    row = context.fresh("row")
    closed = state.close(extra=[f"row_number() OVER () AS {row}"], materialized=True)
    base = state.follow(closed)
    known = set(base.variables)
    inner = state.follow(closed)
    inner.order = []
    inner.variables[f"~{row}"] = Sql(f"{closed.name}.{row}", BOOLEAN)
    found = _Matcher(inner, match, insensitive, fresh_table=True).run()
    stored = found.close()
    moved = found.follow(stored)
    base.sources[0] = (
        f"({closed.name} LEFT JOIN {stored.name} ON {moved.variables[f'~{row}'].text} = {closed.name}.{row})"
    )
    for name, sql in moved.variables.items():
        if name not in known and name != f"~{row}":
            base.variables[name] = sql
    return base


class _Matcher:
    """Compiles one MATCH clause."""

    def __init__(self, state: Select, match: ast.Match, insensitive: bool, fresh_table: bool = False) -> None:
        self.context = state.context
        self.match = match
        self.insensitive = insensitive
        if state.is_unit() or fresh_table:
            self.select = state
        else:
            self.select = state.follow(state.close())
        self.nodes: dict[str, PatternNode] = {}
        self.segments: list[Segment] = []
        self.paths: list[tuple[ast.PathPattern, list[str], list[Segment]]] = []
        self.pending = conjuncts(match.where)
        self._collect()

    def _collect(self) -> None:
        for path in self.match.paths:
            keys = [self._node(node) for node in path.nodes]
            named = path.variable is not None and path.variable in self.context.referenced
            segments = []
            for (left, right), rel in zip(pairwise(keys), path.relationships, strict=True):
                names = [t for name in rel.types for t in self.context.schema.resolve_types(name.text)]
                kinds = frozenset(names) if names else None
                segments.append(Segment(rel, left, right, path.kind, kinds, named))
            self.segments += segments
            self.paths.append((path, keys, segments))
        for key, node in self.nodes.items():
            if node.variable is None:
                continue
            found = self.select.find(node.variable)
            if found is not None:
                values.require(found[0], {"Node"}, f"'{key}' in a node pattern", self.match.at, self.select)
                node.place = found[0].text

    def _node(self, pattern: ast.NodePattern) -> str:
        key = pattern.variable or self.context.fresh("~")
        node = self.nodes.setdefault(key, PatternNode(pattern.variable))
        node.groups += pattern.groups
        if pattern.properties:
            node.properties.append(pattern.properties)
        return key

    def run(self) -> Select:
        walks_left = [s for s in self.segments if s.is_walk]
        if walks_left:
            self._place(self._start(walks_left))
            while walks_left:
                near = [s for s in walks_left if self._is_placed(s.left) or self._is_placed(s.right)]
                if not near:
                    self._place(self._start(walks_left))
                    continue
                segment = near[0]
                walks_left.remove(segment)
                self._walk(segment)
                self._place(segment.left)
                self._place(segment.right)
        for key in self.nodes:
            self._place(key)
        self._paths()
        self._filter(final=True)
        return self.select

    def _is_placed(self, key: str) -> bool:
        return self.nodes[key].place is not None

    # fixed parts

    def _place(self, key: str) -> None:
        """Join everything that is connected to a node by single relationships."""
        component, pending = [], [key]
        while pending:
            current = pending.pop()
            if current in component:
                continue
            component.append(current)
            for s in self.segments:
                if not s.is_walk and current in (s.left, s.right):
                    pending += [s.left, s.right]
        for segment in self.segments:
            if not segment.is_walk and not segment.done and segment.left in component:
                self._edge(segment)
        for name in component:
            self._finish_node(name)
        self._filter()

    def _finish_node(self, key: str) -> None:
        node = self.nodes[key]
        if node.filtered:
            return
        node.filtered = True
        if node.place is None:
            alias = self.context.fresh("n")
            self.select.sources.append(f"{self.context.schema.nodes.relation} {alias}")
            self._at(node, f"{alias}.id")
            self.select.rows["node", f"{alias}.id"] = alias
        elif not any(key in (s.left, s.right) for s in self.segments) and node.place not in self.select.certain:
            self.select.conditions.append(f"{node.place} IS NOT NULL")
        if node.groups or node.properties:
            assert node.place is not None
            self.select.certain.add(node.place)
            alias = self.select.row("node", node.place)
            self.select.conditions += label_test(self.context, alias, node.groups)
            for properties in node.properties:
                self._properties(Sql(node.place, NODE), properties)

    def _at(self, node: PatternNode, place: str) -> None:
        """Say that a node's id is `place`: its first place defines it, every other must equal it."""
        if node.place is not None:
            self.select.conditions.append(f"{place} = {node.place}")
            return
        node.place = place
        self.select.certain.add(place)
        if node.variable is not None:
            self.select.variables[node.variable] = Sql(place, NODE)

    def _properties(self, subject: Sql, properties: ast.MapLiteral) -> None:
        for key, value in properties.entries:
            left = entities.property_of(subject, self.select, key, properties.at, self.select)
            right = expressions.compile_expression(value, self.select)
            self.select.conditions.append(operators.compare(left, "=", right, value.at, self.select))

    def _edge(self, segment: Segment) -> None:
        segment.done = True
        pattern, select = segment.pattern, self.select
        alias = self.context.fresh("e")
        relation = self.context.schema.edges.relation
        if pattern.direction == "both":
            select.sources.append(f"({walks.both_ways(relation)}) {alias}")
            left, right = f"{alias}.{FROM_END}", f"{alias}.{TO_END}"
        else:
            select.sources.append(f"{relation} {alias}")
            left, right = (f"{alias}.src", f"{alias}.dst")[:: 1 if pattern.direction == "out" else -1]
        segment.edge = f"{alias}.id"
        select.rows["edge", segment.edge] = alias
        select.certain.add(segment.edge)
        if segment.types is not None:
            select.conditions.append(f"{alias}.type IN {names_sql(self.context, sorted(segment.types))}")
        bound = select.find(pattern.variable) if pattern.variable else None
        if bound is not None:
            values.require(
                bound[0], {"Relationship"}, f"'{pattern.variable}' in a relationship pattern", pattern.at, select
            )
            select.conditions.append(f"{segment.edge} = {bound[0].text}")
        elif pattern.variable:
            select.variables[pattern.variable] = Sql(segment.edge, RELATIONSHIP)
        self._at(self.nodes[segment.left], left)
        self._at(self.nodes[segment.right], right)
        if pattern.properties:
            self._properties(Sql(segment.edge, RELATIONSHIP), pattern.properties)
        self._unique(segment)

    def _unique(self, segment: Segment) -> None:
        """No relationship occurs twice in the matches of one MATCH."""
        for other in self.segments:
            plain = other.kind == segment.kind == "plain"
            if other is segment or not other.edge or not plain or not _may_share(segment, other):
                continue
            if segment.is_walk and other.is_walk:
                test = f"NOT list_has_any({segment.edge}, {other.edge})"
            elif segment.is_walk or other.is_walk:
                many, one = (segment.edge, other.edge) if segment.is_walk else (other.edge, segment.edge)
                test = f"NOT list_contains({many}, {one})"
            else:
                test = f"{segment.edge} <> {other.edge}"
            self.select.conditions.append(test)

    # variable-length parts

    def _start(self, left: list[Segment]) -> str:
        """The end of a walk from which the fewest nodes are expected."""
        ends = [key for s in left for key in (s.left, s.right)]
        return max(ends, key=self._selectivity)

    def _selectivity(self, key: str) -> float:
        """A rough order: known node, property equal to something, other condition, rare label, anything."""
        score = 0.0
        component = self._component(key)
        for name in component:
            node = self.nodes[name]
            weight = 1.0 if name == key else 0.5
            if node.place is not None:
                score = max(score, 4 * weight)
            if node.properties:
                score = max(score, 3 * weight)
            for part in self.pending:
                if node.variable and names_in(part) == {node.variable}:
                    equality = isinstance(part, ast.Comparison) and part.rest[0][0] == "="
                    score = max(score, (3 if equality else 2) * weight)
            if node.groups:
                schema = self.context.schema
                total = max(1, sum(schema.labels.values()))
                least = min(
                    sum(schema.labels[label] for n in g for label in schema.resolve_labels(n.text)) for g in node.groups
                )
                score = max(score, (1 - least / total) * weight)
        return score

    def _component(self, key: str) -> list[str]:
        found = [key]
        for name in found:
            for s in self.segments:
                if not s.is_walk and name in (s.left, s.right):
                    found += [k for k in (s.left, s.right) if k not in found]
        return found

    def _walk(self, segment: Segment) -> None:
        backwards = not self._is_placed(segment.left)
        if self._is_placed(segment.left) and self._is_placed(segment.right):
            backwards = self._selectivity(segment.right) > self._selectivity(segment.left)
        start, end = (segment.right, segment.left) if backwards else (segment.left, segment.right)
        seeds = self._seeds(start)
        pattern = segment.pattern
        used = pattern.variable is not None and pattern.variable in self.context.referenced
        alone = not any(o is not segment and o.kind == "plain" and _may_share(segment, o) for o in self.segments)
        kind = segment.kind
        least = pattern.length.least if pattern.length else 1
        if kind == "plain" and self.insensitive and alone and least <= 1 and not used and not segment.named_path:
            kind = "reach"
        walk = walks.compile_walk(
            self.select, seeds, pattern, segment.types, kind, backwards, with_nodes=segment.named_path
        )
        self.select.sources.append(walk.table)
        self.select.conditions.append(f"{walk.table}.start = {self.nodes[start].place}")
        self._at(self.nodes[end], f"{walk.table}.node")
        segment.done = True
        segment.nodes = walk.nodes
        if walk.edges:
            segment.edge = walk.edges
            if pattern.variable:
                is_one = pattern.length is None
                edge = f"list_extract({walk.edges}, 1)" if is_one else walk.edges
                kind_of = RELATIONSHIP if is_one else list_of(RELATIONSHIP)
                self.select.variables[pattern.variable] = Sql(edge, kind_of)
            self._unique(segment)

    def _seeds(self, key: str) -> str:
        """SQL that gives the distinct ids of a node; stores what is joined so far when it depends on it."""
        place = self.nodes[key].place
        if not self.select.sources:
            return f"SELECT {place} AS id"
        carry = [n.place for n in self.nodes.values() if n.place is not None]
        carry += [text for s in self.segments for text in (s.edge, s.nodes) if text]
        outer = {n.place for n in self.nodes.values() if n.variable and n.variable not in self.select.variables}
        closed = self.select.close([text for text in carry if text not in outer])
        self.select = self.select.follow(closed)
        for node in self.nodes.values():
            node.place = closed.moved.get(node.place or "", node.place)
        for segment in self.segments:
            segment.edge = closed.moved.get(segment.edge, segment.edge)
            segment.nodes = closed.moved.get(segment.nodes, segment.nodes)
        return f"SELECT DISTINCT {self.nodes[key].place} AS id FROM {closed.name}"  # noqa: S608

    # what needs everything

    def _paths(self) -> None:
        for path, keys, segments in self.paths:
            if path.variable is None or path.variable not in self.context.referenced:
                continue
            nodes, edges = [f"[{self.nodes[keys[0]].place}]"], []
            for segment, key in zip(segments, keys[1:], strict=True):
                nodes.append(f"({segment.nodes})[2:]" if segment.is_walk else f"[{self.nodes[key].place}]")
                edges.append(segment.edge if segment.is_walk else f"[{segment.edge}]")
            empty = f"CAST([] AS {self.context.schema.id_type}[])"
            text = f"struct_pack(nodes := {' || '.join(nodes)}, relationships := {' || '.join(edges) or empty})"
            self.select.variables[path.variable] = Sql(text, PATH)

    def _filter(self, final: bool = False) -> None:
        """Apply the conditions of WHERE whose variables are all there."""
        own = set(self.nodes) | {s.pattern.variable for s in self.segments if s.pattern.variable}
        own |= {path.variable for path, _, _ in self.paths if path.variable}
        waiting = []
        for part in self.pending:
            needed = names_in(part) & own
            if final or all(self.select.find(name) for name in needed):
                self.select.conditions.append(expressions.condition(part, self.select))
            else:
                waiting.append(part)
        self.pending = waiting


def _may_share(one: Segment, other: Segment) -> bool:
    return one.types is None or other.types is None or bool(one.types & other.types)
