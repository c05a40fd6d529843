"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), one vote a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ekr.retrieval.hits import TYPE_ORDER, RankedList


@dataclass(frozen=True, slots=True)
class Fused:
    """An item after fusion; `ranks` holds the best rank that each method gave it."""

    type: str
    id: str
    score: float
    ranks: Mapping[str, int]

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the item."""
        return self.type, self.id

    def arithmetic(self, rrf_k: int) -> str:
        """The sum behind the score, for people: `1/(60+2) chunk + 1/(60+1) bm25`."""
        return " + ".join(f"1/({rrf_k}+{rank}) {method}" for method, rank in sorted(self.ranks.items()))


def reciprocal_rank_fusion(lists: Sequence[RankedList], rrf_k: int = 60) -> list[Fused]:
    """Merge ranked lists: score = Σ over methods of 1 / (rrf_k + best rank of the item in that method).

    Removes duplicates. Ties: more methods first, then the best rank, then the type (entity, relation,
    chunk, community, value), then the id; so neither the order of lists nor of methods matters.
    """
    best: dict[tuple[str, str], dict[str, int]] = {}
    for ranked_list in lists:
        for rank, hit in ranked_list.ranked():
            ranks = best.setdefault(hit.key, {})
            ranks[ranked_list.method] = min(rank, ranks.get(ranked_list.method, rank))
    fused = [
        Fused(type_, id_, sum(1.0 / (rrf_k + rank) for rank in sorted(ranks.values())), ranks)
        for (type_, id_), ranks in best.items()
    ]
    fused.sort(key=_order)
    return fused


def _order(item: Fused) -> tuple[float, int, int, int, str]:
    type_rank = TYPE_ORDER.index(item.type)
    return -round(item.score, 12), -len(item.ranks), min(item.ranks.values()), type_rank, item.id
