"""Joins what the methods beside the fusion found: a small budget of passages, and entities and relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.fusion import reciprocal_rank_fusion
from ekr.retrieval.pool import Candidate, Pool

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.search import Search


def join(search: Search, lists: Sequence[RankedList], pool: Pool) -> None:
    """Their items, fused among themselves, join the pool's end: every entity and relation, and the first
    `beside_chunks` of the passages that are not in the pool."""
    fused = reciprocal_rank_fusion(lists, search.recipe.rrf_k)
    known = {item.id for item in pool.of_type("chunk")}
    new = [item.id for item in fused if item.type == "chunk" and item.id not in known]
    wanted = set(new[: search.recipe.beside_chunks])
    pool.append(
        Candidate(item.type, item.id, item.score, "beside")
        for item in fused
        if item.type != "chunk" or item.id in wanted
    )
