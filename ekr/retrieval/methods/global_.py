"""Relations for the high-level keywords, then the entities that they join and the passages that state them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ekr.retrieval.graph_search import similar, source_chunks
from ekr.retrieval.hits import RankedList

if TYPE_CHECKING:
    from ekr.retrieval.search import Search


def find(search: Search) -> list[RankedList]:
    """One list each of relations, entities and chunks; an entity ranks with its best relation."""
    vector = search.vector_of(", ".join(search.keywords().high))
    relations = similar(search, "relations", vector, search.top_k)
    ids = [id_ for id_, _ in relations]
    records = search.relations.of(ids)
    allowed = search.allowed("entity")
    entities: dict[str, float] = {}
    for id_, score in relations:
        for end in (records[id_].source_id, records[id_].target_id):
            if allowed is None or end in allowed:
                entities.setdefault(end, score)
    chunks = source_chunks(search, [(relations, search.relation_chunks.of(ids))], search.fetch)
    return [
        RankedList.of("global", "relation", relations),
        RankedList.of("global", "entity", list(entities.items())[: search.top_k]),
        RankedList.of("global", "chunk", chunks),
    ]
