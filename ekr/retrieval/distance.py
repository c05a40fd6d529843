"""Hops between entities along relations, in either direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ekr.store.graph_records import EntityEdges


def hops_from(edges: EntityEdges, seeds: Sequence[str]) -> dict[str, int]:
    """Entity id → hops to the nearest seed; entities without a way to one are absent."""
    place = {id_: index for index, id_ in enumerate(edges.entity_ids)}
    hops = np.full(len(place), -1, dtype=np.int64)
    frontier = np.zeros(len(place), dtype=bool)
    for id_ in seeds:
        if id_ in place:
            frontier[place[id_]] = True
    hops[frontier] = 0
    distance = 0
    while frontier.any():
        distance += 1
        reached = np.zeros_like(frontier)
        reached[edges.target[frontier[edges.source]]] = True
        reached[edges.source[frontier[edges.target]]] = True
        frontier = reached & (hops < 0)
        hops[frontier] = distance
    return {edges.entity_ids[index]: int(hops[index]) for index in np.flatnonzero(hops >= 0)}
