"""The generator in llama.cpp: streams, obeys grammars, and keeps the prompt's state for the next call."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from ekr.errors import ModelError
from ekr.models.base import Message
from ekr.models.chat_template import chat_tokens
from ekr.models.native_llama import NativeContext, NativeModel
from ekr.models.sampling import GrammarFilter, Logits, Sampler

CONTEXT_TOKENS = 8192
_BATCH = 512
_YES, _NO = ("Yes", "Oui"), ("No", "Non")


class LlamaGenerator:
    """A chat GGUF model. One call at a time; a second waits for the first."""

    supports_grammar = True

    def __init__(self, path: Path, name: str, threads: int | None = None, context_tokens: int = CONTEXT_TOKENS) -> None:
        self.name = name
        self.context_tokens = context_tokens
        self._path = path
        self._threads = threads
        self._busy = threading.Lock()
        self._loading = threading.Lock()
        self._loaded: NativeModel | None = None
        self._cached: list[int] = []

    @property
    def _model(self) -> NativeModel:
        with self._loading:
            if self._loaded is None:
                self._loaded = NativeModel(self._path)
            return self._loaded

    @cached_property
    def _context(self) -> NativeContext:
        return NativeContext(self._model, tokens=self.context_tokens, batch=_BATCH, threads=self._threads)

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._model.tokens(text))

    def stream(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        """Pieces of the answer as they come; stops at the model's end of turn or after `max_tokens`.

        Raises ModelError: a prompt that leaves no room, a bad grammar, a failure of llama.cpp.
        """
        with self._busy:
            tokens = chat_tokens(self._model, messages)
            self._check_room(tokens, max_tokens)
            rules = GrammarFilter(self._model, grammar) if grammar else None
            sampler = Sampler(rules, temperature, seed)
            logits = self._read(tokens)
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            for _ in range(max_tokens):
                token = sampler.next(logits)
                if self._model.is_end(token):
                    break
                piece = decoder.decode(self._model.piece(token))
                if piece:
                    yield piece
                logits = self._append([token])
            rest = decoder.decode(b"", final=True)
            if rest:
                yield rest

    def yes_minus_no(self, messages: Sequence[Message]) -> float | None:
        """Logit of Yes (or Oui) minus No (or Non) as the answer's first token; raw, so not a probability."""
        with self._busy:
            tokens = chat_tokens(self._model, messages)
            self._check_room(tokens, 1)
            logits = self._read(tokens)
            yes, no = (max(float(logits[self._model.tokens(word)[0]]) for word in words) for words in (_YES, _NO))
            return yes - no

    def _check_room(self, tokens: list[int], wanted: int) -> None:
        if len(tokens) + wanted > self.context_tokens:
            raise ModelError(
                f"the prompt has {len(tokens)} tokens and {wanted} are asked for, but {self.name} holds "
                f"{self.context_tokens}; lower max_context_tokens"
            )

    def _read(self, tokens: list[int]) -> Logits:
        """Logits after a prompt; what it shares with the last one from its start is not computed again."""
        common = 0
        for ours, theirs in zip(self._cached, tokens, strict=False):
            if ours != theirs:
                break
            common += 1
        common = min(common, len(tokens) - 1)  # the last token must run: its logits are asked for
        if not self._context.keep(common):
            self._context.clear()
            common = 0
        self._cached = tokens[:common]
        return self._append(tokens[common:])

    def _append(self, tokens: list[int]) -> Logits:
        """Run tokens after those in memory, in pieces short enough for an interrupt to get through."""
        for start in range(0, len(tokens), _BATCH):
            part = tokens[start : start + _BATCH]
            last = start + len(part) == len(tokens)
            first = len(self._cached)
            outputs = [False] * (len(part) - 1) + [last]
            try:
                self._context.decode(part, range(first, first + len(part)), [0] * len(part), outputs)
            except BaseException:
                self._context.clear()
                self._cached = []
                raise
            self._cached += part
        logits: Logits = self._context.logits(1)[0]
        if not np.isfinite(logits).all():
            raise ModelError(f"{self.name} computes numbers that are not finite; run: ekr models check")
        return logits
