"""Entities and relations of documents: which extractor works, and where: beside the caller or in worker processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from ekr.errors import ModelError, ModelMissing
from ekr.ingestion.memory import give_back
from ekr.store.graph_writer import begin_documents, finish_documents, put_extractions

if TYPE_CHECKING:
    from ekr.config import Settings
    from ekr.extraction import Extractor, RawExtraction
    from ekr.models.base import Generator
    from ekr.store import Writer
    from ekr.store.records import ChunkRecord, PreparedDocument

ExtractorKind = Literal["nlp", "llm", "none"]

_Answer = Future[tuple[list["RawExtraction"], list[str]]]

_BATCH_CHUNKS = 128
_CAPITALS = "nlp/capitals"


def kind_of(extractor: str) -> ExtractorKind:
    """The kind of the extractor that a manifest names; `nlp` for a store made before there was one."""
    if extractor.startswith("llm"):
        return "llm"
    return "none" if extractor == "none" else "nlp"


class Extraction(Protocol):
    """How a store's documents are extracted. `name` goes into the manifest."""

    name: str

    def signature(self, language: str) -> str:
        """What is kept with each document, to tell whether it was extracted like this."""
        ...

    def suits(self, kept: str | None, language: str) -> bool:
        """Whether a document that was extracted by `kept` can stay as it is."""
        ...

    def open(self, writer: Writer) -> Extractor:
        """The extractor, working here."""
        ...


@dataclass(frozen=True)
class NlpExtraction:
    """The rules of spaCy pipelines; `pipelines` maps the languages whose data is on this machine to their folders."""

    pipelines: Mapping[str, Path]
    name: str = "nlp"

    @classmethod
    def found(cls, settings: Settings) -> NlpExtraction:
        """With all language data that was pulled."""
        from ekr.extraction import PIPELINES
        from ekr.models import language_data

        folders = {}
        for language, name in PIPELINES.items():
            try:
                folders[language] = language_data(name, settings)
            except ModelMissing:
                continue
        return cls(folders)

    def signature(self, language: str) -> str:
        """`nlp/` and the pipeline; another one where there is none for the language."""
        from ekr.extraction import PIPELINES

        return f"nlp/{PIPELINES[language]}" if language in self.pipelines else _CAPITALS

    def suits(self, kept: str | None, language: str) -> bool:
        """True for the same pipeline; what a pipeline read before stays when it is no longer there."""
        own = self.signature(language)
        return kept == own or (own == _CAPITALS and kept is not None and kept.startswith("nlp/"))

    def open(self, writer: Writer) -> Extractor:
        """The extractor; pipelines load when first needed."""
        from ekr.extraction import NlpExtractor

        return NlpExtractor(self.pipelines)


@dataclass(frozen=True)
class LlmExtraction:
    """A generator, with its answers kept in the store."""

    generator: Generator
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"llm:{self.generator.name}")

    def signature(self, language: str) -> str:
        """The extractor's name."""
        return self.name

    def suits(self, kept: str | None, language: str) -> bool:
        """True for the same generator."""
        return kept == self.name

    def open(self, writer: Writer) -> Extractor:
        """The extractor, with a cache that lives in the generation under construction."""
        from ekr.extraction import LlmExtractor

        return LlmExtractor(self.generator, CallCache(writer, "extract"))


def choose(
    kind: ExtractorKind, settings: Settings, generator: Callable[[], Generator]
) -> NlpExtraction | LlmExtraction | None:
    """The extraction of that kind; None for `none`. Raises ModelMissing or ModelError for a generator."""
    if kind == "none":
        return None
    return LlmExtraction(generator()) if kind == "llm" else NlpExtraction.found(settings)


class CallCache:
    """Answers of a generator, kept in the store under a kind; `used` are the keys asked for."""

    def __init__(self, writer: Writer, kind: str) -> None:
        self._writer = writer
        self._kind = kind
        self.used: set[str] = set()

    def get(self, key: str) -> str | None:
        """The answer kept under the key, or None."""
        self.used.add(key)
        value = self._writer.cached_calls(self._kind, [key]).get(key)
        return value if isinstance(value, str) else None

    def put(self, key: str, value: str, owner: str) -> None:
        """Keep an answer; it goes when its document goes. Published when due: answers take seconds each."""
        self._writer.cache_call(self._kind, key, value, owner or None)
        if self._writer.checkpoint_due():
            self._writer.publish()


