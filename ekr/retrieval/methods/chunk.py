"""Child chunks by vector similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ekr.retrieval.hits import RankedList

if TYPE_CHECKING:
    from ekr.retrieval.search import Search


def find(search: Search) -> list[RankedList]:
    """One list of chunks, scored by cosine similarity with the question."""
    hits = search.snapshot.search_vectors("chunks", search.query_vector(), search.fetch, search.documents)
    return [RankedList.of("chunk", "chunk", hits)]
