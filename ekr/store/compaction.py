"""Files that hold nothing of what was deleted: each engine's live content written anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from ekr.store import documents as rows
from ekr.store.bm25 import Bm25Writer
from ekr.store.generations import BM25, GRAPH, VECTORS
from ekr.store.schema import connect
from ekr.store.vectors import VectorWriter


def rewrite(directory: Path, dimension: int) -> None:
    """Write an unpublished generation's rows, vectors and postings anew. Its engines must be closed."""
    _rewrite_rows(directory / GRAPH)
    _rewrite_vectors(directory / VECTORS, dimension)
    shutil.rmtree(directory / BM25)
    (directory / BM25).mkdir()
    with connect(directory / GRAPH, read_only=False) as connection:
        rebuild_bm25(connection, directory / BM25)


def rebuild_bm25(connection: duckdb.DuckDBPyConnection, directory: Path) -> None:
    """Replace all postings by those of the chunks and parents in DuckDB."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    writer = Bm25Writer(directory)
    cursor = connection.cursor()
    documents = {record.id: record for record in rows.all_documents(cursor)}
    for chunk in rows.select_chunks(cursor, "ORDER BY document_id, ordinal", []):
        writer.add_document(documents[chunk.document_id], (chunk,), ())
    for parent in rows.select_parents(cursor, "ORDER BY document_id, ordinal", []):
        writer.add_document(documents[parent.document_id], (), (parent,))
    cursor.close()
    writer.finish()


def _rewrite_rows(path: Path) -> None:
    # COPY FROM DATABASE: neither DELETE nor VACUUM takes a deleted text out of a DuckDB file.
    fresh = path.with_suffix(".fresh")
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{_quoted(path)}' AS old (READ_ONLY)")
        connection.execute(f"ATTACH '{_quoted(fresh)}' AS new")
        connection.execute("COPY FROM DATABASE old TO new")
        connection.execute("CHECKPOINT new")
        connection.execute("DETACH new")
    fresh.replace(path)


def _rewrite_vectors(directory: Path, dimension: int) -> None:
    fresh = directory.with_name(directory.name + ".fresh")
    fresh.mkdir()
    VectorWriter(directory, dimension).copy_to(fresh)
    shutil.rmtree(directory)
    fresh.rename(directory)


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("'", "''")
