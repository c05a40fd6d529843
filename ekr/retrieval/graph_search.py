"""What the methods over the graph share: search by meaning within filters, and passages behind graph items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ekr.models.base import Vectors
    from ekr.retrieval.search import Search
    from ekr.store.graph_records import EntityRecord, EvidenceKind

Scored = list[tuple[str, float]]

EXACT = 1.0
_LONGEST_ID_FILTER = 2000
_TABLE_OF: Mapping[str, EvidenceKind] = {"entities": "entity", "relations": "relation", "reports": "community"}


def similar(
    search: Search,
    table: str,
    vector: Vectors,
    limit: int,
    keep: Callable[[list[str]], set[str]] | None = None,
    considered: int = 0,
) -> Scored:
    """The nearest of a table of vectors within the document filter, best first; `keep` filters further.

    Looks at `considered` of them at least, and gives what it kept of these. Asks for more until `limit` are kept
    or the table is exhausted, so a filter never hides what fits it.
    """
    allowed = search.allowed(_TABLE_OF[table])
    if allowed is not None and not allowed:
        return []
    # A long list of ids costs a vector search more than looking through more of its hits.
    within = allowed if allowed is not None and len(allowed) <= _LONGEST_ID_FILTER else None
    asked = max(limit, considered)
    while True:
        hits = search.snapshot.search_vectors(table, vector, asked, ids=within)
        kept = hits if allowed is None or within is not None else [hit for hit in hits if hit[0] in allowed]
        if keep is not None:
            passing = keep([id_ for id_, _ in kept])
            kept = [hit for hit in kept if hit[0] in passing]
        if len(kept) >= limit or len(hits) < asked:
            return kept[: max(limit, considered)]
        asked *= 4


def permitted_entities(search: Search, entities: Iterable[EntityRecord]) -> set[str]:
    """Ids of those entities that have one of the labels asked for, and evidence in the documents allowed."""
    allowed = search.allowed("entity")
    return {
        entity.id
        for entity in entities
        if (not search.filters.labels or set(entity.labels) & set(search.filters.labels))
        and (allowed is None or entity.id in allowed)
    }


def entities_by_name(search: Search, names: Sequence[Collection[str]], *, labelled: bool) -> Scored:
    """The entities that names mean, in the order of the names; of those that one name may mean, the best linked.

    `labelled`: the label filter applies.
    """
    records = search.entities.of(id_ for ids in names for id_ in ids)
    if labelled:
        permitted = permitted_entities(search, records.values())
    else:
        allowed = search.allowed("entity")
        permitted = {id_ for id_ in records if allowed is None or id_ in allowed}
    ordered: dict[str, float] = {}
    for ids in names:
        meant = [records[id_] for id_ in ids if id_ in permitted]
        for entity in sorted(meant, key=lambda e: (not e.defined, -e.pagerank, e.id)):
            ordered.setdefault(entity.id, EXACT)
    return list(ordered.items())


def merged(first: Scored, second: Scored, limit: int) -> Scored:
    """The first list, then what only the second holds."""
    known = {id_ for id_, _ in first}
    return [*first, *(hit for hit in second if hit[0] not in known)][:limit]


Supporters = tuple[Scored, Mapping[str, Sequence[str]]]


def source_chunks(
    search: Search, supporters: Sequence[Supporters], limit: int, defining: Collection[str] = ()
) -> Scored:
    """The passages behind ranked items, within the document filter.

    Each pair is a list of items, best first, and the passages of each. Passages are ordered by their best
    supporting item, then those of `defining` first, then by the number of items that support them, then as the
    best item lists them. The score is 1 / rank of the best item.
    """
    defined_here = set(defining)
    best: dict[str, tuple[int, int]] = {}
    count: dict[str, int] = {}
    for items, chunks_of in supporters:
        for rank, (item, _) in enumerate(items, start=1):
            for place, chunk in enumerate(chunks_of.get(item, ())):
                best[chunk] = min(best.get(chunk, (rank, place)), (rank, place))
                count[chunk] = count.get(chunk, 0) + 1
    allowed = search.allowed_chunks(best)
    ordered = sorted(
        (chunk for chunk in best if chunk in allowed),
        key=lambda chunk: (best[chunk][0], chunk not in defined_here, -count[chunk], best[chunk][1], chunk),
    )
    return [(chunk, 1.0 / best[chunk][0]) for chunk in ordered[:limit]]
