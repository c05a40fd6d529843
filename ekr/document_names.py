"""Which documents a person means by a name: to show them, and, more strictly, to remove them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ekr.errors import UsageError
from ekr.ingestion.prepare import document_key

if TYPE_CHECKING:
    from ekr.store import Snapshot
    from ekr.store.records import DocumentRecord

SHORTEST_PREFIX = 6
# A document's internal id is on no screen but that of `ekr cypher`: its beginning is taken, and never asked for.
SHORTEST_PREFIX_TO_REMOVE = 8
_SHOWN = 5


def find(snapshot: Snapshot, name: str, shortest_prefix: int = SHORTEST_PREFIX) -> list[DocumentRecord]:
    """The documents that a name, path, record id, file name, glob or beginning of an id means.

    The name of a file of records means all of them. Raises UsageError when nothing fits.
    """
    found = snapshot.find_document(name, shortest_prefix)
    if not found:
        found = snapshot.find_document(document_key(Path(name).resolve()), shortest_prefix)
    if not found:
        found = _of_file(snapshot, name)
    if not found and _is_glob(name):
        matching = snapshot.match_documents([name], {}) or set()
        found = list(snapshot.document_records(matching).values())
    if not found:
        raise UsageError(f"no document '{name}' in the store; `ekr documents` lists them")
    return found


def find_to_remove(snapshot: Snapshot, name: str) -> list[DocumentRecord]:
    """Like `find`, but several only for a glob and for the name of one file of records; of an internal id eight digits.

    Raises UsageError, which lists the candidates, for a name that several documents or files share.
    """
    found = find(snapshot, name, SHORTEST_PREFIX_TO_REMOVE)
    literally = any(name in (record.display, record.key) for record in found)
    if not literally:
        # Where the id of a record is also the name of a file, neither of them is meant for certain.
        known = {record.id for record in found}
        found = found + [record for record in _of_file(snapshot, name) if record.id not in known]
    if len(found) == 1 or _is_one_file(found, name) or (_is_glob(name) and not literally):
        return found
    candidates = ", ".join(record.key for record in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    raise UsageError(f"'{name}' means {len(found)} documents; name each by its full path: {candidates}")


def _of_file(snapshot: Snapshot, name: str) -> list[DocumentRecord]:
    """The documents of the files that are shown under this name, with their folder or without it."""
    return [record for record in snapshot.documents() if name in _file_names(record)]


def _is_one_file(found: Sequence[DocumentRecord], name: str) -> bool:
    """Whether the documents are records of one file, and `name` is a name of that file."""
    names = {document_key(Path(name).resolve()), name}
    return len({record.path for record in found}) == 1 and all(
        record.path in names or name in _file_names(record) for record in found
    )


def _file_names(record: DocumentRecord) -> set[str]:
    shown = record.display if record.record_id is None else record.display.removesuffix(f"#{record.record_id}")
    return {shown, shown.rpartition("/")[2]}


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[")
