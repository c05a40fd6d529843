"""Names under which documents are shown: those that share one get as many folders as tell them apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import duckdb

from ekr.store.records import DocumentRecord


def told_apart(cursor: duckdb.DuckDBPyConnection, records: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """The records, each with a `display` that no other document of the store has.

    What is stored is relative to the folder that was ingested: two folders may both have a `notes.txt`.
    """
    shared = cursor.execute(
        "SELECT id, display, path, record_id FROM documents WHERE display IN "
        "(SELECT display FROM documents WHERE display IN (SELECT unnest(?)) GROUP BY display HAVING count(*) > 1)",
        [list({record.display for record in records})],
    ).fetchall()
    if not shared:
        return list(records)
    groups: dict[str, dict[str, tuple[str, str]]] = {}
    for id_, display, path, record_id in shared:
        groups.setdefault(display, {})[id_] = (path, "" if record_id is None else f"#{record_id}")
    labels: dict[str, str] = {}
    for places in groups.values():
        labels |= _labels(cursor, places)
    return [dataclasses.replace(r, display=labels.get(r.id, r.display)) for r in records]


def _labels(cursor: duckdb.DuckDBPyConnection, places: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Document id → the end of its path: the shortest that is unlike the others and unlike any name in the store."""
    deepest = max(len(PurePosixPath(path).parts) for path, _ in places.values())
    for count in range(2, deepest):
        ends = {id_: "/".join(PurePosixPath(path).parts[-count:]) + record for id_, (path, record) in places.items()}
        if len(set(ends.values())) < len(ends):
            continue
        taken = "SELECT 1 FROM documents WHERE display IN (SELECT unnest(?)) LIMIT 1"
        if cursor.execute(taken, [list(ends.values())]).fetchone() is None:
            return ends
    return {id_: path + record for id_, (path, record) in places.items()}
