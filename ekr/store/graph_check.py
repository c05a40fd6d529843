"""Cross-checks of the graph's tables, against each other and against the documents."""

# ruff: noqa: S608 - the statements are put together from our own names; every value is bound

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Literal

import duckdb

from ekr.store.graph_schema import COUNTED, RAW_TABLES, VIEW_NAMES, count_rows
from ekr.store.schema import tables_of

# (table, column, the table and column in which its values must be)
RAW_ORPHANS = (
    ("extractions", "document_id", "documents", "id"),
    ("extractions", "chunk_id", "chunks", "id"),
    ("extracted", "document_id", "documents", "id"),
)
_RESOLVED_ORPHANS = (
    ("entity_names", "entity_id", "entities", "id"),
    ("entity_chunks", "entity_id", "entities", "id"),
    ("entity_chunks", "chunk_id", "chunks", "id"),
    ("mentions", "entity_id", "entities", "id"),
    ("mentions", "chunk_id", "chunks", "id"),
    ("relations", "source_id", "entities", "id"),
    ("relations", "target_id", "entities", "id"),
    ("relation_evidence", "relation_id", "relations", "id"),
    ("relation_evidence", "chunk_id", "chunks", "id"),
    ("communities", "parent_id", "communities", "id"),
    ("community_members", "community_id", "communities", "id"),
    ("community_members", "entity_id", "entities", "id"),
)
# Of a document that is noted as extracted, every passage must be.
INCOMPLETE = (
    "(SELECT count(*) FROM chunks c WHERE c.document_id = extracted.document_id) > "
    "(SELECT count(*) FROM extractions e WHERE e.document_id = extracted.document_id)"
)
RAW_UNIQUE = (("extracted", "document_id"), ("extractions", "chunk_id"))
_RESOLVED_UNIQUE = (
    ("entities", "id"),
    ("entities", "key"),
    ("relations", "id"),
    ("communities", "id"),
)
# What an entity's own numbers must be, by column.
_TOTALS = {
    "mentions": "SELECT entity_id AS id, count(*) AS found FROM mentions GROUP BY entity_id",
    "chunks": "SELECT entity_id AS id, count(*) AS found FROM entity_chunks WHERE mentions > 0 GROUP BY entity_id",
    "relations": "SELECT id, count(*) AS found FROM (SELECT source_id AS id FROM relations UNION ALL "
    "SELECT target_id FROM relations WHERE target_id <> source_id) GROUP BY id",
}
_ENDS = {"chunk": "chunks", "parent": "parents", "entity": "entities"}
_VECTORS_FOR = {"entities": "entities", "relations": "relations", "reports": "communities"}


def check_graph(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Literal["rows", "graph"]]]:
    """One line for each thing that is wrong in the rows.

    With each line what puts it right: "rows" of extraction to be removed, or the "graph" resolved anew.
    """
    present = tables_of(cursor)
    lost = [table for table in ("extractions", *COUNTED, "graph_state") if table not in present]
    for table in lost:
        yield f"the table {table} is missing", "rows" if table in RAW_TABLES else "graph"
    if lost:
        return
    views = {row[0] for row in cursor.execute("SELECT view_name FROM duckdb_views()").fetchall()}
    for view in VIEW_NAMES:
        if view not in views:
            yield f"the view {view} is missing", "graph"
    partly = _number(cursor, f"SELECT count(*) FROM extracted WHERE {INCOMPLETE}")
    if partly:
        yield f"{partly} documents of which extractions are missing", "rows"
    for message in _repeated(cursor, RAW_UNIQUE):
        yield message, "rows"
    for message in _orphans(cursor, RAW_ORPHANS):
        yield message, "rows"
    for message in _check_resolved(cursor):
        yield message, "graph"
    state = dict(cursor.execute("SELECT key, value FROM graph_state").fetchall())
    if "resolved" in state:
        yield from _check_counts(cursor, state.get("rows"))


def unfinished(cursor: duckdb.DuckDBPyConnection, extractor: str) -> list[str]:
    """A remark where the graph is not yet that of every document: an ingest was cut off, or no embedder was there."""
    if extractor == "none" or not {"extracted", "graph_state"} <= tables_of(cursor):
        return []
    waiting = _number(cursor, "SELECT count(*) FROM documents WHERE id NOT IN (SELECT document_id FROM extracted)")
    documents = _number(cursor, "SELECT count(*) FROM documents")
    resolved = _number(cursor, "SELECT count(*) FROM graph_state WHERE key = 'resolved'")
    if not documents or (resolved and not waiting):
        return []
    return [f"the graph is not finished ({waiting} documents wait to be extracted); run ekr ingest again"]


