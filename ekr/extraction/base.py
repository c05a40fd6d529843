"""What an extractor is: chunks in, raw entities and relations out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ekr.extraction.records import RawExtraction
from ekr.store.records import ChunkRecord


class Extractor(Protocol):
    """Finds entities and relations. `name` goes into the store's manifest: another one means another graph."""

    name: str

    def extract(self, chunks: Sequence[ChunkRecord], language: str) -> list[RawExtraction]:
        """One result a chunk, in the order given; `language` is ISO 639-1, or `und`.

        Raises ModelError when a model fails; a chunk in which nothing is found gives an empty result.
        """
        ...

    def notes(self) -> list[str]:
        """One-line remarks since the last call, for the person who ingests; the list is emptied."""
        ...


def empty_documents(results: Sequence[RawExtraction]) -> list[str]:
    """Ids of documents in none of whose chunks an entity was found, in order: each is worth a warning."""
    found: dict[str, bool] = {}
    for result in results:
        found[result.document_id] = found.get(result.document_id, False) or bool(result.entities)
    return [document_id for document_id, any_found in found.items() if not any_found]
