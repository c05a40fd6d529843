"""The rows of a store, as the rest of ekr sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ekr.reading.document import MetadataValue


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One document. `key` (absolute path in NFC, for a JSONL record + `#id`) is its identity; `id` its hash.

    `display` is what a person sees (relative to the ingest argument; `FILE#id` for a record).
    """

    id: str
    key: str
    display: str
    path: str
    record_id: str | None
    title: str
    format: str
    language: str
    content_hash: str
    pages: int | None
    characters: int
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParentRecord:
    """A parent chunk: an article or section, what a reader sees."""

    id: str
    document_id: str
    ordinal: int
    heading: str | None
    text: str
    start: int
    end: int
    page_start: int | None
    page_end: int | None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A child chunk: what is embedded, indexed, ranked and cited.

    `text` is the passage's own words, `document text[start:end]`; `context` is a repeated table header or
    empty; `heading` is the breadcrumb joined by ` > `, or None. `ordinal` counts within the document.
    """

    id: str
    document_id: str
    parent_id: str
    ordinal: int
    heading: str | None
    text: str
    context: str
    start: int
    end: int
    page_start: int | None
    page_end: int | None
    tokens: int
    language: str


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be written: its record, page texts, parents, children.

    `given` are those of the record's properties that did not come from the document itself.
    """

    record: DocumentRecord
    pages: tuple[str, ...]
    parents: tuple[ParentRecord, ...]
    chunks: tuple[ChunkRecord, ...]
    given: Mapping[str, MetadataValue] = field(default_factory=dict)
