"""Where the entities of a network stand on a page: the linked ones in a disc, the others on rings around it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import igraph

    from ekr.graph_view.network import Network

SIZE = 1000.0
_ITERATIONS = 300
_SPACING = SIZE / 60

Place = tuple[float, float]


def layout(network: Network) -> list[Place]:
    """A place for each node, in the order of the nodes; the same for the same network.

    The largest connected part is laid out by Fruchterman and Reingold's forces and then spread: a node's distance
    from the middle becomes its rank by distance, so that a core of hubs takes the area of its number of nodes.
    """
    if not network.nodes:
        return []
    import igraph

    index = {node["id"]: position for position, node in enumerate(network.nodes)}
    ends = [(index[edge["source"]], index[edge["target"]]) for edge in network.edges]
    graph = igraph.Graph(len(index), sorted({(min(a, b), max(a, b)) for a, b in ends if a != b}))
    largest, *others = sorted((sorted(part) for part in graph.connected_components()), key=lambda p: (-len(p), p))
    if len(largest) == 1:
        largest, others = [], [largest, *others]
    disc = _spread(_forces(graph.induced_subgraph(largest), _start(network, largest)))
    places = dict(zip(largest, disc, strict=True))
    rings = _rings(max((math.hypot(x, y) for x, y in disc), default=0.0) + 2 * _SPACING)
    for part in others:
        for node in part:
            places[node] = next(rings)
    return [(round(x, 1), round(y, 1)) for _, (x, y) in sorted(places.items())]


def _forces(graph: igraph.Graph, start: Sequence[Place]) -> list[Place]:
    import igraph

    if not start:
        return []
    igraph.set_random_number_generator(random.Random(0))
    try:
        found = graph.layout_fruchterman_reingold(
            niter=_ITERATIONS, seed=[list(place) for place in start], start_temp=SIZE / 20, grid="auto"
        )
    finally:
        igraph.set_random_number_generator(random)
    return [(x, y) for x, y in found]


def _start(network: Network, nodes: Sequence[int]) -> list[Place]:
    """The members of a community start near each other, so that communities come out as regions."""
    dice = random.Random(0)
    centres: dict[str | None, Place] = {}
    places = []
    for node in nodes:
        anywhere = (dice.uniform(0, SIZE), dice.uniform(0, SIZE))
        community = network.nodes[node]["community"]
        x, y = anywhere if community is None else centres.setdefault(community, anywhere)
        places.append((x + dice.uniform(-20, 20), y + dice.uniform(-20, 20)))
    return places


def _spread(places: Sequence[Place]) -> list[Place]:
    """The same directions from the middle, at distances that give every node the same area."""
    if not places:
        return []
    middle = [sorted(axis)[len(places) // 2] for axis in zip(*places, strict=True)]
    from_middle = [(x - middle[0], y - middle[1]) for x, y in places]
    by_distance = sorted(range(len(places)), key=lambda i: (math.hypot(*from_middle[i]), i))
    spread: list[Place] = [(0.0, 0.0)] * len(places)
    for rank, node in enumerate(by_distance):
        angle = math.atan2(from_middle[node][1], from_middle[node][0])
        radius = _SPACING * math.sqrt(rank)
        spread[node] = (radius * math.cos(angle), radius * math.sin(angle))
    return spread


def _rings(radius: float) -> Iterator[Place]:
    """Places side by side on rings, from that radius outwards."""
    while True:
        seats = max(1, int(2 * math.pi * radius / _SPACING))
        for seat in range(seats):
            angle = 2 * math.pi * seat / seats
            yield radius * math.cos(angle), radius * math.sin(angle)
        radius += _SPACING
