"""The blend of the re-ranker's order with the order before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ekr import Engine, Recipe
from ekr.retrieval.pool import Candidate, cut
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


def test_reports_survive_a_re_rank_that_would_push_them_all_out() -> None:
    pool = [*_items(12), *(Candidate("community", name, 1.0) for name in "wxyz")]
    recipe = Recipe(name="r", methods=("chunk",), rerank="cross_encoder", limit=8, community_slots=3)
    kept = cut(pool, recipe)
    assert [c.id for c in kept] == ["0", "1", "2", "3", "4", "w", "x", "y"]


@pytest.mark.models
def test_a_real_re_rank_keeps_reports_and_orders_passages_and_entities_together(library_store: Path) -> None:
    with Engine.open(library_store) as engine:
        result = engine.retrieve("Who worked with Charles Babbage?", "HYBRID_RERANKED", limit=5)
    assert result.degraded == []
    assert len(result.items) == 5
    kinds = [item.type for item in result.items]
    assert 1 <= kinds.count("community") <= 3
    assert set(kinds[-kinds.count("community") :]) == {"community"}
    scored = set(result.trace.extra["rerank"]["scores"])
    assert {item.id for item in result.items if item.type != "community"} <= scored
    assert {"chunk", "entity"} <= {ranked["hits"][0]["type"] for ranked in result.trace.lists}


@pytest.mark.models
def test_a_query_likelihood_is_blended_where_the_recipe_says_nothing(library_store: Path) -> None:
    with Engine.open(library_store) as engine:
        plain, share, alone = (
            engine.retrieve("Who worked with Charles Babbage?", "naive", limit=5, **values)
            for values in ({}, {"rerank_weight": 0.4}, {"rerank_weight": 1.0})
        )
    assert plain.trace.extra["rerank"]["kind"] == "query_likelihood"
    assert [(item.id, item.score) for item in plain.items] == [(item.id, item.score) for item in share.items]
    assert [item.score for item in plain.items] != [item.score for item in alone.items]


@pytest.mark.parametrize(("reranker", "noted"), [("none", False), ("auto", True)])
def test_a_re_ranker_that_was_declined_is_not_missed(library_store: Path, reranker: str, noted: bool) -> None:
    with Engine.open(library_store, reranker=reranker) as engine:
        result = engine.retrieve("¿Quién trabajó con Charles Babbage en la máquina analítica?", "mix")
    assert any("no re-rank" in note for note in result.trace.notes) is noted
