"""From raw records and definitions to one graph: entities, mentions, relations. The same input in any order gives
the same result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ekr.extraction.clusters import Clusters
from ekr.extraction.describe import Telling, describe
from ekr.extraction.names import key_of
from ekr.extraction.records import (
    Definition,
    Entity,
    Mention,
    RawEntity,
    RawExtraction,
    Relation,
    stable_id,
)
from ekr.extraction.references import numbered_heading
from ekr.extraction.structure import unit_key


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


@dataclass(slots=True)
class Draft:
    """An entity while it is being put together."""

    key: str
    surfaces: Counter[str] = field(default_factory=Counter)
    own_surfaces: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    kinds: set[str] = field(default_factory=set)
    chunks: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    mentions: set[tuple[str, int, int]] = field(default_factory=set)
    tellings: list[Telling] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    related: int = 0
    id: str = ""

    def __post_init__(self) -> None:
        self.id = stable_id("entity", self.key)


def collect(
    raws: Sequence[RawExtraction],
    definitions: Sequence[Definition],
    texts: Mapping[str, str],
    clusters: Clusters,
    settings: ResolutionSettings,
) -> dict[str, Draft]:
    """Drafts by key: every defined name and proper name, and the key phrases that recur or are related."""
    drafts: dict[str, Draft] = {}
    for raw in raws:
        for entity in raw.entities:
            _add(drafts, raw, entity, clusters, texts)
    for definition in definitions:
        key = definition_key(definition, clusters)
        draft = drafts.setdefault(key, Draft(key))
        draft.definitions.append(definition)
        draft.kinds.add(definition.kind)
        draft.documents.add(definition.document_id)
        draft.surfaces[definition.names[0]] += 1
        draft.own_surfaces[definition.names[0]] += 1
        if definition.label != "Other" or not draft.labels:
            draft.labels[definition.label] += 1
    _count_relations(drafts, raws, clusters)
    kept = _kept(drafts, len(raws), settings)
    return {key: drafts[key] for key in sorted(kept)}


def definition_key(definition: Definition, clusters: Clusters) -> str:
    """The key of what a definition defines; a scoped name's key carries its document."""
    if definition.scoped:
        return scoped_key(definition.names[-1], definition.document_id)
    return clusters.find(definition.document_id, definition.names[0])


def scoped_key(name: str, document_id: str) -> str:
    """The key of a name that holds inside one document only."""
    return f"{name}\x1f{document_id}"


def _add(
    drafts: dict[str, Draft], raw: RawExtraction, entity: RawEntity, clusters: Clusters, texts: Mapping[str, str]
) -> None:
    key = clusters.find(raw.document_id, entity.name)
    if not key:
        return
    unit = numbered_heading(entity.name)
    if unit is not None and not unit[2]:
        key = scoped_key(unit_key(unit[0], unit[1]), raw.document_id)
    draft = drafts.setdefault(key, Draft(key))
    times = len(entity.spans) or 1
    draft.surfaces[entity.name] += times
    if key_of(entity.name) == key:
        draft.own_surfaces[entity.name] += times
    draft.labels[entity.label] += times
    draft.kinds.add(entity.kind)
    draft.chunks.add(raw.chunk_id)
    draft.documents.add(raw.document_id)
    draft.mentions.update((raw.chunk_id, start, end) for start, end in entity.spans)
    start, end = entity.sentence
    sentence = entity.description or texts.get(raw.chunk_id, "")[start:end]
    draft.tellings.append(Telling(4 if entity.description else entity.telling, sentence))


def _count_relations(drafts: Mapping[str, Draft], raws: Iterable[RawExtraction], clusters: Clusters) -> None:
    """How many relations tie each draft to something more than a phrase."""
    for raw in raws:
        for relation in raw.relations:
            ends = [drafts.get(clusters.find(raw.document_id, n)) for n in (relation.source, relation.target)]
            for one, other in (ends, ends[::-1]):
                if one is not None and other is not None and other.kinds != {"phrase"}:
                    one.related += 1


def _kept(drafts: Mapping[str, Draft], chunks: int, settings: ResolutionSettings) -> list[str]:
    kept, phrases = [], []
    for key, draft in drafts.items():
        if draft.kinds == {"phrase"}:
            if len(draft.chunks) > 1 or draft.related:
                phrases.append(draft)
        elif set(draft.labels) == {"Date"}:
            if draft.related:
                kept.append(key)
        else:
            kept.append(key)
    most = max(settings.fewest_phrases, int(settings.phrases_per_chunk * chunks))
    phrases.sort(key=lambda d: (-len(d.chunks), -d.related, -len(d.key), d.key))
    return kept + [d.key for d in phrases[:most]]


def finish(
    drafts: Mapping[str, Draft], relations: Sequence[Relation], settings: ResolutionSettings
) -> tuple[list[Entity], list[Mention]]:
    """Entities and mentions, sorted by id. A scoped name that two documents share is shown with its heading."""
    degree = Counter(end for relation in relations for end in (relation.source_id, relation.target_id))
    entities, mentions = [], []
    for draft in drafts.values():
        name = _canonical(draft)
        labels = sorted(draft.labels, key=lambda label: (-draft.labels[label], label)) or ["Other"]
        others = {surface for surface in draft.surfaces if surface != name}
        others |= {n for d in draft.definitions if not d.scoped for n in d.names if n != name}
        aliases = sorted(others, key=lambda s: (-draft.surfaces[s], -len(s), s))[: settings.most_aliases]
        entities.append(
            Entity(
                draft.id,
                draft.key.replace("\x1f", "#"),
                name,
                tuple(labels[:3]),
                describe(name, draft.definitions, draft.tellings),
                tuple(aliases),
                len(draft.mentions),
                len(draft.chunks),
                degree[draft.id],
                bool(draft.definitions),
            )
        )
        mentions += [Mention(draft.id, chunk_id, start, end) for chunk_id, start, end in draft.mentions]
    return (
        sorted(entities, key=lambda e: e.id),
        sorted(mentions, key=lambda m: (m.entity_id, m.chunk_id, m.start, m.end)),
    )


def _canonical(draft: Draft) -> str:
    """By frequency, length, code points: among the spellings of the key itself, so that a long form that stands
    for an acronym or a surname gives the name."""
    surfaces = draft.own_surfaces or draft.surfaces
    titles = Counter({d.names[0]: 1 for d in draft.definitions if d.kind in ("title", "number")})
    return min(titles or surfaces, key=lambda s: (-surfaces[s], -len(s), s))
