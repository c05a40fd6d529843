"""Engine: open a store, ingest, retrieve, answer. The public Python API and what the command line uses."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ekr import document_names, evidence, recipes
from ekr.config import Settings
from ekr.errors import ModelError, StoreEmpty, StoreError, UsageError
from ekr.loaded import LoadedModels
from ekr.models.known import require_known
from ekr.recipes import Recipe
from ekr.results import Result
from ekr.retrieval import filters as filtering
from ekr.retrieval import hydrate, pipeline, supporting
from ekr.retrieval.call_cache import CallCache
from ekr.retrieval.filters import Filters
from ekr.retrieval.search import Search
from ekr.retrieval.trace import Trace
from ekr.store import Manifest, Store

if TYPE_CHECKING:
    from ekr.answering.context import Context
    from ekr.chunking import ChunkSettings
    from ekr.doctor import Diagnosis
    from ekr.ingestion.pipeline import IngestOptions, Progress
    from ekr.ingestion.repair import RebuildingModels
    from ekr.ingestion.report import IngestReport
    from ekr.models.base import Embedder, Reranker
    from ekr.results import Item
    from ekr.store import Snapshot
    from ekr.store.records import DocumentRecord

MAX_QUESTION_CHARACTERS = 20_000
_WITHOUT_VECTORS = {"bm25", "text2cypher"}
EMPTY_COUNTS = dict.fromkeys(("documents", "chunks", "entities", "relations", "communities"), 0)


@dataclasses.dataclass(frozen=True, slots=True)
class _Found:
    """The items of a query, and the passages that an answer to it may cite."""

    items: list[Item]
    passages: list[Item]


class Engine:
    """One store and the models that work on it. Models load on first use and stay until `close`.

    Raises StoreError when the store's path is that of a file, or one that not every engine of a store reads alike.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.store = Store(self.settings.store)
        if self.settings.store.exists() and not self.settings.store.is_dir():
            raise StoreError(f"the store {self.settings.store} is not a directory; name one with --store")
        self.models = LoadedModels(self.settings)
        self._snapshot: Snapshot | None = None

    @classmethod
    def open(cls, path: str | Path | None = None, **settings: Any) -> Engine:
        """The engine of the store at `path` (default: the configured one); further settings by name.

        Nothing is created until something is ingested.
        """
        if path is not None:
            settings["store"] = Path(path)
        return cls(Settings(**settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the pinned generation and of the models."""
        self._release()
        self.models = LoadedModels(self.settings)

    # Documents

    def ingest(
        self,
        *paths: str | Path,
        options: IngestOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> IngestReport:
        """Brings files, folders and globs into the store; see IngestReport for what became of each.

        Raises UsageError (no path), StoreError, StoreLocked, ModelMissing.
        """
        from ekr.ingestion.pipeline import Indexer, IngestOptions, ingest

        if not paths:
            raise UsageError("name at least one file or folder to ingest")
        self._release()
        indexer = Indexer(
            store=self.store,
            manifest=self._manifest,
            tokenizer=self.models.tokenizer,
            embedder=self.models.embedder,
            release_embedder=self.models.release_embedder,
            generator=self.models.generator,
            chunking=self._chunking(),
            settings=self.settings,
        )
        return ingest(indexer, paths, options or IngestOptions(), on_progress)

    def delete(self, *names: str) -> list[str]:
        """Removes documents, named as shown, by path, record id or glob; returns what was removed.

        Raises UsageError when a name fits no document, or several without being a glob or a name of one file of
        records: then nothing is removed. Of an internal id at least eight digits are asked.
        """
        from ekr.ingestion import graph

        records = {
            record.id: record.display
            for name in names
            for record in document_names.find_to_remove(self.snapshot(), name)
        }
        self._release()
        with self.store.writer() as writer:
            writer.delete(list(records))
            graph.resolve_after_deletion(writer, self.models.embedder, self.models.generator)
            writer.publish()
        return sorted(records.values())

    def documents(self) -> list[DocumentRecord]:
        """Every document in the store, by name; none in an empty store."""
        try:
            return sorted(self.snapshot().documents(), key=lambda d: (d.display, d.key))
        except StoreEmpty:
            return []

    def find_documents(self, name: str) -> list[DocumentRecord]:
        """The documents that a name, path, record id or glob means. Raises UsageError when there is none."""
        return document_names.find(self.snapshot(), name)

    def status(self) -> dict[str, Any]:
        """Counts and facts of the store; zeros for an empty one."""
        facts: dict[str, Any] = {"store": str(self.settings.store)}
        try:
            snapshot = self.snapshot()
        except StoreEmpty:
            return {**EMPTY_COUNTS, "generation": None, **facts, "embedder": None, "languages": {}}
        return {
            **snapshot.counts(),
            "generation": snapshot.generation,
            **facts,
            "embedder": snapshot.manifest.embedder.name,
            "languages": snapshot.languages(),
        }

    # Upkeep

    def doctor(self, *, repair: bool = False) -> Diagnosis:
        """Compares the three engines and the models with what is recorded of them; `repair` mends what it can.

        What is wrong, or could not be mended, is in the diagnosis; nothing is raised for it.
        """
        from ekr.doctor import diagnose

        self._release()
        if not repair:
            return diagnose(self.store, self.settings)
        from ekr.ingestion.repair import repair as mend

        return diagnose(self.store, self.settings, mend(self.store, self._rebuilding()))

    def reindex(self, on_embedded: Callable[[int, int], None] | None = None) -> int:
        """Embeds everything in the store with the embedder of the settings; returns the number of chunks.

        Needs no source file. Raises StoreEmpty, StoreError, StoreLocked, ModelMissing, ModelError; then the store
        is as it was.
        """
        from ekr.ingestion.repair import re_embed

        self._release()
        return re_embed(self.store, self._rebuilding(), on_embedded=on_embedded)

    def compact(self, *, if_needed: bool = False) -> int:
        """Writes the store anew without what was deleted; returns the generation.

        With `if_needed` only when more than a fifth is dead. Raises StoreEmpty, StoreError, StoreLocked.
        """
        self._release()
        with self.store.writer() as writer:
            return writer.compact() if not if_needed or writer.needs_compaction() else writer.publish()

    def backup(self, destination: str | Path) -> int:
        """Copies one whole generation into a new store at `destination`; returns its number.

        Raises StoreEmpty, UsageError when something is there already, StoreError.
        """
        from ekr.store.backup import backup

        return backup(self.store, Path(destination))

    def snapshot(self) -> Snapshot:
        """The newest generation, pinned until a newer one is asked for or `close`. Raises StoreEmpty."""
        if self._snapshot is not None and self._snapshot.generation != self.store.generation():
            self._release()
        if self._snapshot is None:
            self._snapshot = self.store.snapshot()
        return self._snapshot

    # Questions

    def recipe(self, recipe: str | Recipe | None = None, values: Mapping[str, Any] | None = None) -> Recipe:
        """The recipe meant (default: the configured one), with `values` changed. Raises RecipeError."""
        chosen = recipe if isinstance(recipe, Recipe) else recipes.load(recipe or self.settings.recipe)
        return chosen.varied(values) if values else chosen

    def retrieve(
        self,
        question: str,
        recipe: str | Recipe | None = None,
        *,
        filters: Filters | None = None,
        exact: bool = False,
        **values: Any,
    ) -> Result:
        """Evidence for a question, without an answer. `values` override the recipe's, as `--set` does.

        The context's tokens are estimated, or with `exact` counted by the generator, as `query` counts them.
        Raises UsageError (empty question, unknown recipe, model or property), StoreEmpty, ModelMissing,
        RetrievalError.
        """
        chosen = self.recipe(recipe, values)
        trace = Trace()
        with trace.timed("total"):
            found = self._search(question, chosen, filters or Filters(), trace)
            with trace.timed("context"):
                context = self._context(chosen, found, exact=exact)
        trace.extra["context"] = context.text
        references = evidence.references(context.sources)
        return Result(question, chosen.name, None, False, False, references, tuple(found.items), trace)

    def query(
        self,
        question: str,
        recipe: str | Recipe | None = None,
        *,
        filters: Filters | None = None,
        on_token: Callable[[str], None] | None = None,
        **values: Any,
    ) -> Result:
        """Evidence and an answer that cites it; pieces of the raw answer go to `on_token` as they come.

        Raises what `retrieve` raises, and ModelError when the generator fails.
        """
        chosen = self.recipe(recipe, values)
        require_known(self.settings.generator, "generator")
        trace = Trace()
        with trace.timed("total"):
            found = self._search(question, chosen, filters or Filters(), trace)
            given = evidence.answer(
                question,
                found.passages,
                evidence.facts(found.items, chosen, self._count(found.items), beside_passages=bool(found.passages)),
                chosen,
                self.models,
                seed=self.settings.seed,
                language=self._language(),
                trace=trace,
                on_token=on_token,
            )
        references = evidence.references(given.sources, given.cited)
        return Result(
            question, chosen.name, given.text, given.grounded, given.refused, references, tuple(found.items), trace
        )

    async def aquery(self, question: str, recipe: str | Recipe | None = None, **options: Any) -> Result:
        """`query` for an event loop: runs in a thread."""
        return await asyncio.to_thread(self.query, question, recipe, **options)

    def name_items(self, keys: Iterable[str]) -> dict[str, str]:
        """What a person calls the items that a trace names `type:id`; unknown ones are absent."""
        snapshot = self.snapshot()
        by_type: dict[str, list[str]] = {}
        for key in keys:
            type_, _, id_ = key.partition(":")
            by_type.setdefault(type_, []).append(id_)
        return hydrate.names(snapshot, by_type)

    def _search(self, question: str, recipe: Recipe, filters: Filters, trace: Trace) -> _Found:
        from ekr.answering.language import question_language

        text = _checked(question)
        filtering.check(filters, recipe)
        if recipe.rerank == "cross_encoder":
            require_known(self.settings.reranker, "reranker")
        if not recipe.methods:
            return _Found([], [])
        with trace.timed("open"):
            snapshot = self.snapshot()
            self._refuse_other_embedder(snapshot, recipe)
            language = question_language(text, default=self._language())
            filters = filtering.resolve(filters, snapshot)
        search = Search(
            question=text,
            recipe=recipe,
            snapshot=snapshot,
            filters=filters,
            language=language,
            embedder=lambda: self._embedder_of(snapshot),
            reranker=lambda: self._reranker(language, trace),
            generator=self.models.generator,
            cache=CallCache(self.settings.cache_dir / "questions"),
            trace=trace,
        )
        candidates = pipeline.run(search)
        if filters and not candidates:
            trace.note(f"nothing matches the filter: {filters.describe()}")
        with trace.timed("hydrate"):
            items = hydrate.items(search, candidates)
            if recipe.limit_counts == "chunks":
                items = evidence.within_budgets(items, recipe, self._count(items))
            return _Found(items, supporting.passages(search, items))

    def _language(self) -> str:
        """The language of most documents; English where there are none."""
        try:
            counts = self.snapshot().languages()
        except StoreEmpty:
            return "en"
        known = sorted(language for language in counts if language != "und")
        return max(known, key=lambda language: counts[language]) if known else "en"

    def _context(self, recipe: Recipe, found: _Found, *, exact: bool) -> Context:
        from ekr.answering.context import build_context

        count = self._count(found.items)
        return build_context(
            evidence.sources(found.passages),
            evidence.facts(found.items, recipe, count, beside_passages=bool(found.passages)),
            self.models.generator().count if exact else lambda text: count([text])[0],
            max_context_tokens=recipe.max_context_tokens,
            max_entity_tokens=recipe.max_entity_tokens,
            max_relation_tokens=recipe.max_relation_tokens,
        )

    def _count(self, found: Sequence[Item]) -> Callable[[Sequence[str]], list[int]]:
        """Estimates tokens from the characters that one takes in this store: the tokenizer loads in half a second."""
        rate = self.snapshot().characters_per_token if found else 4.0
        return lambda texts: [math.ceil(len(text) / rate) for text in texts]

    def _refuse_other_embedder(self, snapshot: Snapshot, recipe: Recipe) -> None:
        # One that is not here degrades the search; another one would find the wrong things.
        if not set(recipe.methods) <= _WITHOUT_VECTORS:
            with contextlib.suppress(ModelError):
                snapshot.manifest.require_embedder(self.models.embedder().info)

    def _embedder_of(self, snapshot: Snapshot) -> Embedder:
        embedder = self.models.embedder()
        snapshot.manifest.require_embedder(embedder.info)
        return embedder

    def _reranker(self, language: str, trace: Trace) -> Reranker | None:
        reranker = self.models.reranker(language)
        if reranker is None and self.settings.reranker == "auto":
            trace.note(f"no re-rank: none is set for questions in '{language}'; name one with --reranker")
        return reranker

    def _manifest(self) -> Manifest:
        return Manifest(self.models.embedder().info, dataclasses.asdict(self._chunking()))

    def _rebuilding(self) -> RebuildingModels:
        from ekr.ingestion.repair import RebuildingModels

        return RebuildingModels(self.models.embedder, self.models.generator)

    def _chunking(self) -> ChunkSettings:
        from ekr.chunking import ChunkSettings

        return ChunkSettings()

    def _release(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = None


def _checked(question: str) -> str:
    try:
        question.encode()
    except UnicodeEncodeError:
        raise UsageError("the question is not valid UTF-8") from None
    text = " ".join(unicodedata.normalize("NFC", question.replace("\0", " ")).split())
    if not text:
        raise UsageError("the question is empty")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise UsageError(f"the question has {len(text)} characters; {MAX_QUESTION_CHARACTERS} are the most")
    return text
