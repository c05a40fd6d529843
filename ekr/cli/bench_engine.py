"""The engine as the bench asks it: recipe specs in, JSON objects out, one engine a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ekr.bench.recipes import parse_recipe
from ekr.errors import ModelError, RetrievalError, StoreEmpty
from ekr.models.base import Message

if TYPE_CHECKING:
    from ekr.engine import Engine
    from ekr.recipes import Recipe

log = logging.getLogger(__name__)

_WARM_UP = "What is this collection about?"


class EngineAnswerer:
    """Answers through engines that `open_engine` makes. Models are not shared between threads: llama.cpp cannot."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open = open_engine
        self._local = threading.local()
        self._opened: list[Engine] = []
        self._lock = threading.Lock()
        self._recipes: dict[str, Recipe] = {}

    @property
    def engine(self) -> Engine:
        """The engine of the calling thread, opened on first use."""
        found: Engine | None = getattr(self._local, "engine", None)
        if found is None:
            found = self._local.engine = self._open()
            with self._lock:
                self._opened.append(found)
        return found

    def recipe(self, spec: str) -> Recipe:
        """The recipe of a spec with its values changed. Raises RecipeError."""
        if spec not in self._recipes:
            parsed = parse_recipe(spec)
            self._recipes[spec] = self.engine.recipe(parsed.name, parsed.overrides)
        return self._recipes[spec]

    def query(self, question: str, recipe: str, *, context_only: bool) -> Mapping[str, Any]:
        """See ekr.bench.runs.Answerer."""
        chosen = self.recipe(recipe)
        if context_only:
            return self.engine.retrieve(question, chosen, exact=self._counts_exactly()).to_json()
        return self.engine.query(question, chosen).to_json()

    def _counts_exactly(self) -> bool:
        try:
            self.engine.models.generator()
        except ModelError as error:
            log.warning("tokens of the context are estimated, as the generator is not there to count them: %s", error)
            return False
        return True

    def warm_up(self, specs: Sequence[str], *, context_only: bool) -> None:
        """Loads what the recipes use, so that no question's latency holds the loading of a model."""
        if not context_only:
            # Its first token reads the whole file from the disk.
            next(self.engine.models.generator().stream([Message("user", _WARM_UP)], max_tokens=1), None)
        for spec in specs:
            try:
                self.query(_WARM_UP, spec, context_only=True)
            except RetrievalError:
                continue

    def describe(self) -> dict[str, Any]:
        """What the results depend on: the store's generation and the models. Raises StoreEmpty."""
        status = self.engine.status()
        if not status["chunks"]:
            raise StoreEmpty(f"the store {status['store']} holds no passage to measure; run: ekr ingest PATH")
        settings = self.engine.settings
        kept = ("generation", "documents", "chunks", "embedder")
        return {
            "store": str(settings.store.resolve()),
            **{name: status[name] for name in kept},
            "reranker": settings.reranker,
            "seed": settings.seed,
            "ekr": version("ekr"),
        }

    def document_names(self) -> set[str]:
        """What `gold_passages` may say: ids of records, and names as shown."""
        from ekr.retrieval.hydrate import public_id

        return {name for record in self.engine.documents() for name in (public_id(record), record.display)}

    def close(self) -> None:
        """Closes every engine."""
        for engine in self._opened:
            engine.close()
        self._opened.clear()
        self._local = threading.local()
