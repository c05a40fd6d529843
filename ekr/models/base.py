"""What ekr asks of a model, by role. One file per provider implements each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What the manifest of a store records of its embedder; two stores mix only when all fields agree."""

    name: str
    sha256: str
    dimension: int
    query_prefix: str
    passage_prefix: str
    pooling: str


class Tokenizer(Protocol):
    """Counts tokens the way the embedder does, without loading the embedder."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens apart."""
        ...


class Embedder(Protocol):
    """Turns texts into normalised vectors."""

    info: EmbedderInfo

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), dimension), rows of length 1, in the order given."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """float32 of shape (dimension,), length 1."""
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """What a re-ranker scores: the heading (may be empty) and the text."""

    heading: str
    text: str


class Reranker(Protocol):
    """Scores passages for a question; higher is better, scales differ between models."""

    name: str
    kind: str  # "cross_encoder" or "query_likelihood"

    def score(self, question: str, passages: Sequence[Passage], language: str) -> list[float]:
        """One finite score a passage, in the order given. Raises ModelError on NaN or on overflow."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat; role is system, user or assistant."""

    role: str
    content: str


class Generator(Protocol):
    """A chat model."""

    name: str
    context_tokens: int
    supports_grammar: bool  # GBNF; an HTTP endpoint may not

    def count(self, text: str) -> int:
        """Tokens of a text; an estimate where the model is remote."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        """Pieces of the answer as they come. Raises ModelError."""
        ...

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        """Logit of Yes (Oui) minus No (Non) as the next token after `messages`; None where it can't be known."""
        ...
