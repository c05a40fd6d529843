"""Writing the graph: what extraction gave for each document, the graph resolved from it, and its vectors."""

# ruff: noqa: S608 - the statements are put together from our own names; every value is bound

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import duckdb

from ekr.models.base import Vectors
from ekr.store.documents import insert_rows
from ekr.store.graph_schema import RAW_TABLES, RESOLVED_TABLES, count_rows, forget_resolution, remove_vectors

if TYPE_CHECKING:
    from ekr.extraction.communities import Community
    from ekr.extraction.records import Definition, Graph, RawExtraction
    from ekr.extraction.reports import Report
    from ekr.store.writer import Writer

# Part of what a resolved graph is known by: another number makes every store's graph anew from what was extracted.
RESOLUTION_VERSION = 1
_EMBED_BATCH = 512
_FETCH = 2000
_INSERT_BATCH = 2048
_INSERT_REPORTS = 256


def put_extractions(writer: Writer, raws: Sequence[RawExtraction]) -> None:
    """Keep what was found in these chunks; `finish_documents` says when a document is whole."""
    from ekr.extraction.serialise import dump_extraction

    with writer.changing() as connection:
        rows = [(raw.document_id, raw.chunk_id, dump_extraction(raw)) for raw in raws]
        insert_rows(connection, "extractions", rows)


def begin_documents(writer: Writer, document_ids: Sequence[str]) -> None:
    """Drop what was extracted from these documents before."""
    with writer.changing() as connection:
        if document_ids:
            forget_resolution(connection)
        for table in RAW_TABLES:
            connection.execute(f"DELETE FROM {table} WHERE document_id IN (SELECT unnest(?))", [list(document_ids)])


def finish_documents(writer: Writer, extractors: Mapping[str, str], definitions: Mapping[str, str]) -> None:
    """Note by which extractor each document is now extracted, and its definitions as `dump_definitions` gives them."""
    with writer.changing() as connection:
        rows = [(document_id, extractor, definitions[document_id]) for document_id, extractor in extractors.items()]
        insert_rows(connection, "extracted", rows)


def extractors_of(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str | None]]:
    """(document id, language, by which extractor it is extracted or None) of every document, sorted by id."""
    return connection.execute(
        "SELECT d.id, d.language, x.extractor FROM documents d "
        "LEFT JOIN extracted x ON x.document_id = d.id ORDER BY d.id"
    ).fetchall()


def raw_extractions(connection: duckdb.DuckDBPyConnection) -> Iterable[RawExtraction]:
    """What was extracted from the chunks of every document that is extracted as a whole; may be read repeatedly."""
    return _RawExtractions(connection)


class _RawExtractions:
    """Reads them from the store at each iteration: they are never all in memory."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def __iter__(self) -> Iterator[RawExtraction]:
        from ekr.extraction.serialise import load_extraction

        cursor = self._connection.cursor()
        cursor.execute("SELECT value FROM extractions WHERE document_id IN (SELECT document_id FROM extracted)")
        while rows := cursor.fetchmany(_FETCH):
            yield from (load_extraction(row[0]) for row in rows)


def kept_definitions(connection: duckdb.DuckDBPyConnection) -> Iterator[Definition]:
    """Every definition of every document."""
    from ekr.extraction.serialise import load_definitions

    cursor = connection.cursor()
    cursor.execute("SELECT definitions FROM extracted")
    while rows := cursor.fetchmany(_FETCH):
        for row in rows:
            yield from load_definitions(row[0])


def inputs_of(connection: duckdb.DuckDBPyConnection) -> str:
    """A hash of all that the graph is resolved from: which documents, with what content, extracted how."""
    digest = hashlib.sha256(f"{RESOLUTION_VERSION}".encode())
    query = (
        "SELECT d.id, d.content_hash, d.title, coalesce(x.extractor, '') "
        "FROM documents d LEFT JOIN extracted x ON x.document_id = d.id ORDER BY d.id"
    )
    for row in connection.execute(query).fetchall():
        digest.update(("\x1f".join(row) + "\x1e").encode())
    return digest.hexdigest()


def resolved_from(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The hash of what the graph was last resolved from; None when it has to be resolved."""
    row = connection.execute("SELECT value FROM graph_state WHERE key = 'resolved'").fetchone()
    return str(row[0]) if row else None


def note_resolved(writer: Writer, inputs: str) -> None:
    """Keep the hash of what the graph, with all its vectors, was resolved from, and how many rows it then has."""
    with writer.changing() as connection:
        forget_resolution(connection)
        insert_rows(connection, "graph_state", [("resolved", inputs), ("rows", json.dumps(count_rows(connection)))])


def clear_graph(writer: Writer) -> None:
    """Remove the whole graph with its vectors, and what it was made from."""
    with writer.changing() as connection:
        for table in (*RAW_TABLES, *RESOLVED_TABLES, "graph_state"):
            connection.execute(f"DELETE FROM {table}")
        kinds = [row[0] for row in connection.execute("SELECT DISTINCT kind FROM graph_vectors").fetchall()]
        connection.execute("DELETE FROM graph_vectors")
        # Reports quote passages of several documents, so no document takes the answers along.
        connection.execute("DELETE FROM model_calls WHERE document_id IS NULL")
    for kind in kinds:
        writer.delete_vectors(kind, None)


def forget_calls(writer: Writer, kind: str, keep: Iterable[str]) -> None:
    """Remove the kept answers of a model that belong to no document and were not asked for again."""
    with writer.changing() as connection:
        connection.execute(
            "DELETE FROM model_calls WHERE kind = ? AND document_id IS NULL "
            "AND key NOT IN (SELECT unnest(?::VARCHAR[]))",
            [kind, list(keep)],
        )


