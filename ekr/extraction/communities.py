"""Communities of the relation graph by the Leiden algorithm, in up to three levels."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ekr.extraction.records import Relation, stable_id

if TYPE_CHECKING:
    import igraph

_LEVELS = 3
_BIG = 40
_ITERATIONS = 10


@dataclass(frozen=True, slots=True)
class Community:
    """Two entities or more that belong together. Level 0 is the coarsest; a child lies within its parent.

    `members` are sorted by weighted degree inside the community, best first, then by id. `weight` is the sum of
    the weights of the relations inside; `relations` their ids, heaviest first.
    """

    id: str
    level: int
    parent_id: str | None
    members: tuple[str, ...]
    relations: tuple[str, ...]
    weight: float


def find_communities(relations: Sequence[Relation], *, seed: int = 0) -> list[Community]:
    """Communities sorted by level and id; none without a relation. The order of `relations` does not matter.

    Leiden (Traag, Waltman & van Eck 2019) on modularity as igraph implements it, over sorted nodes and edges with
    igraph's generator seeded. A community of more than 40 members is split again, at most twice.
    """
    if not relations:
        return []
    import igraph

    edges: dict[tuple[str, str], float] = defaultdict(float)
    for relation in sorted(relations, key=lambda r: r.id):
        pair = sorted((relation.source_id, relation.target_id))
        edges[(pair[0], pair[1])] += relation.weight
    names = sorted({name for pair in edges for name in pair})
    position = {name: index for index, name in enumerate(names)}
    ordered = sorted(edges)
    graph = igraph.Graph(len(names), [(position[a], position[b]) for a, b in ordered])
    graph.vs["name"] = names
    graph.es["weight"] = [edges[pair] for pair in ordered]
    igraph.set_random_number_generator(random.Random(seed))
    try:
        groups = _split(graph, 0, None)
    finally:
        igraph.set_random_number_generator(random)
    return sorted(_with_relations(groups, relations), key=lambda c: (c.level, c.id))


def _split(graph: igraph.Graph, level: int, parent_id: str | None) -> list[tuple[str, int, str | None, list[str]]]:
    clustering = graph.community_leiden("modularity", weights="weight", n_iterations=_ITERATIONS)
    if level > 0 and len(clustering) == 1:
        return []
    found: list[tuple[str, int, str | None, list[str]]] = []
    for indices in clustering:
        if len(indices) < 2:
            continue
        members = sorted(graph.vs[index]["name"] for index in indices)
        community_id = stable_id("community", str(level), *members)
        found.append((community_id, level, parent_id, members))
        if len(members) > _BIG and level + 1 < _LEVELS:
            found += _split(graph.induced_subgraph(sorted(indices)), level + 1, community_id)
    return found


def _with_relations(
    groups: Sequence[tuple[str, int, str | None, list[str]]], relations: Sequence[Relation]
) -> list[Community]:
    of_member: dict[tuple[int, str], str] = {
        (level, member): community_id for community_id, level, _, members in groups for member in members
    }
    inside: dict[str, list[Relation]] = defaultdict(list)
    for relation in relations:
        for level in range(_LEVELS):
            home = of_member.get((level, relation.source_id))
            if home is not None and home == of_member.get((level, relation.target_id)):
                inside[home].append(relation)
    found = []
    for community_id, level, parent_id, members in groups:
        own = sorted(inside[community_id], key=lambda r: (-r.weight, r.id))
        degree: dict[str, float] = defaultdict(float)
        for relation in own:
            degree[relation.source_id] += relation.weight
            degree[relation.target_id] += relation.weight
        ranked = tuple(sorted(members, key=lambda m: (-degree[m], m)))
        weight = sum(relation.weight for relation in own)
        found.append(Community(community_id, level, parent_id, ranked, tuple(r.id for r in own), weight))
    return found
