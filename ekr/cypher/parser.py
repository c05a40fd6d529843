"""Text to syntax tree: Lark's LALR parser on grammar.lark, with errors a person or a model can act on."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable
from importlib.resources import files

import lark
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from ekr.cypher import ast
from ekr.cypher.build import TreeBuilder
from ekr.cypher.errors import CypherError, Position, nearest

MAX_CHARACTERS = 20_000
MAX_DEPTH = 80
MAX_PATTERN_PARTS = 300
MAX_MATCH_PARTS = 41
MAX_CLAUSES = 70

_CLAUSES = ("MATCH", "OPTIONAL MATCH", "WHERE", "WITH", "UNWIND", "RETURN", "ORDER BY", "SKIP", "LIMIT", "UNION")
# Only for the message: what is allowed is what grammar.lark has.
_WRITING = frozenset(
    (
        *("CREATE", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH", "INSERT", "UPDATE"),
        *("LOAD", "CALL", "YIELD", "DROP", "ALTER", "TRUNCATE", "COPY", "EXPORT", "IMPORT", "INSTALL", "ATTACH"),
        *("PRAGMA", "USE", "GRANT", "START", "BEGIN", "COMMIT", "ROLLBACK", "FINISH"),
    )
)
_HINTS = {
    "SELECT": "this is SQL; a query starts with MATCH and ends with RETURN",
    "LIKE": "LIKE is SQL; use CONTAINS, STARTS WITH, ENDS WITH or =~",
    "ILIKE": "ILIKE is SQL; use toLower(x) CONTAINS 'text'",
    "GROUP": "there is no GROUP BY; columns without an aggregate are the groups",
    "HAVING": "there is no HAVING; use WITH … WHERE",
    "FROM": "FROM is SQL; use MATCH (n:Label)",
    "JOIN": "JOIN is SQL; use a pattern (a)-[:TYPE]->(b)",
    "BETWEEN": "BETWEEN is SQL; write a <= x <= b",
    "EXPLAIN": "EXPLAIN is not part of a query; use the --explain option",
    "PROFILE": "PROFILE is not part of a query; use the --explain option",
}
_CLOSING = {"RPAR": ")", "RSQB": "]", "CLOSE": "]", "RBRACE": "}", "_END": "END"}
_NAMES = {"NAME": "a name", "COLON": ":", "EQUALS": "=", "COMMA": ",", "LPAR": "(", "STRING": "a string"}


@functools.cache
def _lark() -> lark.Lark:
    lark.logger.setLevel(logging.WARNING)
    grammar = files("ekr.cypher").joinpath("grammar.lark").read_text(encoding="utf-8")
    return lark.Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def parse(text: str) -> ast.Query:
    """Parse one read-only query. Raises CypherError with the place and what to write instead."""
    if not text.strip():
        raise CypherError("the query is empty; write for example MATCH (n) RETURN n LIMIT 10")
    if len(text) > MAX_CHARACTERS:
        raise CypherError(f"the query has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}")
    _check_characters(text)
    try:
        query = TreeBuilder(text).transform(_lark().parse(text))
    except VisitError as error:
        if isinstance(error.orig_exc, CypherError):
            raise error.orig_exc from None
        raise
    except UnexpectedInput as error:
        raise _syntax_error(error, text) from None
    _check_size(query, text)
    return query


def _check_characters(text: str) -> None:
    for offset, character in enumerate(text):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            line = text.count("\n", 0, offset) + 1
            column = offset - text.rfind("\n", 0, offset)
            raise CypherError(
                f"the query holds an invalid character U+{ord(character):04X}; remove it",
                Position(line, column, offset),
                text,
            )


def _check_size(query: ast.Query, text: str) -> None:
    if ast.depth(query) > MAX_DEPTH:
        raise CypherError(f"the query is nested more than {MAX_DEPTH} levels deep; simplify it", query.at, text)
    parts = ast.walk(query)
    for part in parts:
        if isinstance(part, ast.Match) and (count := _pattern_parts(part.paths)) > MAX_MATCH_PARTS:
            problem = f"this MATCH has {count} nodes and relationships; the limit is {MAX_MATCH_PARTS}"
            raise CypherError(problem, part.at, text)
    if (count := _pattern_parts(parts)) > MAX_PATTERN_PARTS:
        problem = f"the patterns have {count} nodes and relationships; the limit is {MAX_PATTERN_PARTS}"
        raise CypherError(problem, query.at, text)
    clauses = sum(isinstance(p, ast.Match | ast.Unwind | ast.Projection) for p in parts)
    if clauses > MAX_CLAUSES:
        raise CypherError(f"the query has {clauses} clauses; the limit is {MAX_CLAUSES}", query.at, text)


def _pattern_parts(parts: Iterable[object]) -> int:
    return sum(len(p.nodes) + len(p.relationships) for p in parts if isinstance(p, ast.PathPattern))


def _syntax_error(error: UnexpectedInput, text: str) -> CypherError:
    position = Position(max(error.line, 1), max(error.column, 1), max(error.pos_in_stream or 0, 0))
    if isinstance(error, UnexpectedCharacters):
        return CypherError(_unexpected_character(text, position), position, text)
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        return _unexpected_token(error, position, text)
    lines = text.split("\n")
    end = Position(len(lines), len(lines[-1]) + 1, len(text))
    hint = _expected(error).replace(" before it", "") or "a query ends with RETURN"
    return CypherError(f"the query ends too early; {hint}", end, text)


def _unexpected_character(text: str, position: Position) -> str:
    character = text[position.offset] if position.offset < len(text) else ""
    if character in "'\"`":
        return f"the {character} is never closed"
    if character == "$":
        return "a parameter is written $name"
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return f"unexpected character {shown!r}" if character else "the query ends too early"


def _unexpected_token(error: UnexpectedToken, position: Position, text: str) -> CypherError:
    if text.startswith("/*", position.offset):
        return CypherError("the comment /* is never closed", position, text)
    token = str(error.token)
    shown = token if len(token) <= 40 else token[:37] + "..."
    word = token.upper()
    if word in _WRITING and error.token.type == "NAME":
        problem = f"{word} is not allowed: queries are read-only; use {', '.join(_CLAUSES)}"
        return CypherError(problem, position, text)
    if word in _HINTS and error.token.type == "NAME":
        return CypherError(_HINTS[word], position, text)
    keyword = nearest(token, [w for c in _CLAUSES for w in c.split()]) if error.token.type == "NAME" else None
    if keyword and keyword != word:
        return CypherError(f"unexpected '{shown}'; did you mean {keyword}?", position, text, keyword)
    expected = _expected(error)
    return CypherError(f"unexpected '{shown}'" + (f"; {expected}" if expected else ""), position, text)


def _expected(error: UnexpectedInput) -> str:
    """What could stand here, when that is a short list."""
    options: set[str] = set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())
    for terminal, mark in _CLOSING.items():
        if terminal in options:
            return f"is a {mark} missing before it?"
    shown = sorted(_NAMES.get(o, o.lstrip("_")) for o in options - {"$END", "SEMICOLON"})
    return f"expected {' or '.join(shown)}" if 0 < len(shown) <= 4 else ""