class Extracting:
    """Extracts documents in a thread, or with `jobs` above 1 in worker processes; use as a context manager.

    A generator works in the caller's own thread, as its answers are cached in the store.
    """

    def __init__(self, extraction: NlpExtraction | LlmExtraction, writer: Writer, jobs: int) -> None:
        self.extraction = extraction
        self._writer = writer
        self._jobs = jobs
        self._extractor: Extractor | None = None
        self._pool: Executor | None = None
        self._notes: dict[str, None] = {}

    def __enter__(self) -> Extracting:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let go of the pipelines and the workers: hundreds of MB. They come back when there is more to extract."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._extractor is not None:
            self._notes.update(dict.fromkeys(self._extractor.notes()))
        self._pool = self._extractor = None
        give_back()

    def notes(self) -> list[str]:
        """What the extractor remarked since the last call, each remark once."""
        if self._extractor is not None:
            self._notes.update(dict.fromkeys(self._extractor.notes()))
        notes = list(self._notes)
        self._notes.clear()
        return notes

    def start(self, documents: Sequence[PreparedDocument]) -> Started:
        """Begin to extract documents; by rules this goes on while the caller does something else."""
        if isinstance(self.extraction, LlmExtraction):
            groups = [(document.record.language, list(document.chunks)) for document in documents]
        else:
            by_language: dict[str, list[ChunkRecord]] = {}
            for document in documents:
                by_language.setdefault(document.record.language, []).extend(document.chunks)
            groups = [
                (language, chunks[start : start + _BATCH_CHUNKS])
                for language, chunks in by_language.items()
                for start in range(0, len(chunks), _BATCH_CHUNKS)
            ]
        return Started(self, documents, [self._submit(chunks, language) for language, chunks in groups])

    def _submit(self, chunks: Sequence[ChunkRecord], language: str) -> Callable[[], list[RawExtraction]]:
        if isinstance(self.extraction, LlmExtraction):
            return lambda: self._here(chunks, language)
        if self._jobs <= 1:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "ekr-extract")
            return self._pool.submit(self._here, chunks, language).result
        pipelines = self.extraction.pipelines
        future = self._to_worker(chunks, language, pipelines)
        return lambda: self._from_worker(future, lambda: self._to_worker(chunks, language, pipelines))

    def _here(self, chunks: Sequence[ChunkRecord], language: str) -> list[RawExtraction]:
        if self._extractor is None:
            self._extractor = self.extraction.open(self._writer)
        return self._extractor.extract(chunks, language)

    def _to_worker(self, chunks: Sequence[ChunkRecord], language: str, pipelines: Mapping[str, Path]) -> _Answer:
        """Begin to extract chunks, in new processes if one of the former died, which breaks the pool."""
        if self._pool is not None:
            try:
                return self._pool.submit(_extract_in_worker, chunks, language)
            except BrokenProcessPool:
                self._pool.shutdown()
        # Spawned, never forked: a forked child would inherit the store's lock and keep it beyond our death.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self._jobs, context, _start_worker, (pipelines,))
        return self._pool.submit(_extract_in_worker, chunks, language)

    def _from_worker(self, future: _Answer, again: Callable[[], _Answer]) -> list[RawExtraction]:
        try:
            try:
                raws, notes = future.result()
            except BrokenProcessPool:
                # A pool breaks as a whole: all that was under way in it is tried once more.
                raws, notes = again().result()
        except BrokenProcessPool as error:
            raise ModelError("a worker process died while finding entities; run again with --jobs 1") from error
        self._notes.update(dict.fromkeys(notes))
        return raws


class Started:
    """Documents on their way."""

    def __init__(
        self,
        owner: Extracting,
        documents: Sequence[PreparedDocument],
        parts: Iterable[Callable[[], list[RawExtraction]]],
    ) -> None:
        self._owner = owner
        self._documents = documents
        self._parts = parts

    def store(self, writer: Writer, on_part: Callable[[int], None] | None = None) -> list[PreparedDocument]:
        """Write what is found; the documents must be in the writer. Returns those in which no entity was found.

        `on_part` gets the number of chunks of each part that is done.
        """
        from ekr.extraction import definitions_of, dump_definitions

        begin_documents(writer, [document.record.id for document in self._documents])
        found: set[str] = set()
        for part in self._parts:
            raws = part()
            found.update(raw.document_id for raw in raws if raw.entities)
            put_extractions(writer, raws)
            if on_part:
                on_part(len(raws))
        signature = self._owner.extraction.signature
        finish_documents(
            writer,
            {d.record.id: signature(d.record.language) for d in self._documents},
            {d.record.id: dump_definitions(definitions_of(d.record, d.parents, d.chunks)) for d in self._documents},
        )
        return [document for document in self._documents if document.record.id not in found]


_worker_extractor: Extractor | None = None


def _start_worker(pipelines: Mapping[str, Path]) -> None:
    global _worker_extractor  # noqa: PLW0603 - one extractor a process, made when the process starts
    from ekr.extraction import NlpExtractor
    from ekr.ingestion.prepare import exit_with_parent

    exit_with_parent()
    _worker_extractor = NlpExtractor(pipelines)


def _extract_in_worker(chunks: Sequence[ChunkRecord], language: str) -> tuple[list[RawExtraction], list[str]]:
    if _worker_extractor is None:
        raise RuntimeError("the worker was not started")
    return _worker_extractor.extract(chunks, language), _worker_extractor.notes()
