"""The pool and the cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ekr.recipes import Recipe
from ekr.retrieval.fusion import Fused
from ekr.retrieval.pool import Candidate, Pool, cut, fused_pool

types = st.sampled_from(["chunk", "entity", "relation", "community"])
candidates = st.lists(
    st.builds(Candidate, type=types, id=st.text("abc", min_size=1, max_size=3), score=st.floats(0, 1)),
    max_size=30,
    unique_by=lambda c: c.key,
)


def _recipe(**values: object) -> Recipe:
    return Recipe.model_validate({"name": "r", "methods": ["chunk"], **values})


def test_what_joins_goes_to_the_end_and_only_once() -> None:
    pool = Pool([Candidate("chunk", "a", 1.0)])
    pool.append([Candidate("chunk", "b", 0.0, "neighbours"), Candidate("chunk", "a", 0.0, "neighbours")])
    assert [(c.id, c.origin) for c in pool.items] == [("a", "fusion"), ("b", "neighbours")]


def test_a_new_order_of_one_type_leaves_the_others_in_their_places() -> None:
    pool = Pool([Candidate("chunk", "a", 1), Candidate("entity", "e", 1), Candidate("chunk", "b", 1)])
    pool.reorder("chunk", [Candidate("chunk", id_, 1) for id_ in "bca"])
    assert pool.ids() == ["chunk:b", "entity:e", "chunk:c", "chunk:a"]


@given(candidates, candidates)
def test_reordering_keeps_every_item_of_the_other_types(items: list[Candidate], more: list[Candidate]) -> None:
    pool = Pool(list(items))
    ordered = list({c.key: c for c in [*more, *items] if c.type == "chunk"}.values())
    pool.reorder("chunk", ordered)
    assert pool.of_type("chunk") == ordered
    assert [c for c in pool.items if c.type != "chunk"] == [c for c in items if c.type != "chunk"]


@given(candidates, st.integers(1, 40))
def test_a_cut_of_items_keeps_the_first_ones(items: list[Candidate], limit: int) -> None:
    assert cut(items, _recipe(limit=limit)) == items[:limit]


@given(candidates, st.integers(1, 40), st.integers(1, 5))
def test_a_cut_of_chunks_limits_chunks_by_the_limit_and_entities_and_relations_by_top_k(
    items: list[Candidate], limit: int, top_k: int
) -> None:
    kept = cut(items, _recipe(limit=limit, limit_counts="chunks", top_k=top_k))
    for type_, most in (("chunk", limit), ("entity", top_k), ("relation", top_k), ("community", 99)):
        of_type = [c for c in items if c.type == type_]
        assert [c for c in kept if c.type == type_] == of_type[:most]
    first_other = next((i for i, c in enumerate(kept) if c.type != "chunk"), len(kept))
    assert all(c.type != "chunk" for c in kept[first_other:])


@given(candidates, st.integers(1, 12), st.integers(0, 4))
def test_reports_keep_their_slots_and_never_more(items: list[Candidate], limit: int, slots: int) -> None:
    kept = cut(items, _recipe(limit=limit, rerank="cross_encoder", community_slots=slots))
    reports = [c for c in items if c.type == "community"]
    others = [c for c in items if c.type != "community"]
    held = [c for c in kept if c.type == "community"]
    assert len(kept) <= limit
    assert held == reports[: len(held)]
    assert len(held) == min(len(reports), slots, limit - 1 if others else limit)
    assert kept[: len(kept) - len(held)] == others[: limit - len(held)]


def test_the_pool_of_a_recipe_that_counts_chunks_leaves_entities_alone() -> None:
    fused = [Fused("entity", "e", 1, {}), *(Fused("chunk", id_, 1, {}) for id_ in "abc"), Fused("entity", "f", 1, {})]
    assert fused_pool(_recipe(pool=2, limit_counts="chunks"), fused).ids() == [
        "entity:e", "chunk:a", "chunk:b", "entity:f",
    ]  # fmt: skip
    assert fused_pool(_recipe(pool=2), fused).ids() == ["entity:e", "chunk:a"]
