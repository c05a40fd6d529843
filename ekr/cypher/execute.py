"""Running a compiled query: read-only, without file access, within a memory, time and row limit."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from ekr.cypher.compile import CompiledQuery, compile_query
from ekr.cypher.errors import CypherError, CypherMemory, CypherTimeout
from ekr.cypher.results import Entities
from ekr.cypher.schema import Connection, GraphSchema

_log = logging.getLogger(__name__)
_INTERRUPT_AGAIN = 0.05  # seconds
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@dataclass(frozen=True)
class Limits:
    """`rows` is the most that a result holds, `seconds` the time to run, `memory_mb` what DuckDB may use (MiB)."""

    rows: int = 1000
    seconds: float = 10.0
    memory_mb: int = 512


@dataclass(frozen=True)
class QueryResult:
    """`rows` under `columns`; `truncated` when the row limit cut them; `node_ids` of the nodes in them.

    Values are Python scalars, lists and dicts, or Node, Relationship and Path. `seconds` is wall time, compiling
    included; `sql` is what ran.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    node_ids: tuple[Any, ...]
    sql: str
    seconds: float


def run(
    connection: Connection,
    schema: GraphSchema,
    text: str,
    params: Mapping[str, Any] | None = None,
    limits: Limits = Limits(),
) -> QueryResult:
    """Compile and run one query on a cursor of its own.

    Raises CypherError (CypherTimeout, CypherMemory when a limit was reached): a failure is never an empty result.
    """
    begin = time.perf_counter()
    compiled = compile_query(text, schema, params, max_rows=limits.rows)
    rows, entities = _execute(connection, schema, compiled, limits)
    kept = rows[: limits.rows]
    return QueryResult(
        columns=compiled.columns,
        rows=[tuple(entities.value(v, k) for v, k in zip(row, compiled.types, strict=True)) for row in kept],
        truncated=len(rows) > limits.rows,
        node_ids=entities.node_ids,
        sql=compiled.sql,
        seconds=time.perf_counter() - begin,
    )


def harden(connection: Connection, memory_mb: int) -> None:
    """Take file access and spilling to disk from a database and cap its memory. It cannot be undone for files.

    The settings are the whole process's for that database, so a store calls this once when it opens for reading;
    `run` calls it too and lowers the memory limit only.
    """
    cursor = connection.cursor()
    try:
        names = ("memory_limit", "max_temp_directory_size", "enable_external_access")
        cursor.execute("SELECT " + ", ".join(f"current_setting('{name}')" for name in names))
        memory, spill, access = cursor.fetchone()
        if _bytes(str(memory)) > memory_mb * 2**20:
            cursor.execute(f"SET memory_limit = '{int(memory_mb)}MiB'")
        if _bytes(str(spill)) > 0:
            cursor.execute("SET max_temp_directory_size = '0KB'")
        if access:
            cursor.execute("SET enable_external_access = false")
    finally:
        cursor.close()


def _bytes(size: str) -> float:
    """Bytes of a DuckDB size such as "18.8 GiB"; a text that is none (a share of the disk) is without limit."""
    number, _, unit = size.partition(" ")
    return float(number) * _UNITS[unit] if unit in _UNITS else float("inf")


def _execute(
    connection: Connection, schema: GraphSchema, compiled: CompiledQuery, limits: Limits
) -> tuple[list[tuple[Any, ...]], Entities]:
    import duckdb

    harden(connection, limits.memory_mb)
    cursor = connection.cursor()
    # In a thread of its own: DuckDB may not look for a Ctrl-C for minutes, while waiting for a thread ends at once.
    worker = ThreadPoolExecutor(1, thread_name_prefix="cypher")
    running = worker.submit(_fetch, cursor, schema, compiled, limits)
    try:
        return running.result(limits.seconds)
    except TimeoutError as error:
        raise CypherTimeout(
            f"the query took more than {limits.seconds:g} s and was stopped; narrow it: name a start node, "
            "bound the length (*1..3), or return DISTINCT nodes"
        ) from error
    except duckdb.OutOfMemoryException as error:
        raise CypherMemory(
            f"the query needs more than {limits.memory_mb} MB and was stopped; narrow it: name a start node, "
            "bound the length (*1..3), or return DISTINCT nodes"
        ) from error
    except duckdb.Error as error:
        _log.debug("query failed: %s", compiled.sql)
        raise CypherError(f"the query cannot be run: {_first_line(error)}") from error
    finally:
        # Again and again, because an interrupt between two statements stops neither.
        while not running.done():
            with contextlib.suppress(duckdb.Error):
                cursor.interrupt()
            wait([running], timeout=_INTERRUPT_AGAIN)
        worker.shutdown()
        cursor.close()


def _fetch(
    cursor: Any, schema: GraphSchema, compiled: CompiledQuery, limits: Limits
) -> tuple[list[tuple[Any, ...]], Entities]:
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    cursor.execute(compiled.sql, compiled.values)
    rows = cursor.fetchall()
    return rows, Entities(cursor, schema, rows[: limits.rows], compiled.types)


def _first_line(error: Exception) -> str:
    """DuckDB's message without its advice about settings and SQL."""
    line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return line.split(" Use TRY(")[0].split(" You may want to")[0]
