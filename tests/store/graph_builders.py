"""A small graph in a store, resolved from raw records by the real resolution."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ekr.extraction import (
    Definition,
    Graph,
    RawEntity,
    RawExtraction,
    RawRelation,
    build_graph,
    dump_definitions,
    find_communities,
    report_on,
)
from ekr.models.base import Vectors
from ekr.store import Store, Writer, graph_writer
from ekr.store.documents import select_chunks
from ekr.store.records import PreparedDocument
from tests.store.builders import DIMENSION, MANIFEST, document, identity, put

BABBAGE = document(
    "/notes/babbage.txt",
    "Charles Babbage designed the Difference Engine in London. ",
    "Charles Babbage worked with Ada Lovelace on the Analytical Engine. ",
)
LOVELACE = document(
    "/notes/lovelace.txt", "Ada Lovelace described the Analytical Engine. ", "She read Charles Babbage. "
)
ENGINE = document("/notes/engine.txt", "The Analytical Engine had a mill. ", "It was never built. ")
NOTES = [BABBAGE, LOVELACE, ENGINE]

_NAMES = {
    "Charles Babbage": "Person",
    "Ada Lovelace": "Person",
    "Difference Engine": "Product",
    "Analytical Engine": "Product",
    "London": "Place",
}
_STATED = (
    ("Charles Babbage", "DESIGN", "Difference Engine"),
    ("Charles Babbage", "WORK_WITH", "Ada Lovelace"),
    ("Ada Lovelace", "DESCRIBE", "Analytical Engine"),
)


def extracted(prepared: PreparedDocument) -> list[RawExtraction]:
    """The names and relations above, wherever a chunk holds them."""
    raws = []
    for chunk in prepared.chunks:
        whole = (0, len(chunk.text))
        found = {
            name: tuple((m.start(), m.end()) for m in re.finditer(name, chunk.text))
            for name in _NAMES
            if name in chunk.text
        }
        entities = [RawEntity(name, _NAMES[name], "name", spans, whole, 1) for name, spans in found.items()]
        relations = [RawRelation(s, t, kind, whole) for s, kind, t in _STATED if s in found and t in found]
        raws.append(RawExtraction(chunk.id, chunk.document_id, "en", tuple(entities), tuple(relations)))
    return raws


def defined(prepared: PreparedDocument) -> list[Definition]:
    """The engine's document defines it by its title."""
    if prepared is not ENGINE:
        return []
    names = ("Analytical Engine",)
    return [Definition(names, "Product", "title", prepared.record.id, prepared.parents[0].id, None)]


def embed(texts: Sequence[str]) -> Vectors:
    """A vector a text, the same for the same text."""
    rows = [np.random.default_rng(int(identity(text), 16)).normal(size=DIMENSION) for text in texts]
    matrix = np.array(rows, dtype=np.float32).reshape(-1, DIMENSION)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def extract(writer: Writer, *documents: PreparedDocument) -> None:
    ids = [prepared.record.id for prepared in documents]
    graph_writer.begin_documents(writer, ids)
    for prepared in documents:
        graph_writer.put_extractions(writer, extracted(prepared))
    of_each = {prepared.record.id: dump_definitions(defined(prepared)) for prepared in documents}
    graph_writer.finish_documents(writer, dict.fromkeys(ids, "nlp/test"), of_each)


def resolve(writer: Writer) -> Graph:
    with writer.changing() as connection:
        chunks = list(select_chunks(connection, "", []))
        raws, definitions = graph_writer.raw_extractions(connection), graph_writer.kept_definitions(connection)
        graph = build_graph(raws, definitions, chunks)
        inputs = graph_writer.inputs_of(connection)
    communities = find_communities(graph.relations)
    entities, relations = {e.id: e for e in graph.entities}, {r.id: r for r in graph.relations}
    reports = [report_on(community, entities, relations) for community in communities]
    share = 1 / max(1, len(graph.entities))
    graph_writer.replace_graph(writer, graph, dict.fromkeys(entities, share), communities, reports)
    graph_writer.embed_texts(writer, "entities", {e.id: f"{e.name}: {e.description}" for e in graph.entities}, embed)
    graph_writer.embed_texts(writer, "relations", {r.id: r.description for r in graph.relations}, embed)
    graph_writer.embed_texts(writer, "reports", {r.community_id: r.text for r in reports}, embed)
    graph_writer.note_resolved(writer, inputs)
    return graph


def filled(store: Store, *documents: PreparedDocument) -> Graph:
    """Put the documents with their graph and publish."""
    with store.writer(MANIFEST) as writer:
        put(writer, *documents)
        extract(writer, *documents)
        graph = resolve(writer)
        writer.publish()
    return graph
