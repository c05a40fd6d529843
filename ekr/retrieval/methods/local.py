"""Entities for the low-level keywords, their relations behind an edge filter, and the passages of both."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ekr.retrieval.centrality import personalised_pagerank
from ekr.retrieval.graph_search import EXACT, entities_by_name, merged, similar, source_chunks
from ekr.retrieval.hits import RankedList

if TYPE_CHECKING:
    from ekr.extraction.keywords import Keywords
    from ekr.retrieval.search import Search
    from ekr.store.graph_records import RelationRecord

# Where no keyword is a name of the graph, this many of the nearest entities stand for the question's own.
_ANCHORS = 3
_DEFINING_CHUNKS = 3
_DAMPING = 0.85
BY_RULE = "nlp"


def find(search: Search) -> list[RankedList]:
    """One list each of entities, relations and chunks.

    The passages of the best entities and relations are ordered by their best supporter, then by the number of
    supporters.
    """
    keywords = search.keywords()
    low = keywords.low
    named = entities_by_name(search, _meant(search, keywords), labelled=False)
    near = similar(search, "entities", search.vector_of(", ".join(low)), search.top_k)
    entities = merged(named, near, search.top_k)
    ranked = [id_ for id_, _ in entities]
    anchors = [id_ for id_, score in entities if score == EXACT] or ranked[:_ANCHORS]
    relations = _relations(search, ranked, anchors)
    chunks = source_chunks(
        search,
        [
            (entities, search.entity_chunks.of(ranked)),
            (relations, search.relation_chunks.of(id_ for id_, _ in relations)),
        ],
        search.fetch,
        _defining(search, anchors),
    )
    return [
        RankedList.of("local", "entity", entities),
        RankedList.of("local", "relation", relations),
        RankedList.of("local", "chunk", chunks),
    ]


def _defining(search: Search, anchors: Sequence[str]) -> set[str]:
    # Of all passages that mention what is asked about, the one that says what it is helps most.
    found = search.graph.defining_chunks(anchors)
    return {chunk for chunks in found.values() for chunk in chunks[:_DEFINING_CHUNKS]}


def _meant(search: Search, keywords: Keywords) -> list[tuple[str, ...]]:
    found = [name.entity_ids for name in search.names()]
    if keywords.by != BY_RULE:
        from ekr.extraction.question_names import names_in_question

        # A keyword that a generator wrote may name more than the rule finds in the question.
        for keyword in keywords.low:
            found += [name.entity_ids for name in names_in_question(keyword, search.lookup)]
    return found


def _relations(search: Search, entities: Sequence[str], anchors: Collection[str]) -> list[tuple[str, float]]:
    allowed = search.allowed("relation")
    touching = search.graph.relations_of(entities)
    search.relations.add({relation.id: relation for relation in touching})
    if allowed is not None:
        touching = [relation for relation in touching if relation.id in allowed]
    return edge_filter(touching, anchors)[: search.top_k]


def edge_filter(relations: Sequence[RelationRecord], anchors: Collection[str]) -> list[tuple[str, float]]:
    """Relations by what they say about the question, as (id, score): those that join two of its entities first,
    then those between nodes that matter to it.

    A node matters by its PageRank in the subgraph that the relations make, personalised to the question's
    entities; a relation by that of its lesser end, then by its weight.
    """
    if not relations:
        return []
    nodes = sorted({end for relation in relations for end in (relation.source_id, relation.target_id)})
    place = {node: index for index, node in enumerate(nodes)}
    asked = set(anchors)
    restart = np.array([1.0 if node in asked else 0.0 for node in nodes])
    rank = personalised_pagerank(
        np.array([place[relation.source_id] for relation in relations]),
        np.array([place[relation.target_id] for relation in relations]),
        np.array([relation.weight for relation in relations]),
        restart,
        damping=_DAMPING,
    )

    def importance(relation: RelationRecord) -> float:
        joins = relation.source_id in asked and relation.target_id in asked
        lesser = min(rank[place[relation.source_id]], rank[place[relation.target_id]])
        return float(joins + lesser)

    scored = [(relation, round(importance(relation), 9)) for relation in relations]
    scored.sort(key=lambda pair: (-pair[1], -pair[0].weight, pair[0].id))
    return [(relation.id, score) for relation, score in scored]
