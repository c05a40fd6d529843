"""The models of one engine: each loads on first use and stays."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ekr.answering.refusal import Calibration
    from ekr.config import Settings
    from ekr.models.base import Embedder, Generator, Reranker, Tokenizer


# Chosen by measurement, see docs/architecture.md: an English re-ranker must not re-order other languages.
RERANKER_OF_LANGUAGE = {"en": "smollm2-135m", "fr": "smollm2-135m"}


# The defaults of `Calibration` were measured on it.
CALIBRATED_GENERATOR = "qwen2.5-coder-1.5b"


class LoadedModels:
    """Embedder, generator and re-rankers as the settings name them. Safe to ask from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = RLock()
        self._tokenizer: Tokenizer | None = None
        self._embedder: Embedder | None = None
        self._generator: Generator | None = None
        self._calibration: Calibration | None = None
        self._rerankers: dict[str, Reranker] = {}

    def tokenizer(self) -> Tokenizer:
        """The embedder's tokenizer; does not load the embedder."""
        from ekr.models import load_tokenizer

        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = load_tokenizer(self._settings.embedder, self._settings)
            return self._tokenizer

    def embedder(self) -> Embedder:
        """The embedder; opening it is cheap, its file is read at first use. Raises ModelMissing, ModelError."""
        from ekr.models import load_embedder

        with self._lock:
            if self._embedder is None:
                self._embedder = load_embedder(self._settings.embedder, self._settings)
            return self._embedder

    def release_embedder(self) -> None:
        """Lets go of the embedder (about 400 MB after a batch); the next use loads it again."""
        with self._lock:
            self._embedder = None

    def generator(self) -> Generator:
        """The generator. Raises ModelMissing, ModelError."""
        from ekr.models import load_generator

        with self._lock:
            if self._generator is None:
                self._generator = load_generator(self._settings.generator, self._settings)
            return self._generator

    def calibration(self) -> Calibration:
        """What the generator's signals look like; another than the default is measured once, which takes minutes.

        Raises ModelMissing, ModelError.
        """
        from ekr.answering import calibration
        from ekr.answering.refusal import Calibration

        with self._lock:
            if self._calibration is None:
                if self._settings.generator == CALIBRATED_GENERATOR:
                    self._calibration = Calibration()
                else:
                    generator, embedder = self.generator(), self.embedder()
                    self._calibration = calibration.load_or_run(generator, embedder, self._settings.cache_dir)
            return self._calibration

    def reranker(self, language: str) -> Reranker | None:
        """The re-ranker for questions in that language; None where re-ranking is off."""
        from ekr.models import load_reranker

        name = self._settings.reranker
        if name == "auto":
            name = RERANKER_OF_LANGUAGE.get(language, "none")
        if name == "none":
            return None
        with self._lock:
            if name not in self._rerankers:
                self._rerankers[name] = load_reranker(name, self._settings)
            return self._rerankers[name]
