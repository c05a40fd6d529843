"""Cross-checks of the three engines of a store against each other, with DuckDB as the record."""

# ruff: noqa: S608 - the statements are put together from our own names; every value is bound

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import duckdb

from ekr.errors import StoreEmpty, StoreError
from ekr.store import analysis, generations, schema
from ekr.store.bm25 import Bm25Reader
from ekr.store.checksums import damaged_postings
from ekr.store.faults import reason
from ekr.store.generations import BM25, VECTORS
from ekr.store.graph_check import check_graph, embedded, unfinished
from ekr.store.schema import VECTORS_OF
from ekr.store.snapshot import Snapshot
from ekr.store.store import Store
from ekr.store.text_check import check_texts
from ekr.store.vectors import VectorReader

Engine = Literal["store", "duckdb", "lancedb", "tantivy"]
Repair = Literal["current", "rows", "graph", "vectors", "bm25", "none"]
ENGINES: tuple[Engine, ...] = ("duckdb", "lancedb", "tantivy")

_ASKED_OF_DOCTOR = {"run: ekr doctor", "run: ekr doctor --repair"}
_LOST = "restore a backup, or remove the store's directory and ingest the documents again"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    `repair` names what puts it right: another generation made current, rows that belong to nothing removed, the
    graph, the vectors or BM25 made anew from DuckDB; or none, and `advice` says what is left to do.
    """

    engine: Engine
    message: str
    repair: Repair
    advice: str = ""


@dataclass(frozen=True)
class Examination:
    """What a check saw: the committed generation, rows by engine and kind (as far as readable), what is wrong.

    `notes` are remarks on what is not finished, which makes nothing wrong.
    """

    generation: int | None = None
    format_version: int | None = None
    counts: Mapping[Engine, dict[str, int]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


ORPHANS = (
    ("pages", "document_id", "documents", "id"),
    ("parents", "document_id", "documents", "id"),
    ("chunks", "document_id", "documents", "id"),
    ("chunks", "parent_id", "parents", "id"),
    ("model_calls", "document_id", "documents", "id"),
    ("given_properties", "document_id", "documents", "id"),
)
UNIQUE = ("documents", "parents", "chunks")


def check(store: Store) -> list[Finding]:
    """Everything found wrong; empty for a sound store, and for one that holds nothing yet."""
    return list(examine(store).findings)


def examine(store: Store) -> Examination:
    """Read everything in the committed generation, and compare the engines; nothing is changed."""
    try:
        pinned = generations.pin(store.path)
    except StoreEmpty:
        return Examination()
    except StoreError as error:
        return Examination(findings=(_finding("store", error, "current"),))
    return examine_pinned(pinned, store.path)


def examine_pinned(pinned: generations.Pinned, where: object) -> Examination:
    """Examine one generation, be it committed or not, and release it."""
    with Snapshot(pinned, where) as snapshot:
        counts: dict[Engine, dict[str, int]] = {}
        try:
            version = snapshot.manifest.format_version
        except StoreError as error:
            return Examination(snapshot.generation, findings=(_finding("duckdb", error, "none"),))
        notes: list[str] = []
        findings = tuple(_findings(snapshot, counts, notes))
        return Examination(snapshot.generation, version, counts, findings, tuple(notes))


def _finding(engine: Engine, error: StoreError, repair: Repair) -> Finding:
    message, _, advice = str(error).rpartition("; ")
    if not message:
        message, advice = advice, ""
    if advice in _ASKED_OF_DOCTOR or repair != "none":
        advice = ""
    return Finding(engine, message, repair, advice or (_LOST if repair == "none" else ""))


def _findings(snapshot: Snapshot, counts: dict[Engine, dict[str, int]], notes: list[str]) -> Iterator[Finding]:
    try:
        with snapshot.connection.cursor() as cursor:
            _read_all(cursor)
            counts["duckdb"] = _row_counts(cursor)
            yield from _check_rows(cursor)
            yield from (Finding("duckdb", message, repair) for message, repair in check_graph(cursor))
            chunks = _pairs(cursor, "chunks")
            parents = _pairs(cursor, "parents")
            of_graph = {kind: embedded(cursor, kind) for kind in VECTORS_OF if kind != "chunks"}
            for message, advice in check_texts(cursor):
                yield Finding("duckdb", message, "none", advice)
            notes += unfinished(cursor, snapshot.manifest.extractor)
    except (duckdb.Error, StoreError) as error:
        unreadable = f"the rows cannot be read ({reason(error)})" if isinstance(error, duckdb.Error) else str(error)
        yield _finding("duckdb", StoreError(unreadable), "none")
        return
    embedder = snapshot.manifest.embedder
    vectors = VectorReader(snapshot.directory / VECTORS, embedder.dimension, embedder.name)
    counts["lancedb"] = {}
    for kind, expected in {"chunks": chunks, **of_graph}.items():
        try:
            found = vectors.rows(kind)
            counts["lancedb"][kind] = len(found)
            yield from _compare("lancedb", "vectors", kind, expected, found, "vectors")
            if unusable := vectors.unusable(kind):
                yield Finding("lancedb", f"{unusable} vectors of {kind} are not of length 1", "vectors")
            for file in vectors.damaged_index(kind):
                yield Finding("lancedb", f"the file {file} of the index of {kind} is missing or damaged", "vectors")
        except StoreError as error:
            yield _finding("lancedb", error, "vectors")
    yield from _check_postings(snapshot, {"chunk": chunks, "parent": parents}, counts)


def _check_postings(
    snapshot: Snapshot,
    expected: Mapping[Literal["chunk", "parent"], list[tuple[str, str]]],
    counts: dict[Engine, dict[str, int]],
) -> Iterator[Finding]:
    directory = snapshot.directory / BM25
    for file in damaged_postings(directory):
        yield Finding("tantivy", f"the file {file} is missing or damaged", "bm25")
    if dict(snapshot.manifest.analysers) != analysis.settings():
        yield Finding("tantivy", "the postings were made by the text analysis of another version of ekr", "bm25")
    postings = Bm25Reader(directory)
    counts["tantivy"] = {}
    try:
        for kind, pairs in expected.items():
            found = postings.rows(kind)
            counts["tantivy"][f"{kind}s"] = len(found)
            yield from _compare("tantivy", "postings", f"{kind}s", pairs, found, "bm25")
    except StoreError as error:
        yield _finding("tantivy", error, "bm25")
    finally:
        postings.close()


def _read_all(cursor: duckdb.DuckDBPyConnection) -> None:
    # DuckDB verifies the checksum of a block when it reads it, and a count reads none.
    for table in sorted(schema.tables_of(cursor)):
        cursor.execute(f"SELECT bit_xor(hash(t)) FROM {table} t").fetchone()


def _row_counts(cursor: duckdb.DuckDBPyConnection) -> dict[str, int]:
    present = schema.tables_of(cursor)
    names = ("documents", "parents", *schema.COUNTED[1:], "mentions", "links")
    return {name: _number(cursor, f"SELECT count(*) FROM {name}") if name in present else 0 for name in names}


def _pairs(cursor: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str]]:
    return cursor.execute(f"SELECT id, document_id FROM {table}").fetchall()


def _check_rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    for table in UNIQUE:
        twice = _number(cursor, f"SELECT count(*) - count(DISTINCT id) FROM {table}")
        if twice:
            yield Finding("duckdb", f"{twice} repeated ids in {table}", "rows")
    twice = _number(cursor, "SELECT count(*) - count(DISTINCT key) FROM documents")
    if twice:
        yield Finding("duckdb", f"{twice} documents are in twice", "rows")
    present = schema.tables_of(cursor)
    for table, column, owner, key in ORPHANS:
        if table not in present:
            continue
        lost = _number(
            cursor,
            f"SELECT count(*) FROM {table} t WHERE t.{column} IS NOT NULL "
            f"AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.{key} = t.{column})",
        )
        if lost:
            yield Finding("duckdb", f"{lost} rows of {table} whose {column} is not in {owner}", "rows")


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
