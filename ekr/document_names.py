"""Which documents a person means by a name: to show them, and, more strictly, to remove them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ekr.errors import UsageError
from ekr.ingestion.prepare import document_key

if TYPE_CHECKING:
    from ekr.store import Snapshot
    from ekr.store.records import DocumentRecord

SHORTEST_PREFIX = 6
SHORTEST_PREFIX_TO_REMOVE = 8
_SHOWN = 5


def find(snapshot: Snapshot, name: str, shortest_prefix: int = SHORTEST_PREFIX) -> list[DocumentRecord]:
    """The documents that a name, path, record id, glob or the beginning of an id means. Raises UsageError for none."""
    found = snapshot.find_document(name, shortest_prefix)
    if not found:
        found = snapshot.find_document(document_key(Path(name).resolve()), shortest_prefix)
    if not found and _is_glob(name):
        matching = snapshot.match_documents([name], {}) or set()
        found = list(snapshot.document_records(matching).values())
    if not found:
        raise UsageError(f"no document '{name}' in the store; `ekr documents` lists them")
    return found


def find_to_remove(snapshot: Snapshot, name: str) -> list[DocumentRecord]:
    """Like `find`, but several only for a glob and for the path of a file of records; of an id eight digits.

    Raises UsageError, which lists the candidates, for a name that several documents share.
    """
    found = find(snapshot, name, SHORTEST_PREFIX_TO_REMOVE)
    records_of_a_file = {record.path for record in found} == {document_key(Path(name).resolve())}
    literally = any(name in (record.display, record.key) for record in found)
    if len(found) == 1 or records_of_a_file or (_is_glob(name) and not literally):
        return found
    candidates = ", ".join(record.key for record in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    raise UsageError(f"'{name}' means {len(found)} documents; name each by its full path: {candidates}")


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[")
