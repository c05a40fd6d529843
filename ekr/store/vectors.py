"""Vectors in LanceDB: one table a kind, columns id, document_id, vector; normalised, compared by dot product."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Collection, Coroutine, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ekr.errors import StoreError
from ekr.models.base import Vectors
from ekr.store import lance
from ekr.store.faults import told_as
from ekr.store.vector_index import Probing, build_index, damaged_files, probing_of

TABLES = ("chunks", "entities", "relations", "reports")

_DELETE_BATCH = 1000
_READ_BATCH = 4096
_TIES = 16
_MOST = 1_000_000
_SAME_SIMILARITY = 1e-6
_MAX_FRAGMENTS = 16
_LENGTH_TOLERANCE = 1e-3
_REPAIR = "run: ekr doctor --repair"

T = TypeVar("T")


def normalised(vectors: Vectors, dimension: int, made_by: str) -> Vectors:
    """Rows of length 1. Raises StoreError for another dimension, for NaN, infinity or a zero vector."""
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        raise StoreError(
            f"vectors of shape {matrix.shape} do not fit the store, whose embedder {made_by} has {dimension} "
            f"dimensions; run: ekr reindex"
        )
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise StoreError(f"{made_by} returned a vector that is zero or not finite; run: ekr models check")
    if np.abs(lengths - 1).max(initial=0.0) < _LENGTH_TOLERANCE:
        return matrix
    return np.asarray(matrix / lengths, dtype=np.float32)


def table_names(directory: Path) -> list[str]:
    """Names of the tables in a `vectors/` directory."""
    return sorted(entry.stem for entry in directory.glob("*.lance") if entry.is_dir())


def ids_in(column: str, values: Collection[str]) -> str:
    """A Lance filter; the values are quoted, since its filters take no bound values."""
    return f"{column} IN ({','.join(_quoted(value) for value in values)})"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


class VectorWriter:
    """Adds and deletes vectors in a generation under construction."""

    def __init__(self, directory: Path, dimension: int) -> None:
        lance.engine()
        import lancedb

        self._directory = directory
        self._dimension = dimension
        self._database = lancedb.connect(str(directory.absolute()))
        self._tables: dict[str, Any] = {}

    def add(self, table: str, ids: Sequence[str], document_ids: Sequence[str], vectors: Vectors) -> None:
        """Append rows; `vectors` has shape (len(ids), dimension) and length 1 a row."""
        if not ids:
            return
        rows = self._rows(ids, document_ids, vectors)
        if (existing := self._open(table)) is not None:
            existing.add(rows)
        else:
            self._tables[table] = self._database.create_table(table, rows)

    def delete(self, table: str, column: str, values: Sequence[str]) -> None:
        """Remove the rows whose `column` (id or document_id) is among `values`."""
        existing = self._open(table)
        if existing is None:
            return
        for start in range(0, len(values), _DELETE_BATCH):
            existing.delete(ids_in(column, values[start : start + _DELETE_BATCH]))

    def drop(self, table: str) -> None:
        """Remove a whole table, so that it can be filled anew."""
        if self._open(table) is not None:
            del self._tables[table]
            self._database.drop_table(table)

    def count(self, table: str) -> int:
        """Rows of a table; 0 when it does not exist."""
        existing = self._open(table)
        return int(existing.count_rows()) if existing is not None else 0

    def finish(self) -> None:
        """Merge a table's pieces once there are many, and index it when it is large.

        Merging each time would write every vector again at every publish.
        """
        for name in table_names(self._directory):
            table = self._open(name)
            if table is None:
                continue
            if table.stats()["fragment_stats"]["num_fragments"] > _MAX_FRAGMENTS:
                with warnings.catch_warnings():
                    # It warns of readers of older versions; a generation under construction has none.
                    warnings.simplefilter("ignore", UserWarning)
                    table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
            build_index(table, self._directory, name)

    def copy_to(self, directory: Path) -> None:
        """Write the live rows of every table into an empty `vectors/` directory, in their order."""
        import lancedb

        target = lancedb.connect(str(directory.absolute()))
        for name in table_names(self._directory):
            table = self._open(name)
            if table is not None and table.count_rows():
                batches = table.search().to_batches(batch_size=_READ_BATCH)
                copy = target.create_table(name, batches, schema=table.schema)
                build_index(copy, directory, name)

    def _open(self, table: str) -> Any | None:
        if table not in self._tables and (self._directory / f"{table}.lance").is_dir():
            self._tables[table] = self._database.open_table(table)
        return self._tables.get(table)

    def _rows(self, ids: Sequence[str], document_ids: Sequence[str], vectors: Vectors) -> Any:
        import pyarrow as pa

        flat = pa.array(vectors.reshape(-1), type=pa.float32())
        return pa.table(
            {
                "id": pa.array(ids, type=pa.string()),
                "document_id": pa.array(document_ids, type=pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(flat, self._dimension),
            }
        )


class VectorReader:
    """Searches the vectors of one generation; any number of threads may share it."""

    def __init__(self, directory: Path, dimension: int, made_by: str) -> None:
        self._directory = directory
        self._dimension = dimension
        self._made_by = made_by
        self._tables: dict[str, Any] = {}
        self._lock = threading.Lock()

    def search(
        self,
        table: str,
        vector: npt.NDArray[np.float32],
        limit: int,
        documents: Collection[str] | None = None,
        ids: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        """The `limit` most similar rows as (id, cosine similarity), best first, ties by id.

        Both filters apply before the search. Empty only when the table, or what the filters leave, is empty.
        Raises StoreError for a vector of another dimension and for damaged files.
        """
        query = normalised(np.atleast_2d(np.asarray(vector, dtype=np.float32)), self._dimension, self._made_by)
        filters = [
            (column, values) for column, values in (("document_id", documents), ("id", ids)) if values is not None
        ]
        if limit < 1 or table not in table_names(self._directory) or any(not values for _, values in filters):
            return []
        where = " AND ".join(ids_in(column, values) for column, values in filters)
        # An index probes before it filters, so a filtered search reads every row that is left.
        probing = None if where else self._probing(table)
        limit = min(limit, _MOST)
        fetch = limit + _TIES
        while True:
            found = self._run(table, self._search(table, query[0], fetch, where, probing))
            found.sort(key=lambda hit: (-round(hit[1], 6), hit[0]))
            # Equal passages have equal vectors; all that tie with the last place are needed to order it by id.
            if len(found) < fetch or found[-1][1] < found[limit - 1][1] - _SAME_SIMILARITY:
                return found[:limit]
            fetch *= 4

    def count(self, table: str) -> int:
        """Rows of a table; 0 when it does not exist."""
        if table not in table_names(self._directory):
            return 0
        return int(self._run(table, self._count(table)))

    def rows(self, table: str) -> list[tuple[str, str]]:
        """(id, document id) of every row, for cross-checks."""
        if table not in table_names(self._directory):
            return []
        return list(self._run(table, self._rows(table)))

    def unusable(self, table: str) -> int:
        """How many vectors are not finite or not of length 1: every number is read."""
        if table not in table_names(self._directory):
            return 0
        return int(self._run(table, self._unusable(table)))

    def damaged_index(self, table: str) -> list[str]:
        """Files of a table's index that are missing or altered; none where it has no index.

        An index without checksums, of an earlier ekr, is searched once: raises StoreError like `search`.
        """
        if table not in table_names(self._directory) or (probing := self._probing(table)) is None:
            return []
        if probing.files:
            return damaged_files(self._directory, table, probing)
        query = np.full(self._dimension, 1 / np.sqrt(self._dimension), np.float32)
        # There are never more partitions than rows.
        self._run(table, self._search(table, query, 1, "", Probing(self.count(table))))
        return []

    def _probing(self, table: str) -> Probing | None:
        with told_as(f"the vectors of {table} cannot be read", _REPAIR):
            return probing_of(self._directory, table)

    def _run(self, table: str, coroutine: Coroutine[Any, Any, T]) -> T:
        with told_as(f"the vectors of {table} cannot be read", _REPAIR):
            return lance.run(coroutine)

    async def _table(self, name: str) -> Any:
        with self._lock:
            known = self._tables.get(name)
        if known is not None:
            return known
        connection = await lance.engine().connect(str(self._directory.absolute()), *[None] * 8)
        opened = await connection.open_table(name)
        with self._lock:
            return self._tables.setdefault(name, opened)

    async def _search(
        self, name: str, vector: npt.NDArray[np.float32], limit: int, where: str, probing: Probing | None
    ) -> list[tuple[str, float]]:
        import pyarrow as pa

        # From a buffer: to convert a list or an array pyarrow imports pandas, 0.15 s.
        numbers = pa.Array.from_buffers(pa.float32(), vector.size, [None, pa.py_buffer(vector.tobytes())])
        query = (await self._table(name)).query().nearest_to(numbers)
        query.distance_type("dot")
        query.select([("id", "id"), ("_distance", "_distance")])
        query.limit(limit)
        if probing is None:
            query.bypass_vector_index()
        else:
            query.nprobes(probing.probes)
        if where:
            query.where(where)
        stream = await query.execute(None, None)
        return [
            (row_id, 1.0 - distance)
            async for batch in stream
            for row_id, distance in zip(
                batch.column("id").to_pylist(), batch.column("_distance").to_pylist(), strict=True
            )
        ]

    async def _count(self, name: str) -> int:
        return int(await (await self._table(name)).count_rows(None))

    async def _rows(self, name: str) -> list[tuple[str, str]]:
        query = (await self._table(name)).query()
        query.select([("id", "id"), ("document_id", "document_id")])
        stream = await query.execute(None, None)
        return [
            pair
            async for batch in stream
            for pair in zip(batch.column("id").to_pylist(), batch.column("document_id").to_pylist(), strict=True)
        ]

    async def _unusable(self, name: str) -> int:
        query = (await self._table(name)).query()
        query.select([("vector", "vector")])
        wrong = 0
        async for batch in await query.execute(None, None):
            numbers = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
            lengths = np.linalg.norm(numbers.reshape(-1, self._dimension), axis=1)
            # Written so that NaN counts as wrong.
            wrong += int(np.count_nonzero(~(np.abs(lengths - 1) < _LENGTH_TOLERANCE)))
        return wrong
