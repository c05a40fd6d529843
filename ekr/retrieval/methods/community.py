"""Reports on the communities of the graph, by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ekr.retrieval.graph_search import similar
from ekr.retrieval.hits import RankedList

if TYPE_CHECKING:
    from ekr.retrieval.search import Search


def find(search: Search) -> list[RankedList]:
    """One list of community reports, scored by cosine similarity with the question."""
    return [RankedList.of("community", "community", similar(search, "reports", search.query_vector(), search.fetch))]
