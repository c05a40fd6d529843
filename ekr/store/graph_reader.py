"""Reading the graph of one generation: entities, relations, links, communities, and the whole as arrays."""

# ruff: noqa: S608 - the statements are put together from our own names; every value is bound

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import numpy as np

from ekr.store import schema
from ekr.store.graph_records import (
    CommunityRecord,
    EntityEdges,
    EntityRecord,
    EvidenceKind,
    LinkRow,
    PassageEdges,
    RelationRecord,
)

if TYPE_CHECKING:
    from ekr.extraction.records import SearchName

T = TypeVar("T")
Query = Callable[[duckdb.DuckDBPyConnection], T]

_ENTITY = "id, key, name, labels, description, aliases, mentions, chunks, relations, defined, pagerank"
_RELATION = "r.id, r.source_id, r.target_id, s.name, t.name, r.type, r.description, r.weight"
_COMMUNITY = "id, level, parent_id, title, summary, text, size, weight, report_by"
_AMONG = "IN (SELECT unnest($1::VARCHAR[]))"
# Entities, relations and communities with the documents that support them, as (id, document_id).
_EVIDENCE = {
    "entity": "SELECT e.entity_id AS id, c.document_id FROM entity_chunks e JOIN chunks c ON c.id = e.chunk_id",
    "relation": "SELECT e.relation_id AS id, c.document_id FROM relation_evidence e JOIN chunks c ON c.id = e.chunk_id",
    "community": (
        "SELECT m.community_id AS id, c.document_id FROM community_members m "
        "JOIN entity_chunks e ON e.entity_id = m.entity_id JOIN chunks c ON c.id = e.chunk_id"
    ),
}


