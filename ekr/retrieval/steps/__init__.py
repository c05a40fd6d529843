"""The steps that a recipe may name, in the order in which they run, and the walks. Re-ranking and the cut follow.

A step changes the pool and may add to the lists that were fused; it raises when it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ekr.retrieval.steps import communities, links, neighbours, pagerank, walk

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.pool import Pool
    from ekr.retrieval.search import Search

    Step = Callable[[Search, list[RankedList], Pool], None]

STEPS: Mapping[str, Step] = {"neighbours": neighbours.join, "communities": communities.join}
WALKS: Mapping[str, Step] = {
    "breadth_first": walk.breadth_first,
    "pagerank": pagerank.walk,
    "links": links.follow,
}
