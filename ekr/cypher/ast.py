"""The typed syntax tree of a query. Positions are no part of equality: equal trees mean the same expression."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Literal as OneOf

from ekr.cypher.errors import Position

Scalar = str | int | float | bool | None
Direction = OneOf["out", "in", "both"]


@dataclass(frozen=True)
class Node:
    """Base of every part of the tree that has a place in the text."""

    at: Position = field(compare=False, kw_only=True)


@dataclass(frozen=True)
class Expression(Node):
    """Base of every expression."""


@dataclass(frozen=True)
class Literal(Expression):
    value: Scalar


@dataclass(frozen=True)
class Parameter(Expression):
    name: str


@dataclass(frozen=True)
class Variable(Expression):
    name: str


@dataclass(frozen=True)
class Property(Expression):
    subject: Expression
    key: str


@dataclass(frozen=True)
class Index(Expression):
    subject: Expression
    index: Expression


@dataclass(frozen=True)
class Slice(Expression):
    subject: Expression
    start: Expression | None
    end: Expression | None


@dataclass(frozen=True)
class ListLiteral(Expression):
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class MapLiteral(Expression):
    entries: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Unary(Expression):
    """`operator` is one of NOT, -, +."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    """`operator` is arithmetic (+ - * / % ^) or one of IN, CONTAINS, STARTS WITH, ENDS WITH, =~."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Logical(Expression):
    """AND, OR or XOR over two or more operands."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Comparison(Expression):
    """`first op1 x1 op2 x2 …`: a chain means every neighbouring pair compares so."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class IsNull(Expression):
    operand: Expression
    negated: bool


@dataclass(frozen=True)
class HasLabels(Expression):
    """`variable:A|B:C`: every group must have one of its labels (for a relationship: types)."""

    variable: Variable
    groups: tuple[Names, ...]


@dataclass(frozen=True)
class Name(Node):
    text: str


Names = tuple[Name, ...]


@dataclass(frozen=True)
class FunctionCall(Expression):
    """`name` as written; `star` marks count(*)."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False


@dataclass(frozen=True)
class Case(Expression):
    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True)
class ListComprehension(Expression):
    variable: str
    source: Expression
    where: Expression | None
    projection: Expression | None


@dataclass(frozen=True)
class Quantifier(Expression):
    """`kind` is all, any, none or single."""

    kind: str
    variable: str
    source: Expression
    where: Expression


@dataclass(frozen=True)
class Range:
    """Number of relationships of a variable-length pattern; `most` None means no upper bound."""

    least: int
    most: int | None


@dataclass(frozen=True)
class NodePattern(Node):
    variable: str | None
    groups: tuple[Names, ...]
    properties: MapLiteral | None


@dataclass(frozen=True)
class RelationshipPattern(Node):
    variable: str | None
    types: Names
    direction: Direction
    length: Range | None
    properties: MapLiteral | None


@dataclass(frozen=True)
class PathPattern(Node):
    """Nodes and the relationships between them. `kind` is plain, shortest or all_shortest."""

    variable: str | None
    nodes: tuple[NodePattern, ...]
    relationships: tuple[RelationshipPattern, ...]
    kind: str = "plain"


@dataclass(frozen=True)
class PatternPredicate(Expression):
    path: PathPattern


@dataclass(frozen=True)
class PatternComprehension(Expression):
    path: PathPattern
    where: Expression | None
    projection: Expression


@dataclass(frozen=True)
class Match(Node):
    optional: bool
    paths: tuple[PathPattern, ...]
    where: Expression | None


@dataclass(frozen=True)
class Subquery(Expression):
    """`kind` is exists or count."""

    kind: str
    matches: tuple[Match, ...]


@dataclass(frozen=True)
class Unwind(Node):
    source: Expression
    variable: str


@dataclass(frozen=True)
class Item(Node):
    """One column of WITH or RETURN; `name` is its alias or its text, `aliased` tells which."""

    expression: Expression
    name: str
    aliased: bool


@dataclass(frozen=True)
class SortKey(Node):
    expression: Expression
    descending: bool


@dataclass(frozen=True)
class Projection(Node):
    """WITH (`final` False) or RETURN (`final` True)."""

    final: bool
    distinct: bool
    star: bool
    items: tuple[Item, ...]
    order: tuple[SortKey, ...]
    skip: Expression | None
    limit: Expression | None
    where: Expression | None


Clause = Match | Unwind | Projection


@dataclass(frozen=True)
class SingleQuery(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class Query(Node):
    """Single queries joined by UNION (`keep_duplicates` False) or UNION ALL."""

    parts: tuple[SingleQuery, ...]
    keep_duplicates: bool = False


def children(node: object) -> list[object]:
    """The direct parts of a tree node, in order, looking through tuples."""
    found: list[object] = []
    pending: list[object] = (
        [getattr(node, f.name) for f in fields(node) if f.name != "at"] if is_dataclass(node) else []
    )
    pending.reverse()
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending.extend(reversed(value))
        elif is_dataclass(value):
            found.append(value)
    return found


def depth(root: object) -> int:
    """Levels of the deepest branch, counted without recursion."""
    deepest, pending = 0, [(root, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        pending.extend((child, level + 1) for child in children(node))
    return deepest


def walk(root: object) -> list[object]:
    """Every part of the tree below and including `root`."""
    found, pending = [], [root]
    while pending:
        node = pending.pop()
        found.append(node)
        pending.extend(reversed(children(node)))
    return found
