"""From Lark's parse tree to the typed syntax tree, bottom-up and without recursion."""

from __future__ import annotations

import re
from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from ekr.cypher import ast
from ekr.cypher.errors import CypherError, Position

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_INTEGER_MAX = 2**63 - 1


def _at(meta: Meta) -> Position:
    return Position(meta.line, meta.column, meta.start_pos)


def _token_at(token: Token) -> Position:
    return Position(token.line or 1, token.column or 1, token.start_pos or 0)


@v_args(meta=True)
class TreeBuilder(Transformer_NonRecursive[Token, ast.Query]):
    """One method a grammar rule; each gets the rule's place and its already built children."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def _error(self, problem: str, position: Position) -> CypherError:
        return CypherError(problem, position, self.text)

    # queries and clauses

    def start(self, meta: Meta, parts: list[Any]) -> ast.Query:
        queries = tuple(p for p in parts if isinstance(p, ast.SingleQuery))
        unions = [p for p in parts if not isinstance(p, ast.SingleQuery)]
        kinds = {keep for keep, _ in unions}
        if len(kinds) > 1:
            raise self._error("UNION and UNION ALL cannot be mixed; use one of them throughout", unions[-1][1])
        return ast.Query(queries, True in kinds, at=_at(meta))

    def union(self, meta: Meta, parts: list[Any]) -> tuple[bool, Position]:
        return bool(parts), _at(meta)

    def single_query(self, meta: Meta, parts: list[Any]) -> ast.SingleQuery:
        return ast.SingleQuery(tuple(parts), at=_at(meta))

    def match(self, meta: Meta, parts: list[Any]) -> ast.Match:
        paths, where = parts
        return ast.Match(False, paths, where, at=_at(meta))

    def optional_match(self, meta: Meta, parts: list[Any]) -> ast.Match:
        paths, where = parts
        return ast.Match(True, paths, where, at=_at(meta))

    def unwind(self, meta: Meta, parts: list[Any]) -> ast.Unwind:
        return ast.Unwind(parts[0], parts[1].text, at=_at(meta))

    def with_clause(self, meta: Meta, parts: list[Any]) -> ast.Projection:
        distinct, (star, items), order, skip, limit, where = parts
        return ast.Projection(False, distinct is not None, star, items, order or (), skip, limit, where, at=_at(meta))

    def return_clause(self, meta: Meta, parts: list[Any]) -> ast.Projection:
        distinct, (star, items), order, skip, limit = parts
        return ast.Projection(True, distinct is not None, star, items, order or (), skip, limit, None, at=_at(meta))

    def projection(self, _meta: Meta, parts: list[Any]) -> tuple[bool, tuple[ast.Item, ...]]:
        return isinstance(parts[0], Token), tuple(p for p in parts if isinstance(p, ast.Item))

    def item(self, meta: Meta, parts: list[Any]) -> ast.Item:
        expression, alias = parts
        name = alias.text if alias else " ".join(self.text[meta.start_pos : meta.end_pos].split())
        if isinstance(expression, ast.Variable) and not alias:
            name = expression.name
        return ast.Item(expression, name, alias is not None, at=_at(meta))

    def order(self, _meta: Meta, parts: list[Any]) -> tuple[ast.SortKey, ...]:
        return tuple(parts)

    def sort_key(self, meta: Meta, parts: list[Any]) -> ast.SortKey:
        expression, direction = parts
        return ast.SortKey(expression, direction is not None and direction.type == "DESCENDING", at=_at(meta))

    def _only(self, _meta: Meta, parts: list[Any]) -> Any:
        return parts[0]

    skip = limit = where = else_ = _only

    # patterns

    def patterns(self, _meta: Meta, parts: list[Any]) -> tuple[ast.PathPattern, ...]:
        return tuple(parts)

    def pattern(self, meta: Meta, parts: list[Any]) -> ast.PathPattern:
        name, _, found = parts
        variable = name.text if name else None
        if isinstance(found, ast.NodePattern):
            return ast.PathPattern(variable, (found,), (), at=_at(meta))
        return ast.PathPattern(variable, found.nodes, found.relationships, found.kind, at=_at(meta))

    def shortest(self, meta: Meta, parts: list[Any]) -> ast.PathPattern:
        opening, found = parts
        if isinstance(found, ast.NodePattern) or len(found.relationships) != 1:
            raise self._error("shortestPath takes two nodes and one relationship: shortestPath((a)-[*]-(b))", _at(meta))
        kind = "all_shortest" if opening.lower().startswith("all") else "shortest"
        return ast.PathPattern(None, found.nodes, found.relationships, kind, at=_at(meta))

    def path(self, meta: Meta, parts: list[Any]) -> ast.PathPattern:
        return ast.PathPattern(None, tuple(parts[::2]), tuple(parts[1::2]), at=_at(meta))

    def node(self, meta: Meta, parts: list[Any]) -> ast.NodePattern:
        name, groups, properties = parts
        return ast.NodePattern(name.text if name else None, groups or (), properties, at=_at(meta))

    def _relationship(self, direction: ast.Direction, meta: Meta, parts: list[Any]) -> ast.RelationshipPattern:
        _, name, types, length, properties, _ = parts
        return ast.RelationshipPattern(
            name.text if name else None, types or (), direction, length, properties, at=_at(meta)
        )

    def rel_in(self, meta: Meta, parts: list[Any]) -> ast.RelationshipPattern:
        return self._relationship("in", meta, parts)

    def rel_out(self, meta: Meta, parts: list[Any]) -> ast.RelationshipPattern:
        return self._relationship("out", meta, parts)

    def rel_both(self, meta: Meta, parts: list[Any]) -> ast.RelationshipPattern:
        return self._relationship("both", meta, parts)

    def rel_bare_in(self, meta: Meta, _parts: list[Any]) -> ast.RelationshipPattern:
        return ast.RelationshipPattern(None, (), "in", None, None, at=_at(meta))

    def rel_bare_out(self, meta: Meta, _parts: list[Any]) -> ast.RelationshipPattern:
        return ast.RelationshipPattern(None, (), "out", None, None, at=_at(meta))

    def rel_bare_both(self, meta: Meta, _parts: list[Any]) -> ast.RelationshipPattern:
        return ast.RelationshipPattern(None, (), "both", None, None, at=_at(meta))

    def length(self, meta: Meta, parts: list[Any]) -> ast.Range:
        _, low, dots, high = parts
        least = self._hops(low, 1)
        if dots is None:
            return ast.Range(least, least if low is not None else None)
        most = self._hops(high, 0) if high is not None else None
        if most is not None and most < least:
            raise self._error(f"the range *{least}..{most} is empty; write the smaller number first", _at(meta))
        return ast.Range(least, most)

    def _hops(self, token: Token | None, default: int) -> int:
        if token is None:
            return default
        if len(token) > 6:
            raise self._error(f"{token[:20]} hops are too many", _token_at(token))
        return int(token)

    def labels(self, _meta: Meta, parts: list[Any]) -> tuple[ast.Names, ...]:
        return tuple(parts)

    def label_group(self, _meta: Meta, parts: list[Any]) -> ast.Names:
        return tuple(parts)

    types = label_group

    # expressions

    def _logical(self, operator: str, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Logical(operator, tuple(parts), at=_at(meta))

    def disjunction(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._logical("OR", meta, parts)

    def exclusive(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._logical("XOR", meta, parts)

    def conjunction(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._logical("AND", meta, parts)

    def not_(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Unary("NOT", parts[0], at=_at(meta))

    def comparison(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        operators = ["<>" if str(o) == "!=" else str(o) for o in parts[1::2]]
        return ast.Comparison(parts[0], tuple(zip(operators, parts[2::2], strict=True)), at=_at(meta))

    def _predicate(self, operator: str, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Binary(operator, parts[0], parts[-1], at=_at(meta))

    def starts_with(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._predicate("STARTS WITH", meta, parts)

    def ends_with(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._predicate("ENDS WITH", meta, parts)

    def contains(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._predicate("CONTAINS", meta, parts)

    def in_(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._predicate("IN", meta, parts)

    def regex(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return self._predicate("=~", meta, parts)

    def is_null(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.IsNull(parts[0], False, at=_at(meta))

    def is_not_null(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.IsNull(parts[0], True, at=_at(meta))

    def binary(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        left, operator, right = parts
        return ast.Binary(str(operator), left, right, at=_at(meta))

    def sign(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        sign, operand = parts
        if isinstance(operand, ast.Literal) and type(operand.value) in (int, float):
            number = operand.value
            return ast.Literal(-number if sign == "-" else number, at=_at(meta))  # type: ignore[operator]
        return ast.Unary(str(sign), operand, at=_at(meta))

    def property(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Property(parts[0], parts[1].text, at=parts[1].at)

    def index(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Index(parts[0], parts[1], at=_at(meta))

    def slice(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Slice(parts[0], parts[1], parts[3], at=_at(meta))

    def variable(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Variable(parts[0].text, at=_at(meta))

    def has_labels(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        name, groups = parts
        return ast.HasLabels(ast.Variable(name.text, at=name.at), groups, at=_at(meta))

    def lone_node(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        """Parentheses around one name, label test or map: only a relationship would make it a pattern."""
        (node,) = parts
        if node.variable and not node.properties:
            variable = ast.Variable(node.variable, at=node.at)
            return ast.HasLabels(variable, node.groups, at=node.at) if node.groups else variable
        if node.properties and not node.variable and not node.groups:
            properties: ast.MapLiteral = node.properties
            return properties
        raise self._error("a pattern used as an expression needs a relationship: (a)-[:TYPE]->(b)", _at(meta))

    def pattern_predicate(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.PatternPredicate(parts[0], at=_at(meta))

    def list_literal(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.ListLiteral(tuple(p for p in parts if p is not None), at=_at(meta))

    def map(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        entries = tuple(p for p in parts if p is not None)
        keys = [key for key, _ in entries]
        if len(set(keys)) < len(keys):
            raise self._error("a map names the same key twice", _at(meta))
        return ast.MapLiteral(entries, at=_at(meta))

    def entry(self, _meta: Meta, parts: list[Any]) -> tuple[str, ast.Expression]:
        return parts[0].text, parts[1]

    def function(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        name, distinct, arguments = parts
        return ast.FunctionCall(name.text, arguments or (), distinct is not None, at=_at(meta))

    def arguments(self, _meta: Meta, parts: list[Any]) -> tuple[ast.Expression, ...]:
        return tuple(parts)

    def count_star(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        name = parts[0]
        if name.text.lower() != "count":
            raise self._error(f"{name.text}(*) does not exist; only count(*) takes a star", name.at)
        return ast.FunctionCall("count", (), star=True, at=_at(meta))

    def case(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        subject, *branches, otherwise = parts
        return ast.Case(subject, tuple(branches), otherwise, at=_at(meta))

    def when(self, _meta: Meta, parts: list[Any]) -> tuple[ast.Expression, ast.Expression]:
        return parts[0], parts[1]

    def quantifier(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        opening, name, source, where = parts
        return ast.Quantifier(opening[:-1].strip().lower(), name.text, source, where, at=_at(meta))

    def list_comprehension(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        name, source, where, projection = parts
        return ast.ListComprehension(name.text, source, where, projection, at=_at(meta))

    def pattern_comprehension(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        name, _, path, where, projection = parts
        named = ast.PathPattern(name.text if name else None, path.nodes, path.relationships, at=path.at)
        return ast.PatternComprehension(named, where, projection, at=_at(meta))

    def exists(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Subquery("exists", parts[0], at=_at(meta))

    def count(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        return ast.Subquery("count", parts[0], at=_at(meta))

    def subquery(self, meta: Meta, parts: list[Any]) -> tuple[ast.Match, ...]:
        *matches, returned = parts
        if returned is not None and (returned.distinct or returned.skip or returned.limit):
            raise self._error("a subquery's RETURN takes no DISTINCT, SKIP or LIMIT; leave it out", returned.at)
        return tuple(matches)

    def bare_subquery(self, meta: Meta, parts: list[Any]) -> tuple[ast.Match, ...]:
        paths, where = parts
        return (ast.Match(False, paths, where, at=_at(meta)),)

    # leaves

    def parameter(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        name = parts[0].text if isinstance(parts[0], ast.Name) else str(parts[0])
        return ast.Parameter(name, at=_at(meta))

    def name(self, meta: Meta, parts: list[Any]) -> ast.Name:
        text = str(parts[0])
        if text.startswith("`"):
            text = text[1:-1].replace("``", "`")
        return ast.Name(text, at=_at(meta))

    label_name = type_name = rel_name = name

    def literal(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        token = parts[0]
        value: ast.Scalar
        if token.type == "INTEGER":
            value = int(token) if len(token) < 20 else _INTEGER_MAX + 1
            if value > _INTEGER_MAX:
                raise self._error("a whole number must fit in 64 bits", _at(meta))
        elif token.type == "FLOAT":
            value = float(token)
        elif token.type == "STRING":
            value = self._string(token)
        else:
            value = {"TRUE": True, "FALSE": False, "NULL": None}[token.type]
        return ast.Literal(value, at=_at(meta))

    def _string(self, token: Token) -> str:
        def replace(match: re.Match[str]) -> str:
            escape = match[1]
            if escape[0] in "uU" and len(escape) > 1:
                code = int(escape[1:], 16)
                if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                    raise self._error(f"\\{escape} is not a character", _token_at(token))
                return chr(code)
            if escape not in _PLAIN_ESCAPES:
                raise self._error(
                    f"unknown escape \\{escape} in a string; write \\\\ for a backslash", _token_at(token)
                )
            return _PLAIN_ESCAPES[escape]

        return _ESCAPE.sub(replace, token[1:-1])
