"""The graph of a store, brought in step with its documents: extraction of what is missing, resolution, communities,
reports, vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ekr.errors import ModelError
from ekr.extraction.describe import tidy
from ekr.extraction.records import RELATED_TO
from ekr.ingestion.extracting import CallCache, Extracting, kind_of
from ekr.ingestion.memory import give_back
from ekr.store import graph_writer
from ekr.store.documents import documents_by_id, select_chunks, select_parents
from ekr.store.records import PreparedDocument
from ekr.store.schema import tables_of
from ekr.timing import Timings, timed

if TYPE_CHECKING:
    from ekr.extraction import Entity, Graph, Relation, Report
    from ekr.models.base import Embedder, Generator
    from ekr.store import Writer

_REPORT_CALLS = "report"
_SLICE_CHUNKS = 1024
# Characters that the embedder reads: whole descriptions cost as much time as the passages they are taken from.
_READ = 180
_READ_OF_REPORT = 600

logger = logging.getLogger(__name__)


def extract_missing(
    writer: Writer,
    extracting: Extracting,
    on_empty: Callable[[PreparedDocument], None],
    on_progress: Callable[[int, int, str], None] | None = None,
) -> int:
    """Extract the documents that this extractor has not read yet, from their chunks in the store.

    Publishes when a checkpoint is due, so that a run that is cut off goes on where it was. `on_progress` gets the
    chunks done, all chunks to do, and a document. Returns the number of documents.
    """
    missing = _missing(writer, extracting)
    sizes = _sizes(writer) if missing else {}
    total = sum(sizes.get(document_id, 0) for document_id in missing)
    done = 0
    for ids in _slices(missing, sizes):
        documents = _load(writer, ids)

        def show(chunks: int, name: str = documents[0].record.display) -> None:
            nonlocal done
            done += chunks
            if on_progress:
                on_progress(done, total, name)

        for document in extracting.start(documents).store(writer, show):
            on_empty(document)
        if done < total and writer.checkpoint_due():
            writer.publish()
    return len(missing)


def resolve(
    writer: Writer, embedder: Callable[[], Embedder], generator: Generator | None = None, timings: Timings | None = None
) -> bool:
    """Make the graph anew when what it is resolved from changed; False when it had not.

    With a generator, it writes the reports on communities of weight; where it fails, they come from the template.
    Where the embedder fails, the graph is made and its vectors wait for the next ingest.
    """
    with writer.reading() as connection:
        if connection is None:
            return False
        if "graph_state" in tables_of(connection):
            inputs = graph_writer.inputs_of(connection)
            if graph_writer.resolved_from(connection) == inputs:
                return False
    spent: Timings = timings if timings is not None else {}
    with timed(spent, "graph"):
        texts = _resolved(writer, generator)
        # The graph itself is in the store now; beside the embedder it would make the peak of a large ingest.
        give_back()
    with timed(spent, "embed_graph"):
        whole = _embed(writer, texts, embedder)
    if whole:
        with writer.changing() as connection:
            inputs = graph_writer.inputs_of(connection)
        graph_writer.note_resolved(writer, inputs)
    return True


def resolve_after_deletion(
    writer: Writer, embedder: Callable[[], Embedder], generator: Callable[[], Generator]
) -> None:
    """Make the graph anew of the documents that are left, so that nothing is kept of the others.

    Models load only for what reads differently now. Deletion never fails for the lack of one.
    """

    def fitting() -> Embedder:
        own = embedder()
        if own.info != writer.manifest.embedder:
            raise ModelError(f"the store was embedded with {writer.manifest.embedder.name}, not with {own.info.name}")
        return own

    name = writer.manifest.extractor
    on_demand = _OnDemand(name.removeprefix("llm:"), generator) if kind_of(name) == "llm" else None
    resolve(writer, fitting, cast("Generator | None", on_demand))


class _OnDemand:
    """A generator that loads when it has to write: reports that did not change are in the cache."""

    def __init__(self, name: str, load: Callable[[], Generator]) -> None:
        self.name = name
        self._load = load

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._load(), attribute)


def drop(writer: Writer) -> bool:
    """Remove the graph and all that it was made from; False when there is none."""
    with writer.reading() as connection:
        if connection is None or "extracted" not in tables_of(connection):
            return False
        row = connection.execute("SELECT count(*) FROM extracted").fetchone()
        if not row or not row[0]:
            return False
    graph_writer.clear_graph(writer)
    return True


def _missing(writer: Writer, extracting: Extracting) -> list[str]:
    """Ids of the documents to extract, those of a language together."""
    with writer.reading() as connection:
        if connection is None:
            return []
        if "extracted" not in tables_of(connection):
            rows = connection.execute("SELECT id, language, NULL FROM documents ORDER BY id").fetchall()
        else:
            rows = graph_writer.extractors_of(connection)
    suits = extracting.extraction.suits
    wanted = sorted((language, document_id) for document_id, language, kept in rows if not suits(kept, language))
    return [document_id for _, document_id in wanted]


def _sizes(writer: Writer) -> dict[str, int]:
    with writer.changing() as connection:
        query = "SELECT document_id, count(*) FROM chunks GROUP BY document_id"
        return dict(connection.execute(query).fetchall())


def _slices(ids: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Document ids in groups of about 1,000 chunks: what is in memory at a time."""
    group: list[str] = []
    chunks = 0
    for document_id in ids:
        group.append(document_id)
        chunks += sizes.get(document_id, 0)
        if chunks >= _SLICE_CHUNKS:
            yield group
            group, chunks = [], 0
    if group:
        yield group


