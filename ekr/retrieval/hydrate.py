"""From candidates to items: every id is looked up once, so that an item always carries all that is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ekr.errors import RetrievalError, StoreError
from ekr.results import Evidence, Item, ParentText

if TYPE_CHECKING:
    from ekr.retrieval.pool import Candidate
    from ekr.retrieval.search import Search
    from ekr.store import Snapshot
    from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord

MOST_EVIDENCE = 3


@dataclass(frozen=True)
class _Passages:
    """Chunks by id with their documents; parents where they were asked for."""

    chunks: Mapping[str, ChunkRecord]
    documents: Mapping[str, DocumentRecord]
    parents: Mapping[str, ParentRecord]

    def item(self, id_: str) -> Item:
        """A passage with its parent, unranked."""
        chunk = self.chunks[id_]
        document, parent = self.documents[chunk.document_id], self.parents[chunk.parent_id]
        return Item(
            type="chunk",
            id=id_,
            rank=0,
            score=0.0,
            document=document.display,
            document_id=public_id(document),
            page_start=chunk.page_start,
            page_end=chunk.page_end,
            heading=chunk.heading,
            text=chunk.text,
            parent=ParentText(parent.id, parent.text, parent.page_start, parent.page_end),
        )

    def places(self, ids: Iterable[str]) -> tuple[Evidence, ...]:
        """Where passages are; unknown ones are left out."""
        return tuple(self._place(self.chunks[id_]) for id_ in ids if id_ in self.chunks)

    def _place(self, chunk: ChunkRecord) -> Evidence:
        document = self.documents[chunk.document_id]
        return Evidence(
            chunk.id, document.display, public_id(document), chunk.page_start, chunk.page_end, chunk.heading
        )


def items(search: Search, candidates: Sequence[Candidate]) -> list[Item]:
    """The items of the candidates, in order, with their ranks. Raises RetrievalError for an unknown type."""
    ids: dict[str, list[str]] = {"chunk": [], "entity": [], "relation": [], "community": [], "value": []}
    for candidate in candidates:
        if candidate.type not in ids:
            raise RetrievalError(f"items of type {candidate.type!r} can't be shown")
        ids[candidate.type].append(candidate.id)
    evidence = _evidence(search, ids)
    evidence |= {id_: list(search.values[id_].chunks) for id_ in ids["value"]}
    behind = {id_ for held in evidence.values() for id_ in held}
    passages = _passages(search.snapshot, ids["chunk"], behind)
    made = {("chunk", id_): passages.item(id_) for id_ in ids["chunk"]}
    for item in _facts(search, ids, lambda id_: passages.places(evidence.get(id_, ()))):
        made[(item.type, item.id)] = item
    per_type = search.recipe.limit_counts == "chunks"
    ranks: dict[str, int] = {}
    found = []
    for candidate in candidates:
        counted = candidate.type if per_type else ""
        ranks[counted] = ranks.get(counted, 0) + 1
        found.append(replace(made[candidate.key], rank=ranks[counted], score=candidate.score))
    return found


def names(snapshot: Snapshot, by_type: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """`type:id` → what a person calls the item, in one line; unknown ones are absent."""
    chunks = snapshot.chunks(by_type.get("chunk", ()))
    documents = snapshot.document_records({chunk.document_id for chunk in chunks.values()})
    found = {f"chunk:{id_}": f"{documents[c.document_id].display}: {c.text}" for id_, c in chunks.items()}
    graph = snapshot.graph
    found |= {f"entity:{id_}": e.name for id_, e in graph.entities(by_type.get("entity", ())).items()}
    for id_, r in graph.relations(by_type.get("relation", ())).items():
        found[f"relation:{id_}"] = f"{r.source} – {r.type} – {r.target}"
    found |= {f"community:{id_}": c.title for id_, c in graph.communities(by_type.get("community", ())).items()}
    return found


def public_id(document: DocumentRecord) -> str:
    """The id that users know: a JSONL record's own id, else the path as shown."""
    return document.display if document.record_id is None else document.record_id


def chunk_items(snapshot: Snapshot, ids: Sequence[str]) -> list[Item]:
    """Passages with their parents, unranked, in the order of the ids."""
    passages = _passages(snapshot, ids, ())
    return [passages.item(id_) for id_ in ids]


def places(snapshot: Snapshot, chunks_of: Mapping[str, Sequence[str]]) -> dict[str, tuple[Evidence, ...]]:
    """Where the passages of each item are; unknown passages are left out."""
    passages = _passages(snapshot, (), {id_ for ids in chunks_of.values() for id_ in ids})
    return {id_: passages.places(ids) for id_, ids in chunks_of.items()}


def _passages(snapshot: Snapshot, shown: Collection[str], behind: Collection[str]) -> _Passages:
    """The passages shown, with their parents, and those behind others, without."""
    chunks = snapshot.chunks({*shown, *behind})
    documents = snapshot.document_records({chunk.document_id for chunk in chunks.values()})
    return _Passages(chunks, documents, snapshot.parents({chunks[id_].parent_id for id_ in shown if id_ in chunks}))


def _evidence(search: Search, ids: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Entity or relation id → its first passages, within the document filter; without them items are shown bare."""
    try:
        held = search.entity_chunks.of(ids["entity"]) | search.relation_chunks.of(ids["relation"])
    except StoreError as error:
        search.trace.degrade("step", "evidence", error)
        return {}
    if search.documents is not None:
        allowed = search.allowed_chunks({id_ for chunks in held.values() for id_ in chunks})
        held = {id_: [chunk for chunk in chunks if chunk in allowed] for id_, chunks in held.items()}
    return {id_: chunks[:MOST_EVIDENCE] for id_, chunks in held.items()}


def _facts(
    search: Search, ids: Mapping[str, Sequence[str]], places_of: Callable[[str], tuple[Evidence, ...]]
) -> Iterable[Item]:
    for id_, entity in search.entities.of(ids["entity"]).items():
        yield Item(
            "entity",
            id_,
            rank=0,
            score=0.0,
            name=entity.name,
            label=next(iter(entity.labels), None),
            labels=entity.labels,
            description=entity.description,
            evidence=places_of(id_),
        )
    for id_, relation in search.relations.of(ids["relation"]).items():
        yield Item(
            "relation",
            id_,
            rank=0,
            score=0.0,
            source=relation.source,
            target=relation.target,
            relation_type=relation.type,
            description=relation.description,
            evidence=places_of(id_),
        )
    for id_, report in search.graph.communities(ids["community"]).items():
        yield Item("community", id_, rank=0, score=0.0, title=report.title, summary=report.summary)
    for id_ in ids["value"]:
        value = search.values[id_]
        yield Item(
            "value",
            id_,
            rank=0,
            score=0.0,
            name=value.said,
            title=value.title,
            columns=value.columns,
            row=value.cells,
            evidence=places_of(id_),
        )
