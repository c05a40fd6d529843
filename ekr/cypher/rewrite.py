"""Small questions about expressions, and replacing parts of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

from ekr.cypher import ast

AGGREGATES = frozenset(
    ("count", "sum", "avg", "min", "max", "collect", "stdev", "stdevp", "percentilecont", "percentiledisc")
)

T = TypeVar("T", bound=ast.Expression)


def is_aggregate(part: object) -> bool:
    """Whether this very part is an aggregate call."""
    return isinstance(part, ast.FunctionCall) and part.name.lower() in AGGREGATES


def aggregates_in(expression: object) -> list[ast.FunctionCall]:
    """The outermost aggregate calls in an expression, in order."""
    found: list[ast.FunctionCall] = []
    pending = [expression]
    while pending:
        part = pending.pop()
        if is_aggregate(part):
            found.append(part)  # type: ignore[arg-type]
        else:
            pending.extend(reversed(ast.children(part)))
    return found


def conjuncts(expression: ast.Expression | None) -> list[ast.Expression]:
    """The parts that must all hold."""
    if expression is None:
        return []
    if isinstance(expression, ast.Logical) and expression.operator == "AND":
        return [part for operand in expression.operands for part in conjuncts(operand)]
    return [expression]


def names_in(part: object) -> set[str]:
    """Every variable name that occurs below, also those of patterns."""
    names: set[str] = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Variable):
            names.add(node.name)
        elif isinstance(node, ast.NodePattern | ast.RelationshipPattern | ast.PathPattern) and node.variable:
            names.add(node.variable)
    return names


def referenced_names(query: ast.Query) -> set[str]:
    """Variables that something beside the one pattern that binds them mentions (or that a * stands for)."""
    parts = ast.walk(query)
    bound = Counter(p.variable for p in parts if isinstance(p, ast.RelationshipPattern | ast.PathPattern) if p.variable)
    if any(isinstance(p, ast.Projection) and p.star for p in parts):
        return set(bound)
    return {p.name for p in parts if isinstance(p, ast.Variable)} | {name for name, n in bound.items() if n > 1}


def substitute(expression: T, choose: Callable[[ast.Expression], ast.Expression | None]) -> T:
    """A copy in which every part for which `choose` gives another expression is that one (outermost first)."""
    return _rebuild(expression, choose)  # type: ignore[no-any-return]


def _rebuild(part: Any, choose: Callable[[ast.Expression], ast.Expression | None]) -> Any:
    if isinstance(part, tuple):
        return tuple(_rebuild(p, choose) for p in part)
    if not isinstance(part, ast.Node):
        return part
    if isinstance(part, ast.Expression):
        chosen = choose(part)
        if chosen is not None:
            return chosen
    changed = {f.name: _rebuild(getattr(part, f.name), choose) for f in fields(part) if f.name != "at"}
    return replace(part, **changed)