class GraphReader:
    """The graph of a snapshot. Any number of threads may share it; an unknown id is absent from every answer.

    A generation made before there was a graph answers as one without entities. Raises StoreError when rows cannot
    be read.
    """

    def __init__(self, read: Callable[[Query[Any]], Any]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._present: bool | None = None
        self._edges: EntityEdges | None = None
        self._passage_edges: PassageEdges | None = None

    # Records

    def entities(self, ids: Collection[str]) -> dict[str, EntityRecord]:
        """Entities by id."""
        rows = self._rows(f"SELECT {_ENTITY} FROM entities WHERE id {_AMONG}", ids)
        return {row[0]: _entity(row) for row in rows}

    def top_entities(self, limit: int) -> list[EntityRecord]:
        """The entities of highest PageRank, best first, ties by id."""
        rows = self._all(f"SELECT {_ENTITY} FROM entities ORDER BY pagerank DESC, id LIMIT $1", limit)
        return [_entity(row) for row in rows]

    def relations(self, ids: Collection[str]) -> dict[str, RelationRecord]:
        """Relations by id."""
        return {relation.id: relation for relation in self._relations(f"r.id {_AMONG}", ids)}

    def relations_of(self, entity_ids: Collection[str], types: Collection[str] | None = None) -> list[RelationRecord]:
        """Relations that touch any of the entities, heaviest first, ties by id; with `types` only of those."""
        found = self._relations(f"r.source_id {_AMONG} OR r.target_id {_AMONG}", entity_ids)
        if types is not None:
            wanted = {name.casefold() for name in types}
            found = [relation for relation in found if relation.type.casefold() in wanted]
        return sorted(found, key=lambda relation: (-relation.weight, relation.id))

    def communities(self, ids: Collection[str]) -> dict[str, CommunityRecord]:
        """Communities with their reports, by id."""
        rows = self._rows(f"SELECT {_COMMUNITY} FROM communities WHERE id {_AMONG}", ids)
        return {row[0]: CommunityRecord(*row) for row in rows}

    def largest_communities(self, limit: int, level: int = 0) -> list[CommunityRecord]:
        """The communities of a level with most members, largest first, then heaviest, ties by id."""
        order = "WHERE level = $2 ORDER BY size DESC, weight DESC, id LIMIT $1"
        return [
            CommunityRecord(*row) for row in self._all(f"SELECT {_COMMUNITY} FROM communities {order}", limit, level)
        ]

    def members(self, community_id: str) -> list[str]:
        """Ids of the members, best connected first."""
        query = "SELECT entity_id FROM community_members WHERE community_id = $1 ORDER BY rank"
        return [row[0] for row in self._all(query, community_id)]

    def communities_of(self, entity_ids: Collection[str]) -> list[tuple[str, int]]:
        """(community id, members among the entities), most first; then the smaller community, then the id."""
        return self._rows(
            "SELECT c.id, count(*) AS overlap FROM community_members m JOIN communities c ON c.id = m.community_id "
            f"WHERE m.entity_id {_AMONG} GROUP BY c.id, c.size ORDER BY overlap DESC, c.size, c.id",
            entity_ids,
        )

    def labels(self) -> dict[str, int]:
        """Entities per label, most first; an entity counts for each of its labels."""
        query = "SELECT label, count(*) FROM (SELECT unnest(labels) AS label FROM entities) GROUP BY label"
        return dict(self._all(f"{query} ORDER BY 2 DESC, 1"))

    def relation_types(self) -> dict[str, int]:
        """Relations per type, most first."""
        return dict(self._all("SELECT type, count(*) FROM relations GROUP BY type ORDER BY 2 DESC, 1"))

    # Names and passages

    def names(self, keys: Sequence[str]) -> list[SearchName]:
        """The searchable names with these keys: what `keywords` and `names_in_question` look up."""
        from ekr.extraction.records import SearchName

        rows = self._rows(
            f"SELECT key, text, entity_id, term, defined, unit FROM entity_names WHERE key {_AMONG} "
            "ORDER BY key, term, entity_id, text",
            keys,
        )
        return [
            SearchName(key, text, entity_id, term=term, defined=defined, unit=unit)
            for key, text, entity_id, term, defined, unit in rows
        ]

    def chunks_of_entities(self, entity_ids: Collection[str]) -> dict[str, list[str]]:
        """Entity id → chunks that define it, in reading order, then chunks that mention it, most often first."""
        rows = self._rows(
            f"SELECT entity_id, chunk_id FROM entity_chunks WHERE entity_id {_AMONG} "
            "ORDER BY defines DESC, CASE WHEN defines THEN position END, mentions DESC, position",
            entity_ids,
        )
        return _grouped(rows)

    def defining_chunks(self, entity_ids: Collection[str]) -> dict[str, list[str]]:
        """Entity id → chunks that define it, in reading order; a defining parent gives all its chunks."""
        rows = self._rows(
            f"SELECT entity_id, chunk_id FROM entity_chunks WHERE defines AND entity_id {_AMONG} ORDER BY position",
            entity_ids,
        )
        return _grouped(rows)

    def entities_of_chunks(self, chunk_ids: Collection[str]) -> dict[str, list[str]]:
        """Chunk id → entities that it defines or mentions: the defined first, then most often mentioned, then id."""
        rows = self._rows(
            f"SELECT chunk_id, entity_id FROM entity_chunks WHERE chunk_id {_AMONG} "
            "ORDER BY defines DESC, mentions DESC, entity_id",
            chunk_ids,
        )
        return _grouped(rows)

    def chunks_of_relations(self, relation_ids: Collection[str]) -> dict[str, list[str]]:
        """Relation id → chunks that state it, in the order of document id and place."""
        rows = self._rows(
            "SELECT e.relation_id, e.chunk_id FROM relation_evidence e JOIN chunks c ON c.id = e.chunk_id "
            f"WHERE e.relation_id {_AMONG} GROUP BY ALL ORDER BY min(c.document_id), min(c.ordinal)",
            relation_ids,
        )
        return _grouped(rows)

    def links_from(self, chunk_ids: Collection[str]) -> list[LinkRow]:
        """Definition links that leave these chunks, by source, type and target.

        MENTIONS of a defined entity leads to the chunks that define it, REFERS_TO to the passage referred to.
        """
        links = self._rows(
            "SELECT source_id, type, target_kind, target_id, in_degree FROM links "
            f"WHERE type IN ('MENTIONS', 'REFERS_TO') AND source_kind = 'chunk' AND source_id {_AMONG} "
            "ORDER BY source_id, type, target_id",
            chunk_ids,
        )
        targets: dict[str, dict[str, list[str]]] = {
            "entity": self.defining_chunks({link[3] for link in links if link[2] == "entity"}),
            "parent": self._chunks_of_parents({link[3] for link in links if link[2] == "parent"}),
        }
        found = []
        for source, kind, target_kind, target, in_degree in links:
            passages = [target] if target_kind == "chunk" else targets[target_kind].get(target, [])
            others = tuple(passage for passage in passages if passage != source)
            if others:
                via = target if target_kind == "entity" else None
                found.append(LinkRow(source, others, kind, via, in_degree, own=source in passages))
        return found

    # Documents

    def evidence_documents(self, kind: EvidenceKind, ids: Collection[str]) -> dict[str, set[str]]:
        """Id → documents that support it. A community is supported by what supports a member."""
        rows = self._rows(f"SELECT DISTINCT * FROM ({_EVIDENCE[kind]}) WHERE id {_AMONG}", ids)
        return {key: set(documents) for key, documents in _grouped(rows).items()}

    def supported_by(self, kind: EvidenceKind, document_ids: Collection[str]) -> set[str]:
        """Ids of all entities, relations or communities that have evidence in one of the documents."""
        rows = self._rows(f"SELECT DISTINCT id FROM ({_EVIDENCE[kind]}) WHERE document_id {_AMONG}", document_ids)
        return {row[0] for row in rows}

    # The whole graph

    def edges(self) -> EntityEdges:
        """Every relation as arrays; read once for a snapshot."""
        with self._lock:
            if self._edges is None:
                entity_ids = self._ids("entities")
                arrays = self._arrays(
                    "WITH numbered AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM entities) "
                    "SELECT s.place AS source, t.place AS target, r.weight AS weight FROM relations r "
                    "JOIN numbered s ON s.id = r.source_id JOIN numbered t ON t.id = r.target_id ORDER BY r.id",
                    ("source", "target", "weight"),
                )
                self._edges = EntityEdges(entity_ids, *arrays)
            return self._edges

    def passage_edges(self) -> PassageEdges:
        """Every pair of a passage and an entity that it mentions or defines, as arrays; read once for a snapshot."""
        with self._lock:
            if self._passage_edges is None:
                entity_ids, chunk_ids = self._ids("entities"), self._ids("chunks")
                chunk, entity, held = self._arrays(
                    "WITH passages AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM chunks), "
                    "numbered AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM entities) "
                    "SELECT p.place AS chunk, n.place AS entity, count(*) OVER (PARTITION BY e.entity_id) AS held "
                    "FROM entity_chunks e JOIN passages p ON p.id = e.chunk_id JOIN numbered n ON n.id = e.entity_id "
                    "ORDER BY n.place, p.place",
                    ("chunk", "entity", "held"),
                )
                weight = np.log1p(len(chunk_ids) / np.maximum(held, 1))
                self._passage_edges = PassageEdges(chunk_ids, entity_ids, chunk, entity, weight)
            return self._passage_edges

    def _relations(self, condition: str, ids: Collection[str]) -> list[RelationRecord]:
        rows = self._rows(
            f"SELECT {_RELATION} FROM relations r JOIN entities s ON s.id = r.source_id "
            f"JOIN entities t ON t.id = r.target_id WHERE {condition}",
            ids,
        )
        return [RelationRecord(*row) for row in rows]

    def _chunks_of_parents(self, parent_ids: Collection[str]) -> dict[str, list[str]]:
        query = f"SELECT parent_id, id FROM chunks WHERE parent_id {_AMONG} ORDER BY ordinal"
        return _grouped(self._rows(query, parent_ids))

    def _ids(self, table: str) -> list[str]:
        return [row[0] for row in self._all(f"SELECT id FROM {table} ORDER BY id")]

    def _arrays(self, query: str, columns: Sequence[str]) -> Any:
        if not self._is_there():
            return tuple(np.zeros(0, dtype=np.float64 if name == "weight" else np.int64) for name in columns)
        found = self._read(lambda cursor: cursor.execute(query).fetchnumpy())
        return tuple(np.asarray(found[name]) for name in columns)

    def _rows(self, query: str, ids: Collection[str]) -> list[tuple[Any, ...]]:
        return self._all(query, list(ids)) if ids else []

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        if not self._is_there():
            return []
        return self._read(lambda cursor: cursor.execute(query, list(values)).fetchall())  # type: ignore[no-any-return]

    def _is_there(self) -> bool:
        if self._present is None:
            tables = self._read(schema.tables_of)
            # Either table alone is damage: the query that misses the other one says so.
            self._present = bool({"entities", "entity_chunks"} & set(tables))
        return self._present


def _entity(row: tuple[Any, ...]) -> EntityRecord:
    identity, key, name, labels, description, aliases, *rest = row
    return EntityRecord(identity, key, name, tuple(labels), description, tuple(aliases), *rest)


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for key, value in rows:
        found[key].append(value)
    return dict(found)
