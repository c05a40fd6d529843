"""Relations of the graph: those that the texts state, summed, and weighted co-mention, bounded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ekr.extraction.clusters import Clusters
from ekr.extraction.describe import tidy
from ekr.extraction.records import RELATED_TO, Evidence, RawExtraction, Relation, stable_id
from ekr.extraction.resolution import Draft, ResolutionSettings

_WANTED = 140
_Edge = tuple[str, str, str]
_CO_MENTION_WEIGHT = 0.25


def stated(
    raws: Iterable[RawExtraction],
    drafts: Mapping[str, Draft],
    texts: Mapping[str, str],
    clusters: Clusters,
    settings: ResolutionSettings,
) -> list[Relation]:
    """One relation for each (source, type, target), its weight the sum; rare types beyond the cap become RELATED_TO."""
    evidence: dict[_Edge, set[Evidence]] = defaultdict(set)
    weights: dict[_Edge, float] = defaultdict(float)
    said: dict[_Edge, set[str]] = defaultdict(set)
    for raw in raws:
        for relation in raw.relations:
            source = drafts.get(clusters.find(raw.document_id, relation.source))
            target = drafts.get(clusters.find(raw.document_id, relation.target))
            if source is None or target is None or source is target:
                continue
            edge = (source.key, relation.type, target.key)
            evidence[edge].add(Evidence(raw.chunk_id, *relation.span))
            weights[edge] += relation.weight
            if relation.description:
                said[edge].add(relation.description)
    types = Counter[str]()
    for _, kind, _ in evidence:
        types[kind] += 1
    common = set(sorted(types, key=lambda t: (-types[t], t))[: settings.most_types])
    merged: dict[_Edge, list[_Edge]] = defaultdict(list)
    for edge in evidence:
        source_key, kind, target_key = edge
        merged[(source_key, kind if kind in common else RELATED_TO, target_key)].append(edge)
    return [
        _relation(
            drafts,
            edge,
            sum(weights[e] for e in sorted(edges)),
            {e for one in edges for e in evidence[one]},
            {d for one in edges for d in said[one]},
            texts,
            settings,
        )
        for edge, edges in merged.items()
    ]


def co_mentions(
    drafts: Mapping[str, Draft],
    known: Iterable[Relation],
    texts: Mapping[str, str],
    settings: ResolutionSettings,
) -> list[Relation]:
    """RELATED_TO between entities named near each other, where no relation is stated between them.

    Two phrases must meet in two chunks at least; each entity keeps its strongest neighbours only, by weight over
    the square root of the other's chunks, and the whole graph a number in proportion to its chunks.
    """
    linked = {frozenset((r.source_id, r.target_id)) for r in known}
    by_chunk: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for key, draft in drafts.items():
        if set(draft.labels) != {"Date"}:
            for chunk_id, start, end in draft.mentions:
                by_chunk[chunk_id].append((start, end, key))
    meetings: dict[tuple[str, str], set[tuple[str, int, int]]] = defaultdict(set)
    for chunk_id, found in by_chunk.items():
        for source, target, start, end in _near(sorted(found), settings.co_mention_distance):
            meetings[(source, target)].add((chunk_id, start, end))
    scored = []
    for (source, target), places in meetings.items():
        one, other = drafts[source], drafts[target]
        chunks = len({chunk_id for chunk_id, _, _ in places})
        weak = one.kinds == {"phrase"} or other.kinds == {"phrase"}
        if (weak and chunks < 2) or frozenset((one.id, other.id)) in linked:
            continue
        score = chunks / (len(one.chunks) * len(other.chunks)) ** 0.5
        scored.append((-round(score, 9), -chunks, source, target))
    scored.sort()
    most = max(settings.fewest_co_mentions, int(settings.co_mentions_per_chunk * len(texts)))
    degree = Counter[str]()
    relations: list[Relation] = []
    for _, chunks, source, target in scored:
        if len(relations) >= most:
            break
        if max(degree[source], degree[target]) < settings.co_mentions_per_entity:
            degree.update((source, target))
            edge = (source, RELATED_TO, target)
            weight = _CO_MENTION_WEIGHT * -chunks
            evidence = {Evidence(*place) for place in meetings[(source, target)]}
            relations.append(_relation(drafts, edge, weight, evidence, set(), texts, settings))
    return relations


def _near(found: Sequence[tuple[int, int, str]], distance: int) -> Iterator[tuple[str, str, int, int]]:
    for index, (start, end, key) in enumerate(found):
        for other_start, other_end, other in found[index + 1 : index + 7]:
            if other_start - end > distance:
                break
            # Nested names ("University" in "University of Oxford") do not meet.
            if other != key and other_start >= end:
                yield min(key, other), max(key, other), start, other_end


def _relation(
    drafts: Mapping[str, Draft],
    edge: _Edge,
    weight: float,
    evidence: set[Evidence],
    said: set[str],
    texts: Mapping[str, str],
    settings: ResolutionSettings,
) -> Relation:
    source, kind, target = drafts[edge[0]], edge[1], drafts[edge[2]]
    sentences = {texts.get(e.chunk_id, "")[e.start : e.end] for e in evidence}
    best = min(said or sentences, key=lambda s: (abs(len(s) - _WANTED), s))
    places = sorted(evidence, key=lambda e: (e.chunk_id, e.start, e.end))[: settings.most_evidence]
    return Relation(
        stable_id("relation", source.key, kind, target.key),
        source.id,
        target.id,
        kind,
        tidy(best, 240),
        weight,
        tuple(places),
    )
