"""A re-ranker behind a `/rerank` endpoint: the form of Cohere and Jina, which llama.cpp and vLLM serve too."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ekr.errors import ModelError
from ekr.models.base import Passage
from ekr.models.http_client import Endpoint


class HttpReranker:
    """Relevance scores of a remote cross-encoder."""

    kind = "cross_encoder"

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint

    def score(self, question: str, passages: Sequence[Passage], language: str) -> list[float]:
        """One score a passage, in the order given. Raises ModelError, also when the server leaves passages out."""
        del language
        if not passages:
            return []
        documents = [f"{p.heading}\n{p.text}" if p.heading else p.text for p in passages]
        answer = self._endpoint.post("rerank", {"query": question, "documents": documents, "top_n": len(documents)})
        try:
            found = {int(row["index"]): float(row["relevance_score"]) for row in answer["results"]}
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.name} gave no relevance scores; is it a re-ranker with a /rerank call?") from error
        if set(found) != set(range(len(documents))) or not all(map(math.isfinite, found.values())):
            raise ModelError(f"{self.name} scored {len(found)} of {len(documents)} passages")
        return [found[i] for i in range(len(documents))]
