"""The blend of the re-ranker's order with the order before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ekr.retrieval.pool import Candidate
from ekr.retrieval.steps.rerank import blend


def _items(n: int) -> list[Candidate]:
    return [Candidate("chunk", str(i), 0.0) for i in range(n)]


@given(st.lists(st.floats(-50, 50), max_size=30))
def test_weight_one_is_the_order_of_the_model_alone(scores: list[float]) -> None:
    order = [int(c.id) for c in blend(_items(len(scores)), scores, 1.0)]
    assert order == sorted(range(len(scores)), key=lambda i: (-scores[i], i))


@given(st.lists(st.floats(-50, 50), max_size=30))
def test_weight_zero_is_the_order_before(scores: list[float]) -> None:
    assert [int(c.id) for c in blend(_items(len(scores)), scores, 0.0)] == list(range(len(scores)))


def test_a_half_and_half_blend_adds_the_reciprocal_ranks() -> None:
    blended = blend(_items(3), [0.1, 0.9, 0.5], 0.5)
    assert [c.id for c in blended] == ["0", "1", "2"] or [c.id for c in blended] == ["1", "0", "2"]
    scores = {c.id: c.score for c in blended}
    assert scores["1"] == 0.5 / 6 + 0.5 / 7
    assert scores["0"] == 0.5 / 8 + 0.5 / 6
