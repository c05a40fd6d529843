"""Re-ranking: a model scores heading and text of the pool's passages; its ranks blend with those of fusion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ekr.errors import ModelError
from ekr.models.base import Passage
from ekr.retrieval.pool import Candidate

if TYPE_CHECKING:
    from ekr.retrieval.search import Search

BLEND_K = 5


def cross_encoder(search: Search, items: list[Candidate]) -> list[Candidate]:
    """The items in their new order; the score becomes the blended one. Raises ModelError.

    score = weight / (5 + rank by the model) + (1 - weight) / (5 + rank before): a small `k` because both
    lists are short and their heads are what counts.
    """
    model = search.reranker()
    if model is None:
        return items
    scored = [item for item in items if item.type == "chunk"]
    rest = [item for item in items if item.type != "chunk"]
    records = search.snapshot.chunks([item.id for item in scored])
    passages = [Passage(records[i.id].heading or "", _body(records[i.id].context, records[i.id].text)) for i in scored]
    scores = model.score(search.question, passages, search.language)
    if len(scores) != len(scored) or not all(map(math.isfinite, scores)):
        raise ModelError(f"{model.name} gave scores that are not numbers; choose another with EKR_RERANKER")
    search.trace.extra["rerank"] = {
        "model": model.name,
        "kind": model.kind,
        "scores": {item.id: round(score, 4) for item, score in zip(scored, scores, strict=True)},
    }
    return blend(scored, scores, search.recipe.rerank_weight) + rest


def blend(items: list[Candidate], scores: list[float], weight: float) -> list[Candidate]:
    """Items ordered by the blend of their present rank and their rank by score; ties keep the present order."""
    by_model = sorted(range(len(items)), key=lambda i: (-scores[i], i))
    model_rank = {index: rank for rank, index in enumerate(by_model, start=1)}
    blended = [
        item.scored(weight / (BLEND_K + model_rank[i]) + (1 - weight) / (BLEND_K + i + 1))
        for i, item in enumerate(items)
    ]
    return sorted(blended, key=lambda item: -item.score)


def _body(context: str, text: str) -> str:
    return f"{context}\n{text}" if context else text
