"""Repairs that need no model: which generation is current, and rows that belong to nothing."""

# ruff: noqa: S608 - the statements are put together from our own names; every value is bound

from __future__ import annotations

import logging
from pathlib import Path

import duckdb

from ekr.errors import StoreError
from ekr.store import generations
from ekr.store.abandoned import uncommitted
from ekr.store.check import ORPHANS, UNIQUE, examine_pinned
from ekr.store.faults import told_as
from ekr.store.graph_check import INCOMPLETE, RAW_ORPHANS, RAW_UNIQUE
from ekr.store.graph_schema import forget_resolution
from ekr.store.locks import acquire_writer, try_shared
from ekr.store.store import Store
from ekr.store.writer import Writer

logger = logging.getLogger(__name__)


def make_current(store: Store, wait_seconds: float = 10) -> int:
    """Commit the newest generation that is sound, else the newest that is whole, and remove the others.

    Returns its number.

    Raises StoreError when there is none, StoreLocked while a writer is at work.
    """
    root = store.path
    advice = "restore a backup, or remove the store's directory and ingest the documents again"
    with (
        told_as(f"cannot write to the store {root}", "nothing was changed"),
        acquire_writer(root / generations.WRITER_LOCK, wait_seconds),
    ):
        candidates = uncommitted(root)
        if not candidates:
            raise StoreError(f"no whole generation is left in the store {root}; {advice}")
        chosen = next((number for number in candidates if _is_sound(root, number)), candidates[0])
        (generations.directory_of(root, chosen) / generations.PIN).touch()
        generations.commit(root, chosen)
        generations.collect(root, chosen)
        return chosen


def _is_sound(root: Path, number: int) -> bool:
    directory = generations.directory_of(root, number)
    (directory / generations.PIN).touch()
    lock = try_shared(directory / generations.PIN)
    return lock is not None and not examine_pinned(generations.Pinned(number, directory, lock), root).findings


def remove_strays(writer: Writer) -> int:
    """Remove rows of documents, of extraction and of the cache that belong to nothing, and repeated ones.

    Returns how many. What is derived from them must be made anew afterwards; the graph is noted to need it.
    """
    removed = 0
    with writer.changing() as connection:
        for table in UNIQUE:
            removed += _delete(connection, table, _repeated(table, "id"))
        for table, column in RAW_UNIQUE:
            removed += _delete(connection, table, _repeated(table, column))
        # A parent that goes leaves its chunks without one, so the order of the rules matters: owners first.
        for table, column, owner, key in (*ORPHANS, *RAW_ORPHANS):
            stray = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {owner})"
            removed += _delete(connection, table, stray)
        # The next ingest extracts these documents again.
        removed += _delete(connection, "extracted", INCOMPLETE)
        forget_resolution(connection)
    return removed


def _repeated(table: str, column: str) -> str:
    return f"rowid NOT IN (SELECT min(rowid) FROM {table} GROUP BY {column})"


def _delete(connection: duckdb.DuckDBPyConnection, table: str, condition: str) -> int:
    row = connection.execute(f"DELETE FROM {table} WHERE {condition}").fetchone()
    return int(row[0]) if row else 0
