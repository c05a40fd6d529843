"""What is derived from the rows of a store, made anew from them: vectors, BM25, the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ekr.errors import EkrError, ModelError
from ekr.ingestion import graph
from ekr.ingestion.memory import keep_heaps_small
from ekr.ingestion.pipeline import embedded_text
from ekr.store.abandoned import abandoned
from ekr.store.check import Examination, Repair, examine
from ekr.store.documents import all_documents, select_chunks
from ekr.store.graph_schema import forget_resolution
from ekr.store.graph_writer import resolved_from
from ekr.store.repair import make_current, remove_strays

if TYPE_CHECKING:
    from ekr.models.base import Embedder, Generator
    from ekr.store import Store, Writer
    from ekr.store.records import ChunkRecord

_EMBED_BATCH_CHUNKS = 1024
_ROUNDS = 3
# Each mends what the next ones are made from.
_ORDER: tuple[Repair, ...] = ("current", "rows", "vectors", "graph", "bm25")
_DONE = {
    "current": "generation {} is the current one again",
    "rows": "{} rows that belong to nothing are removed",
    "vectors": "{} chunks and the graph are embedded anew",
    "graph": "the graph is resolved anew",
    "bm25": "BM25 is built anew",
}

OnEmbedded = Callable[[int, int], None]
"""Called with the chunks embedded so far and all of them."""


@dataclass(frozen=True)
class RebuildingModels:
    """Where the models come from; they load only when something must be made with them."""

    embedder: Callable[[], Embedder]
    generator: Callable[[], Generator]


@dataclass(frozen=True)
class Repaired:
    """What a repair did, why the rest could not be done, and the store as it is now."""

    done: tuple[str, ...]
    failed: tuple[str, ...]
    examination: Examination


def repair(store: Store, models: RebuildingModels, wait_seconds: float = 10) -> Repaired:
    """Put right what can be, each kind in a generation of its own, so that one failure does not undo the others.

    Raises nothing of a store or a model: it is in `failed`, one line each.
    """
    done: list[str] = []
    failed: dict[str, None] = {}
    seen = examine(store)
    for _ in range(_ROUNDS):
        wanted: set[Repair] = {finding.repair for finding in seen.findings}
        if seen.generation is None and abandoned(store.path):
            wanted.add("current")
        todo = [kind for kind in _ORDER if kind in wanted and not (kind == "graph" and "vectors" in wanted)]
        progress = False
        for kind in todo:
            try:
                done.append(_DONE[kind].format(_repair(store, kind, models, wait_seconds)))
                progress = True
            except EkrError as error:
                failed[str(error)] = None
        seen = examine(store)
        if not progress:
            break
    return Repaired(tuple(done), tuple(failed), seen)


def _repair(store: Store, kind: Repair, models: RebuildingModels, wait_seconds: float) -> int:
    if kind == "current":
        return make_current(store, wait_seconds)
    if kind == "vectors":
        with store.snapshot() as snapshot:
            snapshot.manifest.require_embedder(models.embedder().info)
        return re_embed(store, models, wait_seconds)
    count = 0
    with store.writer(wait_seconds=wait_seconds) as writer:
        if kind == "rows":
            count = remove_strays(writer)
        elif kind == "graph":
            with writer.changing() as connection:
                forget_resolution(connection)
            graph.resolve_after_deletion(writer, models.embedder, models.generator)
        else:
            writer.rebuild_postings()
        writer.publish()
    return count


def re_embed(
    store: Store, models: RebuildingModels, wait_seconds: float = 10, on_embedded: OnEmbedded | None = None
) -> int:
    """Embed every chunk, and what of the graph is embedded, with the embedder of `models`; returns the chunks.

    Reads the store alone, no source file. One generation: until it is whole, questions get the old vectors.
    Raises StoreEmpty, StoreError, StoreLocked, ModelMissing, ModelError.
    """
    keep_heaps_small()
    embedder = models.embedder()
    with store.writer(wait_seconds=wait_seconds, re_embed=embedder.info) as writer:
        chunks = _embed_chunks(writer, embedder, on_embedded)
        graph.resolve_after_deletion(writer, models.embedder, models.generator)
        with writer.reading() as connection:
            if connection is None or resolved_from(connection) is None:
                raise ModelError("the graph could not be embedded; nothing was changed, run: ekr models check")
        writer.publish()
    return chunks


def _embed_chunks(writer: Writer, embedder: Embedder, on_embedded: OnEmbedded | None) -> int:
    titles = {record.id: record.title for record in all_documents(writer.connection.cursor())}
    done = 0
    row = writer.connection.execute("SELECT count(*) FROM chunks").fetchone()
    total = int(row[0]) if row else 0
    with writer.connection.cursor() as cursor:
        batch = []
        for chunk in select_chunks(cursor, "ORDER BY document_id, ordinal", []):
            batch.append(chunk)
            if len(batch) == _EMBED_BATCH_CHUNKS:
                done += _embed_batch(writer, embedder, titles, batch)
                batch = []
                if on_embedded:
                    on_embedded(done, total)
        done += _embed_batch(writer, embedder, titles, batch)
    if on_embedded:
        on_embedded(done, total)
    return done


def _embed_batch(writer: Writer, embedder: Embedder, titles: Mapping[str, str], chunks: Sequence[ChunkRecord]) -> int:
    if chunks:
        vectors = embedder.embed_passages([embedded_text(titles[chunk.document_id], chunk) for chunk in chunks])
        writer.put_vectors("chunks", [c.id for c in chunks], [c.document_id for c in chunks], vectors)
    return len(chunks)
