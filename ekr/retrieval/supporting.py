"""Passages to cite where a recipe found none itself: those behind the entities, relations and reports it found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ekr.retrieval.hydrate import chunk_items

if TYPE_CHECKING:
    from ekr.results import Item
    from ekr.retrieval.search import Search

_MOST = 8
_MEMBERS = 3


def passages(search: Search, items: Sequence[Item]) -> list[Item]:
    """The passages among the items; without any, the first passage behind each of the best items, at most 8."""
    own = [item for item in items if item.type == "chunk"]
    if own:
        return own
    behind: dict[str, None] = {}
    for item in items:
        if item.evidence:
            behind[item.evidence[0].chunk_id] = None
        elif item.type == "community":
            behind.update(dict.fromkeys(_behind_report(search, item.id)))
        if len(behind) >= _MOST:
            break
    return chunk_items(search.snapshot, list(behind)[:_MOST])


def _behind_report(search: Search, community_id: str) -> list[str]:
    """The first passage of each of the best connected members."""
    members = search.graph.members(community_id)[:_MEMBERS]
    held = search.graph.chunks_of_entities(members)
    allowed = search.allowed_chunks({id_ for ids in held.values() for id_ in ids})
    return [next(iter(kept)) for member in members if (kept := [i for i in held.get(member, ()) if i in allowed])]
