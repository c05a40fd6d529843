"""One query: methods at the same time, fusion, steps, re-rank, cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ekr.errors import RetrievalError
from ekr.retrieval.decomposition import parts_of
from ekr.retrieval.fusion import reciprocal_rank_fusion
from ekr.retrieval.hits import RankedList
from ekr.retrieval.methods import METHODS
from ekr.retrieval.pool import Candidate, Pool, cut, fused_pool
from ekr.retrieval.steps import STEPS, WALKS, beside, links, rerank

if TYPE_CHECKING:
    from ekr.retrieval.search import Search


def run(search: Search) -> list[Candidate]:
    """The final candidates in rank order. Raises RetrievalError when every method failed."""
    recipe, trace = search.recipe, search.trace
    if not recipe.methods:
        return []
    searches = [search, *(search.asking(part) for part in parts_of(search))]
    with trace.timed("methods"):
        every = _run_methods(searches)
    for ranked in every:
        trace.add_list(ranked)
    lists = [ranked for ranked in every if ranked.method not in recipe.beside]
    apart = [ranked for ranked in every if ranked.method in recipe.beside]
    with trace.timed("fusion"):
        fused = reciprocal_rank_fusion(lists, recipe.rrf_k)
        trace.add_fusion(fused, recipe.rrf_k)
        pool = fused_pool(recipe, fused)
    _run_steps(search, lists, apart, pool)
    kept = cut(pool.items, recipe)
    trace.add_step("cut", pool.ids(), [item.name for item in kept])
    return kept


def _run_steps(search: Search, lists: list[RankedList], apart: list[RankedList], pool: Pool) -> None:
    recipe = search.recipe
    seeds = [item.id for item in pool.of_type("entity")]
    if "neighbours" in recipe.steps:
        _step(search, "neighbours", pool, lambda: STEPS["neighbours"](search, lists, pool))
    if apart:
        _step(search, "beside", pool, lambda: beside.join(search, apart, pool))
    for name in recipe.walk:
        _step(search, f"walk {name}", pool, lambda name=name: WALKS[name](search, lists, pool))  # type: ignore[misc]
    if "communities" in recipe.steps:
        _step(search, "communities", pool, lambda: STEPS["communities"](search, lists, pool))
    if recipe.rerank == "cross_encoder":
        _step(search, "rerank", pool, lambda: rerank.cross_encoder(search, pool))
        if recipe.relink and "rerank" in search.trace.extra:
            _step(search, "relink", pool, lambda: links.follow_again(search, lists, pool))
    elif recipe.rerank == "graph_distance":
        _step(search, "rerank", pool, lambda: rerank.graph_distance(search, seeds, pool))


def _run_methods(searches: Sequence[Search]) -> list[RankedList]:
    # Resolved here once, so that an unusable filter is the query's error and not a failure of each method.
    search = searches[0]
    documents = search.documents
    for part in searches[1:]:
        part.documents = documents
    names = search.recipe.methods
    lists: list[RankedList] = []
    failures: dict[str, str] = {}
    found_by: set[str] = set()
    with ThreadPoolExecutor(max_workers=len(names), thread_name_prefix="method") as threads:
        running = [(name, threads.submit(_timed, asked, name)) for asked in searches for name in names]
        for name, future in running:
            try:
                lists.extend(future.result())
                found_by.add(name)
            except Exception as error:
                if name not in failures:
                    search.trace.degrade("method", name, error)
                    failures[name] = search.trace.degraded[-1].error
    if not found_by:
        raise RetrievalError("every method failed: " + "; ".join(f"{name}: {e}" for name, e in failures.items()))
    return lists


def _timed(search: Search, name: str) -> list[RankedList]:
    with search.trace.timed(f"method.{name}"):
        return METHODS[name](search)


def _step(search: Search, name: str, pool: Pool, run_it: Callable[[], Any]) -> None:
    before, items = pool.ids(), list(pool.items)
    with search.trace.timed(name):
        try:
            run_it()
        except Exception as error:
            # A step that fails half-way leaves the pool as it was.
            pool.items = items
            search.trace.degrade("step", name, error)
    search.trace.add_step(name, before, pool.ids())
