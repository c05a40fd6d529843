"""The DuckDB tables of the text part, how the file is opened, and how further modules add tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import duckdb

from ekr.errors import StoreError
from ekr.store.faults import reason
from ekr.store.spill import spill_directory

if TYPE_CHECKING:
    from ekr.store.writer import Writer

TABLES = """
CREATE TABLE IF NOT EXISTS manifest (key VARCHAR NOT NULL, value VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS documents (
    id VARCHAR NOT NULL, key VARCHAR NOT NULL, display VARCHAR NOT NULL, path VARCHAR NOT NULL,
    record_id VARCHAR, title VARCHAR NOT NULL, format VARCHAR NOT NULL, language VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL, pages INTEGER, characters BIGINT NOT NULL,
    metadata VARCHAR NOT NULL, warnings VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS pages (document_id VARCHAR NOT NULL, page INTEGER NOT NULL, text VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS parents (
    id VARCHAR NOT NULL, document_id VARCHAR NOT NULL, ordinal INTEGER NOT NULL, heading VARCHAR,
    text VARCHAR NOT NULL, start_offset BIGINT NOT NULL, end_offset BIGINT NOT NULL,
    page_start INTEGER, page_end INTEGER);
CREATE TABLE IF NOT EXISTS chunks (
    id VARCHAR NOT NULL, document_id VARCHAR NOT NULL, parent_id VARCHAR NOT NULL, ordinal INTEGER NOT NULL,
    heading VARCHAR, text VARCHAR NOT NULL, context VARCHAR NOT NULL, start_offset BIGINT NOT NULL,
    end_offset BIGINT NOT NULL, page_start INTEGER, page_end INTEGER, tokens INTEGER NOT NULL,
    language VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS given_properties (document_id VARCHAR NOT NULL, properties VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS model_calls (
    key VARCHAR NOT NULL, kind VARCHAR NOT NULL, document_id VARCHAR, value VARCHAR NOT NULL);
"""

COUNTED = ("documents", "chunks", "entities", "relations", "communities")
VECTORS_OF = ("chunks", "entities", "relations", "reports")


class StorePart(Protocol):
    """Another module's tables in the same generation: made, filled and cleared within the same commit."""

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create the module's tables where they do not exist."""
        ...

    def delete_documents(self, writer: Writer, document_ids: Sequence[str]) -> None:
        """Remove what only these documents support; their chunks are still in the tables when this is called."""
        ...


def connect(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Open a generation's rows. Raises StoreError when the file is missing, damaged or of a newer DuckDB.

    Readers get no access to files, network or extensions: graph queries run on the same connection.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": "1GB" if read_only else "512MB",
        "temp_directory": spill_directory(path),
    }
    if read_only and not path.is_file():
        raise StoreError(f"{path} is missing; run: ekr doctor")
    try:
        connection = duckdb.connect(str(path.absolute()), read_only=read_only, config=config)
        if read_only:
            # Not in `config`: there it would refuse the spill directory.
            connection.execute("SET enable_external_access = false")
        return connection
    except duckdb.Error as error:
        raise StoreError(f"{path} cannot be opened ({reason(error)}); run: ekr doctor") from error


def tables_of(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """Names of the tables in the file."""
    return {row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def counts(cursor: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows of each counted table; 0 for a table that no module has made."""
    present = tables_of(cursor)
    return {name: _count(cursor, name) if name in present else 0 for name in COUNTED}


def expected_vectors(cursor: duckdb.DuckDBPyConnection, table: str) -> int:
    """Vectors that there must be of a kind: one a chunk, and one a text of the graph that was embedded."""
    if table == "chunks":
        return counts(cursor)["chunks"]
    if "graph_vectors" not in tables_of(cursor):
        return 0
    row = cursor.execute("SELECT count(*) FROM graph_vectors WHERE kind = ?", [table]).fetchone()
    return int(row[0]) if row else 0


def _count(cursor: duckdb.DuckDBPyConnection, table: str) -> int:
    row = cursor.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
