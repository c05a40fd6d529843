"""Documents, pages, parents and chunks in DuckDB: how they are written and read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import duckdb

from ekr.errors import StoreError, UsageError
from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord, PreparedDocument
from ekr.store.schema import tables_of

_DOCUMENT = (
    "id, key, display, path, record_id, title, format, language, content_hash, pages, characters, metadata, warnings"
)
_PARENT = "id, document_id, ordinal, heading, text, start_offset, end_offset, page_start, page_end"
_CHUNK = (
    "id, document_id, parent_id, ordinal, heading, text, context, start_offset, end_offset, page_start, "
    "page_end, tokens, language"
)
_OWNED = ("pages", "parents", "chunks", "model_calls", "given_properties")
SHORTEST_PREFIX = 6


def insert_documents(connection: duckdb.DuckDBPyConnection, documents: Sequence[PreparedDocument]) -> None:
    """Add documents whose ids are not in the tables."""
    insert_rows(connection, "documents", [_document_row(document.record) for document in documents])
    insert_rows(
        connection,
        "pages",
        [(d.record.id, number, text) for d in documents for number, text in enumerate(d.pages, start=1)],
    )
    insert_rows(
        connection,
        "given_properties",
        [(d.record.id, json.dumps(dict(d.given), ensure_ascii=False)) for d in documents if d.given],
    )
    insert_rows(connection, "parents", [_parent_row(parent) for d in documents for parent in d.parents])
    insert_rows(connection, "chunks", [_chunk_row(chunk) for d in documents for chunk in d.chunks])


def delete_documents(connection: duckdb.DuckDBPyConnection, document_ids: Sequence[str]) -> int:
    """Remove documents with all they own; returns the number of chunks removed."""
    ids = [list(document_ids)]
    dead = connection.execute("SELECT count(*) FROM chunks WHERE document_id IN (SELECT unnest(?))", ids).fetchone()
    for table in _OWNED:
        connection.execute(f"DELETE FROM {table} WHERE document_id IN (SELECT unnest(?))", ids)  # noqa: S608
    connection.execute("DELETE FROM documents WHERE id IN (SELECT unnest(?))", ids)
    return int(dead[0]) if dead else 0


def content_hashes(cursor: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, str]]:
    """Key of each document → (id, content hash)."""
    rows = cursor.execute("SELECT key, id, content_hash FROM documents").fetchall()
    return {key: (document_id, content_hash) for key, document_id, content_hash in rows}


def all_documents(cursor: duckdb.DuckDBPyConnection) -> list[DocumentRecord]:
    """Every document, by display name."""
    return _documents(cursor, "ORDER BY display, key", [])


def documents_by_id(cursor: duckdb.DuckDBPyConnection, ids: Collection[str]) -> dict[str, DocumentRecord]:
    """The documents with these ids; an unknown id is absent."""
    found = _documents(cursor, "WHERE id IN (SELECT unnest(?))", [list(ids)])
    return {record.id: record for record in found}


def given_properties(cursor: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Any]]:
    """Document id → the properties that came with the command and not from the document; absent without any."""
    if "given_properties" not in tables_of(cursor):
        return {}
    rows = cursor.execute("SELECT document_id, properties FROM given_properties").fetchall()
    return {document_id: json.loads(properties) for document_id, properties in rows}


def property_names(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """Names of the properties that any document has."""
    rows = cursor.execute("SELECT DISTINCT metadata FROM documents").fetchall()
    return {name for (metadata,) in rows for name in json.loads(metadata)}


def find_documents(
    cursor: duckdb.DuckDBPyConnection, text: str, shortest_prefix: int = SHORTEST_PREFIX
) -> list[DocumentRecord]:
    """Documents that a person means by `text`: the first of these readings that finds any.

    Display name, key, path, record id or id; then file name; then the end of a path; then the beginning of an id, at
    least `shortest_prefix` digits.
    """
    readings: list[tuple[str, list[Any]]] = [
        ("WHERE display = $1 OR key = $1 OR id = $1 OR record_id = $1 OR path = $1", [text]),
        ("WHERE regexp_extract(display, '[^/]*$') = $1", [text]),
        ("WHERE ends_with(path || coalesce('#' || record_id, ''), '/' || $1)", [text]),
    ]
    if len(text) >= shortest_prefix:
        readings.append(("WHERE starts_with(id, $1)", [text]))
    for where, values in readings:
        if found := _documents(cursor, f"{where} ORDER BY display, key", values):
            return found
    return []


def page_text(cursor: duckdb.DuckDBPyConnection, document_id: str, page: int) -> str:
    """Text of one page, from 1. Raises StoreError for an unknown document, UsageError for a page it lacks."""
    row = cursor.execute("SELECT text FROM pages WHERE document_id = ? AND page = ?", [document_id, page]).fetchone()
    if row:
        return str(row[0])
    last = cursor.execute("SELECT max(page) FROM pages WHERE document_id = ?", [document_id]).fetchone()
    if not last or last[0] is None:
        raise StoreError(f"no document {document_id} in the store; run: ekr documents")
    raise UsageError(f"page {page} is not in the document; it has pages 1 to {last[0]}")


def characters_per_token(cursor: duckdb.DuckDBPyConnection) -> float:
    """Mean over all chunks; 4 where there is none."""
    row = cursor.execute("SELECT sum(length(text)), sum(tokens) FROM chunks").fetchone()
    return float(row[0]) / float(row[1]) if row and row[1] else 4.0


def document_text(cursor: duckdb.DuckDBPyConnection, document_id: str) -> str:
    """The whole text, its pages joined. Raises StoreError for an unknown document."""
    row = cursor.execute(
        "SELECT string_agg(text, '' ORDER BY page) FROM pages WHERE document_id = ?", [document_id]
    ).fetchone()
    if not row or row[0] is None:
        raise StoreError(f"no document {document_id} in the store; run: ekr documents")
    return str(row[0])


def chunks_by_id(cursor: duckdb.DuckDBPyConnection, ids: Collection[str]) -> dict[str, ChunkRecord]:
    """The chunks with these ids; an unknown id is absent."""
    return {chunk.id: chunk for chunk in select_chunks(cursor, _by_id("chunks"), [list(ids)])}


def select_chunks(cursor: duckdb.DuckDBPyConnection, tail: str, values: list[Any]) -> Iterable[ChunkRecord]:
    """Chunks by a clause of ours with bound values, streamed."""
    cursor.execute(f"SELECT {_CHUNK} FROM chunks {tail}", values)  # noqa: S608
    while rows := cursor.fetchmany(2000):
        yield from (ChunkRecord(*row) for row in rows)


def parents_by_id(cursor: duckdb.DuckDBPyConnection, ids: Collection[str]) -> dict[str, ParentRecord]:
    """The parents with these ids; an unknown id is absent."""
    found = select_parents(cursor, _by_id("parents"), [list(ids)])
    return {parent.id: parent for parent in found}


def select_parents(cursor: duckdb.DuckDBPyConnection, tail: str, values: list[Any]) -> Iterable[ParentRecord]:
    """Parents by a clause of ours with bound values, streamed."""
    cursor.execute(f"SELECT {_PARENT} FROM parents {tail}", values)  # noqa: S608
    while rows := cursor.fetchmany(1000):
        yield from (ParentRecord(*row) for row in rows)


def _by_id(table: str) -> str:
    # By row number: otherwise the texts of the whole table are read on the way (13 ms instead of 3 at 20,000 rows).
    return f"WHERE rowid IN (SELECT rowid FROM {table} WHERE id IN (SELECT unnest(?)))"  # noqa: S608


def next_chunks(cursor: duckdb.DuckDBPyConnection, ids: Collection[str]) -> dict[str, str]:
    """Id of each chunk → id of the one that follows it in its document; absent for the last one."""
    rows = cursor.execute(
        """WITH wanted AS (
               SELECT id, document_id, ordinal FROM chunks WHERE id IN (SELECT unnest($1))),
           candidates AS (
               SELECT w.id AS id, c.id AS next_id, c.ordinal AS ordinal
               FROM wanted w JOIN chunks c ON c.document_id = w.document_id AND c.ordinal > w.ordinal)
           SELECT id, arg_min(next_id, ordinal) FROM candidates GROUP BY id""",
        [list(ids)],
    ).fetchall()
    return dict(rows)


def cached_calls(cursor: duckdb.DuckDBPyConnection, kind: str, keys: Sequence[str]) -> dict[str, object]:
    """Kept answers of a model by key; an unknown key is absent."""
    found = cursor.execute(
        "SELECT key, value FROM model_calls WHERE kind = ? AND key IN (SELECT unnest(?))", [kind, list(keys)]
    ).fetchall()
    return {key: json.loads(value) for key, value in found}


def cache_call(
    connection: duckdb.DuckDBPyConnection, kind: str, key: str, value: object, document_id: str | None
) -> None:
    """Keep a model's answer under (kind, key)."""
    connection.execute("DELETE FROM model_calls WHERE kind = ? AND key = ?", [kind, key])
    row = [key, kind, document_id, json.dumps(value)]
    connection.execute("INSERT INTO model_calls VALUES (?, ?, ?, ?)", row)


