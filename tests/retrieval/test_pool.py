"""The pool and the cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ekr.retrieval.pool import Candidate, Pool, cut

candidates = st.lists(
    st.builds(
        Candidate,
        type=st.sampled_from(["entity", "relation", "chunk", "community"]),
        id=st.text("abc", min_size=1, max_size=3),
        score=st.floats(0, 1),
    ),
    max_size=30,
)


def test_what_joins_goes_to_the_end_and_only_once() -> None:
    pool = Pool([Candidate("chunk", "a", 1.0)])
    pool.append([Candidate("chunk", "b", 0.0, "neighbours"), Candidate("chunk", "a", 0.0, "neighbours")])
    assert [(c.id, c.origin) for c in pool.items] == [("a", "fusion"), ("b", "neighbours")]


@given(candidates, st.integers(1, 40))
def test_a_cut_of_items_keeps_the_first_ones(items: list[Candidate], limit: int) -> None:
    assert cut(items, limit, "items") == items[:limit]


@given(candidates, st.integers(1, 40))
def test_a_cut_of_chunks_limits_chunks_alone_and_loses_nothing_else(items: list[Candidate], limit: int) -> None:
    kept = cut(items, limit, "chunks")
    chunks = [c for c in items if c.type == "chunk"]
    assert [c for c in kept if c.type == "chunk"] == chunks[:limit]
    assert len([c for c in kept if c.type != "chunk"]) == len(items) - len(chunks)
