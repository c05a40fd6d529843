"""Child chunks by BM25 on heading and text, where the recipe asks also by that of their whole parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ekr.retrieval.hits import RankedList

if TYPE_CHECKING:
    from ekr.retrieval.search import Search


def find(search: Search) -> list[RankedList]:
    """One list of chunks. Scores are BM25's, or fused ranks where parents count too."""
    recipe = search.recipe
    children = search.snapshot.search_bm25(
        search.question, search.fetch, documents=search.documents, k1=recipe.bm25_k1, b=recipe.bm25_b
    )
    if not recipe.bm25_parents or not children:
        return [RankedList.of("bm25", "chunk", children)]
    parents = search.snapshot.search_bm25(
        search.question,
        search.fetch,
        documents=search.documents,
        field="parent",
        k1=recipe.bm25_k1,
        b=recipe.bm25_b,
    )
    return [RankedList.of("bm25", "chunk", _with_parents(search, children, parents))]


def _with_parents(
    search: Search, children: list[tuple[str, float]], parents: list[tuple[str, float]]
) -> list[tuple[str, float]]:
    # A long article whose words are spread over its children ranks high as a whole; its best child inherits.
    parent_rank = {id_: rank for rank, (id_, _) in enumerate(parents, start=1)}
    records = search.snapshot.chunks([id_ for id_, _ in children])
    unranked = len(parents) + 1
    k = search.recipe.rrf_k
    scored = [
        (id_, 1 / (k + rank) + 1 / (k + parent_rank.get(records[id_].parent_id, unranked)))
        for rank, (id_, _) in enumerate(children, start=1)
    ]
    return sorted(scored, key=lambda pair: -pair[1])
