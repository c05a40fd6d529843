"""Cross-checks of the three engines of a store against each other, with DuckDB as the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import duckdb

from ekr.errors import StoreEmpty, StoreError
from ekr.store.bm25 import Bm25Reader
from ekr.store.generations import BM25, VECTORS
from ekr.store.graph_check import check_graph, embedded
from ekr.store.schema import VECTORS_OF
from ekr.store.snapshot import Snapshot
from ekr.store.store import Store
from ekr.store.vectors import VectorReader

Repair = Literal["bm25", "vectors", "none"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong. `repair` names what can be made anew from DuckDB: bm25, vectors or none."""

    engine: Literal["store", "duckdb", "lancedb", "tantivy"]
    message: str
    repair: Repair


_ORPHANS = (
    ("pages", "document_id", "documents", "id"),
    ("parents", "document_id", "documents", "id"),
    ("chunks", "document_id", "documents", "id"),
    ("chunks", "parent_id", "parents", "id"),
    ("model_calls", "document_id", "documents", "id"),
)


def check(store: Store) -> list[Finding]:
    """Everything found wrong; empty for a sound store, and for one that holds nothing yet."""
    try:
        snapshot = store.snapshot()
    except StoreEmpty:
        return []
    except StoreError as error:
        return [Finding("store", str(error), "none")]
    with snapshot:
        return list(_findings(snapshot))


def _findings(snapshot: Snapshot) -> Iterator[Finding]:
    try:
        with snapshot.connection.cursor() as cursor:
            yield from _check_rows(cursor)
            yield from (Finding("duckdb", message, "none") for message in check_graph(cursor))
            chunks = _pairs(cursor, "chunks")
            parents = _pairs(cursor, "parents")
            of_graph = {kind: embedded(cursor, kind) for kind in VECTORS_OF if kind != "chunks"}
        yield from _check_texts(snapshot)
    except (duckdb.Error, StoreError) as error:
        yield Finding("duckdb", str(error).splitlines()[0], "none")
        return
    embedder = snapshot.manifest.embedder
    try:
        vectors = VectorReader(snapshot.directory / VECTORS, embedder.dimension, embedder.name)
        for kind, expected in {"chunks": chunks, **of_graph}.items():
            yield from _compare("lancedb", "vectors", kind, expected, vectors.rows(kind), "vectors")
    except StoreError as error:
        yield Finding("lancedb", str(error), "vectors")
    postings = Bm25Reader(snapshot.directory / BM25)
    try:
        yield from _compare("tantivy", "postings", "chunks", chunks, postings.rows("chunk"), "bm25")
        yield from _compare("tantivy", "postings", "parents", parents, postings.rows("parent"), "bm25")
    except StoreError as error:
        yield Finding("tantivy", str(error), "bm25")
    finally:
        postings.close()


def _pairs(cursor: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str]]:
    return cursor.execute(f"SELECT id, document_id FROM {table}").fetchall()  # noqa: S608


def _check_rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    for table in ("documents", "parents", "chunks"):
        twice = _number(cursor, f"SELECT count(*) - count(DISTINCT id) FROM {table}")  # noqa: S608
        if twice:
            yield Finding("duckdb", f"{twice} repeated ids in {table}", "none")
    twice = _number(cursor, "SELECT count(*) - count(DISTINCT key) FROM documents")
    if twice:
        yield Finding("duckdb", f"{twice} documents are in twice", "none")
    for table, column, owner, key in _ORPHANS:
        lost = _number(
            cursor,
            f"SELECT count(*) FROM {table} t WHERE t.{column} IS NOT NULL "  # noqa: S608
            f"AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.{key} = t.{column})",
        )
        if lost:
            yield Finding("duckdb", f"{lost} rows of {table} whose {column} is not in {owner}", "none")


def _check_texts(snapshot: Snapshot) -> Iterator[Finding]:
    wrong = 0
    document_id, text = "", ""
    for chunk in snapshot.iter_chunks():
        if chunk.document_id != document_id:
            document_id, text = chunk.document_id, snapshot.document_text(chunk.document_id)
        wrong += text[chunk.start : chunk.end] != chunk.text
    if wrong:
        yield Finding("duckdb", f"{wrong} chunks whose text is not at their place in the document", "none")


def _number(cursor: duckdb.DuckDBPyConnection, query: str) -> int:
    row = cursor.execute(query).fetchone()
    return int(row[0]) if row else 0


def _compare(
    engine: Literal["lancedb", "tantivy"],
    what: str,
    of: str,
    expected: list[tuple[str, str]],
    found: list[tuple[str, str]],
    repair: Repair,
) -> Iterator[Finding]:
    missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if missing:
        yield Finding(engine, f"{missing.total()} {of} have no {what}", repair)
    if extra:
        yield Finding(engine, f"{extra.total()} {what} of {of} that do not exist", repair)
