"""Sources, and generators whose words are fixed, for tests of what surrounds a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ekr.answering.context import Source
from ekr.answering.support import fold, terms
from ekr.models.base import EmbedderInfo, Message, Vectors


def source(number: int, text: str, heading: str | None = None, page: int | None = 1) -> Source:
    return Source(number, f"c{number}", "rules.pdf", "rules.pdf", page, page, heading, text)


class ScriptedGenerator:
    """Says what it is told to, whatever it is asked: the worst model that a check can meet."""

    name = "scripted"
    context_tokens = 4096

    def __init__(self, says: str, *, logit: float | None = 3.0, supports_grammar: bool = False) -> None:
        self.says = says
        self.logit = logit
        self.supports_grammar = supports_grammar
        self.asked: list[Sequence[Message]] = []
        self.grammars: list[str | None] = []

    def count(self, text: str) -> int:
        return len(text) // 4 + 1

    def stream(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        self.asked.append(messages)
        self.grammars.append(grammar)
        for start in range(0, len(self.says), 5):
            yield self.says[start : start + 5]

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        return self.logit


class HashingEmbedder:
    """A bag of hashed word stems: enough meaning for a test, and no model to load."""

    info = EmbedderInfo("hashing", "0", 256, "", "", "mean")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), 256), np.float32)
        for number, text in enumerate(texts):
            for term in terms(fold(text)):
                rows[number, sum(map(ord, term.text)) % 256] += 1
            rows[number] /= np.linalg.norm(rows[number]) or 1
        return rows

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector
