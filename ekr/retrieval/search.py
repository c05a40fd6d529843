"""What one query carries through its methods and steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING, Generic, TypeVar

from ekr.retrieval.filters import Filters
from ekr.retrieval.hits import Value
from ekr.retrieval.trace import Trace

if TYPE_CHECKING:
    from ekr.extraction.keywords import Keywords
    from ekr.extraction.question_names import QuestionName
    from ekr.extraction.records import SearchName
    from ekr.models.base import Embedder, Generator, Reranker, Vectors
    from ekr.recipes import Recipe
    from ekr.retrieval.call_cache import CallCache
    from ekr.store import Snapshot
    from ekr.store.graph_reader import GraphReader
    from ekr.store.graph_records import EntityRecord, EvidenceKind, RelationRecord


T = TypeVar("T")


class KnownRows(Generic[T]):
    """Rows of the graph that a query has read: what several methods and the end of the query need is read once."""

    def __init__(self, read: Callable[[Collection[str]], Mapping[str, T]]) -> None:
        self._read = read
        self._rows: dict[str, T | None] = {}

    def of(self, ids: Iterable[str]) -> dict[str, T]:
        """Rows by id, in the order of the ids; unknown ones are absent."""
        wanted = list(dict.fromkeys(ids))
        missing = [id_ for id_ in wanted if id_ not in self._rows]
        if missing:
            found = self._read(missing)
            self._rows.update({id_: found.get(id_) for id_ in missing})
        return {id_: row for id_ in wanted if (row := self._rows[id_]) is not None}

    def add(self, rows: Mapping[str, T]) -> None:
        """Rows that were read by another way."""
        self._rows.update(rows)


@dataclass
class Search:
    """One query over one snapshot. Models come from callables, so that only what is used is loaded.

    `language` is the language of the question; `reranker` returns None where re-ranking is off. `filters` name
    labels and relation types as the store writes them. `cache` keeps what a generator said about questions, `values`
    the rows of graph queries by item id: unlike every other item they are not in the store.
    """

    question: str
    recipe: Recipe
    snapshot: Snapshot
    filters: Filters
    language: str
    embedder: Callable[[], Embedder]
    reranker: Callable[[], Reranker | None]
    generator: Callable[[], Generator]
    cache: CallCache | None = None
    trace: Trace = field(default_factory=Trace)
    values: dict[str, Value] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)
    _embedding: Lock = field(default_factory=Lock)
    _vectors: dict[str, Vectors] = field(default_factory=dict)
    _looked_up: dict[tuple[str, ...], Sequence[SearchName]] = field(default_factory=dict)
    _allowed: dict[str, set[str]] = field(default_factory=dict)

    @property
    def graph(self) -> GraphReader:
        """The graph of the snapshot."""
        return self.snapshot.graph

    @property
    def fetch(self) -> int:
        """How many chunks, or items of a method's only type, to ask of each method."""
        return self.recipe.fetch or self.recipe.limit

    @property
    def top_k(self) -> int:
        """How many entities and relations to ask of each method."""
        return self.recipe.top_k if self.recipe.limit_counts == "chunks" else self.fetch

    @cached_property
    def entities(self) -> KnownRows[EntityRecord]:
        """Entities by id."""
        return KnownRows(self.graph.entities)

    @cached_property
    def relations(self) -> KnownRows[RelationRecord]:
        """Relations by id."""
        return KnownRows(self.graph.relations)

    @cached_property
    def entity_chunks(self) -> KnownRows[list[str]]:
        """Passages of an entity: those that define it, then those that mention it most."""
        return KnownRows(self.graph.chunks_of_entities)

    @cached_property
    def relation_chunks(self) -> KnownRows[list[str]]:
        """Passages that state a relation."""
        return KnownRows(self.graph.chunks_of_relations)

    def asking(self, question: str) -> Search:
        """The same search for another question, on the same trace."""
        return replace(self, question=question, _lock=RLock(), _embedding=Lock(), _vectors={}, _looked_up={})

    def query_vector(self) -> Vectors:
        """The embedded question."""
        return self.vector_of(self.question)

    def vector_of(self, text: str) -> Vectors:
        """An embedded text; computed once, also when several methods ask at the same time."""
        # Names are looked up meanwhile, by another thread.
        with self._embedding:
            if text not in self._vectors:
                self._vectors[text] = self.embedder().embed_query(text)
            return self._vectors[text]

    def names(self) -> list[QuestionName]:
        """Names of the graph that the question contains."""
        with self._lock:
            return self._names

    def lookup(self, keys: Sequence[str]) -> Sequence[SearchName]:
        """The searchable names of the graph with these keys; asked once for the same keys."""
        with self._lock:
            asked = tuple(keys)
            if asked not in self._looked_up:
                self._looked_up[asked] = self.graph.names(asked)
            return self._looked_up[asked]

    def keywords(self) -> Keywords:
        """The question's keywords, by rule or by a generator as the recipe says."""
        with self._lock:
            return self._keywords

    def allowed(self, kind: EvidenceKind) -> set[str] | None:
        """Ids of the entities, relations or communities with evidence in the documents that the filters allow.

        None when every document is allowed.
        """
        documents = self.documents
        if documents is None:
            return None
        with self._lock:
            if kind not in self._allowed:
                self._allowed[kind] = self.graph.supported_by(kind, documents)
            return self._allowed[kind]

    def allowed_chunks(self, ids: Collection[str]) -> set[str]:
        """Those of the chunks that are in the documents that the filters allow."""
        documents = self.documents
        if documents is None:
            return set(ids)
        return {id_ for id_, chunk in self.snapshot.chunks(ids).items() if chunk.document_id in documents}

    @cached_property
    def documents(self) -> set[str] | None:
        """Ids of the documents that the filters allow; None when every document is."""
        return self.snapshot.match_documents(self.filters.documents, self.filters.where)

    @cached_property
    def _names(self) -> list[QuestionName]:
        from ekr.extraction.question_names import names_in_question

        return names_in_question(self.question, self.lookup)

    @cached_property
    def _keywords(self) -> Keywords:
        from ekr.retrieval.question_keywords import question_keywords

        return question_keywords(self)
