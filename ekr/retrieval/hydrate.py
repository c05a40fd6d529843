"""From candidates to items: every id is looked up once, so that an item always carries all that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ekr.results import Item, ParentText

if TYPE_CHECKING:
    from ekr.retrieval.pool import Candidate
    from ekr.store import Snapshot
    from ekr.store.records import DocumentRecord, ParentRecord


def items(snapshot: Snapshot, candidates: Sequence[Candidate]) -> list[Item]:
    """The items of the candidates, in order, ranks from 1."""
    chunks = snapshot.chunks([c.id for c in candidates if c.type == "chunk"])
    documents = snapshot.document_records({chunk.document_id for chunk in chunks.values()})
    parents = snapshot.parents({chunk.parent_id for chunk in chunks.values()})
    found = []
    for rank, candidate in enumerate(candidates, start=1):
        chunk = chunks[candidate.id]
        document = documents[chunk.document_id]
        found.append(
            Item(
                type=candidate.type,
                id=candidate.id,
                rank=rank,
                score=candidate.score,
                document=document.display,
                document_id=public_id(document),
                page_start=chunk.page_start,
                page_end=chunk.page_end,
                heading=chunk.heading,
                text=chunk.text,
                parent=_parent(parents[chunk.parent_id]),
            )
        )
    return found


def public_id(document: DocumentRecord) -> str:
    """The id that users know: a JSONL record's own id, else the path as shown."""
    return document.display if document.record_id is None else document.record_id


def _parent(record: ParentRecord) -> ParentText:
    return ParentText(record.id, record.text, record.page_start, record.page_end)
