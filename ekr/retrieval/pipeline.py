"""One query: methods at the same time, fusion, steps, re-rank, cut."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ekr.errors import RetrievalError
from ekr.retrieval.fusion import reciprocal_rank_fusion
from ekr.retrieval.hits import RankedList
from ekr.retrieval.methods import METHODS
from ekr.retrieval.pool import Candidate, Pool, cut
from ekr.retrieval.steps import STEPS, rerank

if TYPE_CHECKING:
    from ekr.retrieval.search import Search


def run(search: Search) -> list[Candidate]:
    """The final candidates in rank order. Raises RetrievalError when every method failed."""
    recipe, trace = search.recipe, search.trace
    if not recipe.methods:
        return []
    with trace.timed("methods"):
        lists = _run_methods(search)
    for ranked in lists:
        trace.add_list(ranked)
    with trace.timed("fusion"):
        fused = reciprocal_rank_fusion(lists, recipe.rrf_k)
        trace.add_fusion(fused, recipe.rrf_k)
        pool = Pool.of(fused[: recipe.pool])
    for name in (name for name in STEPS if name in recipe.steps):
        _run_step(search, name, lists, pool)
    items = _rerank(search, pool)
    kept = cut(items, recipe.limit, recipe.limit_counts)
    trace.add_step("cut", [f"{i.type}:{i.id}" for i in items], [f"{i.type}:{i.id}" for i in kept])
    return kept


def _run_methods(search: Search) -> list[RankedList]:
    # Resolved here once, so that an unusable filter is the query's error and not a failure of each method.
    _ = search.documents
    names = search.recipe.methods
    lists: list[RankedList] = []
    failures: list[str] = []
    with ThreadPoolExecutor(max_workers=len(names), thread_name_prefix="method") as threads:
        running = {name: threads.submit(_timed, search, name) for name in names}
        for name, future in running.items():
            try:
                lists.extend(future.result())
            except Exception as error:
                search.trace.degrade("method", name, error)
                failures.append(f"{name}: {search.trace.degraded[-1].error}")
    if len(failures) == len(names):
        raise RetrievalError(f"every method failed: {'; '.join(failures)}")
    return lists


def _timed(search: Search, name: str) -> list[RankedList]:
    with search.trace.timed(f"method.{name}"):
        return METHODS[name](search)


def _run_step(search: Search, name: str, lists: list[RankedList], pool: Pool) -> None:
    before = pool.ids()
    with search.trace.timed(name):
        try:
            STEPS[name](search, lists, pool)
        except Exception as error:
            search.trace.degrade("step", name, error)
    search.trace.add_step(name, before, pool.ids())


def _rerank(search: Search, pool: Pool) -> list[Candidate]:
    if search.recipe.rerank == "none" or not pool.items:
        return pool.items
    before = pool.ids()
    with search.trace.timed("rerank"):
        try:
            items = rerank.cross_encoder(search, pool.items)
        except Exception as error:
            search.trace.degrade("step", "rerank", error)
            items = pool.items
    search.trace.add_step("rerank", before, [f"{i.type}:{i.id}" for i in items])
    return items
