"""Reports of the communities that the entities found belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.pool import Candidate, Pool

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.search import Search
    from ekr.store.graph_records import CommunityRecord

_CONSIDERED = 50


def join(search: Search, lists: Sequence[RankedList], pool: Pool) -> None:
    """Up to `community_slots` reports join the pool's end, those that hold most of the entities first.

    The score is the number of entities held. Of a community and its parent only the one that holds more joins,
    or the smaller where they hold as many.
    """
    entities = [item.id for item in pool.of_type("entity")]
    allowed = search.allowed("community")
    overlaps = [
        (id_, overlap) for id_, overlap in search.graph.communities_of(entities) if allowed is None or id_ in allowed
    ][:_CONSIDERED]
    records = search.graph.communities([id_ for id_, _ in overlaps])
    known = {item.id for item in pool.of_type("community")}
    chosen: dict[str, int] = {}
    for id_, overlap in overlaps:
        if len(chosen) == search.recipe.community_slots:
            break
        if id_ not in known and not any(_related(records, id_, other) for other in chosen):
            chosen[id_] = overlap
    pool.append(Candidate("community", id_, float(overlap), "communities") for id_, overlap in chosen.items())


def _related(records: Mapping[str, CommunityRecord], one: str, other: str) -> bool:
    return other in _ancestors(records, one) or one in _ancestors(records, other)


def _ancestors(records: Mapping[str, CommunityRecord], id_: str) -> list[str]:
    found: list[str] = []
    parent = records[id_].parent_id
    while parent is not None:
        found.append(parent)
        parent = records[parent].parent_id if parent in records else None
    return found
