"""Neighbour chunks: an article or a list often continues in the next chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.pool import Candidate, Pool

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.search import Search

BEST_HITS = 5


def join(search: Search, lists: Sequence[RankedList], pool: Pool) -> None:
    """The chunk that follows each of the best 5 hits of the dense and BM25 lists joins the pool's end."""
    leaders = [
        hit.id
        for ranked in lists
        if ranked.method in ("chunk", "bm25")
        for hit in ranked.hits[:BEST_HITS]
        if hit.type == "chunk"
    ]
    following = search.snapshot.next_chunks(leaders)
    pool.append(Candidate("chunk", following[id_], 0.0, "neighbours") for id_ in leaders if id_ in following)
