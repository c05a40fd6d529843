"""Entities whose name is in the question, then those whose name and description are near its meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.graph_search import EXACT, Scored, entities_by_name, merged, permitted_entities, similar
from ekr.retrieval.hits import RankedList

if TYPE_CHECKING:
    from ekr.retrieval.search import Search
    from ekr.store.graph_records import EntityRecord

# Hits by meaning that are weighed against each other before the cut.
_CONSIDERED = 100
# Shares of a score in which closeness (0 to 1 over the hits) counts 1.
_PROMINENCE = 0.5
_EXPECTED = 0.3
# What a word of asking asks for, in English and French.
_EXPECTED_LABELS = {
    "Person": re.compile(r"\b(who|whom|whose|qui)\b", re.IGNORECASE),
    "Place": re.compile(r"\b(where|où)\b", re.IGNORECASE),
    "Date": re.compile(r"\b(when|quand)\b", re.IGNORECASE),
}


def find(search: Search) -> list[RankedList]:
    """One list of entities: exact and alias matches (score 1) in the order of the question, then by meaning.

    Among the nearest in meaning, one that many passages mention and one of the kind that is asked for (a person
    for "who") rank higher. A heading that no passage mentions is found by its name only.
    """
    near, records = _near(search)
    named = entities_by_name(search, [name.entity_ids for name in search.names()], labelled=True)
    aliased = _aliased(search, list(records.values()))
    ranked = merged(merged(named, aliased, len(named) + len(aliased)), near, search.top_k)
    if search.filters.labels and not ranked:
        search.trace.note(f"no entity with the label {' or '.join(search.filters.labels)}")
    return [RankedList.of("entity", "entity", ranked)]


def _near(search: Search) -> tuple[Scored, dict[str, EntityRecord]]:
    records: dict[str, EntityRecord] = {}

    def keep(ids: list[str]) -> set[str]:
        records.update(search.entities.of(ids))
        return permitted_entities(search, [records[id_] for id_ in ids if id_ in records and records[id_].mentions])

    hits = similar(search, "entities", search.query_vector(), search.top_k, keep, _CONSIDERED)
    return _weighed(search.question, hits, records)[: search.top_k], {id_: records[id_] for id_, _ in hits}


def _weighed(question: str, hits: Scored, records: dict[str, EntityRecord]) -> Scored:
    if not hits:
        return []
    highest, lowest = hits[0][1], hits[-1][1]
    most = max(math.log1p(records[id_].chunks) for id_, _ in hits)
    expected = {label for label, words in _EXPECTED_LABELS.items() if words.search(question)}

    def score(id_: str, similarity: float) -> float:
        closeness = (similarity - lowest) / (highest - lowest) if highest > lowest else 1.0
        prominence = math.log1p(records[id_].chunks) / most if most else 0.0
        kind = bool(expected & set(records[id_].labels[:1]))
        return (closeness + _PROMINENCE * prominence + _EXPECTED * kind) / (1 + _PROMINENCE + _EXPECTED)

    scored = [(id_, round(score(id_, similarity), 6)) for id_, similarity in hits]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def _aliased(search: Search, near: Sequence[EntityRecord]) -> Scored:
    """Those of the entities near in meaning of which a name or an alias stands in the question."""
    from ekr.extraction.names import key_of
    from ekr.extraction.question_names import question_keys
    from ekr.extraction.vocabulary import FUNCTION_WORDS

    keys = set(question_keys(search.question)) - FUNCTION_WORDS
    found = [entity for entity in near if any(key_of(name) in keys for name in (entity.name, *entity.aliases))]
    return [(entity.id, EXACT) for entity in sorted(found, key=lambda e: (-e.pagerank, e.id))]
