"""Builds the whole graph from what is kept of each document; nothing here depends on the order of documents."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ekr.extraction.clusters import Clusters
from ekr.extraction.links import build_links
from ekr.extraction.mentions import add_matches, add_references, search_names
from ekr.extraction.records import Definition, Graph, RawExtraction
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
    changed documents are extracted again, and this runs over everything.
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


def _build(
    raws: Iterable[RawExtraction],
    definitions: Iterable[Definition],
    chunks: Iterable[ChunkRecord],
    settings: ResolutionSettings,
) -> Graph:
    ordered: Sequence[RawExtraction] = sorted(raws, key=lambda r: r.chunk_id)
    defined = sorted(definitions, key=lambda d: (d.document_id, d.parent_id, d.chunk_id or "", d.kind, d.names))
    passages = sorted(chunks, key=lambda c: c.id)
    texts = {chunk.id: chunk.text for chunk in passages}
    clusters = Clusters(ordered, defined)
    drafts = collect(ordered, defined, texts, clusters, settings)
    names = search_names(drafts)
    add_references(drafts, passages)
    add_matches(drafts, names, texts)
    relations = stated(ordered, drafts, texts, clusters, settings)
    relations += co_mentions(drafts, relations, texts, settings)
    links = build_links(drafts, passages, settings)
    entities, mentions = finish(drafts, relations, settings)
    return Graph(
        tuple(entities),
        tuple(sorted(relations, key=lambda r: r.id)),
        tuple(mentions),
        tuple(links),
        tuple(names),
    )
