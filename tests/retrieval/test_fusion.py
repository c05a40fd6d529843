"""Reciprocal rank fusion."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from ekr.retrieval.fusion import reciprocal_rank_fusion
from ekr.retrieval.hits import Hit, RankedList

hits = st.builds(
    Hit,
    type=st.sampled_from(["entity", "relation", "chunk", "community", "value"]),
    id=st.sampled_from("abcdefgh"),
    score=st.floats(0, 1),
)
lists = st.lists(
    st.builds(
        RankedList,
        method=st.sampled_from(["chunk", "bm25", "local", "global"]),
        hits=st.lists(hits, max_size=12).map(tuple),
    ),
    max_size=6,
)


def test_an_item_that_two_methods_find_beats_one_that_one_method_finds_first() -> None:
    fused = reciprocal_rank_fusion(
        [
            RankedList.of("chunk", "chunk", [("a", 0.9), ("b", 0.8)]),
            RankedList.of("bm25", "chunk", [("b", 7.0)]),
        ]
    )
    assert [item.id for item in fused] == ["b", "a"]
    assert fused[0].score == 1 / 62 + 1 / 61
    assert fused[0].arithmetic(60) == "1/(60+1) bm25 + 1/(60+2) chunk"


def test_a_method_cannot_lift_an_item_by_returning_it_twice() -> None:
    once = reciprocal_rank_fusion([RankedList.of("chunk", "chunk", [("a", 1.0), ("b", 0.5)])])
    twice = reciprocal_rank_fusion(
        [
            RankedList.of("chunk", "chunk", [("a", 1.0), ("b", 0.5), ("b", 0.5)]),
            RankedList.of("chunk", "chunk", [("b", 0.5)] * 3),
        ]
    )
    assert next(i.score for i in once if i.id == "a") == next(i.score for i in twice if i.id == "a")
    assert next(i.score for i in twice if i.id == "b") == 1 / 61


def test_equal_scores_are_ordered_by_type_then_id() -> None:
    fused = reciprocal_rank_fusion(
        [
            RankedList.of("local", "chunk", [("z", 1.0)]),
            RankedList.of("local", "entity", [("y", 1.0)]),
            RankedList.of("global", "chunk", [("a", 1.0)]),
        ]
    )
    assert [item.key for item in fused] == [("entity", "y"), ("chunk", "a"), ("chunk", "z")]


@given(lists, st.integers(1, 100), st.randoms())
def test_neither_the_order_of_lists_nor_of_methods_matters(
    ranked: list[RankedList], k: int, shuffler: random.Random
) -> None:
    shuffled = list(ranked)
    shuffler.shuffle(shuffled)
    assert reciprocal_rank_fusion(ranked, k) == reciprocal_rank_fusion(shuffled, k)


@given(lists, st.integers(1, 100))
def test_every_item_comes_back_once_with_one_vote_a_method_at_its_best_rank(ranked: list[RankedList], k: int) -> None:
    fused = reciprocal_rank_fusion(ranked, k)
    keys = [item.key for item in fused]
    assert len(keys) == len(set(keys))
    assert set(keys) == {hit.key for one in ranked for hit in one.hits}
    for item in fused:
        for method, rank in item.ranks.items():
            ranks = [r for one in ranked if one.method == method for r, hit in one.ranked() if hit.key == item.key]
            assert rank == min(ranks)
        assert abs(item.score - sum(1 / (k + rank) for rank in item.ranks.values())) < 1e-12
    assert all(a.score >= b.score - 1e-9 for a, b in itertools.pairwise(fused))
