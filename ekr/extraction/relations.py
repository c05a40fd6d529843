"""Relations of the graph: those that the texts state, summed, and weighted co-mention, bounded."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ekr.extraction.describe import tidy
from ekr.extraction.drafts import Drafts
from ekr.extraction.records import RELATED_TO, Evidence, Relation, stable_id
from ekr.extraction.resolution import ResolutionSettings
from ekr.extraction.tables import Rows, changes, groups, ordered, rows_of

_WANTED = 140
_NEIGHBOURS = 6
_Edge = tuple[int, str, int]
# Chunk, start, end.
_Place = tuple[int, int, int]
_CO_MENTION_WEIGHT = 0.25


def stated(drafts: Drafts, settings: ResolutionSettings) -> list[Relation]:
    """One relation for each (source, type, target), its weight the sum; rare types beyond the cap become RELATED_TO."""
    rows = drafts.statements
    starts, ends = groups(rows, 0, 1, 2)
    types = Counter(drafts.types[number] for number in rows[starts, 1].tolist())
    common = set(sorted(types, key=lambda t: (-types[t], t))[: settings.most_types])
    merged: dict[_Edge, list[tuple[str, int, int]]] = defaultdict(list)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        source, number, target = rows[start, :3].tolist()
        kind = drafts.types[number]
        merged[(source, kind if kind in common else RELATED_TO, target)].append((kind, start, end))
    return [_stated(drafts, edge, sorted(parts), settings) for edge, parts in merged.items()]


def _stated(
    drafts: Drafts, edge: _Edge, parts: Sequence[tuple[str, int, int]], settings: ResolutionSettings
) -> Relation:
    """`parts` are the rows of each type that is now one relation: type, first row, row after the last."""
    rows = [row for _, start, end in parts for row in drafts.statements[start:end].tolist()]
    weight = sum(sum(drafts.weights[start:end].tolist()) for _, start, end in parts)
    said = {drafts.descriptions[number] for *_, number in rows if number >= 0}
    return _relation(drafts, edge, weight, {(chunk, a, b) for *_, chunk, a, b, _ in rows}, said, settings)


def co_mentions(drafts: Drafts, known: Iterable[Relation], settings: ResolutionSettings) -> list[Relation]:
    """RELATED_TO between entities named near each other, where no relation is stated between them.

    Two phrases must meet in two chunks at least; each entity keeps its strongest neighbours only, by weight over
    the square root of the other's chunks, and the whole graph a number in proportion to its chunks.
    """
    meetings = _meetings(drafts, settings.co_mention_distance)
    most = max(settings.fewest_co_mentions, int(settings.co_mentions_per_chunk * len(drafts.passages)))
    degree = Counter[int]()
    relations: list[Relation] = []
    for source, target, chunks, start, end in _strongest(drafts, meetings, known):
        if len(relations) >= most:
            break
        if max(degree[source], degree[target]) < settings.co_mentions_per_entity:
            degree.update((source, target))
            places = {(chunk, a, b) for chunk, a, b in meetings[start:end, 2:].tolist()}
            edge = (source, RELATED_TO, target)
            relations.append(_relation(drafts, edge, _CO_MENTION_WEIGHT * chunks, places, set(), settings))
    return relations


def _meetings(drafts: Drafts, distance: int) -> Rows:
    """Where two entities stand near each other: the lower draft, the higher, chunk, start, end; sorted."""
    found = ordered(drafts.mentions[~drafts.only_date[drafts.mentions[:, 0]]], 1, 2, 3, 0)
    pieces = [np.empty((0, 5), dtype=np.int32)]
    for ahead in range(1, _NEIGHBOURS + 1):
        one, other = found[:-ahead], found[ahead:]
        gap = other[:, 2] - one[:, 3]
        # Nested names ("University" in "University of Oxford") do not meet.
        near = (one[:, 1] == other[:, 1]) & (one[:, 0] != other[:, 0]) & (gap >= 0) & (gap <= distance)
        one, other = one[near], other[near]
        low, high = np.minimum(one[:, 0], other[:, 0]), np.maximum(one[:, 0], other[:, 0])
        pieces.append(np.column_stack([low, high, one[:, 1], one[:, 2], other[:, 3]]))
    every = ordered(np.concatenate(pieces), 0, 1, 2, 3, 4)
    return every[changes(every, 0, 1, 2, 3, 4)]


def _strongest(drafts: Drafts, meetings: Rows, known: Iterable[Relation]) -> Iterator[tuple[int, int, int, int, int]]:
    """Pairs that may be related, best first: source, target, chunks in which they meet, their rows' start and end."""
    number = drafts.by_id()
    linked = {frozenset((number[r.source_id], number[r.target_id])) for r in known}
    starts, ends = groups(meetings, 0, 1)
    chunks = np.add.reduceat(changes(meetings, 0, 1, 2), starts, dtype=np.intp) if len(starts) else starts
    phrase = np.array([drafts.is_phrase(draft) for draft in range(len(drafts))], dtype=bool)
    pairs = meetings[starts, :2]
    telling = (chunks > 1) | ~phrase[pairs].any(axis=1)
    table = np.column_stack([pairs, chunks, starts, ends])[telling]
    scores = np.fromiter((_score(drafts, *row) for row in rows_of(table[:, :3])), dtype=np.float64, count=len(table))
    for source, target, *rest in rows_of(table[np.lexsort([table[:, 1], table[:, 0], -table[:, 2], -scores])]):
        if frozenset((source, target)) not in linked:
            yield (source, target, *rest)


def _score(drafts: Drafts, source: int, target: int, chunks: int) -> float:
    spread = math.sqrt(drafts.chunk_counts[source] * drafts.chunk_counts[target])
    return round(chunks / spread, 9)


def _relation(
    drafts: Drafts, edge: _Edge, weight: float, places: set[_Place], said: set[str], settings: ResolutionSettings
) -> Relation:
    source, kind, target = edge
    passages = drafts.passages
    sentences = {passages[chunk].text[start:end] for chunk, start, end in places}
    best = min(said or sentences, key=lambda s: (abs(len(s) - _WANTED), s))
    return Relation(
        stable_id("relation", drafts.keys[source], kind, drafts.keys[target]),
        drafts.ids[source],
        drafts.ids[target],
        kind,
        tidy(best, 240),
        weight,
        tuple(Evidence(passages[chunk].id, a, b) for chunk, a, b in sorted(places)[: settings.most_evidence]),
    )
