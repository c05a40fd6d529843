"""One ingest: find the files, prepare what changed, embed, write, publish."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ekr.errors import ReadError, StoreEmpty
from ekr.ingestion import graph
from ekr.ingestion.extracting import Extracting, ExtractorKind, LlmExtraction, NlpExtraction, choose, kind_of
from ekr.ingestion.memory import give_back, keep_heaps_small
from ekr.ingestion.prepare import Known, Prepared, Unchanged, prepare, refuse_namesakes, tasks_of
from ekr.ingestion.pruning import gone
from ekr.ingestion.report import IngestReport, Problem
from ekr.ingestion.workers import prepare_all
from ekr.store.records import PreparedDocument

if TYPE_CHECKING:
    from ekr.chunking import ChunkSettings
    from ekr.config import Settings
    from ekr.models.base import Embedder, Generator, Tokenizer, Vectors
    from ekr.reading.document import MetadataValue
    from ekr.reading.files import Discovery
    from ekr.store import Manifest, Store, Writer
    from ekr.store.records import ChunkRecord, DocumentRecord

EMBED_BATCH_CHUNKS = 1024
# From so many new chunks on, the embedder makes room for the resolution of the graph, and for the last publish.
_MANY_CHUNKS = 2000


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What the caller asks of an ingest. Without an `extractor` it is the store's own, `nlp` for a new one."""

    exclude: Sequence[str] = ()
    prune: bool = False
    jobs: int = 1
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    dry_run: bool = False
    wait_seconds: float = 10.0
    extractor: ExtractorKind | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: files done of all, chunks written, the document just done.

    In the stage "extracting" the first two count chunks; "graph" is resolution.
    """

    files_done: int
    files: int
    chunks: int
    document: str
    stage: Literal["reading", "extracting", "graph"] = "reading"


@dataclass(frozen=True)
class Indexer:
    """What an ingest works with; models come from callables and load only when something is new."""

    store: Store
    manifest: Callable[[], Manifest]
    tokenizer: Callable[[], Tokenizer]
    embedder: Callable[[], Embedder]
    release_embedder: Callable[[], None]
    generator: Callable[[], Generator]
    chunking: ChunkSettings
    settings: Settings


def ingest(
    indexer: Indexer,
    arguments: Sequence[str | Path],
    options: IngestOptions,
    on_progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """Brings the documents behind `arguments` into the store. Problems of single files are in the report.

    Raises StoreError, ModelError; UsageError when the arguments name nothing at all.
    """
    from ekr.reading.files import discover

    started = time.perf_counter()
    keep_heaps_small()
    found = discover(arguments, options.exclude)
    refuse_namesakes(found)
    report = IngestReport(dry_run=options.dry_run)
    report.failed.extend(_problem(error) for error in found.errors)
    report.skipped.extend(Problem(skipped.display, skipped.reason) for skipped in found.skipped)
    if options.dry_run:
        _plan(indexer, found, arguments, options, report)
    elif found.files or options.prune:
        before = _stored_extractor(indexer.store)
        extraction = choose(options.extractor or kind_of(before), indexer.settings, indexer.generator)
        manifest = replace(indexer.manifest(), extractor=extraction.name if extraction else "none")
        with indexer.store.writer(manifest, wait_seconds=options.wait_seconds) as writer, ExitStack() as stack:
            extracting = stack.enter_context(Extracting(extraction, writer, options.jobs)) if extraction else None
            _Run(indexer, writer, options, report, on_progress, extracting).run(found, arguments)
        if before and before != manifest.extractor:
            report.notes.append(f"the graph is now that of the extractor {manifest.extractor}; it was {before}'s")
    report.timings["total"] = time.perf_counter() - started
    return report


class _Run:
    """The state of one ingest that writes."""

    def __init__(
        self,
        indexer: Indexer,
        writer: Writer,
        options: IngestOptions,
        report: IngestReport,
        on_progress: Callable[[Progress], None] | None,
        extracting: Extracting | None,
    ) -> None:
        self.indexer, self.writer, self.options, self.report = indexer, writer, options, report
        self.on_progress = on_progress
        self.extracting = extracting
        self.stored, self.known = _stored(indexer.store)
        self.waiting: list[PreparedDocument] = []
        self.seen: set[str] = set()
        self.unpublished = False

    def run(self, found: Discovery, arguments: Sequence[str | Path]) -> None:
        tasks = tasks_of(found, self.options.metadata, self.known)
        prepared = prepare_all(
            tasks,
            self.options.jobs,
            self.indexer.tokenizer,
            self.indexer.settings.embedder,
            self.indexer.settings,
            self.indexer.chunking,
        )
        for done, (task, outcomes) in enumerate(prepared, start=1):
            for outcome in outcomes:
                self._take(outcome)
            if self.on_progress:
                self.on_progress(Progress(done, len(found.files), self.report.chunks, task.display))
        self._write()
        if self.options.prune:
            self._prune(found, arguments)
        self._update_graph()
        if self.unpublished:
            # Large tables get an index as they are published; beside the model that would make the ingest's peak.
            self._make_room()
            self._publish()

    def _take(self, outcome: Prepared) -> None:
        if isinstance(outcome, ReadError):
            self.report.failed.append(_problem(outcome))
        elif isinstance(outcome, Unchanged):
            self.seen.add(outcome.key)
            self.report.unchanged += 1
        else:
            self.seen.add(outcome.record.key)
            self.waiting.append(outcome)
            if sum(len(document.chunks) for document in self.waiting) >= EMBED_BATCH_CHUNKS:
                self._write()

    def _write(self) -> None:
        if not self.waiting:
            return
        # A generator takes minutes a document: what is read goes into the store first, to be found in the meantime.
        by_rules = self.extracting is not None and isinstance(self.extracting.extraction, NlpExtraction)
        started = self.extracting.start(self.waiting) if self.extracting and by_rules else None
        with self.report.timed("embed"):
            vectors = _embedded(self.waiting, self.indexer.embedder())
        with self.report.timed("write"):
            start = 0
            for document in self.waiting:
                end = start + len(document.chunks)
                self.writer.put(document, vectors[start:end])
                start = end
                self._record(document)
        if started is not None:
            with self.report.timed("extract"):
                for document in started.store(self.writer):
                    self._found_nothing(document)
        self.waiting = []
        self.unpublished = True
        if self.writer.checkpoint_due():
            self._publish()
            give_back()

    def _update_graph(self) -> None:
        if self.extracting is None:
            self.unpublished |= graph.drop(self.writer)
            return
        if isinstance(self.extracting.extraction, LlmExtraction) and self.unpublished:
            self._publish()
        with self.report.timed("extract"):
            late = graph.extract_missing(self.writer, self.extracting, self._found_nothing, self._extracted)
        self.report.notes.extend(self.extracting.notes())
        extraction = self.extracting.extraction
        generator = extraction.generator if isinstance(extraction, LlmExtraction) else None
        if self.on_progress:
            self.on_progress(Progress(0, 1, self.report.chunks, "", "graph"))
        self._make_room()
        self.extracting.release()
        changed = graph.resolve(self.writer, self.indexer.embedder, generator, self.report.timings)
        self.unpublished |= changed or late > 0

    def _make_room(self) -> None:
        if self.report.chunks > _MANY_CHUNKS:
            self.indexer.release_embedder()
            give_back()

    def _extracted(self, done: int, of: int, document: str) -> None:
        if self.on_progress:
            self.on_progress(Progress(done, of, self.report.chunks, document, "extracting"))

    def _found_nothing(self, document: PreparedDocument) -> None:
        self.report.warnings.append(Problem(document.record.display, "no entity was found in it"))

    def _record(self, document: PreparedDocument) -> None:
        record = document.record
        (self.report.updated if record.key in self.known else self.report.added).append(record.display)
        self.report.chunks += len(document.chunks)
        self.report.warnings.extend(Problem(record.display, warning) for warning in record.warnings)

    def _prune(self, found: Discovery, arguments: Sequence[str | Path]) -> None:
        removed = gone(self.stored, self.seen, found, self.report.failed, arguments)
        if removed:
            self.writer.delete([record.id for record in removed])
            self.report.removed.extend(record.display for record in removed)
            self.unpublished = True

    def _publish(self) -> None:
        with self.report.timed("publish"):
            self.report.generation = self.writer.publish()
        self.unpublished = False


def _stored_extractor(store: Store) -> str:
    """The extractor in the store's manifest; empty for an empty store and one that never had any."""
    try:
        with store.snapshot() as snapshot:
            return snapshot.manifest.extractor
    except StoreEmpty:
        return ""


