"""The graph, or its best linked part, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ekr.store import Snapshot

EVIDENCE = 3


@dataclass(frozen=True)
class Network:
    """Entities best linked first, the relations among them, and every community that holds one of them.

    A node's `community` is the id of the coarsest one it belongs to, or None.
    """

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    communities: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """The object that `ekr graph export --format json` prints."""
        return {"nodes": self.nodes, "edges": self.edges, "communities": self.communities}


def network(snapshot: Snapshot, limit: int | None = None) -> Network:
    """The network of the `limit` best linked entities, or of all."""
    from ekr.retrieval.hydrate import places

    graph = snapshot.graph
    entities = graph.top_entities(limit or max(1, snapshot.counts()["entities"]))
    ids = [entity.id for entity in entities]
    kept = set(ids)
    records = graph.communities([id_ for id_, _ in graph.communities_of(ids)])
    members = {id_: [m for m in graph.members(id_) if m in kept] for id_ in records}
    home = {member: id_ for id_, record in records.items() if record.level == 0 for member in members[id_]}
    evidence = places(snapshot, {id_: chunks[:EVIDENCE] for id_, chunks in graph.chunks_of_entities(ids).items()})
    nodes = [
        {
            "id": e.id, "name": e.name, "label": next(iter(e.labels), None), "labels": list(e.labels),
            "description": e.description, "aliases": list(e.aliases), "mentions": e.mentions, "chunks": e.chunks,
            "pagerank": e.pagerank, "community": home.get(e.id),
            "evidence": [
                {"document": p.document, "page_start": p.page_start, "page_end": p.page_end, "heading": p.heading}
                for p in evidence.get(e.id, ())
            ],
        }
        for e in entities
    ]  # fmt: skip
    edges = [
        {
            "id": r.id, "source": r.source_id, "target": r.target_id, "type": r.type,
            "description": r.description, "weight": r.weight,
        }
        for r in graph.relations_of(ids)
        if r.source_id in kept and r.target_id in kept
    ]  # fmt: skip
    communities = [
        {
            "id": c.id, "level": c.level, "parent_id": c.parent_id, "title": c.title, "summary": c.summary,
            "size": c.size, "members": members[c.id],
        }
        for c in sorted(records.values(), key=lambda c: (c.level, -c.size, c.id))
    ]  # fmt: skip
    return Network(nodes, edges, communities)
