"""Choose the next token: greedy or by temperature, and only what a GBNF grammar allows."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np
import numpy.typing as npt

from ekr.errors import ModelError
from ekr.models.native_llama import NativeModel

_LOG_MIN_P = float(np.log(0.05))  # below a twentieth of the best token's probability, a token is never drawn
Logits = npt.NDArray[np.float32]
_CANDIDATE = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])


class GrammarFilter:
    """The state of a grammar as tokens are accepted. Raises ModelError when the grammar is not valid GBNF."""

    def __init__(self, model: NativeModel, grammar: str) -> None:
        self._lib = model.lib
        self._pointer = self._lib.llama_sampler_init_grammar(model.vocabulary, grammar.encode(), b"root")
        if not self._pointer:
            raise ModelError("the grammar for the generator is not valid GBNF with a rule named root")
        weakref.finalize(self, self._lib.llama_sampler_free, self._pointer).atexit = False
        self._ids = np.arange(model.vocabulary_size, dtype=np.int32)

    def _apply(self, candidates: npt.NDArray[np.void]) -> None:
        array = self._lib.llama_token_data_array(
            candidates.ctypes.data_as(ctypes.POINTER(self._lib.llama_token_data)), len(candidates), -1, False
        )
        self._lib.llama_sampler_apply(self._pointer, ctypes.byref(array))

    def allows(self, token: int) -> bool:
        """Whether this one token may come next."""
        candidates = np.array([(token, 0.0, 0.0)], _CANDIDATE)
        self._apply(candidates)
        return bool(np.isfinite(candidates["logit"][0]))

    def mask(self, logits: Logits) -> Logits:
        """The logits with minus infinity wherever the grammar forbids the token."""
        candidates = np.empty(len(logits), _CANDIDATE)
        candidates["id"] = self._ids
        candidates["logit"] = logits
        candidates["p"] = 0.0
        self._apply(candidates)
        return np.ascontiguousarray(candidates["logit"])

    def accept(self, token: int) -> None:
        """Move on past a token that `allows` or `mask` let through."""
        self._lib.llama_sampler_accept(self._pointer, token)


class Sampler:
    """Temperature 0 takes the most probable token; above, one is drawn with a seeded generator."""

    def __init__(self, grammar: GrammarFilter | None, temperature: float, seed: int) -> None:
        self._grammar = grammar
        self._temperature = temperature
        self._random = np.random.default_rng(seed)

    def next(self, logits: Logits) -> int:
        """The next token, accepted by the grammar. Raises ModelError when the grammar leaves none."""
        token = self._draw(logits)
        if self._grammar is not None:
            # most draws are allowed: checking one token is far cheaper than masking the whole vocabulary
            if not self._grammar.allows(token):
                masked = self._grammar.mask(logits)
                if not np.isfinite(masked).any():
                    raise ModelError("the grammar allows no further token; it must end somewhere")
                token = self._draw(masked)
            self._grammar.accept(token)
        return token

    def _draw(self, logits: Logits) -> int:
        if self._temperature <= 0:
            return int(logits.argmax())
        scaled = (logits - logits.max()) / self._temperature
        likely = np.flatnonzero(scaled >= _LOG_MIN_P)
        # the Gumbel-max trick: unlike a draw from cumulated probabilities, it is steady under rounding errors
        noise = self._random.gumbel(size=len(logits))
        return int(likely[np.argmax(scaled[likely] + noise[likely])])