def replace_graph(
    writer: Writer,
    graph: Graph,
    pageranks: Mapping[str, float],
    communities: Sequence[Community],
    reports: Sequence[Report],
) -> None:
    """Put a resolved graph in the place of the one there is. Vectors are brought in step by `embed_texts`."""
    with writer.changing() as connection:
        forget_resolution(connection)
        for table in RESOLVED_TABLES:
            connection.execute(f"DELETE FROM {table}")
        _insert_entities(connection, graph, pageranks)
        _insert_relations(connection, graph)
        _insert_passages(connection, graph)
        _insert_communities(connection, communities, reports)


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[tuple[Any, ...]], at_once: int = _INSERT_BATCH
) -> None:
    """Add rows in batches: neither they nor their copy in Arrow are ever all in memory."""
    waiting = iter(rows)
    while batch := list(islice(waiting, at_once)):
        insert_rows(connection, table, batch)


def _insert_entities(connection: duckdb.DuckDBPyConnection, graph: Graph, pageranks: Mapping[str, float]) -> None:
    rows = (
        (
            e.id,
            e.key,
            e.name,
            list(e.labels),
            e.description,
            list(e.aliases),
            e.mentions,
            e.chunks,
            e.relations,
            e.defined,
            pageranks[e.id],
        )
        for e in graph.entities
    )
    _insert(connection, "entities", rows)
    names = ((n.key, n.text, n.entity_id, n.term, n.defined, n.unit) for n in graph.names)
    _insert(connection, "entity_names", names)


def _insert_relations(connection: duckdb.DuckDBPyConnection, graph: Graph) -> None:
    relations = ((r.id, r.source_id, r.target_id, r.type, r.description, r.weight) for r in graph.relations)
    _insert(connection, "relations", relations)
    evidence = ((r.id, e.chunk_id, e.start, e.end) for r in graph.relations for e in r.evidence)
    _insert(connection, "relation_evidence", evidence)


def _insert_passages(connection: duckdb.DuckDBPyConnection, graph: Graph) -> None:
    _insert(connection, "mentions", ((m.entity_id, m.chunk_id, m.start, m.end) for m in graph.mentions))
    # A source has one link of a type to a target.
    sources = Counter((link.type, link.target_id) for link in graph.links)
    links = (
        (
            link.type,
            link.source_kind,
            link.source_id,
            link.target_kind,
            link.target_id,
            link.count,
            sources[(link.type, link.target_id)],
        )
        for link in graph.links
    )
    _insert(connection, "links", links)
    connection.execute(
        """INSERT INTO entity_chunks
           WITH places AS (
               SELECT id, parent_id, row_number() OVER (ORDER BY document_id, ordinal) AS position FROM chunks),
           mentioned AS (
               SELECT entity_id, chunk_id, count(*) AS mentions FROM mentions GROUP BY entity_id, chunk_id),
           defined AS (
               SELECT DISTINCT l.target_id AS entity_id, p.id AS chunk_id FROM links l JOIN places p
                   ON l.source_id = CASE l.source_kind WHEN 'chunk' THEN p.id ELSE p.parent_id END
               WHERE l.type = 'DEFINES')
           SELECT entity_id, chunk_id, coalesce(m.mentions, 0), d.chunk_id IS NOT NULL, p.position
           FROM mentioned m FULL JOIN defined d USING (entity_id, chunk_id) JOIN places p ON p.id = chunk_id
           ORDER BY entity_id, p.position"""
    )


def _insert_communities(
    connection: duckdb.DuckDBPyConnection, communities: Sequence[Community], reports: Sequence[Report]
) -> None:
    of_community = {report.community_id: report for report in reports}

    def rows() -> Iterator[tuple[Any, ...]]:
        for c in communities:
            r = of_community[c.id]
            findings = json.dumps([[f.text, list(f.entity_ids)] for f in r.findings], ensure_ascii=False)
            yield (c.id, c.level, c.parent_id, r.title, r.summary, r.text, len(c.members), c.weight, r.by, findings)

    _insert(connection, "communities", rows(), _INSERT_REPORTS)
    members = ((c.id, member, rank) for c in communities for rank, member in enumerate(c.members))
    _insert(connection, "community_members", members)


def embed_texts(
    writer: Writer, kind: str, texts: Mapping[str, str], embed: Callable[[Sequence[str]], Vectors]
) -> Counter[str]:
    """Bring the vectors of entities, relations or reports in step with their texts, id → text.

    Only what is new or reads differently is embedded. Returns how many were kept, embedded and removed.
    """
    hashes = {identity: _hash(text) for identity, text in texts.items()}
    with writer.changing() as connection:
        known = dict(connection.execute("SELECT id, text_hash FROM graph_vectors WHERE kind = ?", [kind]).fetchall())
    stale = sorted(identity for identity, kept in known.items() if hashes.get(identity) != kept)
    remove_vectors(writer, kind, stale)
    # Equal lengths together: a batch is as slow as its longest text.
    fresh = sorted((i for i in texts if known.get(i) != hashes[i]), key=lambda i: (len(texts[i]), i))
    for batch in _batches(fresh, _EMBED_BATCH):
        writer.put_vectors(kind, batch, [""] * len(batch), embed([texts[identity] for identity in batch]))
        with writer.changing() as connection:
            insert_rows(connection, "graph_vectors", [(kind, identity, hashes[identity]) for identity in batch])
    return Counter(kept=len(texts) - len(fresh), embedded=len(fresh), removed=len(stale))


def _batches(ids: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
