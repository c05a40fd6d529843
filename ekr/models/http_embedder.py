"""An embedder behind an OpenAI-compatible `/embeddings` endpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ekr.errors import ModelError
from ekr.models.base import EmbedderInfo, Vectors
from ekr.models.http_client import Endpoint

_BATCH = 32


class HttpEmbedder:
    """Vectors of a remote model; its dimension is learnt by one request when it is opened."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        dimension = len(self._request(["dimension"])[0])
        self.info = EmbedderInfo(
            name=endpoint.name,
            sha256="",
            dimension=dimension,
            query_prefix="",
            passage_prefix="",
            pooling="endpoint",
        )

    def _request(self, texts: list[str]) -> Vectors:
        answer = self._endpoint.post("embeddings", {"input": texts, "encoding_format": "float"})
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self._endpoint.name} gave no embeddings; is it an embedding model?") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelError(
                f"{self._endpoint.name} gave {vectors.shape} numbers for {len(texts)} texts; is it an embedding model?"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), dimension), rows of length 1, in the order given. Raises ModelError."""
        batches = [list(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        if not batches:
            return np.zeros((0, self.info.dimension), np.float32)
        vectors = np.concatenate([self._request(batch) for batch in batches])
        if vectors.shape[1] != self.info.dimension:
            raise ModelError(f"{self._endpoint.name} changed its dimension to {vectors.shape[1]} in mid-run")
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 of shape (dimension,), length 1. Raises ModelError."""
        vector: Vectors = self._request([text])[0]
        return vector
