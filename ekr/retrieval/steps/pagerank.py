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

from ekr.retrieval.centrality import Array, personalised_pagerank
from ekr.retrieval.hits import RankedList
from ekr.retrieval.pool import WALK_OFFSET

if TYPE_CHECKING:
    from ekr.retrieval.pool import Pool
    from ekr.retrieval.search import Search
    from ekr.store.graph_reader import GraphReader

# Where the question names nothing that the graph knows and no passage was found, so many entities stand in.
_STAND_INS = 3


@dataclass(frozen=True, slots=True)
class _Network:
    """Entities, then passages, as the nodes of one undirected graph."""

    entity_ids: list[str]
    chunk_ids: list[str]
    source: Array
    target: Array
    weight: Array
    place: dict[str, int]
    passages: Array


_NETWORKS: weakref.WeakKeyDictionary[GraphReader, _Network] = weakref.WeakKeyDictionary()


def walk(search: Search, lists: list[RankedList], pool: Pool) -> None:
    """Passages and entities of high PageRank rise or join: `pagerank_weight` / (3 + rank), ranks from 0, is added
    to the scores that the pool's order, or a walk before this one, gives."""
    network = _network(search.graph)
    restart = _restart(search, network, pool)
    if not restart.any():
        return
    rank = personalised_pagerank(
        network.source, network.target, network.weight, restart, damping=search.recipe.pagerank_damping
    )
    entities = len(network.entity_ids)
    new = [
        RankedList.of("pagerank", "chunk", _best(search, network.chunk_ids, rank[entities:], search.fetch, "chunk")),
        RankedList.of("pagerank", "entity", _best(search, network.entity_ids, rank[:entities], search.top_k, "entity")),
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
        offset = len(mentions.entity_ids)
        found = _NETWORKS[graph] = _Network(
            mentions.entity_ids,
            mentions.chunk_ids,
            mentions.entity,
            mentions.chunk + offset,
            mentions.weight,
            {id_: index for index, id_ in enumerate([*mentions.entity_ids, *mentions.chunk_ids])},
            np.bincount(mentions.entity, minlength=offset),
        )
    return found


def _restart(search: Search, network: _Network, pool: Pool) -> Array:
    """Where the walk starts anew: the question's entities share 1 - `pagerank_passages`, the passages the rest."""
    named = {id_ for name in search.names() for id_ in name.entity_ids}
    found = pool.of_type("chunk")
    of_entities = np.zeros(len(network.place))
    for id_ in named:
        if id_ in network.place:
            index = network.place[id_]
            of_entities[index] = 1.0 / max(1, int(network.passages[index]))
    if not named and not found:
        of_entities[[network.place[item.id] for item in pool.of_type("entity")[:_STAND_INS]]] = 1.0
    of_passages = np.zeros(len(network.place))
    for rank, item in enumerate(found):
        of_passages[network.place[item.id]] = 1.0 / (WALK_OFFSET + rank)
    share = search.recipe.pagerank_passages if of_entities.any() else 1.0
    return (1 - share) * _normalised(of_entities) + share * _normalised(of_passages)


def _normalised(weights: Array) -> Array:
    total = weights.sum()
    return weights / total if total > 0 else weights


def _best(search: Search, ids: list[str], rank: Array, limit: int, kind: str) -> list[tuple[str, float]]:
    """The items of highest rank within the document filter; those that the walk never reaches are no hits."""
    order = np.argsort(-rank, kind="stable")
    found: list[tuple[str, float]] = []
    for start in range(0, len(order), 4 * limit):
        some = [ids[index] for index in order[start : start + 4 * limit] if rank[index] > 0]
        allowed = search.allowed_chunks(some) if kind == "chunk" else search.allowed("entity")
        for index in order[start : start + 4 * limit]:
            if rank[index] > 0 and (allowed is None or ids[index] in allowed):
                found.append((ids[index], float(rank[index])))
        if len(found) >= limit or len(some) < 4 * limit:
            break
    return found[:limit]
