"""Documents made up for the tests of the store, and what every test needs of one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from ekr.models.base import EmbedderInfo, Vectors
from ekr.store import Manifest, Store, Writer
from ekr.store.records import ChunkRecord, DocumentRecord, ParentRecord, PreparedDocument

DIMENSION = 8
EMBEDDER = EmbedderInfo("tiny", "0" * 64, DIMENSION, "query: ", "passage: ", "mean")
MANIFEST = Manifest(EMBEDDER, chunking={"child_max_tokens": 220}, extractor="nlp")


def identity(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def document(
    key: str,
    *texts: str,
    language: str = "en",
    heading: str | None = None,
    metadata: dict[str, str | int | float | bool] | None = None,
    record_id: str | None = None,
) -> PreparedDocument:
    """A document of one page a chunk, one parent over all."""
    document_id = identity("document", key)
    parent = ParentRecord(
        identity(document_id, "parent"), document_id, 0, heading, "".join(texts), 0, len("".join(texts)), 1, len(texts)
    )
    chunks, start = [], 0
    for number, text in enumerate(texts):
        end = start + len(text)
        chunks.append(
            ChunkRecord(
                identity(document_id, "chunk", start, end, text),
                document_id,
                parent.id,
                number,
                heading,
                text,
                "",
                start,
                end,
                number + 1,
                number + 1,
                len(text.split()),
                language,
            )
        )
        start = end
    record = DocumentRecord(
        document_id,
        key,
        Path(key).name,
        key.partition("#")[0],
        record_id,
        Path(key).stem,
        "text",
        language,
        identity(texts),
        len(texts),
        start,
        metadata or {},
    )
    return PreparedDocument(record, texts, (parent,), tuple(chunks))


def vectors_of(prepared: PreparedDocument) -> Vectors:
    """A vector a chunk, the same for the same chunk in every process."""
    rows = [np.random.default_rng(int(chunk.id, 16)).normal(size=DIMENSION) for chunk in prepared.chunks]
    matrix = np.array(rows, dtype=np.float32).reshape(-1, DIMENSION)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def put(writer: Writer, *documents: PreparedDocument) -> None:
    for prepared in documents:
        writer.put(prepared, vectors_of(prepared))


def ingest(store: Store, *documents: PreparedDocument) -> int:
    with store.writer(MANIFEST) as writer:
        put(writer, *documents)
        return writer.publish()


def numbered(number: int, chunks: int = 3, language: str = "en") -> PreparedDocument:
    texts = [
        f"Report {number}, part {part}: the engine of type {number * 7 + part} was tested. " for part in range(chunks)
    ]
    return document(f"/corpus/report-{number}.txt", *texts, language=language)


SIX = [numbered(number) for number in range(6)]


def missing(hashes: dict[str, tuple[str, str]]) -> list[PreparedDocument]:
    """Those of the six that a store does not hold yet."""
    return [prepared for prepared in SIX if prepared.record.key not in hashes]


def contents(store: Store) -> dict[str, object]:
    """Everything that a reader can see, to compare two stores."""
    with store.snapshot() as snapshot:
        return {
            "documents": snapshot.documents(),
            "chunks": list(snapshot.iter_chunks()),
            "bm25": [snapshot.search_bm25(f"engine of type {number}", 10) for number in range(0, 40, 2)],
            "vectors": [
                snapshot.search_vectors("chunks", vector, 10)
                for vector in np.random.default_rng(1).normal(size=(20, DIMENSION)).astype(np.float32)
            ],
        }
