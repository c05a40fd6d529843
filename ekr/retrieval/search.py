"""What one query carries through its methods and steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from ekr.retrieval.filters import Filters
from ekr.retrieval.trace import Trace

if TYPE_CHECKING:
    from ekr.models.base import Embedder, Reranker, Vectors
    from ekr.recipes import Recipe
    from ekr.store import Snapshot


@dataclass
class Search:
    """One query over one snapshot. Models come from callables, so that only what is used is loaded.

    `language` is the language of the question; `reranker` returns None where re-ranking is off.
    """

    question: str
    recipe: Recipe
    snapshot: Snapshot
    filters: Filters
    language: str
    embedder: Callable[[], Embedder]
    reranker: Callable[[], Reranker | None]
    trace: Trace = field(default_factory=Trace)
    _vector_lock: Lock = field(default_factory=Lock)

    @property
    def fetch(self) -> int:
        """How many hits to ask of each method."""
        return self.recipe.fetch or self.recipe.limit

    def query_vector(self) -> Vectors:
        """The embedded question; computed once, also when several methods ask at the same time."""
        with self._vector_lock:
            return self._query_vector

    @cached_property
    def _query_vector(self) -> Vectors:
        return self.embedder().embed_query(self.question)

    @cached_property
    def documents(self) -> set[str] | None:
        """Ids of the documents that the filters allow; None when every document is."""
        return self.snapshot.match_documents(self.filters.documents, self.filters.where)
