"""Generations that are whole although no `CURRENT` names them."""

from __future__ import annotations

import logging
from pathlib import Path

import duckdb

from ekr.errors import StoreError
from ekr.store import generations, schema
from ekr.store.manifest import read_manifest

logger = logging.getLogger(__name__)


def uncommitted(root: Path) -> list[int]:
    """Whole generations on disk that no `CURRENT` names, newest first; empty while one is named and there.

    Whole means: its rows can be read and are at rest. One that a writer had not finished keeps a log of DuckDB.
    """
    try:
        named = generations.current(root)
    except StoreError:
        named = None
    if named is not None and (generations.directory_of(root, named) / generations.PIN).is_file():
        return []
    return [number for number in reversed(generations.generations(root)) if _is_whole(root, number)]


def abandoned(root: Path) -> list[int]:
    """Whole generations of a store that has lost its `CURRENT`, newest first.

    A first generation that was never current is what a killed ingest left: the store is empty.
    """
    if generations.has_current(root):
        return []
    return [number for number in uncommitted(root) if number > 1 or _was_current(root, number)]


def _was_current(root: Path, number: int) -> bool:
    return (generations.directory_of(root, number) / generations.COMMITTED).exists()


def _is_whole(root: Path, number: int) -> bool:
    rows = generations.directory_of(root, number) / generations.GRAPH
    if rows.with_name(rows.name + ".wal").exists():
        logger.info("generation %d was not finished", number)
        return False
    try:
        with schema.connect(rows, read_only=True) as connection:
            read_manifest(connection, root)
        return True
    except (duckdb.Error, StoreError) as error:
        logger.info("generation %d cannot be used: %s", number, error)
        return False
