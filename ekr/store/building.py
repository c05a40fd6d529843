"""A generation under construction: its directory and its three engines, open for writing."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

import duckdb

from ekr.errors import StoreError
from ekr.store import generations, schema
from ekr.store.bm25 import Bm25Writer
from ekr.store.vectors import VectorWriter

logger = logging.getLogger(__name__)


class Building:
    """Made from the committed generation `base`; seen by no reader until committed."""

    def __init__(self, root: Path, base: int | None, dimension: int, *, vectors: bool = True) -> None:
        self.number, self.directory = generations.begin(root, base, vectors=vectors)
        self._dimension = dimension
        self._without_vectors = not vectors
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._vectors: VectorWriter | None = None
        self._postings: Bm25Writer | None = None

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The rows, open for writing."""
        if self._connection is None:
            self._connection = schema.connect(self.directory / generations.GRAPH, read_only=False)
            self._connection.execute(schema.TABLES)
        return self._connection

    @property
    def vectors(self) -> VectorWriter:
        """The vectors, open for writing; the first use imports LanceDB."""
        if self._vectors is None:
            self._vectors = VectorWriter(self.directory / generations.VECTORS, self._dimension)
        return self._vectors

    @property
    def postings(self) -> Bm25Writer:
        """The postings, open for writing."""
        if self._postings is None:
            self._postings = Bm25Writer(self.directory / generations.BM25)
        return self._postings

    def finish(self) -> None:
        """Bring every engine's files to rest and close them. Raises StoreError when chunks lack vectors."""
        chunks = schema.counts(self.connection)["chunks"]
        if self._vectors is not None or self._without_vectors:
            vectors = self.vectors.count("chunks")
            if vectors != chunks:
                raise StoreError(f"{chunks} chunks but {vectors} vectors; run: ekr reindex")
        if self._vectors is not None:
            self._vectors.finish()
            logger.debug("vectors finished")
        if self._postings is not None:
            self._postings.finish()
            logger.debug("postings finished")
        self.connection.execute("CHECKPOINT")
        self.connection.close()
        logger.debug("rows finished")
        self._connection = self._vectors = self._postings = None

    def abandon(self) -> None:
        """Let go of the engines without a commit; the directory is left for the collector."""
        if self._postings is not None:
            self._postings.abandon()
        if self._connection is not None:
            # A full disk can fail the close as well; there is nothing left to save.
            with contextlib.suppress(duckdb.Error):
                self._connection.close()
        self._connection = self._vectors = self._postings = None
