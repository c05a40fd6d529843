"""The passages behind the rows of a graph query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ekr.retrieval.search import Search
    from ekr.retrieval.text2cypher import Computed

MOST_PER_ROW = 3
_LONGEST_NAME = 200
_MEMBERS = 3


def passages_of_rows(search: Search, computed: Computed) -> list[list[str]]:
    """For each row the chunks behind its nodes and relationships and behind the entities that it names.

    A chunk is its own evidence, an entity has those that define or mention it, a relationship those that state it,
    a community those of its best members; a document has none.
    """
    held = [_in_row(row) for row in computed.result.rows]
    named = _by_name(search, [name for row in held for name in row.names])
    entities = {id_ for row in held for id_ in row.nodes} | {id_ for ids in named.values() for id_ in ids}
    of_entities = search.entity_chunks.of(entities)
    of_relations = search.relation_chunks.of(id_ for row in held for id_ in row.relations)
    chunks = search.snapshot.chunks({id_ for row in held for id_ in row.nodes})
    found = []
    for row in held:
        lists = [of_relations.get(id_, []) for id_ in row.relations]
        for id_ in [*row.nodes, *(id_ for name in row.names for id_ in named.get(name, ()))]:
            lists.append([id_] if id_ in chunks else of_entities.get(id_, []))
        lists += [_of_community(search, id_) for id_ in row.communities]
        found.append(_in_turn(lists)[:MOST_PER_ROW])
    return found


class _Row:
    """The ids and names in one row, in order."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.communities: list[str] = []
        self.relations: list[str] = []
        self.names: list[str] = []


def _in_row(row: Iterable[Any]) -> _Row:
    found = _Row()
    for value in row:
        _collect(value, found)
    return found


def _collect(value: Any, found: _Row) -> None:
    from ekr.cypher import Node, Path, Relationship

    if isinstance(value, Node):
        (found.communities if "Community" in value.labels else found.nodes).append(str(value.id))
    elif isinstance(value, Relationship):
        found.relations.append(str(value.id))
    elif isinstance(value, Path):
        for part in (*value.relationships, *value.nodes):
            _collect(part, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, found)
    elif isinstance(value, Mapping):
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME:
        found.names.append(value)


def _by_name(search: Search, names: Iterable[str]) -> dict[str, list[str]]:
    """The entities with exactly these names, best linked first."""
    from ekr.extraction.names import key_of

    keys = {name: key_of(name) for name in dict.fromkeys(names)}
    ids: dict[str, list[str]] = {}
    for known in search.lookup(sorted({key for key in keys.values() if key})):
        ids.setdefault(known.key, []).append(known.entity_id)
    records = search.entities.of(id_ for found in ids.values() for id_ in found)
    named: dict[str, list[str]] = {}
    for name, key in keys.items():
        same = [records[id_] for id_ in ids.get(key, ()) if id_ in records and records[id_].name == name]
        named[name] = [record.id for record in sorted(same, key=lambda e: (-e.pagerank, e.id))]
    return named


def _of_community(search: Search, community_id: str) -> list[str]:
    members = search.graph.members(community_id)[:_MEMBERS]
    held = search.entity_chunks.of(members)
    return [held[member][0] for member in members if held.get(member)]


def _in_turn(lists: Iterable[list[str]]) -> list[str]:
    """The first of each list, then the second of each, without repetition."""
    columns = [list(items) for items in lists]
    longest = max((len(items) for items in columns), default=0)
    return list(dict.fromkeys(items[i] for i in range(longest) for items in columns if i < len(items)))
