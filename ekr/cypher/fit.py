"""Patterns that no relationship of the graph can match: a reversed arrow, or a type that joins other labels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ekr.cypher import ast
from ekr.cypher.errors import CypherError
from ekr.cypher.parser import parse
from ekr.cypher.schema import Connection, GraphSchema
from ekr.cypher.types import quote

# Labels at the start, type, labels at the end.
Joined = set[tuple[frozenset[str], str, frozenset[str]]]
_SHOWN = 3
# Types by how they end, in English and French, and verbs that hold for both sides.
_MUTUAL = re.compile(r"(.*_)?(WITH|AVEC)|RELATED_TO|MEET|MARRY|RENCONTRER|EPOUSER")
_LABELLED = re.compile(r"\(\s*([a-z_]\w*|)\s*:[\w|:\s]*", re.IGNORECASE)
_ONE_ARROW = re.compile(r"<?-\s*(?P<inside>\[[^\]\[]*\])?\s*->?")
# A string, or an arrow around a bracket without nested brackets.
_ARROW = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|<?-(\[[^\]\[]*\])->?")


def read_joined(connection: Connection, schema: GraphSchema) -> Joined:
    """Which types join nodes with which labels, each with all labels that one node has."""
    label = quote(schema.label_column)
    listed = label if schema.labels_are_lists else f"[{label}]"
    source, target = (listed.replace(label, f"{a}.{label}") for a in ("a", "b"))
    cursor = connection.cursor()
    try:
        rows = cursor.execute(
            f"SELECT DISTINCT {source}, e.type, {target} FROM {schema.edges.relation} e "  # noqa: S608
            f"JOIN {schema.nodes.relation} a ON a.id = e.src JOIN {schema.nodes.relation} b ON b.id = e.dst"
        ).fetchall()
    finally:
        cursor.close()
    return {(frozenset(a), str(t), frozenset(b)) for a, t, b in rows}


def misfits(text: str, schema: GraphSchema, joined: Joined) -> list[CypherError]:
    """An error, with place and what the type does join, for each relationship pattern that matches nothing.

    Looks at relationships of one step with a type; what stands under NOT may well match nothing, so a negated
    pattern is judged alike: it would exclude nothing. Raises CypherError when the query cannot be parsed.
    """
    return [
        CypherError(_problem(step.types, joined), step.relationship.at, text)
        for step in _steps(text, schema)
        if not _possible(step, step.relationship.direction, joined)
    ]


def turned(text: str, schema: GraphSchema, joined: Joined) -> str:
    """The query with every arrow turned that can match nothing as it points, and something the other way.

    An arrow of types that hold both ways, such as WORK_WITH, loses its direction. Raises CypherError when the query
    cannot be parsed.
    """
    changed = text
    for step in sorted(_steps(text, schema), key=lambda s: -s.relationship.at.offset):
        direction = step.relationship.direction
        other: ast.Direction = "in" if direction == "out" else "out"
        mutual = all(_MUTUAL.fullmatch(type_) for type_ in step.types)
        wrong = not _possible(step, direction, joined) and _possible(step, other, joined)
        if direction == "both" or not (mutual or wrong):
            continue
        start = step.relationship.at.offset
        arrow = _ONE_ARROW.match(changed, start)
        if arrow is not None:
            inside = arrow["inside"]
            new = f"-{inside}-" if mutual else (f"<-{inside}-" if direction == "out" else f"-{inside}->")
            changed = changed[:start] + new + changed[arrow.end() :]
    return changed


def without_impossible_labels(text: str, schema: GraphSchema, joined: Joined) -> str:
    """The query without each label that stands where the type joins one kind of node only, and never that one.

    MENTIONS leaves passages alone, so `(e:Entity)-[:MENTIONS]->(p)` means `(e)-[:MENTIONS]->(p)`. Raises CypherError
    when the query cannot be parsed.
    """
    for step in _steps(text, schema):
        if _possible(step, step.relationship.direction, joined) or step.relationship.direction == "both":
            continue
        outward = step.relationship.direction == "out"
        starts = {a for a, kind, _ in joined if kind in step.types}
        ends = {b for _, kind, b in joined if kind in step.types}
        for at_left, kinds in ((True, starts if outward else ends), (False, ends if outward else starts)):
            groups = step.left if at_left else step.right
            node = step.nodes[0] if at_left else step.nodes[1]
            shape = _LABELLED.match(text, node.at.offset)
            if shape and len(kinds) == 1 and not all(group & next(iter(kinds)) for group in groups):
                changed = text[: node.at.offset] + f"({shape[1]}" + text[shape.end() :]
                return without_impossible_labels(changed, schema, joined)
    return text


def counts_itself(text: str, joined: Joined, key: str = "name") -> CypherError | None:
    """An error where a node is counted beside its own name: that gives 1 for each name and ranks nothing.

    Raises CypherError when the query cannot be parsed.
    """
    query = ast.walk(parse(text))
    labels = _labels_of_variables(part for part in query if isinstance(part, ast.PathPattern))
    for part in query:
        if not isinstance(part, ast.Projection):
            continue
        expressions = [item.expression for item in part.items]
        named = {
            e.subject.name
            for e in expressions
            if isinstance(e, ast.Property) and e.key == key and isinstance(e.subject, ast.Variable)
        }
        for call in expressions:
            if isinstance(call, ast.FunctionCall) and call.name.lower() == "count" and len(call.arguments) == 1:
                counted = call.arguments[0]
                if isinstance(counted, ast.Variable) and counted.name in named:
                    wanted = {name.text for group in labels.get(counted.name, ()) for name in group}
                    ways = sorted({f"(x)-[:{t}]->({counted.name})" for _, t, b in joined if not wanted or wanted & b})
                    return CypherError(
                        f"count({counted.name}) beside {counted.name}.{key} counts each node by itself; count the x of "
                        f"a pattern such as {' or '.join(ways[:_SHOWN])}",
                        call.at,
                        text,
                    )
    return None


@dataclass(frozen=True)
class _Step:
    """A relationship of one step, the groups of labels of which its nodes need one each, and its types."""

    nodes: tuple[ast.NodePattern, ast.NodePattern]
    left: list[set[str]]
    relationship: ast.RelationshipPattern
    right: list[set[str]]
    types: set[str]


def _steps(text: str, schema: GraphSchema) -> list[_Step]:
    paths = [part for part in ast.walk(parse(text)) if isinstance(part, ast.PathPattern)]
    known = _labels_of_variables(paths)
    return [
        _Step(
            (left, right),
            _wanted(left, known, schema),
            rel,
            _wanted(right, known, schema),
            {t for name in rel.types for t in schema.resolve_types(name.text)},
        )
        for path in paths
        for left, rel, right in zip(path.nodes, path.relationships, path.nodes[1:], strict=False)
        if rel.types and rel.length is None
    ]


def without_directions(text: str) -> str:
    """The query with its arrows `-[…]->` and `<-[…]-` left without direction; strings stay as they are."""
    return _ARROW.sub(lambda m: m[0] if m[1] is None else f"-{m[1]}-", text)


def _labels_of_variables(paths: Iterable[ast.PathPattern]) -> dict[str, tuple[ast.Names, ...]]:
    known: dict[str, tuple[ast.Names, ...]] = {}
    for path in paths:
        for node in path.nodes:
            if node.variable is not None:
                known[node.variable] = (*known.get(node.variable, ()), *node.groups)
    return known


def _wanted(node: ast.NodePattern, known: dict[str, tuple[ast.Names, ...]], schema: GraphSchema) -> list[set[str]]:
    groups = known.get(node.variable, ()) if node.variable is not None else node.groups
    return [{label for name in group for label in schema.resolve_labels(name.text)} for group in groups]


def _possible(step: _Step, direction: ast.Direction, joined: Joined) -> bool:
    def fits(start: list[set[str]], end: list[set[str]]) -> bool:
        return any(
            kind in step.types and all(group & a for group in start) and all(group & b for group in end)
            for a, kind, b in joined
        )

    forward = direction != "in" and fits(step.left, step.right)
    return forward or (direction != "out" and fits(step.right, step.left))


def _problem(types: set[str], joined: Joined) -> str:
    name = "|".join(sorted(types))
    ends = sorted({(_name(a), t, _name(b)) for a, t, b in joined if t in types})
    shown = ", ".join(f"(:{a})-[:{t}]->(:{b})" for a, t, b in ends[:_SHOWN])
    return f"no {name} joins these labels in this direction; there are {shown or 'none'}"


def _name(labels: frozenset[str]) -> str:
    specific = sorted(labels - {"Entity"}) or sorted(labels)
    return specific[0]
