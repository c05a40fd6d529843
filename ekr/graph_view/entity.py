"""One entity as a person looks it up: by name, with its relations and the pages that it stands on."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ekr.errors import UsageError

if TYPE_CHECKING:
    from ekr.results import Evidence
    from ekr.store import Snapshot
    from ekr.store.graph_records import EntityRecord, RelationRecord


@dataclass(frozen=True)
class EntityView:
    """An entity, its relations (heaviest first) and its passages, those that define it first."""

    entity: EntityRecord
    relations: tuple[RelationRecord, ...]
    evidence: tuple[Evidence, ...]


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
    near = difflib.get_close_matches(key, [e.key for e in everything], n=1, cutoff=0.5)
    hint = next((f"; did you mean '{e.name}'?" for e in everything if near and e.key == near[0]), "")
    raise UsageError(f"no entity '{name}' in the graph{hint or '; `ekr graph` lists the best linked'}")


def view(snapshot: Snapshot, entity: EntityRecord, evidence: int) -> EntityView:
    """The entity with its relations and its first so many passages."""
    from ekr.retrieval.hydrate import places

    chunks = snapshot.graph.chunks_of_entities([entity.id]).get(entity.id, [])[:evidence]
    return EntityView(
        entity,
        tuple(snapshot.graph.relations_of([entity.id])),
        places(snapshot, {entity.id: chunks})[entity.id],
    )
