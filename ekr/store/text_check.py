"""Cross-checks of the texts: pages, and the passages and parents that are cut from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import duckdb

from ekr.store.documents import select_chunks, select_parents
from ekr.store.records import ChunkRecord, ParentRecord

_AGAIN = "delete their documents and ingest them again"
_NAMED = 3


def check_texts(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str]]:
    """What is wrong, one line each, with what is left to do about it."""
    names = dict(connection.execute("SELECT id, display FROM documents").fetchall())
    bare = connection.execute(
        "SELECT id FROM documents WHERE characters > 0 AND id NOT IN (SELECT document_id FROM pages)"
    ).fetchall()
    without_pages = {row[0] for row in bare}
    if without_pages:
        told = _told(names[document_id] for document_id in without_pages)
        yield f"{len(without_pages)} documents have lost their pages: {told}", "delete them and ingest them again"
    order = "ORDER BY document_id, ordinal"
    for kind, select in (("chunks", select_chunks), ("parents", select_parents)):
        with connection.cursor() as cursor:
            wrong = [
                names.get(document_id, document_id)
                for document_id in _misplaced(connection, select(cursor, order, []))
                if document_id not in without_pages
            ]
        if wrong:
            yield f"{len(wrong)} {kind} whose text is not at their place in the document: {_told(wrong)}", _AGAIN
    unreadable = [names[document_id] for document_id in _unreadable(connection)]
    if unreadable:
        message = f"the properties of {len(unreadable)} documents cannot be read: {_told(unreadable)}"
        yield message, "restore a backup, or remove the store's directory and ingest the documents again"


def _misplaced(
    connection: duckdb.DuckDBPyConnection, parts: Iterable[ChunkRecord] | Iterable[ParentRecord]
) -> Iterator[str]:
    """The document's id of each part that does not stand at its place; of one document together."""
    document_id, text = "", ""
    for part in parts:
        if part.document_id != document_id:
            document_id, text = part.document_id, _text_of(connection, part.document_id)
        if text[part.start : part.end] != part.text:
            yield document_id


def _text_of(connection: duckdb.DuckDBPyConnection, document_id: str) -> str:
    query = "SELECT string_agg(text, '' ORDER BY page) FROM pages WHERE document_id = ?"
    row = connection.execute(query, [document_id]).fetchone()
    return str(row[0]) if row and row[0] is not None else ""


def _unreadable(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for document_id, *values in connection.execute("SELECT id, metadata, warnings FROM documents").fetchall():
        try:
            metadata, warnings = map(json.loads, values)
        except ValueError:
            yield document_id
            continue
        if not isinstance(metadata, dict) or not isinstance(warnings, list):
            yield document_id


def _told(names: Iterable[str]) -> str:
    """The first names, in one line."""
    sorted_names = sorted({" ".join(name.split()) for name in names})
    more = len(sorted_names) - _NAMED
    return ", ".join(sorted_names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
