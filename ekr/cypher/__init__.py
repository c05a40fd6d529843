"""A read-only subset of Cypher over the graph of a store, compiled to DuckDB."""

from __future__ import annotations

from ekr.cypher.compile import CompiledQuery, compile_query
from ekr.cypher.errors import CypherError, CypherMemory, CypherTimeout
from ekr.cypher.execute import Limits, QueryResult, harden, run
from ekr.cypher.results import Node, Path, Relationship
from ekr.cypher.schema import GraphSchema, read_connections

__all__ = [
    "CompiledQuery",
    "CypherError",
    "CypherMemory",
    "CypherTimeout",
    "GraphSchema",
    "Limits",
    "Node",
    "Path",
    "QueryResult",
    "Relationship",
    "compile_query",
    "harden",
    "read_connections",
    "run",
]