def _load(writer: Writer, ids: Sequence[str]) -> list[PreparedDocument]:
    with writer.changing() as connection:
        records = documents_by_id(connection, ids)
        among = "WHERE document_id IN (SELECT unnest(?)) ORDER BY document_id, ordinal"
        chunks = list(select_chunks(connection, among, [list(ids)]))
        parents = list(select_parents(connection, among, [list(ids)]))
    return [
        PreparedDocument(
            records[document_id],
            (),
            tuple(parent for parent in parents if parent.document_id == document_id),
            tuple(chunk for chunk in chunks if chunk.document_id == document_id),
        )
        for document_id in ids
    ]


def _resolved(writer: Writer, generator: Generator | None) -> dict[str, dict[str, str]]:
    """Write the graph; returns the texts of it that are embedded, by kind and id."""
    from ekr.extraction import build_graph, find_communities, report_on

    with writer.changing() as connection:
        chunks = select_chunks(connection.cursor(), "", [])
        graph = build_graph(graph_writer.raw_extractions(connection), graph_writer.kept_definitions(connection), chunks)
    give_back()
    communities = find_communities(graph.relations)
    entities = {entity.id: entity for entity in graph.entities}
    relations = {relation.id: relation for relation in graph.relations}
    cache = CallCache(writer, _REPORT_CALLS)
    try:
        reports = [report_on(community, entities, relations, generator, cache) for community in communities]
    except ModelError as error:
        logger.warning("communities are reported on without a generator: %s", error)
        reports = [report_on(community, entities, relations) for community in communities]
    graph_writer.forget_calls(writer, _REPORT_CALLS, cache.used)
    graph_writer.replace_graph(writer, graph, _pageranks(graph), communities, reports)
    logger.info("graph: %d entities, %d relations, %d communities", len(entities), len(relations), len(reports))
    names = {entity.id: entity.name for entity in graph.entities}
    return {
        "entities": {e.id: entity_text(e) for e in graph.entities if worth_embedding(e)},
        "relations": {r.id: relation_text(r, names) for r in graph.relations if worth_finding(r)},
        "reports": {report.community_id: report_text(report) for report in reports},
    }


def _pageranks(graph: Graph) -> dict[str, float]:
    """PageRank (Page & Brin 1998) over the relations, weighted and in both directions, damping 0.85."""
    if not graph.entities:
        return {}
    import igraph

    place = {entity.id: index for index, entity in enumerate(graph.entities)}
    edges = [(place[r.source_id], place[r.target_id]) for r in graph.relations]
    weights = [r.weight for r in graph.relations]
    scores = igraph.Graph(len(place), edges).pagerank(damping=0.85, weights=weights or None)
    return {identity: float(scores[index]) for identity, index in place.items()}


def _embed(writer: Writer, texts: Mapping[str, Mapping[str, str]], embedder: Callable[[], Embedder]) -> bool:
    """Bring the vectors in step; False when the embedder could not be used for what is new."""
    whole = True
    for kind, of_kind in texts.items():
        try:
            done = graph_writer.embed_texts(writer, kind, of_kind, lambda batch: embedder().embed_passages(batch))
            logger.debug("%s: %s", kind, dict(done))
        except ModelError as error:
            logger.warning("vectors of %s wait for the next ingest: %s", kind, error)
            whole = False
    return whole


def worth_embedding(entity: Entity) -> bool:
    """Whether meaning can find it; one that is named once and related to nothing is found by its name."""
    return entity.defined or entity.chunks >= 2 or entity.relations > 0


def worth_finding(relation: Relation) -> bool:
    """Whether meaning can find it: a text states it, or the two are named together more than once."""
    return relation.type != RELATED_TO or len(relation.evidence) > 1


def entity_text(entity: Entity) -> str:
    """What the embedder reads of an entity."""
    return f"{entity.name}: {tidy(entity.description, _READ)}" if entity.description else entity.name


def relation_text(relation: Relation, names: Mapping[str, str]) -> str:
    """What the embedder reads of a relation."""
    verb = relation.type.replace("_", " ").lower()
    return f"{names[relation.source_id]} {verb} {names[relation.target_id]}: {tidy(relation.description, _READ)}"


def report_text(report: Report) -> str:
    """What the embedder reads of a report: title and summary, then findings as far as they fit."""
    return tidy(report.text, _READ_OF_REPORT)
