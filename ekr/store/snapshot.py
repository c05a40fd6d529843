"""Reading one generation, pinned: rows, vectors and BM25, each engine opened on first use."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt

from ekr.errors import StoreError
from ekr.store import documents as rows
from ekr.store import schema
from ekr.store.document_labels import told_apart
from ekr.store.faults import told_as
from ekr.store.generations import BM25, GRAPH, VECTORS, Pinned
from ekr.store.manifest import Manifest, read_manifest
from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord

if TYPE_CHECKING:
    from ekr.reading.document import MetadataValue
    from ekr.store.bm25 import Bm25Reader
    from ekr.store.graph_reader import GraphReader
    from ekr.store.vectors import VectorReader

T = TypeVar("T")
_COLUMNS = ("format", "language", "title")


class Snapshot:
    """One whole generation, unchanged by any writer until closed. Any number of threads may share it."""

    def __init__(self, pinned: Pinned, where: object) -> None:
        self._pinned = pinned
        self._where = where
        self._lock = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._vectors: VectorReader | None = None
        self._bm25: Bm25Reader | None = None

    @property
    def generation(self) -> int:
        """Number of the pinned generation."""
        return self._pinned.generation

    @property
    def directory(self) -> Path:
        """Where the pinned generation lies; nothing in it may be changed."""
        return self._pinned.directory

    @functools.cached_property
    def manifest(self) -> Manifest:
        """How the store was made. Raises StoreError for a newer format."""
        return self._read(lambda cursor: read_manifest(cursor, self._where))

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The read-only DuckDB connection; take a `.cursor()` a thread. No files, network or extensions."""
        with self._lock:
            if self._connection is None:
                self._connection = schema.connect(self._pinned.directory / GRAPH, read_only=True)
            return self._connection

    @functools.cached_property
    def graph(self) -> GraphReader:
        """The entities, relations, definition links and communities."""
        from ekr.store.graph_reader import GraphReader

        return GraphReader(self._read)

    def counts(self) -> dict[str, int]:
        """Rows by kind: documents, chunks, entities, relations, communities."""
        return self._read(schema.counts)

    def documents(self) -> list[DocumentRecord]:
        """Every document, by display name; in all that a snapshot gives, no two documents share that name."""
        return self._read(lambda cursor: told_apart(cursor, rows.all_documents(cursor)))

    def properties(self) -> set[str]:
        """Names by which `match_documents` can compare: properties of any document, and format, language, title."""
        return {*self._read(rows.property_names), *_COLUMNS}

    def given_properties(self) -> dict[str, dict[str, MetadataValue]]:
        """Document id → the properties that were given at ingest, not found in the document; absent without any."""
        return self._read(rows.given_properties)

    def find_document(self, text: str, shortest_prefix: int = rows.SHORTEST_PREFIX) -> list[DocumentRecord]:
        """Documents that a person means: by a name, path or end of one, record id, id or its beginning."""
        return self._read(lambda cursor: told_apart(cursor, rows.find_documents(cursor, text, shortest_prefix)))

    def page(self, document_id: str, page: int) -> str:
        """Text of a page, from 1. Raises StoreError for an unknown document, UsageError for a page it lacks."""
        return self._read(lambda cursor: rows.page_text(cursor, document_id, page))

    def document_text(self, document_id: str) -> str:
        """The whole text, into which the offsets of chunks point. Raises StoreError for an unknown document."""
        return self._read(lambda cursor: rows.document_text(cursor, document_id))

    def chunks(self, ids: Collection[str]) -> dict[str, ChunkRecord]:
        """Chunks by id; an unknown id is absent."""
        return self._read(lambda cursor: rows.chunks_by_id(cursor, ids))

    def parents(self, ids: Collection[str]) -> dict[str, ParentRecord]:
        """Parent chunks by id; an unknown id is absent."""
        return self._read(lambda cursor: rows.parents_by_id(cursor, ids))

    def document_records(self, ids: Collection[str]) -> dict[str, DocumentRecord]:
        """Documents by id; an unknown id is absent."""

        def read(cursor: duckdb.DuckDBPyConnection) -> dict[str, DocumentRecord]:
            found = rows.documents_by_id(cursor, ids)
            return {record.id: record for record in told_apart(cursor, list(found.values()))}

        return self._read(read)

    def iter_chunks(self, documents: Collection[str] | None = None) -> Iterator[ChunkRecord]:
        """Every chunk, or those of some documents, in the order of document id and place; streamed."""
        with (
            told_as(f"the store {self._where} cannot be read", "run: ekr doctor"),
            self.connection.cursor() as cursor,
        ):
            if documents is None:
                yield from rows.select_chunks(cursor, "ORDER BY document_id, ordinal", [])
            else:
                among = "WHERE document_id IN (SELECT unnest(?)) ORDER BY document_id, ordinal"
                yield from rows.select_chunks(cursor, among, [list(documents)])

    def next_chunks(self, ids: Collection[str]) -> dict[str, str]:
        """Chunk id → id of the chunk that follows in the same document; absent at its end."""
        return self._read(lambda cursor: rows.next_chunks(cursor, ids))

    def cached_calls(self, kind: str, keys: Sequence[str]) -> dict[str, object]:
        """Answers of a model kept at ingest, by (kind, key); an unknown key is absent."""
        return self._read(lambda cursor: rows.cached_calls(cursor, kind, keys))

    def languages(self) -> dict[str, int]:
        """Documents per language."""
        return self._read(rows.languages)

    @functools.cached_property
    def characters_per_token(self) -> float:
        """How many characters a token of the embedder takes in these documents: to estimate without a tokenizer."""
        return self._read(rows.characters_per_token)

    def match_documents(self, globs: Sequence[str], where: Mapping[str, str]) -> set[str] | None:
        """Ids of documents that match one of the globs and every property; None when no filter is given.

        A glob is tried on display name, key, file name and record id; a property is compared as text,
        case-insensitively. `format`, `language` and `title` are properties of every document; one of that name
        of its own comes first.
        """
        if not globs and not where:
            return None
        return {
            record.id
            for record in self.documents()
            if (not globs or any(_matches(record, glob) for glob in globs))
            and all(_has(record, key, value) for key, value in where.items())
        }

    def search_vectors(
        self,
        table: str,
        vector: npt.NDArray[np.float32],
        limit: int,
        documents: Collection[str] | None = None,
        ids: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        """(id, cosine similarity), best first, ties by id; filters apply before the search.

        `table` is chunks, entities, relations or reports. Raises StoreError for a wrong dimension, for
        damaged files, and for a table that is missing although there is something to find in it.
        """
        if table not in schema.VECTORS_OF:
            raise StoreError(f"no vectors of {table!r}; there are {', '.join(schema.VECTORS_OF)}")
        found = self._vector_reader().search(table, vector, limit, documents, ids)
        unfiltered = limit > 0 and documents is None and ids is None
        if not found and unfiltered and self._read(lambda cursor: schema.expected_vectors(cursor, table)):
            raise StoreError(f"the vectors of {table} are missing; run: ekr doctor --repair")
        return found

    def search_bm25(
        self,
        query: str,
        limit: int,
        *,
        documents: Collection[str] | None = None,
        field: Literal["chunk", "parent"] = "chunk",
        k1: float = 1.2,
        b: float = 0.75,
    ) -> list[tuple[str, float]]:
        """(chunk or parent id, BM25 score), best first, ties by id. Any string is a valid query."""
        return self._bm25_reader().search(query, limit, kind=field, documents=documents, k1=k1, b=b)

    def close(self) -> None:
        """Release the generation. Harmless when already closed."""
        with self._lock:
            if self._bm25 is not None:
                self._bm25.close()
            if self._connection is not None:
                self._connection.close()
            self._bm25 = self._vectors = self._connection = None
            self._pinned.lock.release()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, query: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        with (
            told_as(f"the store {self._where} cannot be read", "run: ekr doctor"),
            self.connection.cursor() as cursor,
        ):
            return query(cursor)

    def _vector_reader(self) -> VectorReader:
        from ekr.store.vectors import VectorReader

        with self._lock:
            if self._vectors is None:
                embedder = self.manifest.embedder
                folder = self._pinned.directory / VECTORS
                self._vectors = VectorReader(folder, embedder.dimension, embedder.name)
            return self._vectors

    def _bm25_reader(self) -> Bm25Reader:
        from ekr.store.bm25 import Bm25Reader, expected_names

        with self._lock:
            if self._bm25 is None:
                self._bm25 = Bm25Reader(
                    self._pinned.directory / BM25, expected_names(self._read(rows.languages_of_passages))
                )
            return self._bm25


def _matches(record: DocumentRecord, glob: str) -> bool:
    names = {record.display, record.key, record.path, PurePath(record.path).name, record.record_id or ""}
    return any(fnmatchcase(name, glob) for name in names)


def _has(record: DocumentRecord, key: str, value: str) -> bool:
    own = record.metadata.get(key)
    if own is None and key in _COLUMNS:
        own = getattr(record, key)
    return own is not None and str(own).casefold() == value.casefold()
