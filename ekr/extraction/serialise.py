"""Raw records as compact JSON, the form in which a store keeps them for each document."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ekr.extraction.records import Definition, RawEntity, RawExtraction, RawRelation


def dump_extraction(raw: RawExtraction) -> str:
    """One chunk's extraction as JSON; `load_extraction` gives an equal record back."""
    entities = [
        [e.name, e.label, e.kind, e.spans, e.sentence, e.telling, e.description, e.aliases] for e in raw.entities
    ]
    relations = [[r.source, r.target, r.type, r.span, r.description, r.weight] for r in raw.relations]
    value = [raw.chunk_id, raw.document_id, raw.language, entities, relations]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load_extraction(text: str) -> RawExtraction:
    """The inverse of `dump_extraction`."""
    chunk_id, document_id, language, entities, relations = json.loads(text)
    return RawExtraction(
        chunk_id,
        document_id,
        language,
        tuple(_entity(*values) for values in entities),
        tuple(RawRelation(s, t, kind, (a, b), said, weight) for s, t, kind, (a, b), said, weight in relations),
    )


def dump_definitions(definitions: Iterable[Definition]) -> str:
    """One document's definitions as JSON."""
    values = [
        [d.names, d.label, d.kind, d.document_id, d.parent_id, d.chunk_id, d.scoped, d.description] for d in definitions
    ]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def load_definitions(text: str) -> list[Definition]:
    """The inverse of `dump_definitions`."""
    return [Definition(tuple(names), *rest) for names, *rest in json.loads(text)]


def _entity(
    name: str, label: str, kind: Any, spans: Any, sentence: Any, telling: int, description: str, aliases: Any
) -> RawEntity:
    places = tuple((start, end) for start, end in spans)
    return RawEntity(name, label, kind, places, (sentence[0], sentence[1]), telling, description, tuple(aliases))
