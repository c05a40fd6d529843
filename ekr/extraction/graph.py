"""Builds the whole graph from what is kept of each document; nothing here depends on the order of documents."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from ekr.extraction.clusters import Clusters
from ekr.extraction.links import build_links
from ekr.extraction.mentions import add_matches, add_references, search_names
from ekr.extraction.records import Definition, Graph, RawExtraction
from ekr.extraction.references import references
from ekr.extraction.relations import co_mentions, stated
from ekr.extraction.resolution import ResolutionSettings, collect, finish
from ekr.store.records import ChunkRecord


def build_graph(
    raws: Iterable[RawExtraction],
    definitions: Iterable[Definition],
    chunks: Iterable[ChunkRecord],
    settings: ResolutionSettings | None = None,
) -> Graph:
    """Entities, relations, mentions, links and searchable names of all documents together.

    `raws` and `definitions` are what extraction gave for each document, kept in the store; after a change only the
    changed documents are extracted again, and this runs over everything. `raws` is read twice, so that it need not
    be in memory; what is in it of chunks that are not among `chunks` is left out.
    """
    with _no_collection():
        return _build(raws, definitions, chunks, settings or ResolutionSettings())


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pauses the garbage collector: millions of small objects are made and none forms a cycle; it took a third of
    the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


class _OfChunks:
    """The raw records of these chunks, each time anew."""

    def __init__(self, raws: Iterable[RawExtraction], chunk_ids: Collection[str]) -> None:
        # An iterator would be empty the second time.
        self._raws = list(raws) if isinstance(raws, Iterator) else raws
        self._chunk_ids = chunk_ids

    def __iter__(self) -> Iterator[RawExtraction]:
        return (raw for raw in self._raws if raw.chunk_id in self._chunk_ids)


def _build(
    raws: Iterable[RawExtraction],
    definitions: Iterable[Definition],
    chunks: Iterable[ChunkRecord],
    settings: ResolutionSettings,
) -> Graph:
    defined = sorted(definitions, key=lambda d: (d.document_id, d.parent_id, d.chunk_id or "", d.kind, d.names))
    passages = sorted(chunks, key=lambda c: c.id)
    found = _OfChunks(raws, {chunk.id for chunk in passages})
    drafts = collect(found, defined, passages, Clusters(found, defined), settings)
    cited = {number: some for number, chunk in enumerate(passages) if (some := references(chunk.text))}
    names = search_names(drafts)
    add_references(drafts, cited)
    add_matches(drafts, names)
    drafts.settle()
    relations = stated(drafts, settings)
    relations += co_mentions(drafts, relations, settings)
    links = build_links(drafts, cited, settings)
    entities, mentions = finish(drafts, relations, settings)
    return Graph(tuple(entities), tuple(sorted(relations, key=lambda r: r.id)), mentions, tuple(links), tuple(names))
