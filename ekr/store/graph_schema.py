"""The tables of the graph, the two views that graph queries read, and what a deleted document takes with it."""

# ruff: noqa: S608 - the statements are put together from our own names; every value is bound

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from ekr.store.writer import Writer

STRUCTURAL_TYPES = ("MENTIONS", "DEFINES", "REFERS_TO", "PART_OF", "IN_COMMUNITY")

# What extraction gave for each document, from which the rest is built.
RAW_TABLES = ("extractions", "extracted")
RESOLVED_TABLES = (
    "entities",
    "entity_names",
    "entity_chunks",
    "mentions",
    "relations",
    "relation_evidence",
    "links",
    "communities",
    "community_members",
)

VIEW_NAMES = ("kg_nodes", "kg_edges")
# Rows of these are counted when the graph is noted as resolved.
COUNTED = ("extracted", *RESOLVED_TABLES, "graph_vectors")

TABLES = """
CREATE TABLE IF NOT EXISTS extractions (
    document_id VARCHAR NOT NULL, chunk_id VARCHAR NOT NULL, value VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS extracted (
    document_id VARCHAR NOT NULL, extractor VARCHAR NOT NULL, definitions VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS entities (
    id VARCHAR NOT NULL, key VARCHAR NOT NULL, name VARCHAR NOT NULL, labels VARCHAR[] NOT NULL,
    description VARCHAR NOT NULL, aliases VARCHAR[] NOT NULL, mentions INTEGER NOT NULL, chunks INTEGER NOT NULL,
    relations INTEGER NOT NULL, defined BOOLEAN NOT NULL, pagerank DOUBLE NOT NULL);
CREATE TABLE IF NOT EXISTS entity_names (
    key VARCHAR NOT NULL, text VARCHAR NOT NULL, entity_id VARCHAR NOT NULL, term BOOLEAN NOT NULL,
    defined BOOLEAN NOT NULL, unit BOOLEAN NOT NULL);
CREATE TABLE IF NOT EXISTS entity_chunks (
    entity_id VARCHAR NOT NULL, chunk_id VARCHAR NOT NULL, mentions INTEGER NOT NULL, defines BOOLEAN NOT NULL,
    position BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS mentions (
    entity_id VARCHAR NOT NULL, chunk_id VARCHAR NOT NULL, start_offset INTEGER NOT NULL, end_offset INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS relations (
    id VARCHAR NOT NULL, source_id VARCHAR NOT NULL, target_id VARCHAR NOT NULL, type VARCHAR NOT NULL,
    description VARCHAR NOT NULL, weight DOUBLE NOT NULL);
CREATE TABLE IF NOT EXISTS relation_evidence (
    relation_id VARCHAR NOT NULL, chunk_id VARCHAR NOT NULL, start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS links (
    type VARCHAR NOT NULL, source_kind VARCHAR NOT NULL, source_id VARCHAR NOT NULL, target_kind VARCHAR NOT NULL,
    target_id VARCHAR NOT NULL, count INTEGER NOT NULL, in_degree INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS communities (
    id VARCHAR NOT NULL, level INTEGER NOT NULL, parent_id VARCHAR, title VARCHAR NOT NULL, summary VARCHAR NOT NULL,
    text VARCHAR NOT NULL, size INTEGER NOT NULL, weight DOUBLE NOT NULL, report_by VARCHAR NOT NULL,
    findings VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS community_members (
    community_id VARCHAR NOT NULL, entity_id VARCHAR NOT NULL, rank INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS graph_vectors (kind VARCHAR NOT NULL, id VARCHAR NOT NULL, text_hash VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS graph_state (key VARCHAR NOT NULL, value VARCHAR NOT NULL);
"""

_STRUCTURAL = ", ".join(f"'{name}'" for name in STRUCTURAL_TYPES)

# A relation that a text states never passes for a structural one: it gets a prefix.
VIEWS = f"""
CREATE OR REPLACE VIEW kg_nodes AS
SELECT id, list_append(labels, 'Entity') AS labels, name, description, NULL::VARCHAR AS text, aliases, mentions,
    chunks, relations, defined, pagerank, NULL::VARCHAR AS document, NULL::INTEGER AS page, NULL::VARCHAR AS language,
    NULL::VARCHAR AS format, NULL::INTEGER AS level, NULL::INTEGER AS size
FROM entities
UNION ALL BY NAME
SELECT c.id, ['Chunk'] AS labels, c.heading AS name, c.text, d.display AS document, c.page_start AS page, c.language
FROM chunks c JOIN documents d ON d.id = c.document_id
UNION ALL BY NAME
SELECT id, ['Document'] AS labels, title AS name, display AS document, language, format FROM documents
UNION ALL BY NAME
SELECT id, ['Community'] AS labels, title AS name, summary AS description, text, level, size FROM communities;
CREATE OR REPLACE VIEW kg_edges AS
SELECT id, source_id AS src, target_id AS dst,
    CASE WHEN type IN ({_STRUCTURAL}) THEN 'STATED_' || type ELSE type END AS type, description, weight
FROM relations
UNION ALL BY NAME
SELECT 'mentions:' || chunk_id || ':' || entity_id AS id, chunk_id AS src, entity_id AS dst, 'MENTIONS' AS type,
    mentions::DOUBLE AS weight
FROM entity_chunks WHERE mentions > 0
UNION ALL BY NAME
SELECT 'defines:' || chunk_id || ':' || entity_id AS id, chunk_id AS src, entity_id AS dst, 'DEFINES' AS type
FROM entity_chunks WHERE defines
UNION ALL BY NAME
SELECT 'refers:' || l.source_id || ':' || l.target_id AS id, l.source_id AS src,
    coalesce(p.first_chunk, l.target_id) AS dst, 'REFERS_TO' AS type, l.count::DOUBLE AS weight
FROM links l LEFT JOIN (SELECT parent_id, arg_min(id, ordinal) AS first_chunk FROM chunks GROUP BY parent_id) p
    ON l.target_kind = 'parent' AND p.parent_id = l.target_id
WHERE l.type = 'REFERS_TO' AND (l.target_kind = 'chunk' OR p.first_chunk IS NOT NULL)
UNION ALL BY NAME
SELECT 'part:' || id AS id, id AS src, document_id AS dst, 'PART_OF' AS type FROM chunks
UNION ALL BY NAME
SELECT 'part:' || id AS id, id AS src, parent_id AS dst, 'PART_OF' AS type FROM communities WHERE parent_id IS NOT NULL
UNION ALL BY NAME
SELECT 'member:' || community_id || ':' || entity_id AS id, entity_id AS src, community_id AS dst,
    'IN_COMMUNITY' AS type
FROM community_members;
"""


