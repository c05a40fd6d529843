"""Re-rank with a cross-encoder GGUF: question and passage in one sequence, one score from its rank head."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path

from ekr.errors import ModelError
from ekr.models.base import Passage
from ekr.models.native_llama import NativeContext, NativeModel

_BATCH_TOKENS = 2048
_SEQUENCES = 16
_SEQUENCE_TOKENS = 512
_QUESTION_TOKENS = 128
_QUERY, _DOCUMENT = "{query}", "{document}"


class CrossEncoder:
    """A model with a classification head and rank pooling; scores are its raw logits."""

    kind = "cross_encoder"

    def __init__(self, path: Path, name: str, threads: int | None = None) -> None:
        self.name = name
        self._model = NativeModel(path)
        self._limit = min(_SEQUENCE_TOKENS, self._model.trained_context)
        self._context = NativeContext(
            self._model,
            tokens=_BATCH_TOKENS,
            sequences=_SEQUENCES,
            batch=_BATCH_TOKENS,
            threads=threads,
            rank=True,
        )
        self._busy = threading.Lock()
        self._frame = self._read_frame()

    def _read_frame(self) -> tuple[list[int], list[int], list[int]]:
        """Tokens before the question, between it and the passage, and after.

        From the file's own rank template where it has one; else the pair as BERT-like models are trained on it.
        """
        template = self._model.template("rerank")
        if template and _QUERY in template and _DOCUMENT in template.partition(_QUERY)[2]:
            before, _, rest = template.partition(_QUERY)
            between, _, after = rest.partition(_DOCUMENT)
            return (
                self._model.tokens(before, special=True),
                self._model.tokens(between, special=True),
                self._model.tokens(after, special=True),
            )
        lib, vocabulary = self._model.lib, self._model.vocabulary
        begin, end, separator = (
            int(f(vocabulary)) for f in (lib.llama_vocab_bos, lib.llama_vocab_eos, lib.llama_vocab_sep)
        )
        end = separator if end < 0 else end
        ends = [end] if lib.llama_vocab_get_add_eos(vocabulary) and end >= 0 else []
        separators = [separator] if lib.llama_vocab_get_add_sep(vocabulary) and separator >= 0 else []
        first = [begin] if lib.llama_vocab_get_add_bos(vocabulary) and begin >= 0 else []
        return first, ends + separators, ends

    def score(self, question: str, passages: Sequence[Passage], language: str) -> list[float]:
        """The head's logit for each passage, in the order given. Raises ModelError."""
        del language  # a cross-encoder has no prompt
        before, between, after = self._frame
        asked = self._model.tokens(question)[:_QUESTION_TOKENS]
        if not question.strip():
            raise ModelError(f"{self.name} cannot score an empty question")
        sequences = []
        for passage in passages:
            text = f"{passage.heading}\n{passage.text}" if passage.heading else passage.text
            start = before + asked + between
            body = self._model.tokens(text)[: self._limit - len(start) - len(after)]
            sequences.append(start + body + after)
        scores: list[float] = []
        with self._busy:
            for group in self._groups(sequences):
                scores += self._run(group)
        if not all(math.isfinite(score) for score in scores):
            raise ModelError(f"{self.name} gave scores that are not finite; choose another re-ranker")
        return scores

    def _groups(self, sequences: list[list[int]]) -> list[list[list[int]]]:
        groups: list[list[list[int]]] = []
        room = 0
        for sequence in sequences:
            if not groups or len(sequence) > room or len(groups[-1]) == _SEQUENCES:
                groups.append([])
                room = _BATCH_TOKENS
            groups[-1].append(sequence)
            room -= len(sequence)
        return groups

    def _run(self, group: list[list[int]]) -> list[float]:
        tokens = [token for sequence in group for token in sequence]
        positions = [i for sequence in group for i in range(len(sequence))]
        owners = [owner for owner, sequence in enumerate(group) for _ in sequence]
        self._context.clear()
        self._context.decode(tokens, positions, owners, [True] * len(tokens))
        return [self._context.rank_score(owner) for owner in range(len(group))]
