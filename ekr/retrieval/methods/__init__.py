"""The methods, one file each: a function from a search to ranked lists.

With a positive limit a method returns an empty list only when its search ran and found nothing; it raises
on anything else. Adding a method is a file here and a line in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ekr.retrieval.methods import bm25, chunk, community, entity, global_, local, text2cypher

if TYPE_CHECKING:
    from ekr.retrieval.hits import RankedList
    from ekr.retrieval.search import Search

METHODS: Mapping[str, Callable[[Search], list[RankedList]]] = {
    "entity": entity.find,
    "chunk": chunk.find,
    "bm25": bm25.find,
    "local": local.find,
    "global": global_.find,
    "community": community.find,
    "text2cypher": text2cypher.find,
}