class GraphTables:
    """The graph's part of a store: made with every generation, cleared of every document that is deleted."""

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the tables where they do not exist, and the views."""
        connection.execute(TABLES)
        connection.execute(VIEWS)

    def delete_documents(self, writer: Writer, document_ids: Sequence[str]) -> None:
        """Remove what was extracted from the documents and what of the graph nothing else supports.

        Texts that were composed from several documents are made anew when the graph is next resolved.
        """
        connection = writer.connection
        forget_resolution(connection)
        ids = [list(document_ids)]
        for table in RAW_TABLES:
            connection.execute(f"DELETE FROM {table} WHERE document_id IN (SELECT unnest(?))", ids)
        connection.execute("CREATE OR REPLACE TEMP TABLE gone (id VARCHAR)")
        for table in ("chunks", "parents"):
            connection.execute(f"INSERT INTO gone SELECT id FROM {table} WHERE document_id IN (SELECT unnest(?))", ids)
        for table in ("mentions", "entity_chunks", "relation_evidence"):
            connection.execute(f"DELETE FROM {table} WHERE chunk_id IN (SELECT id FROM gone)")
        removed = {
            "entities": _delete(connection, "entities", "id NOT IN (SELECT entity_id FROM entity_chunks)"),
            "relations": _delete(
                connection,
                "relations",
                "id NOT IN (SELECT relation_id FROM relation_evidence) OR source_id NOT IN (SELECT id FROM entities) "
                "OR target_id NOT IN (SELECT id FROM entities)",
            ),
        }
        connection.execute("INSERT INTO gone SELECT unnest(?::VARCHAR[])", [removed["entities"]])
        connection.execute("DELETE FROM relation_evidence WHERE relation_id NOT IN (SELECT id FROM relations)")
        connection.execute("DELETE FROM entity_names WHERE entity_id NOT IN (SELECT id FROM entities)")
        connection.execute("DELETE FROM mentions WHERE entity_id NOT IN (SELECT id FROM entities)")
        connection.execute("DELETE FROM links WHERE source_id IN (FROM gone) OR target_id IN (FROM gone)")
        connection.execute("DELETE FROM community_members WHERE entity_id NOT IN (SELECT id FROM entities)")
        removed["reports"] = _delete(
            connection,
            "communities",
            "id NOT IN (SELECT community_id FROM community_members GROUP BY community_id HAVING count(*) > 1)",
        )
        connection.execute("DELETE FROM community_members WHERE community_id NOT IN (SELECT id FROM communities)")
        connection.execute(
            "UPDATE communities SET size = left_over.members FROM "
            "(SELECT community_id, count(*) AS members FROM community_members GROUP BY community_id) left_over "
            "WHERE left_over.community_id = communities.id AND size <> left_over.members"
        )
        connection.execute("DROP TABLE gone")
        for table, lost in removed.items():
            remove_vectors(writer, table, lost)


def _delete(connection: duckdb.DuckDBPyConnection, table: str, condition: str) -> list[str]:
    return [row[0] for row in connection.execute(f"DELETE FROM {table} WHERE {condition} RETURNING id").fetchall()]


def remove_vectors(writer: Writer, kind: str, ids: Iterable[str]) -> None:
    """Remove vectors of entities, relations or reports, and the notes of what was embedded."""
    connection = writer.connection
    query = "DELETE FROM graph_vectors WHERE kind = ? AND id IN (SELECT unnest(?)) RETURNING id"
    lost = [row[0] for row in connection.execute(query, [kind, list(ids)]).fetchall()]
    if lost:
        writer.delete_vectors(kind, lost)


def forget_resolution(connection: duckdb.DuckDBPyConnection) -> None:
    """Note that the graph no longer holds what the documents say."""
    connection.execute("DELETE FROM graph_state")


def count_rows(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows of each of `COUNTED`."""
    query = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in COUNTED)
    return dict(connection.execute(query).fetchall())


def forget_vectors(connection: duckdb.DuckDBPyConnection) -> None:
    """Note that nothing of the graph is embedded any more."""
    connection.execute("DELETE FROM graph_vectors")
    forget_resolution(connection)
