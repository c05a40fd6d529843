"""Documents that wait in memory to be written together, checked before they are taken."""

from __future__ import annotations

import json

from ekr.errors import StoreError
from ekr.models.base import EmbedderInfo, Vectors
from ekr.store.records import PreparedDocument
from ekr.store.vectors import normalised

FLUSH_CHUNKS = 2000
FLUSH_CHARACTERS = 8_000_000

Pair = tuple[PreparedDocument, Vectors]


class Pending:
    """At most about `FLUSH_CHUNKS` chunks or `FLUSH_CHARACTERS` characters; a later put of an id wins."""

    def __init__(self, embedder: EmbedderInfo) -> None:
        self._embedder = embedder
        self._waiting: dict[str, Pair] = {}
        self._chunks = 0
        self._characters = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def full(self) -> bool:
        """Whether it is time to write."""
        return self._chunks >= FLUSH_CHUNKS or self._characters >= FLUSH_CHARACTERS

    def add(self, prepared: PreparedDocument, vectors: Vectors) -> None:
        """Take a document. Raises StoreError when vectors or text do not fit; nothing is taken then."""
        name = shown(prepared.record.display)
        if len(vectors) != len(prepared.chunks):
            raise StoreError(f"{name}: {len(vectors)} vectors for {len(prepared.chunks)} chunks")
        _require_utf8(prepared)
        _require_own(prepared)
        if prepared.chunks:
            vectors = normalised(vectors, self._embedder.dimension, self._embedder.name)
        self.discard(prepared.record.id)
        self._waiting[prepared.record.id] = (prepared, vectors)
        self._chunks += len(prepared.chunks)
        self._characters += prepared.record.characters

    def discard(self, document_id: str) -> None:
        """Forget a document that waits, if it does."""
        if (pair := self._waiting.pop(document_id, None)) is not None:
            self._chunks -= len(pair[0].chunks)
            self._characters -= pair[0].record.characters

    def drain(self) -> list[Pair]:
        """Hand over everything that waits."""
        pairs = list(self._waiting.values())
        self._waiting.clear()
        self._chunks = self._characters = 0
        return pairs


def shown(name: str) -> str:
    """A name that any stream can print."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _require_own(prepared: PreparedDocument) -> None:
    owner = prepared.record.id
    parents = {parent.id for parent in prepared.parents}
    ids = {chunk.id for chunk in prepared.chunks}
    owners = {part.document_id for part in prepared.parents} | {part.document_id for part in prepared.chunks}
    if owners - {owner} or len(ids) != len(prepared.chunks) or len(parents) != len(prepared.parents):
        raise StoreError(f"{shown(prepared.record.display)}: chunks repeat an id or belong to another document")
    if any(chunk.parent_id not in parents for chunk in prepared.chunks):
        raise StoreError(f"{shown(prepared.record.display)}: a chunk's parent is not among the parents")


def _require_utf8(prepared: PreparedDocument) -> None:
    record = prepared.record
    metadata = json.dumps([dict(record.metadata), record.warnings], ensure_ascii=False)
    names = (record.key, record.display, record.path, record.record_id or "", record.title, metadata)
    bodies = (text for chunk in prepared.chunks for text in (chunk.heading or "", chunk.text, chunk.context))
    articles = (text for parent in prepared.parents for text in (parent.heading or "", parent.text))
    try:
        for text in (*names, *prepared.pages, *articles, *bodies):
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StoreError(f"{shown(record.display)}: holds a lone surrogate, which no store can keep") from error