def embedded_text(title: str, chunk: ChunkRecord) -> str:
    """What the embedder reads of a chunk: its last heading (else the document's title), then its words.

    The headings above the last one are shared by hundreds of chunks and drown what tells them apart: on the
    French AI Act, evidence in the top 5 for 19 of 25 questions with the last one, 18 with all, 16 with none.
    """
    head = chunk.heading.split(" > ")[-1] if chunk.heading else title
    return "\n".join(part for part in (head, chunk.context, chunk.text) if part)


def _embedded(documents: Sequence[PreparedDocument], embedder: Embedder) -> Vectors:
    """The vectors of all chunks in order, embedded in pieces: one document may have more chunks than a batch."""
    import numpy as np

    passages = ((document.record.title, chunk) for document in documents for chunk in document.chunks)
    vectors = []
    while texts := [embedded_text(title, chunk) for title, chunk in islice(passages, EMBED_BATCH_CHUNKS)]:
        vectors.append(embedder.embed_passages(texts))
    return np.concatenate(vectors) if vectors else np.empty((0, embedder.info.dimension), np.float32)


def _plan(
    indexer: Indexer, found: Discovery, arguments: Sequence[str | Path], options: IngestOptions, report: IngestReport
) -> None:
    stored, known = _stored(indexer.store)
    seen: set[str] = set()
    for task in tasks_of(found, options.metadata, known):
        for outcome in prepare(task, indexer.tokenizer(), indexer.chunking):
            if isinstance(outcome, ReadError):
                report.failed.append(_problem(outcome))
            elif isinstance(outcome, Unchanged):
                seen.add(outcome.key)
                report.unchanged += 1
            else:
                record = outcome.record
                seen.add(record.key)
                (report.updated if record.key in known else report.added).append(record.display)
                report.chunks += len(outcome.chunks)
    if options.prune:
        report.removed.extend(record.display for record in gone(stored, seen, found, report.failed, arguments))


def _stored(store: Store) -> tuple[list[DocumentRecord], dict[str, Known]]:
    """What is in the store already, and what is known of it by key."""
    try:
        with store.snapshot() as snapshot:
            records, given = snapshot.documents(), snapshot.given_properties()
    except StoreEmpty:
        return [], {}
    return records, {r.key: Known(r.content_hash, given.get(r.id, {})) for r in records}


def _problem(error: ReadError) -> Problem:
    return Problem(error.where, error.reason)
