"""From raw records and definitions to one graph: entities, mentions, relations. The same input in any order gives
the same result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ekr.extraction.clusters import Clusters
from ekr.extraction.describe import describe
from ekr.extraction.drafts import Drafts
from ekr.extraction.findings import PHRASE, Findings
from ekr.extraction.records import Definition, Entity, Mention, RawExtraction, Relation
from ekr.extraction.tables import RowView, changes, order_of, ordered
from ekr.store.records import ChunkRecord


@dataclass(frozen=True, slots=True)
class ResolutionSettings:
    """Bounds that keep the graph telling, each in proportion to the number of chunks where it says so."""

    phrases_per_chunk: float = 0.5
    fewest_phrases: int = 200
    co_mentions_per_chunk: float = 1.0
    fewest_co_mentions: int = 500
    co_mentions_per_entity: int = 10
    co_mention_distance: int = 200
    most_types: int = 64
    most_evidence: int = 12
    most_aliases: int = 8
    common_share: float = 0.1
    common_floor: int = 50


def collect(
    raws: Iterable[RawExtraction],
    definitions: Sequence[Definition],
    passages: Sequence[ChunkRecord],
    clusters: Clusters,
    settings: ResolutionSettings,
) -> Drafts:
    """Drafts of every defined name and proper name, and of the key phrases that recur or are related.

    `passages` are sorted by id and hold the chunk of every raw record.
    """
    findings = Findings(clusters)
    findings.read(raws, {chunk.id: number for number, chunk in enumerate(passages)})
    findings.define(definitions)
    return Drafts(findings, _kept(findings, settings), passages)


def _kept(findings: Findings, settings: ResolutionSettings) -> list[int]:
    entities = findings.entities.rows()
    pairs = ordered(entities[:, :2], 0, 1)
    chunks = np.bincount(pairs[changes(pairs, 0, 1), 0], minlength=len(findings.keys)).tolist()
    related = _related(findings)
    dates = findings.only_dates()
    kept, phrases = [], []
    for text, key in findings.keys.items():
        kinds = findings.kinds.get(key, 0)
        if kinds == PHRASE:
            if chunks[key] > 1 or related[key]:
                phrases.append((-chunks[key], -related[key], -len(text), text, key))
        elif kinds and (key not in dates or related[key]):
            kept.append(key)
    most = max(settings.fewest_phrases, int(settings.phrases_per_chunk * findings.chunks_read))
    return kept + [key for *_, key in sorted(phrases)[:most]]


def _related(findings: Findings) -> list[int]:
    """How many relations tie each key to something more than a phrase."""
    count = len(findings.keys)
    kinds = np.zeros(count, dtype=np.int8)
    kinds[list(findings.kinds)] = list(findings.kinds.values())
    relations = findings.relations.rows()
    source, target = relations[:, 0], relations[:, 2]
    both = (kinds[source] > 0) & (kinds[target] > 0)
    tied = [one[both & (kinds[other] != PHRASE)] for one, other in ((source, target), (target, source))]
    related: list[int] = np.bincount(np.concatenate(tied), minlength=count).tolist()
    return related


def finish(
    drafts: Drafts, relations: Sequence[Relation], settings: ResolutionSettings
) -> tuple[list[Entity], Sequence[Mention]]:
    """Entities and mentions, sorted by id. A scoped name that two documents share is shown with its heading."""
    degree = Counter(end for relation in relations for end in (relation.source_id, relation.target_id))
    mentions = np.bincount(drafts.mentions[:, 0], minlength=len(drafts)).tolist()
    order = sorted(range(len(drafts)), key=drafts.ids.__getitem__)
    entities = [_entity(drafts, draft, mentions[draft], degree[drafts.ids[draft]], settings) for draft in order]
    return entities, _mentions(drafts, order)


def _entity(drafts: Drafts, draft: int, mentions: int, degree: int, settings: ResolutionSettings) -> Entity:
    definitions = drafts.definitions[draft]
    surfaces = drafts.surfaces(draft)
    name = _canonical(surfaces, drafts.surfaces(draft, own=True), definitions)
    counts = drafts.labels(draft)
    labels = sorted(counts, key=lambda label: (-counts[label], label)) or ["Other"]
    others = {surface for surface in surfaces if surface != name}
    others |= {n for d in definitions if not d.scoped for n in d.names if n != name}
    aliases = sorted(others, key=lambda s: (-surfaces[s], -len(s), s))[: settings.most_aliases]
    return Entity(
        drafts.ids[draft],
        drafts.keys[draft].replace("\x1f", "#"),
        name,
        tuple(labels[:3]),
        describe(name, definitions, drafts.tellings(draft)),
        tuple(aliases),
        mentions,
        drafts.chunk_counts[draft],
        degree,
        bool(definitions),
    )


def _canonical(surfaces: Counter[str], own: Counter[str], definitions: Sequence[Definition]) -> str:
    """By frequency, length, code points: among the spellings of the key itself, so that a long form that stands
    for an acronym or a surname gives the name."""
    counts = own or surfaces
    titles = {d.names[0] for d in definitions if d.kind in ("title", "number")}
    return min(titles or counts, key=lambda s: (-counts[s], -len(s), s))


def _mentions(drafts: Drafts, order: Sequence[int]) -> Sequence[Mention]:
    """The mentions by entity id: `order` has the drafts by id."""
    rank = np.empty(len(drafts), dtype=np.int32)
    rank[list(order)] = np.arange(len(drafts), dtype=np.int32)
    rows = drafts.mentions.copy()
    rows[:, 0] = rank[rows[:, 0]]
    rows = rows[order_of(rows, 0, 1, 2, 3)]
    ids = [drafts.ids[draft] for draft in order]
    chunks = [chunk.id for chunk in drafts.passages]
    return RowView(rows, lambda entity, chunk, start, end: Mention(ids[entity], chunks[chunk], start, end))
