"""The walk over passages and entities against PageRank over all nodes at once."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ekr.retrieval.centrality import personalised_pagerank
from ekr.retrieval.passage_walk import PassageWalk
from ekr.store.graph_records import PassageEdges

ENTITIES, PASSAGES = 7, 5
mentions = st.dictionaries(
    st.tuples(st.integers(0, PASSAGES - 1), st.integers(0, ENTITIES - 1)), st.floats(0.1, 9), max_size=20
)
weights = st.one_of(st.just(0.0), st.floats(0.01, 3))


def _edges(drawn: dict[tuple[int, int], float]) -> PassageEdges:
    return PassageEdges(
        [f"c{number}" for number in range(PASSAGES)],
        [f"e{number}" for number in range(ENTITIES)],
        np.array([chunk for chunk, _ in drawn], dtype=np.int64),
        np.array([entity for _, entity in drawn], dtype=np.int64),
        np.array(list(drawn.values()), dtype=np.float64),
    )


@settings(deadline=None)
@given(
    mentions,
    st.lists(weights, min_size=ENTITIES, max_size=ENTITIES),
    st.lists(weights, min_size=PASSAGES, max_size=PASSAGES),
    st.floats(0.1, 0.9),
)
def test_the_ranks_are_those_of_pagerank_over_all_nodes(
    drawn: dict[tuple[int, int], float], entities: list[float], passages: list[float], damping: float
) -> None:
    assume(sum(entities) + sum(passages) > 0)
    edges = _edges(drawn)
    before = np.array(entities), np.array(passages)
    of_entities, of_passages = PassageWalk(edges).rank(*before, damping=damping)
    expected = personalised_pagerank(
        edges.entity, edges.chunk + ENTITIES, edges.weight, np.array(entities + passages), damping=damping
    )
    assert np.allclose(np.concatenate([of_entities, of_passages]), expected, atol=1e-6)
    assert before[0].tolist() == entities and before[1].tolist() == passages


def test_an_entity_of_one_passage_gets_its_share_and_what_the_walk_begins_with() -> None:
    edges = _edges({(0, 0): 1.0, (0, 1): 1.0, (1, 1): 1.0})
    seeds = np.zeros(ENTITIES), np.eye(PASSAGES)[0]
    entities, passages = PassageWalk(edges).rank(*seeds, damping=0.5)
    assert entities[0] == 0.5 * passages[0] / 2
    assert entities[2:].tolist() == [0.0] * (ENTITIES - 2)
    assert passages[0] > passages[1] > 0
