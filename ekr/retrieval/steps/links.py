"""Definition links: from passages that mention a name to the passages that define it, as a hyperlink would lead.

The score of a passage is 1 / (3 + its rank), ranks from 0; that of one defined by a name in the question at least
1 / 3. A passage that a link leads to gets 0.9 of the linking passage's score, less the more passages link there:
divided by 1 + 0.1 ln(1 + in-degree). Of several ways to a passage the best counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.pool import WALK_OFFSET

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.pool import Pool
    from ekr.retrieval.search import Search

_PASSED_ON = 0.9
_IN_DEGREE_DAMPING = 0.1
# A long definition has many passages: the nearest to the question count, each after the first a little less.
_PASSAGES_OF_A_DEFINITION = 3


def follow(search: Search, lists: list[RankedList], pool: Pool) -> None:
    """Links of the best `link_seeds` passages, and of those that names in the question define, join the pool."""
    _follow(search, pool, named=True)


def follow_again(search: Search, lists: list[RankedList], pool: Pool) -> None:
    """Links of the passages that are best now, after a re-rank."""
    pool.forget_walks()
    _follow(search, pool, named=False)


def _follow(search: Search, pool: Pool, *, named: bool) -> None:
    scores = pool.walk_scores("chunk")
    finder = _Definitions(search, list(scores))
    seeds = dict.fromkeys(list(scores)[: search.recipe.link_seeds])
    found: dict[str, float] = {}
    if named:
        for id_, score in finder.named():
            found[id_] = max(found.get(id_, 0.0), score)
            seeds[id_] = None
    sources = {id_: max(scores.get(id_, 0.0), found.get(id_, 0.0)) for id_ in seeds}
    for _ in range(search.recipe.link_hops):
        linked = finder.linked(sources)
        for id_, score in linked.items():
            found[id_] = max(found.get(id_, 0.0), score)
        sources = {id_: max(scores.get(id_, 0.0), found[id_]) for id_ in linked}
    for id_ in sorted(found):
        scores[id_] = max(scores.get(id_, 0.0), found[id_])
    pool.set_walk_scores("chunk", scores, "links")


class _Definitions:
    """Where links lead, within the document filter; the nearest passages of a definition that has several."""

    def __init__(self, search: Search, ranked: Sequence[str]) -> None:
        self._search = search
        self._found = len(ranked)
        self._rank: dict[str, float] = {id_: float(index) for index, id_ in enumerate(ranked)}

    def named(self) -> list[tuple[str, float]]:
        """Passages that names in the question define, with their least score."""
        entities = [id_ for name in self._search.names() if name.defined for id_ in name.entity_ids]
        definitions = self._search.graph.defining_chunks(entities)
        targets = self._nearest([definitions[id_] for id_ in entities if id_ in definitions])
        return [(id_, share / WALK_OFFSET) for target in targets for id_, share in target]

    def linked(self, sources: Mapping[str, float]) -> dict[str, float]:
        """Passages that links of the sources lead to, with the best score each gets."""
        # A passage that names what it defines itself leads nowhere.
        rows = [row for row in self._search.graph.links_from(list(sources)) if row.via is None or not row.own]
        found: dict[str, float] = {}
        for row, target in zip(rows, self._nearest([row.target_chunk_ids for row in rows]), strict=True):
            damping = 1 + _IN_DEGREE_DAMPING * math.log(1 + row.in_degree)
            score = _PASSED_ON * sources[row.source_chunk] / damping
            for id_, share in target:
                found[id_] = max(found.get(id_, 0.0), score * share)
        return found

    def _nearest(self, definitions: Sequence[Sequence[str]]) -> list[list[tuple[str, float]]]:
        """Of each definition's passages the nearest to the question, with shares 1, 0.9, 0.81."""
        allowed = self._search.allowed_chunks({id_ for passages in definitions for id_ in passages})
        kept = [[id_ for id_ in passages if id_ in allowed] for passages in definitions]
        self._compare({id_ for passages in kept if len(passages) > 1 for id_ in passages})
        return [
            [
                (id_, _PASSED_ON**place)
                for place, id_ in enumerate(
                    sorted(passages, key=lambda id_: self._rank.get(id_, math.inf))[:_PASSAGES_OF_A_DEFINITION]
                )
            ]
            for passages in kept
        ]

    def _compare(self, passages: Iterable[str]) -> None:
        """Ranks passages that no method found by their similarity with the question, behind those that one did."""
        unknown = [id_ for id_ in passages if id_ not in self._rank]
        if not unknown:
            return
        vector = self._search.query_vector()
        hits = self._search.snapshot.search_vectors("chunks", vector, len(unknown), ids=unknown)
        for id_, similarity in hits:
            self._rank[id_] = self._found + 1 - similarity
