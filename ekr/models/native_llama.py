"""llama.cpp's own interface, thinly: a model, a context and a batch, without the Python wrapper's redirections.

The high-level class of llama-cpp-python silences the native log by redirecting file descriptors 1 and 2, which
belong to every thread, prints to stderr when it does not, and keeps logits of whole contexts.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import weakref
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ekr.errors import ModelError
from ekr.models.llama_library import load_llama

_MAGIC = b"GGUF"
_HEADER_BYTES = 64 << 20
_RANK_HEADS = ("cls.output.weight", "cls.weight")
_Q4_0 = struct.pack("<II", 4, 2)  # a u32 with llama.cpp's number for "mostly Q4_0"
_ABORTED = 2


def has_rank_head(path: Path) -> bool:
    """Whether a GGUF file holds a classification head, as cross-encoders do. Raises ModelError when it is no GGUF."""
    return any(_after_name(path, name) is not None for name in _RANK_HEADS)


def _is_q4_0(path: Path) -> bool:
    return _after_name(path, "general.file_type") == _Q4_0


def _after_name(path: Path, name: str) -> bytes | None:
    """The 8 bytes that follow the entry of a key or tensor in the header: type and value of a number."""
    _check_magic(path)
    # an entry starts with the length of its name, as u64, and the name
    entry = struct.pack("<Q", len(name)) + name.encode()
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as view:
        place = view.find(entry, 0, _HEADER_BYTES)
        return None if place < 0 else view[place + len(entry) : place + len(entry) + 8]


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    if magic != _MAGIC:
        raise ModelError(f"{path} is not a GGUF file; give a .gguf file or run: ekr models check")


class NativeModel:
    """Weights and vocabulary of a GGUF file. Raises ModelError when llama.cpp cannot load it."""

    def __init__(self, path: Path) -> None:
        _check_magic(path)
        llama_cpp = load_llama()
        self.lib: Any = llama_cpp
        self.path = path
        parameters = llama_cpp.llama_model_default_params()
        # repacked weights make prompts of Q4_0 files 1.6 times as fast and those of K-quants slower (131 tokens/s
        # instead of 195 for the default generator), which then also take 0.6 GB more and load for seconds
        parameters.use_extra_bufts = _is_q4_0(path)
        self.pointer: Any = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
        if not self.pointer:
            raise ModelError(f"{path} cannot be loaded by llama.cpp; run: ekr models check, or pull it again")
        self.vocabulary: Any = llama_cpp.llama_model_get_vocab(self.pointer)
        self.vocabulary_size: int = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        self._free = weakref.finalize(self, llama_cpp.llama_model_free, self.pointer)
        self._free.atexit = False

    @cached_property
    def trained_context(self) -> int:
        """Tokens of context the model was trained for."""
        return int(self.lib.llama_model_n_ctx_train(self.pointer))

    def tokens(self, text: str, *, special: bool = False, add_special: bool = False) -> list[int]:
        """Tokens of a text. With `special`, control tokens spelt in it count as such: never for a user's text."""
        raw = text.encode("utf-8", "replace")
        size = len(raw) + 8
        buffer = (self.lib.llama_token * size)()
        count = self.lib.llama_tokenize(self.vocabulary, raw, len(raw), buffer, size, add_special, special)
        if count < 0:
            raise ModelError(f"{self.path.name} cannot tokenise a text of {len(raw)} bytes")
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of a token; of a control token: none."""
        buffer = ctypes.create_string_buffer(256)
        count = self.lib.llama_token_to_piece(self.vocabulary, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(count, 0)]

    def is_end(self, token: int) -> bool:
        """Whether a token ends a generation."""
        return bool(self.lib.llama_vocab_is_eog(self.vocabulary, token))

    def template(self, name: str | None = None) -> str | None:
        """A chat template of the file as text; it is compared and never executed."""
        raw = self.lib.llama_model_chat_template(self.pointer, name.encode() if name else None)
        return raw.decode("utf-8", "replace") if raw else None


class NativeContext:
    """Working memory of a model: `tokens` positions, up to `sequences` texts at a time, `outputs` rows of logits."""

    def __init__(
        self,
        model: NativeModel,
        *,
        tokens: int,
        sequences: int = 1,
        outputs: int = 1,
        batch: int = 512,
        threads: int | None = None,
        rank: bool = False,
    ) -> None:
        lib = model.lib
        self.model = model
        self.tokens = tokens
        self.batch = min(batch, tokens)
        parameters = lib.llama_context_default_params()
        parameters.n_ctx = tokens
        parameters.n_batch = parameters.n_ubatch = self.batch
        parameters.n_seq_max = sequences
        parameters.n_outputs_max = self.batch if rank else min(outputs, self.batch)
        parameters.n_threads = parameters.n_threads_batch = threads or os.cpu_count() or 1
        parameters.kv_unified = True  # sequences of any length share one window
        parameters.no_perf = True
        if rank:
            parameters.embeddings = True
            parameters.pooling_type = lib.LLAMA_POOLING_TYPE_RANK
        self.pointer: Any = lib.llama_init_from_model(model.pointer, parameters)
        if not self.pointer:
            raise ModelError(f"{model.path.name}: no context of {tokens} tokens could be made; is memory short?")
        self._memory = lib.llama_get_memory(self.pointer)
        self._batch = lib.llama_batch_init(self.batch, 0, 1)
        self._free = weakref.finalize(self, _free_context, lib, self.pointer, self._batch)
        self._free.atexit = False

    def clear(self) -> None:
        """Forget every sequence."""
        if self._memory:
            self.model.lib.llama_memory_clear(self._memory, False)

    def keep(self, count: int) -> bool:
        """Forget all but the first `count` tokens of sequence 0; False when the model's memory cannot do that."""
        return bool(self.model.lib.llama_memory_seq_rm(self._memory, 0, count, -1))

    def decode(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sequences: Sequence[int],
        outputs: Sequence[bool],
    ) -> None:
        """Run one batch of at most `batch` tokens, each with position, sequence and whether its output is wanted."""
        batch = self._batch
        count = len(tokens)
        batch.n_tokens = count
        for i in range(count):
            batch.token[i] = tokens[i]
            batch.pos[i] = positions[i]
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequences[i]
            batch.logits[i] = outputs[i]
        code = self.model.lib.llama_decode(self.pointer, batch)
        if code != 0:
            reason = "stopped" if code == _ABORTED else f"llama.cpp answered {code}"
            raise ModelError(f"{self.model.path.name} could not process {count} tokens: {reason}")

    def logits(self, rows: int) -> npt.NDArray[np.float32]:
        """The outputs of the last batch, of shape (rows, vocabulary), in its order; valid until the next batch."""
        pointer = self.model.lib.llama_get_logits(self.pointer)
        return np.ctypeslib.as_array(pointer, shape=(rows, self.model.vocabulary_size))

    def rank_score(self, sequence: int) -> float:
        """The classification head's first output for a sequence of the last batch."""
        pointer = self.model.lib.llama_get_embeddings_seq(self.pointer, sequence)
        if not pointer:
            raise ModelError(f"{self.model.path.name} gave no rank score; it is no cross-encoder")
        return float(pointer[0])


def _free_context(lib: Any, pointer: Any, batch: Any) -> None:
    lib.llama_batch_free(batch)
    lib.llama_free(pointer)
