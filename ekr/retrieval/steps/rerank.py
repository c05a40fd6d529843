"""Re-ranking: by a model that scores heading and text, blended with the order before; or by graph distance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ekr.errors import ModelError
from ekr.models.base import Passage
from ekr.retrieval.distance import hops_from
from ekr.retrieval.pool import Candidate, Pool

if TYPE_CHECKING:
    from ekr.retrieval.search import Search

BLEND_K = 5
# Of the model's rank where the recipe says nothing: a query likelihood is better blended (docs/architecture.md).
SHARE_OF_KIND = {"cross_encoder": 1.0, "query_likelihood": 0.4}
SEED_ENTITIES = 3


def cross_encoder(search: Search, pool: Pool) -> None:
    """Values, then passages (and entities where they share the limit) in their new order, then the others.

    score = weight / (5 + rank by the model) + (1 - weight) / (5 + rank before): a small `k` because both
    lists are short and their heads are what counts. Raises ModelError.
    """
    recipe = search.recipe
    kinds = ("chunk",) if recipe.limit_counts == "chunks" else ("chunk", "entity")
    ours = [item for item in pool.items if item.type in kinds]
    if not ours:
        return
    model = search.reranker()
    if model is None:
        return
    scored, below = ours[: recipe.rerank_top], ours[recipe.rerank_top :] if recipe.rerank_top else []
    scores = model.score(search.question, _passages(search, scored), search.language)
    if len(scores) != len(scored) or not all(map(math.isfinite, scores)):
        raise ModelError(f"{model.name} gave scores that are not numbers; choose another with EKR_RERANKER")
    search.trace.extra["rerank"] = {
        "model": model.name,
        "kind": model.kind,
        "scores": {item.id: round(score, 4) for item, score in zip(scored, scores, strict=True)},
    }
    # What was computed is not less likely for having no text to score.
    values = pool.of_type("value")
    rest = [item for item in pool.items if item.type not in (*kinds, "value")]
    weight = SHARE_OF_KIND[model.kind] if recipe.rerank_weight is None else recipe.rerank_weight
    pool.items = [*values, *blend(scored, scores, weight), *below, *rest]


def blend(items: Sequence[Candidate], scores: Sequence[float], weight: float) -> list[Candidate]:
    """Items ordered by the blend of their present rank and their rank by score; ties keep the present order."""
    by_model = sorted(range(len(items)), key=lambda i: (-scores[i], i))
    model_rank = {index: rank for rank, index in enumerate(by_model, start=1)}
    blended = [
        item.scored(weight / (BLEND_K + model_rank[i]) + (1 - weight) / (BLEND_K + i + 1))
        for i, item in enumerate(items)
    ]
    return sorted(blended, key=lambda item: -item.score)


def graph_distance(search: Search, found_before: Sequence[str], pool: Pool) -> None:
    """Items by hops from the first three entities found before the walk; ties keep their order.

    A passage or a relation is one hop from the entities that it holds, a report from its members. Items without
    a place in the graph, or without a way to the three, sink. The score is 1 / (1 + hops).
    """
    seeds = list(found_before[:SEED_ENTITIES])
    if not seeds:
        search.trace.note("no entity was found, so there is no graph distance to rank by")
        return
    hops = hops_from(search.graph.edges(), seeds)
    ends = _ends(search, pool)
    distance: dict[tuple[str, str], float] = {}
    for item in pool.items:
        if item.type == "entity":
            distance[item.key] = hops.get(item.id, math.inf)
        else:
            distance[item.key] = 1 + min((hops.get(id_, math.inf) for id_ in ends.get(item.key, ())), default=math.inf)
    ordered = sorted(pool.items, key=lambda item: distance[item.key])
    pool.items = [item.scored(1.0 / (1.0 + distance[item.key])) for item in ordered]
    search.trace.extra["graph_distance"] = {
        "seeds": seeds,
        "hops": {item.name: distance[item.key] for item in ordered if math.isfinite(distance[item.key])},
    }


def _ends(search: Search, pool: Pool) -> Mapping[tuple[str, str], Sequence[str]]:
    """The entities that passages, relations and reports hold."""
    chunks = search.graph.entities_of_chunks([item.id for item in pool.of_type("chunk")])
    relations = search.relations.of(item.id for item in pool.of_type("relation"))
    found: dict[tuple[str, str], Sequence[str]] = {("chunk", id_): held for id_, held in chunks.items()}
    found |= {("relation", id_): (record.source_id, record.target_id) for id_, record in relations.items()}
    found |= {item.key: search.graph.members(item.id) for item in pool.of_type("community")}
    return found


def _passages(search: Search, items: Sequence[Candidate]) -> list[Passage]:
    chunks = search.snapshot.chunks([item.id for item in items if item.type == "chunk"])
    entities = search.entities.of(item.id for item in items if item.type == "entity")
    passages = []
    for item in items:
        if item.type == "chunk":
            chunk = chunks[item.id]
            # The last heading alone, as it is indexed: whole breadcrumbs put one more of 25 questions out of the top 5.
            title = (chunk.heading or "").split(" > ")[-1]
            passages.append(Passage(title, _body(chunk.context, chunk.text)))
        else:
            passages.append(Passage(entities[item.id].name, entities[item.id].description))
    return passages


def _body(context: str, text: str) -> str:
    return f"{context}\n{text}" if context else text
