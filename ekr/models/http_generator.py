"""A generator behind an OpenAI-compatible `/chat/completions` endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ekr.errors import ModelError
from ekr.models.base import Message
from ekr.models.http_client import Endpoint

_CONTEXT_TOKENS = 16_384
_CHARACTERS_A_TOKEN = 3.0  # a cautious figure for European languages: the estimate is rather too high


class HttpGenerator:
    """A remote chat model; grammars and logits are not portable between servers, so it has neither."""

    supports_grammar = False

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        self.context_tokens = _CONTEXT_TOKENS
        self._endpoint = endpoint

    def count(self, text: str) -> int:
        """An estimate of a text's tokens, from its bytes."""
        return round(len(text.encode("utf-8", "replace")) / _CHARACTERS_A_TOKEN)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        """Pieces of the answer as they come. Raises ModelError; a grammar is refused, not ignored."""
        if grammar is not None:
            raise ModelError(f"{self.name} takes no grammar; use a GGUF model for this")
        body = {
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        said = False
        for event in self._endpoint.stream("chat/completions", body):
            choices = event.get("choices") or []
            piece = (choices[0].get("delta") or {}).get("content") if choices else None
            if piece:
                said = True
                yield piece
        if not said:
            raise ModelError(f"{self.name} answered nothing")

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        """None: logits are not part of the interface."""
        return None