def languages_of_passages(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The languages of the documents that have passages."""
    query = "SELECT DISTINCT language FROM documents WHERE id IN (SELECT document_id FROM chunks) ORDER BY language"
    return [row[0] for row in connection.execute(query).fetchall()]


def languages(cursor: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Documents per language."""
    rows = cursor.execute("SELECT language, count(*) FROM documents GROUP BY language ORDER BY language")
    return dict(rows.fetchall())


def _documents(cursor: duckdb.DuckDBPyConnection, tail: str, values: list[Any]) -> list[DocumentRecord]:
    rows = cursor.execute(f"SELECT {_DOCUMENT} FROM documents {tail}", values).fetchall()  # noqa: S608
    return [
        DocumentRecord(*(*plain, json.loads(metadata), tuple(json.loads(warnings))))
        for *plain, metadata, warnings in rows
    ]


def _document_row(record: DocumentRecord) -> tuple[Any, ...]:
    return (
        record.id,
        record.key,
        record.display,
        record.path,
        record.record_id,
        record.title,
        record.format,
        record.language,
        record.content_hash,
        record.pages,
        record.characters,
        json.dumps(dict(record.metadata), ensure_ascii=False),
        json.dumps(list(record.warnings), ensure_ascii=False),
    )


def _parent_row(parent: ParentRecord) -> tuple[Any, ...]:
    return (
        parent.id,
        parent.document_id,
        parent.ordinal,
        parent.heading,
        parent.text,
        parent.start,
        parent.end,
        parent.page_start,
        parent.page_end,
    )


def _chunk_row(chunk: ChunkRecord) -> tuple[Any, ...]:
    return (
        chunk.id,
        chunk.document_id,
        chunk.parent_id,
        chunk.ordinal,
        chunk.heading,
        chunk.text,
        chunk.context,
        chunk.start,
        chunk.end,
        chunk.page_start,
        chunk.page_end,
        chunk.tokens,
        chunk.language,
    )


def insert_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add rows by way of Arrow: DuckDB's own executemany takes about a millisecond a row."""
    if not rows:
        return
    import pyarrow as pa

    columns = connection.table(table).limit(0).to_arrow_table().schema
    arrays = [
        pa.array(values, type=column.type) for values, column in zip(zip(*rows, strict=True), columns, strict=True)
    ]
    connection.register("incoming_rows", pa.table(arrays, names=columns.names))
    try:
        connection.execute(f"INSERT INTO {table} SELECT * FROM incoming_rows")  # noqa: S608
    finally:
        connection.unregister("incoming_rows")
