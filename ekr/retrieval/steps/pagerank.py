"""The walk over entities and passages together: personalised PageRank.

Seeded by the question's entities, each the more the fewer passages hold it, and weakly by the passages found; as
in HippoRAG (Gutiérrez et al., NeurIPS 2024). Edges are mentions alone: relations beside them made nothing better
on the three multi-hop sets.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ekr.retrieval.hits import RankedList
from ekr.retrieval.passage_walk import PassageWalk
from ekr.retrieval.pool import WALK_OFFSET

if TYPE_CHECKING:
    from ekr.retrieval.centrality import Array
    from ekr.retrieval.pool import Pool
    from ekr.retrieval.search import Search
    from ekr.store.graph_reader import GraphReader

# Where the question names nothing that the graph knows and no passage was found, so many entities stand in.
_STAND_INS = 3


@dataclass(frozen=True, slots=True)
class _Network:
    """The ids of entities and passages, where each is in the walk's arrays, and the walk."""

    entity_ids: list[str]
    chunk_ids: list[str]
    entity_place: dict[str, int]
    chunk_place: dict[str, int]
    walk: PassageWalk


_NETWORKS: weakref.WeakKeyDictionary[GraphReader, _Network] = weakref.WeakKeyDictionary()


def walk(search: Search, lists: list[RankedList], pool: Pool) -> None:
    """Passages and entities of high PageRank rise or join: `pagerank_weight` / (3 + rank), ranks from 0, is added
    to the scores that the pool's order, or a walk before this one, gives."""
    network = _network(search.graph)
    of_entities, of_passages = _restart(search, network, pool)
    if not of_entities.any() and not of_passages.any():
        return
    entities, passages = network.walk.rank(of_entities, of_passages, damping=search.recipe.pagerank_damping)
    new = [
        RankedList.of("pagerank", "chunk", _best(search, network.chunk_ids, passages, search.fetch, "chunk")),
        RankedList.of("pagerank", "entity", _best(search, network.entity_ids, entities, search.top_k, "entity")),
    ]
    for ranked, type_ in zip(new, ("chunk", "entity"), strict=True):
        search.trace.add_list(ranked)
        scores = pool.walk_scores(type_)
        for place, hit in enumerate(ranked.hits):
            scores[hit.id] = scores.get(hit.id, 0.0) + search.recipe.pagerank_weight / (WALK_OFFSET + place)
        pool.set_walk_scores(type_, scores, "pagerank")


def _network(graph: GraphReader) -> _Network:
    found = _NETWORKS.get(graph)
    if found is None:
        mentions = graph.passage_edges()
        found = _NETWORKS[graph] = _Network(
            mentions.entity_ids,
            mentions.chunk_ids,
            {id_: index for index, id_ in enumerate(mentions.entity_ids)},
            {id_: index for index, id_ in enumerate(mentions.chunk_ids)},
            PassageWalk(mentions),
        )
    return found


def _restart(search: Search, network: _Network, pool: Pool) -> tuple[Array, Array]:
    """Where the walk starts anew: the question's entities share 1 - `pagerank_passages`, the passages the rest."""
    named = {id_ for name in search.names() for id_ in name.entity_ids}
    found = pool.of_type("chunk")
    of_entities = np.zeros(len(network.entity_ids))
    for id_ in named:
        if (index := network.entity_place.get(id_)) is not None:
            of_entities[index] = 1.0 / max(1, int(network.walk.passages_of_entity[index]))
    if not named and not found:
        of_entities[[network.entity_place[item.id] for item in pool.of_type("entity")[:_STAND_INS]]] = 1.0
    of_passages = np.zeros(len(network.chunk_ids))
    for rank, item in enumerate(found):
        of_passages[network.chunk_place[item.id]] = 1.0 / (WALK_OFFSET + rank)
    share = search.recipe.pagerank_passages if of_entities.any() else 1.0
    return (1 - share) * _normalised(of_entities), share * _normalised(of_passages)


def _normalised(weights: Array) -> Array:
    total = weights.sum()
    return weights / total if total > 0 else weights


def _best(search: Search, ids: list[str], rank: Array, limit: int, kind: str) -> list[tuple[str, float]]:
    """The items of highest rank within the document filter; those that the walk never reaches are no hits."""
    asked = 2 * limit
    while True:
        order = _highest(rank, asked)
        some = [ids[index] for index in order]
        allowed = search.allowed_chunks(some) if kind == "chunk" else search.allowed("entity")
        found = [(ids[index], float(rank[index])) for index in order if allowed is None or ids[index] in allowed]
        if len(found) >= limit or len(order) < asked:
            return found[:limit]
        asked *= 4


def _highest(rank: Array, count: int) -> Array:
    """Places of the `count` highest ranks above 0, and of those equal to the last, best first, ties by place."""
    if count < len(rank):
        least = np.partition(rank, -count)[-count]
        places = np.flatnonzero((rank >= least) & (rank > 0))
    else:
        places = np.flatnonzero(rank > 0)
    return places[np.argsort(-rank[places], kind="stable")]
