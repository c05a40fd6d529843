"""Checks of single names against the live schema: labels, types, properties, functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ekr.cypher import ast
from ekr.cypher.compile.functions import FUNCTIONS
from ekr.cypher.errors import CypherError, Position, unknown_name
from ekr.cypher.rewrite import AGGREGATES
from ekr.cypher.schema import GraphSchema

_AGGREGATE_NAMES = (
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "collect",
    "stDev",
    "stDevP",
    "percentileCont",
    "percentileDisc",
)
_ROLES = {"label": "labels(n)", "labels": "labels(n)", "type": "type(r)"}


@dataclass(frozen=True)
class Kind:
    """What a variable is: node, relationship, path, relationships or value, and its known labels or types."""

    kind: str
    names: frozenset[str] = frozenset()


VALUE = Kind("value")
Variables = Mapping[str, Kind]


class NameChecker:
    """Raises CypherError, with the nearest valid name, for a name that is not there."""

    def __init__(self, schema: GraphSchema, parameters: Mapping[str, Any], text: str) -> None:
        self.schema = schema
        self.parameters = parameters
        self.text = text

    def fail(self, problem: str, at: Position) -> NoReturn:
        raise CypherError(problem, at, self.text)

    def unknown(self, kind: str, name: str, candidates: Iterable[str], at: Position, known: str) -> NoReturn:
        raise unknown_name(kind, name, candidates, at, self.text, known)

    def labels(self, groups: Sequence[ast.Names]) -> frozenset[str]:
        """The labels that a node with these groups may have; empty when nothing is known."""
        known: frozenset[str] = frozenset()
        for group in groups:
            here: set[str] = set()
            for name in group:
                found = self.schema.resolve_labels(name.text)
                if not found:
                    self.unknown("label", name.text, self.schema.labels, name.at, "labels")
                here.update(found)
            known = frozenset(here) if not known else known | here if self.schema.labels_are_lists else known & here
        return known

    def types(self, names: ast.Names) -> frozenset[str]:
        known: set[str] = set()
        for name in names:
            found = self.schema.resolve_types(name.text)
            if not found:
                self.unknown("relationship type", name.text, self.schema.types, name.at, "types")
            known.update(found)
        return frozenset(known)

    def property_name(self, kind: Kind, key: str, at: Position) -> None:
        if kind.kind in {"path", "relationships"}:
            self.fail(f"'{key}' is no property of a path; go through nodes(p) or relationships(p)", at)
        if kind.kind == "value":
            return
        is_node = kind.kind == "node"
        found = self.schema.node_property(key) if is_node else self.schema.edge_property(key)
        view = self.schema.nodes if is_node else self.schema.edges
        present = self.schema.label_properties if is_node else self.schema.type_properties
        here = [p for p in view.properties if not kind.names or any(p in present.get(n, ()) for n in kind.names)]
        if found is None:
            if key in _ROLES:
                self.fail(f"'{key}' is no property; write {_ROLES[key]}", at)
            self.unknown("property", key, here, at, "properties")
        if found != "id" and found not in here:
            owners = " or ".join(sorted(kind.names)[:4])
            self.unknown(f"property of {owners}", key, here, at, "properties")

    def function_name(self, call: ast.FunctionCall, aggregates: bool) -> None:
        """Check that a function exists, may stand here and gets as many arguments as it takes."""
        name = call.name.lower()
        known = FUNCTIONS.get(name)
        if name in AGGREGATES:
            if not aggregates:
                self.fail(
                    f"{call.name}() is an aggregate; use it in WITH or RETURN, then filter with WITH … WHERE", call.at
                )
            wanted = 0 if call.star else 2 if name.startswith("percentile") else 1
            if len(call.arguments) != wanted:
                self.fail(
                    f"{call.name}() takes {wanted} argument{'s' * (wanted != 1)}, not {len(call.arguments)}", call.at
                )
        elif known is None:
            names = [f.usage.split("(")[0] for f in FUNCTIONS.values()]
            self.unknown("function", call.name, [*names, *_AGGREGATE_NAMES], call.at, "functions")
        else:
            count = len(call.arguments)
            if count < known.least or (known.most is not None and count > known.most):
                self.fail(f"{call.name}() takes other arguments: {known.usage}", call.at)
            if call.distinct:
                self.fail(f"DISTINCT belongs to an aggregate, not to {call.name}()", call.at)
