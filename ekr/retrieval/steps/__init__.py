"""The steps that a recipe may name, in the order in which they run. Re-ranking and the cut follow them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.steps import neighbours

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.pool import Pool
    from ekr.retrieval.search import Search

STEPS: Mapping[str, Callable[[Search, Sequence[RankedList], Pool], None]] = {"neighbours": neighbours.join}
