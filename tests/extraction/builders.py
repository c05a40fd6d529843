"""Small chunks, documents and raw records for tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ekr.extraction import Definition, RawEntity, RawExtraction, RawRelation, definitions_of
from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord


def document(title: str, *, record: bool = True, language: str = "en", identity: str | None = None) -> DocumentRecord:
    key = identity or f"doc-{title}"
    return DocumentRecord(key, key, key, "p", title if record else None, title, "jsonl", language, "h", None, 0)


def parent(doc: DocumentRecord, number: int, text: str, heading: str | None = None) -> ParentRecord:
    return ParentRecord(f"{doc.id}-p{number}", doc.id, number, heading, text, 0, len(text), None, None)


def chunk_of(of: ParentRecord, number: int, text: str, language: str = "en") -> ChunkRecord:
    identity = f"{of.id}-c{number}"
    return ChunkRecord(
        identity, of.document_id, of.id, number, of.heading, text, "", 0, len(text), None, None, 20, language
    )


def passages(texts: Iterable[tuple[str, str]]) -> tuple[list[Definition], list[ChunkRecord]]:
    """Titled one-chunk documents, as a JSONL corpus gives them."""
    definitions: list[Definition] = []
    chunks: list[ChunkRecord] = []
    for title, text in texts:
        doc = document(title)
        home = parent(doc, 0, text)
        child = chunk_of(home, 0, text)
        definitions += definitions_of(doc, [home], [child])
        chunks.append(child)
    return definitions, chunks


def law(articles: Sequence[tuple[str, str]], language: str = "en") -> tuple[list[Definition], list[ChunkRecord]]:
    """One long document of one parent and one chunk an article."""
    doc = document("A law", record=False, language=language)
    parents = [parent(doc, n, text, heading) for n, (heading, text) in enumerate(articles)]
    chunks = [chunk_of(p, n, p.text, language) for n, p in enumerate(parents)]
    return definitions_of(doc, parents, chunks), chunks


def raw(
    chunk: ChunkRecord, *entities: tuple[str, str], relations: Sequence[tuple[str, str, str]] = (), kind: str = "name"
) -> RawExtraction:
    """Entities (name, label) found wherever the chunk has the name; relations (source, type, target)."""
    found = []
    for name, label in entities:
        spans = tuple((m.start(), m.end()) for m in re.finditer(rf"\b{re.escape(name)}\b", chunk.text))
        found.append(RawEntity(name, label, kind, spans, (0, len(chunk.text))))  # type: ignore[arg-type]
    related = [RawRelation(s, t, k, (0, len(chunk.text))) for s, k, t in relations]
    return RawExtraction(chunk.id, chunk.document_id, chunk.language, tuple(found), tuple(related))
