"""Writing: one writer fills the next generation in bounded batches and publishes it whole."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import duckdb
import numpy as np

from ekr.errors import StoreEmpty, StoreError
from ekr.models.base import EmbedderInfo, Vectors
from ekr.store import analysis, generations, schema
from ekr.store import documents as rows
from ekr.store.abandoned import abandoned
from ekr.store.building import Building
from ekr.store.compaction import rebuild_bm25, rewrite
from ekr.store.faults import told_as
from ekr.store.graph_schema import GraphTables, forget_resolution, forget_vectors
from ekr.store.locks import HeldLock
from ekr.store.manifest import Manifest, read_manifest, read_number, write_manifest, write_number
from ekr.store.pending import Pending
from ekr.store.records import PreparedDocument
from ekr.store.spill import remove_abandoned
from ekr.store.vectors import normalised

DEAD_SHARE = 0.2
CHECKPOINT_SECONDS = 30.0
CHECKPOINT_SHARE = 0.05
_DEAD = "dead_chunks"

logger = logging.getLogger(__name__)


class Writer:
    """The one writer of a store. Nothing that it does is seen before `publish`; without it, all is dropped.

    Tables of other modules (`parts`) live in the same generation: they write them through `connection`, their
    vectors through `put_vectors` and `delete_vectors`. After a failed write it refuses to publish.
    """

    def __init__(
        self,
        root: Path,
        manifest: Manifest | None,
        lock: HeldLock,
        parts: Sequence[schema.StorePart] = (),
        *,
        re_embed: EmbedderInfo | None = None,
    ) -> None:
        self._root = root
        self._lock = lock
        self._parts = (GraphTables(), *parts)
        self._base = generations.current(root)
        self._building: Building | None = None
        self._failed = False
        self._new_vectors = re_embed is not None and self._base is not None
        self._published_at = time.monotonic()
        self._publish_seconds = 0.0
        stored = self._stored_manifest()
        if manifest is None and (manifest := stored) is None:
            raise StoreEmpty(generations.EMPTY.format(root))
        self.manifest = replace(manifest, embedder=re_embed or manifest.embedder, analysers=analysis.settings())
        if stored is not None and not self._new_vectors:
            stored.require_embedder(self.manifest.embedder)
        self._new_postings = stored is not None and dict(stored.analysers) != dict(self.manifest.analysers)
        self._pending = Pending(self.manifest.embedder)
        # What follows would remove it.
        if self._base is None and (lost := abandoned(root)):
            raise StoreError(
                f"the store {root} has lost its CURRENT, but generation {lost[0]} is there; run: ekr doctor --repair"
            )
        generations.collect(root, self._base)
        remove_abandoned()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The rows of the generation under construction, for the tables of other modules."""
        return self._begun().connection

    def content_hashes(self) -> dict[str, tuple[str, str]]:
        """Key of each document, unpublished ones included → (id, content hash)."""
        self.flush()
        with self._rows() as connection:
            return rows.content_hashes(connection) if connection else {}

    def put(self, prepared: PreparedDocument, vectors: Vectors) -> None:
        """Add a document, or replace the one with its id. `vectors` is float32 (len(chunks), dimension).

        Raises StoreError, and takes nothing, for vectors that do not fit, text that UTF-8 cannot hold, or ids
        that do not belong together.
        """
        self._pending.add(prepared, vectors)
        if self._pending.full:
            self.flush()

    def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents with their pages, chunks, vectors, postings and cached calls, and what parts hold.

        An unknown id is ignored.
        """
        for document_id in document_ids:
            self._pending.discard(document_id)
        with self._rows() as connection:
            if connection is None or not rows.documents_by_id(connection, document_ids):
                return
        with self._all_or_nothing():
            self._remove(document_ids)

    def flush(self) -> None:
        """Write what waits in memory into the generation under construction."""
        if not self._pending:
            return
        with self._all_or_nothing():
            building = self._begun()
            pairs = self._pending.drain()
            documents = [document for document, _ in pairs]
            self._remove([document.record.id for document in documents])
            rows.insert_documents(building.connection, documents)
            chunks = [chunk for document in documents for chunk in document.chunks]
            if chunks:
                building.vectors.add(
                    "chunks",
                    [chunk.id for chunk in chunks],
                    [chunk.document_id for chunk in chunks],
                    np.concatenate([vectors for document, vectors in pairs if document.chunks]),
                )
            for document in documents:
                building.postings.add_document(document.record, document.chunks, document.parents)
        logger.debug("flushed %d documents", len(documents))

    def put_vectors(self, table: str, ids: Sequence[str], document_ids: Sequence[str], vectors: Vectors) -> None:
        """Add vectors to chunks (when re-embedding), entities, relations or reports. Raises like `put`."""
        embedder = self.manifest.embedder
        if not len(ids) == len(document_ids) == len(vectors):
            raise StoreError(f"{len(vectors)} vectors for {len(ids)} {table}")
        if ids:
            unit = normalised(vectors, embedder.dimension, embedder.name)
            with self._all_or_nothing():
                self._begun().vectors.add(table, ids, document_ids, unit)

    def delete_vectors(self, table: str, ids: Sequence[str] | None = None) -> None:
        """Remove vectors by id, or with None the whole table."""
        with self._all_or_nothing():
            if ids is None:
                self._begun().vectors.drop(table)
            else:
                self._begun().vectors.delete(table, "id", ids)

    def cached_calls(self, kind: str, keys: Sequence[str]) -> dict[str, object]:
        """Answers of a model, kept by (kind, key); an unknown key is absent."""
        with self._rows() as connection:
            return rows.cached_calls(connection, kind, keys) if connection else {}

    def cache_call(self, kind: str, key: str, value: object, document_id: str | None) -> None:
        """Keep a model's answer (anything JSON can hold); it goes when its document goes."""
        with self._all_or_nothing():
            rows.cache_call(self.connection, kind, key, value, document_id)

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection | None]:
        """The rows, with everything put so far, without beginning a generation; None for an empty store."""
        self.flush()
        with self._rows() as connection:
            yield connection

    @contextmanager
    def changing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The rows, with everything put so far, for a change by a part; if it fails, nothing more is published."""
        self.flush()
        with self._all_or_nothing():
            yield self._begun().connection

    def rebuild_postings(self) -> None:
        """Make BM25 anew from the chunks and parents in DuckDB, as a repair."""
        self.flush()
        with self._all_or_nothing():
            building = self._begun()
            building.postings.abandon()
            rebuild_bm25(building.connection, building.directory / generations.BM25)

    def publish(self) -> int:
        """Commit everything so far as one generation, durable when this returns; returns its number.

        Without a change it returns the generation there is. Compacts first when more than a fifth is dead.
        The writer can go on afterwards, in the next generation.
        """
        self.flush()
        if self._building is None and self._base is not None and not (self._new_vectors or self._new_postings):
            return self._base
        if self.needs_compaction():
            return self.compact()
        return self._publish(compact=False)

    def checkpoint_due(self) -> bool:
        """Whether a long run should publish now: not before half a minute, and at under 5 % of the run's time."""
        waited = time.monotonic() - self._published_at
        return waited >= max(CHECKPOINT_SECONDS, self._publish_seconds / CHECKPOINT_SHARE)

    def needs_compaction(self) -> bool:
        """Whether more than a fifth of the chunks in the files belong to deleted documents."""
        with self._rows() as connection:
            if connection is None:
                return False
            dead = read_number(connection, _DEAD)
            return dead > DEAD_SHARE * (dead + schema.counts(connection)["chunks"])

    def compact(self) -> int:
        """Publish a generation whose files hold nothing of what was deleted; returns its number."""
        self.flush()
        return self._publish(compact=True)

    def close(self) -> None:
        """Drop what was not published and release the store."""
        try:
            building, self._building = self._building, None
            if building is not None:
                building.abandon()
                generations.collect(self._root, generations.current(self._root))
        finally:
            self._lock.release()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stored_manifest(self) -> Manifest | None:
        with told_as(f"the store {self._root} cannot be read", "run: ekr doctor"), self._rows() as connection:
            return read_manifest(connection, self._root) if connection else None

    @contextmanager
    def _rows(self) -> Iterator[duckdb.DuckDBPyConnection | None]:
        """The rows as they are now, without beginning a generation; None for an empty store."""
        if self._building is not None:
            yield self._building.connection
        elif self._base is None:
            yield None
        else:
            path = generations.directory_of(self._root, self._base) / generations.GRAPH
            with schema.connect(path, read_only=True) as connection:
                yield connection

    def _begun(self) -> Building:
        if self._failed:
            raise StoreError("an earlier write failed: close this writer; what was published before is intact")
        if self._building is None:
            with self._all_or_nothing():
                dimension = self.manifest.embedder.dimension
                self._building = Building(self._root, self._base, dimension, vectors=not self._new_vectors)
                connection = self._building.connection
                for part in self._parts:
                    part.create(connection)
                if self._new_vectors:
                    forget_vectors(connection)
                write_manifest(connection, self.manifest)
                if self._new_postings:
                    rebuild_bm25(connection, self._building.directory / generations.BM25)
        return self._building

    def _remove(self, document_ids: Sequence[str]) -> None:
        building = self._begun()
        present = list(rows.documents_by_id(building.connection, document_ids))
        if not present:
            return
        for part in self._parts:
            part.delete_documents(self, present)
        dead = rows.delete_documents(building.connection, present)
        write_number(building.connection, _DEAD, read_number(building.connection, _DEAD) + dead)
        building.vectors.delete("chunks", "document_id", present)
        building.postings.delete_documents(present)

    def _publish(self, *, compact: bool) -> int:
        started = time.monotonic()
        with self._all_or_nothing():
            building = self._begun()
            if compact:
                write_number(building.connection, _DEAD, 0)
                if not schema.counts(building.connection)["documents"]:
                    # A table's only row takes a block of the file, half of what an empty store is.
                    forget_resolution(building.connection)
            building.finish()
            if compact:
                rewrite(building.directory, self.manifest.embedder.dimension)
                logger.debug("compacted")
            generations.commit(self._root, building.number)
        self._base, self._building = building.number, None
        self._new_vectors = self._new_postings = False
        generations.collect(self._root, self._base)
        logger.debug("collected")
        self._published_at = time.monotonic()
        self._publish_seconds = self._published_at - started
        return self._base

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """After a failure half-way the generation under construction is not whole: never publish it."""
        try:
            with told_as(f"writing to the store {self._root} failed", "what was published before is intact"):
                yield
        except BaseException:
            self._failed = True
            raise
