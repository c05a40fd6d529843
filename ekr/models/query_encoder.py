"""Embed one query with onnxruntime alone: a cold query must not wait for fastembed and the whole vocabulary."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ekr.errors import ModelError
from ekr.models import pieces
from ekr.models.base import Vectors
from ekr.models.registry import EmbedderSpec


class QueryEncoder:
    """The embedder's own file in an onnxruntime session, with the pooling and normalisation of the passages."""

    def __init__(self, folder: Path, model_file: str, spec: EmbedderSpec, threads: int | None) -> None:
        import onnxruntime

        self._spec = spec
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or os.cpu_count() or 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / model_file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises its own types and bare RuntimeError
            reason = str(error).splitlines()[0]
            raise ModelError(f"{folder} cannot be opened: {reason}; run: ekr models check") from error
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._ids: Callable[[str], list[int]] = (
            pieces.PieceTokenizer(folder, spec.max_tokens).encode
            if (folder / pieces.TABLE).is_file()
            else self._whole_tokenizer(folder)
        )

    def _whole_tokenizer(self, folder: Path) -> Callable[[str], list[int]]:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_truncation(self._spec.max_tokens)
        tokenizer.no_padding()
        return lambda text: list(tokenizer.encode(text).ids)

    def encode(self, text: str) -> Vectors:
        """float32 of shape (dimension,), length 1; the text comes with its prefix."""
        tokens = np.array([self._ids(text)], np.int64)
        feed = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        outputs = self._session.run(None, {key: feed[key] for key in self._inputs})
        hidden = outputs[0][0]
        pooled = hidden[0] if self._spec.pooling == "cls" else hidden.mean(axis=0, dtype=np.float64)
        vector: Vectors = (pooled / max(float(np.linalg.norm(pooled)), 1e-12)).astype(np.float32)
        return vector