def _check_counts(
    cursor: duckdb.DuckDBPyConnection, noted: str | None
) -> Iterator[tuple[str, Literal["rows", "graph"]]]:
    try:
        # A store of an earlier ekr has noted no counts.
        expected = dict(json.loads(noted)) if noted else {}
    except (ValueError, TypeError):
        yield "the noted numbers of rows cannot be read", "graph"
        return
    for table, count in count_rows(cursor).items():
        if count != expected.get(table, count):
            repair: Literal["rows", "graph"] = "rows" if table in RAW_TABLES else "graph"
            yield f"{table} has {count} rows, not the {expected[table]} that were written", repair
    for column, counted in _TOTALS.items():
        wrong = _number(
            cursor,
            f"SELECT count(*) FROM entities LEFT JOIN ({counted}) AS counted USING (id) "
            f"WHERE entities.{column} <> coalesce(counted.found, 0)",
        )
        if wrong:
            yield f"{wrong} entities whose number of {column} is wrong", "graph"
    for table in ("mentions", "relation_evidence"):
        outside = _number(
            cursor,
            f"SELECT count(*) FROM {table} t JOIN chunks c ON c.id = t.chunk_id "
            "WHERE t.start_offset < 0 OR t.end_offset < t.start_offset OR t.end_offset > length(c.text)",
        )
        if outside:
            yield f"{outside} rows of {table} that lie outside the text of their passage", "graph"


def _check_resolved(cursor: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield from _repeated(cursor, _RESOLVED_UNIQUE)
    yield from _orphans(cursor, _RESOLVED_ORPHANS)
    for kind, owner in _ENDS.items():
        for end in ("source", "target"):
            condition = f"{end}_kind = '{kind}' AND {end}_id NOT IN (SELECT id FROM {owner})"
            lost = _number(cursor, f"SELECT count(*) FROM links WHERE {condition}")
            if lost:
                yield f"{lost} links whose {end} is not in {owner}"
    for kind, owner in _VECTORS_FOR.items():
        condition = f"kind = '{kind}' AND id NOT IN (SELECT id FROM {owner})"
        lost = _number(cursor, f"SELECT count(*) FROM graph_vectors WHERE {condition}")
        if lost:
            yield f"{lost} embedded {kind} that do not exist"
    yield from _unsupported(cursor)


def _repeated(cursor: duckdb.DuckDBPyConnection, columns: Iterable[tuple[str, str]]) -> Iterator[str]:
    for table, column in columns:
        twice = _number(cursor, f"SELECT count({column}) - count(DISTINCT {column}) FROM {table}")
        if twice:
            yield f"{twice} values of {table}.{column} are in twice"


def _orphans(cursor: duckdb.DuckDBPyConnection, rules: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    for table, column, owner, key in rules:
        lost = _number(cursor, f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT {key} FROM {owner})")
        if lost:
            yield f"{lost} rows of {table} whose {column} is not in {owner}"


def _unsupported(cursor: duckdb.DuckDBPyConnection) -> Iterator[str]:
    bare = _number(cursor, "SELECT count(*) FROM relations WHERE id NOT IN (SELECT relation_id FROM relation_evidence)")
    if bare:
        yield f"{bare} relations without evidence"
    bare = _number(cursor, "SELECT count(*) FROM entities WHERE id NOT IN (SELECT entity_id FROM entity_chunks)")
    if bare:
        yield f"{bare} entities that no chunk mentions or defines"
    small = _number(
        cursor,
        "SELECT count(*) FROM communities WHERE id NOT IN "
        "(SELECT community_id FROM community_members GROUP BY community_id HAVING count(*) > 1)",
    )
    if small:
        yield f"{small} communities of fewer than two members"
    members = "(SELECT count(*) FROM community_members m WHERE m.community_id = c.id)"
    partial = _number(cursor, f"SELECT count(*) FROM communities c WHERE c.size <> {members}")
    if partial:
        yield f"{partial} communities of which members are missing"


def embedded(cursor: duckdb.DuckDBPyConnection, kind: str) -> list[tuple[str, str]]:
    """(id, document id) of each entity, relation or report that must have a vector; the document id is empty."""
    if "graph_vectors" not in tables_of(cursor):
        return []
    return cursor.execute("SELECT id, '' FROM graph_vectors WHERE kind = ?", [kind]).fetchall()


def _number(cursor: duckdb.DuckDBPyConnection, query: str) -> int:
    row = cursor.execute(query).fetchone()
    return int(row[0]) if row else 0
