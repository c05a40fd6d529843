"""One entity as a person looks it up: by name, with its relations and the pages that it stands on."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.results import Evidence
    from ekr.store import Snapshot
    from ekr.store.graph_records import EntityRecord, RelationRecord


@dataclass(frozen=True)
class EntityView:
    """An entity, its relations (heaviest first) and its first passages, those that define it before the others.

    `passages` counts all of them. It is more than `entity.chunks` where a passage defines it without its name, as
    the second one of a long definition.
    """

    entity: EntityRecord
    relations: tuple[RelationRecord, ...]
    evidence: tuple[Evidence, ...]
    passages: int


def find_entities(snapshot: Snapshot, name: str) -> list[EntityRecord]:
    """The entities with that name, alias or id, best linked first. Raises UsageError naming the nearest."""
    from ekr.extraction.names import key_of

    everything = list(snapshot.graph.entities(snapshot.graph.edges().entity_ids).values())
    key = key_of(name)
    found = [e for e in everything if e.id == name or (key and key in {e.key, *map(key_of, (e.name, *e.aliases))})]
    if found:
        return sorted(found, key=lambda e: (-e.pagerank, e.id))
    if not everything:
        raise UsageError("the store holds no entity; run: ekr ingest PATH")
    near = _nearest(key, everything)
    hint = f"did you mean '{near.name}'?" if near else "`ekr graph` lists the best linked"
    raise UsageError(f"no entity '{name}' in the graph; {hint}")


def _nearest(key: str, everything: Sequence[EntityRecord]) -> EntityRecord | None:
    """The best linked entity with all these words among those of a name of it; else the one spelt most alike."""
    from ekr.extraction.names import key_of

    words = set(key.split())
    holding = [e for e in everything if words and any(words <= set(key_of(n).split()) for n in (e.name, *e.aliases))]
    if holding:
        return min(holding, key=lambda e: (-e.pagerank, e.id))
    near = difflib.get_close_matches(key, [e.key for e in everything], n=1, cutoff=0.5)
    return next((e for e in everything if near and e.key == near[0]), None)


def view(snapshot: Snapshot, entity: EntityRecord, evidence: int) -> EntityView:
    """The entity with its relations and its first so many passages."""
    from ekr.retrieval.hydrate import places

    chunks = snapshot.graph.chunks_of_entities([entity.id]).get(entity.id, [])
    return EntityView(
        entity,
        tuple(snapshot.graph.relations_of([entity.id])),
        places(snapshot, {entity.id: chunks[:evidence]})[entity.id],
        len(chunks),
    )
