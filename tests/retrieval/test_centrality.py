"""PageRank against a library, and hops."""

from __future__ import annotations

import igraph
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ekr.retrieval.centrality import personalised_pagerank
from ekr.retrieval.distance import hops_from
from ekr.store.graph_records import EntityEdges

NODES = 9
edges = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.floats(0.1, 9)).filter(lambda e: e[0] != e[1]),
    min_size=1,
    max_size=20,
)


def _arrays(drawn: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    source, target, weight = zip(*drawn, strict=True)
    return np.array(source), np.array(target), np.array(weight)


@settings(deadline=None)
@given(edges, st.lists(st.floats(0, 3), min_size=NODES, max_size=NODES), st.floats(0.2, 0.9))
def test_pagerank_agrees_with_igraph(drawn: list[tuple[int, int, float]], restart: list[float], damping: float) -> None:
    # igraph lets a walk that is stuck jump anywhere; here it begins anew, so only nodes with an edge may be seeds.
    linked = {node for edge in drawn for node in edge[:2]}
    seeds = np.array([r if node in linked else 0.0 for node, r in enumerate(restart)])
    if seeds.sum() <= 1e-3:
        return
    rank = personalised_pagerank(*_arrays(drawn), seeds, damping=damping)
    graph = igraph.Graph(NODES, [(a, b) for a, b, _ in drawn], edge_attrs={"weight": [w for *_, w in drawn]})
    expected = graph.personalized_pagerank(reset=list(seeds), damping=damping, weights="weight", directed=False)
    assert np.allclose(rank, expected, atol=1e-5)


def test_pagerank_without_edges_or_seeds_is_still_a_distribution() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert personalised_pagerank(nothing, nothing, nothing, np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert personalised_pagerank(nothing, nothing, nothing, np.zeros(4)).tolist() == [0.25] * 4
    assert personalised_pagerank(nothing, nothing, nothing, np.zeros(0)).tolist() == []


@given(edges, st.sets(st.integers(0, NODES - 1), min_size=1, max_size=3))
def test_hops_are_those_of_the_shortest_path_in_either_direction(
    drawn: list[tuple[int, int, float]], seeds: set[int]
) -> None:
    names = [f"e{node}" for node in range(NODES)]
    hops = hops_from(EntityEdges(names, *_arrays(drawn)), [names[seed] for seed in seeds])
    graph = igraph.Graph(NODES, [(a, b) for a, b, _ in drawn])
    nearest = [min(column) for column in zip(*graph.distances(source=sorted(seeds)), strict=True)]
    assert hops == {names[node]: int(d) for node, d in enumerate(nearest) if d != float("inf")}
