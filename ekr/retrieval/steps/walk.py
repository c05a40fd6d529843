"""The walk along relations, outward from the entities found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ekr.retrieval.hits import RankedList
from ekr.retrieval.pool import Pool

if TYPE_CHECKING:
    from ekr.retrieval.search import Search
    from ekr.store.graph_records import RelationRecord


@dataclass
class _Walked:
    """What a walk has met, in order, with scores; `room` is what may still be met."""

    room: int
    entities: dict[str, float] = field(default_factory=dict)
    relations: dict[str, float] = field(default_factory=dict)

    def meet(self, items: dict[str, float], id_: str, score: float) -> None:
        if self.room > 0 and id_ not in items:
            items[id_] = score
            self.room -= 1


def breadth_first(search: Search, lists: list[RankedList], pool: Pool) -> None:
    """Entities and relations within `walk_depth` hops of the entities in the pool, at most `walk_items` of both,
    are fused into it as one more method's lists.

    Nearer ones come first; among those as near, the ones tied most strongly to the better entities. Only
    relations of the types asked for, and with evidence in the documents allowed, are followed.
    """
    seeds = [item.id for item in pool.of_type("entity")]
    walked = _walk(search, seeds)
    new = [
        RankedList.of("walk", "entity", walked.entities.items()),
        RankedList.of("walk", "relation", walked.relations.items()),
    ]
    for ranked in new:
        search.trace.add_list(ranked)
    lists += new
    pool.fuse_again(search.recipe, lists)


def _walk(search: Search, seeds: Sequence[str]) -> _Walked:
    walked = _Walked(search.recipe.walk_items)
    visited = {id_: rank for rank, id_ in enumerate(seeds, start=1)}
    frontier = list(seeds)
    for depth in range(1, search.recipe.walk_depth + 1):
        if not frontier or walked.room <= 0:
            break
        relations = _followed(search, frontier)
        near = set(frontier)
        strength: dict[str, float] = {}
        by_end: dict[str, list[RelationRecord]] = {}
        for relation in relations:
            for begin, end in ((relation.source_id, relation.target_id), (relation.target_id, relation.source_id)):
                if begin in near:
                    strength[end] = strength.get(end, 0.0) + relation.weight / visited[begin]
                    by_end.setdefault(end, []).append(relation)
        allowed = search.allowed("entity")
        passing = (id_ for id_ in strength if allowed is None or id_ in allowed)
        reached = sorted(passing, key=lambda id_: (-strength[id_], id_))
        for end in reached:
            walked.meet(walked.relations, by_end[end][0].id, 1.0 / depth)
            if end not in visited:
                walked.meet(walked.entities, end, 1.0 / depth)
        frontier = [end for end in reached if end not in visited]
        for end in frontier:
            visited[end] = len(visited) + 1
    return walked


def _followed(search: Search, frontier: Sequence[str]) -> list[RelationRecord]:
    from ekr.extraction.records import RELATED_TO

    relations = search.graph.relations_of(frontier, search.filters.relations or None)
    search.relations.add({relation.id: relation for relation in relations})
    allowed = search.allowed("relation")
    kept = [relation for relation in relations if allowed is None or relation.id in allowed]
    # What a text states says more than that two names stand together.
    return sorted(kept, key=lambda relation: relation.type == RELATED_TO)
