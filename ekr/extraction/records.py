"""What extraction finds in each chunk, and the graph that resolution makes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LABELS = (
    "Person",
    "Organization",
    "Place",
    "Work",
    "Event",
    "Date",
    "Law",
    "Product",
    "Concept",
    "Other",
)
RELATED_TO = "RELATED_TO"

# "name": a proper name; "term": a defined term; "phrase": a key noun phrase; "title", "heading" and "number":
# what a passage defines by its place in the document ("Article 6" is a number).
Kind = Literal["name", "term", "phrase", "title", "heading", "number"]
Span = tuple[int, int]
LinkType = Literal["DEFINES", "MENTIONS", "REFERS_TO"]


def stable_id(*parts: str) -> str:
    """24 hex digits of the SHA-256 of the parts: equal content gives equal ids in every run."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class RawEntity:
    """An entity as one chunk names it. Spans are offsets in the chunk's text.

    `sentence` is the span of the sentence that says most about it, `telling` how much that is: 3 a definition,
    2 "X is a …", 1 X is the subject, 0 only mentioned. `description` is a generator's own text, else empty.
    `aliases` are other names the same sentence gives it: an acronym in parentheses, a name "also called".
    """

    name: str
    label: str
    kind: Kind
    spans: tuple[Span, ...]
    sentence: Span
    telling: int = 0
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawRelation:
    """A relation between two names of one chunk; `span` is the sentence that states it."""

    source: str
    target: str
    type: str
    span: Span
    description: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RawExtraction:
    """All that was found in one chunk; what a store keeps, so that resolution can run again without a model."""

    chunk_id: str
    document_id: str
    language: str
    entities: tuple[RawEntity, ...] = ()
    relations: tuple[RawRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that a passage defines by title, heading, legal number or as a defined term.

    `parent_id` is the defining parent; `chunk_id` the defining child where that is known, else None (every child
    of the parent then). `names` is the name and its aliases. `scoped`: the name means this only inside its own
    document ("Article 6").
    """

    names: tuple[str, ...]
    label: str
    kind: Kind
    document_id: str
    parent_id: str
    chunk_id: str | None
    scoped: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a text says so: offsets in the chunk's text."""

    chunk_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of an entity; offsets in the chunk's text."""

    entity_id: str
    chunk_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the graph. `id` is the hash of `key`, the canonical name; labels most frequent first.

    `mentions` and `chunks` count occurrences and chunks that hold one, `relations` the relations that it is part
    of; `defined` says whether a passage defines it.
    """

    id: str
    key: str
    name: str
    labels: tuple[str, ...]
    description: str
    aliases: tuple[str, ...]
    mentions: int
    chunks: int
    relations: int
    defined: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed edge; one for each (source, type, target), its weight summed over the evidence."""

    id: str
    source_id: str
    target_id: str
    type: str
    description: str
    weight: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A structural link. DEFINES: parent or chunk → entity; MENTIONS: chunk → entity; REFERS_TO: chunk → passage.

    `source_kind` and `target_kind` are "chunk", "parent" or "entity"; `count` is the number of occurrences.
    """

    type: LinkType
    source_kind: str
    source_id: str
    target_kind: str
    target_id: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class SearchName:
    """A name by which texts and questions may mean an entity. `key` is what a store indexes.

    `term`: a common-noun term, found in any case and number; else a proper name. `defined`: a passage defines it.
    `unit`: a numbered unit ("article 6"), found as a reference in any language and not by its words.
    """

    key: str
    text: str
    entity_id: str
    term: bool
    defined: bool
    unit: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """The resolved graph, each list in a fixed order. `names` are what a question is searched for.

    `mentions` may be made each time they are read: they are many.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    mentions: Sequence[Mention]
    links: tuple[Link, ...]
    names: tuple[SearchName, ...]
