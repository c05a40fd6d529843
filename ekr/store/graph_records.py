"""The rows of the graph, as the rest of ekr sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
EvidenceKind = Literal["entity", "relation", "community"]


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """A node. `mentions` and `chunks` count occurrences and chunks that hold one, `relations` its relations.

    `labels` are most frequent first; `defined`: a passage defines it; `pagerank` sums to 1 over all entities.
    """

    id: str
    key: str
    name: str
    labels: tuple[str, ...]
    description: str
    aliases: tuple[str, ...]
    mentions: int
    chunks: int
    relations: int
    defined: bool
    pagerank: float


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A directed edge; `source` and `target` are the names of its ends."""

    id: str
    source_id: str
    target_id: str
    source: str
    target: str
    type: str
    description: str
    weight: float


@dataclass(frozen=True, slots=True)
class CommunityRecord:
    """A community with its report. Level 0 is the coarsest; `size` counts members, `weight` is that inside.

    `text` is title, summary and findings: what is embedded. `by` is the generator's name, or "template".
    """

    id: str
    level: int
    parent_id: str | None
    title: str
    summary: str
    text: str
    size: int
    weight: float
    by: str


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A definition link: from a passage to those that define what it mentions, or that it refers to.

    `via` is the entity of a MENTIONS link; a REFERS_TO link has none. `in_degree` is the number of passages that
    link to the same target. `target_chunk_ids` is in reading order and never holds the source itself; `own` when the
    source is one of the passages that define it.
    """

    source_chunk: str
    target_chunk_ids: tuple[str, ...]
    type: Literal["MENTIONS", "REFERS_TO"]
    via: str | None
    in_degree: int
    own: bool


@dataclass(frozen=True, slots=True)
class EntityEdges:
    """The relation graph as arrays: edge i runs from `entity_ids[source[i]]` to `entity_ids[target[i]]`.

    `entity_ids` holds every entity, sorted, also those without an edge; one edge for each relation.
    """

    entity_ids: list[str]
    source: Indices
    target: Indices
    weight: Weights


@dataclass(frozen=True, slots=True)
class PassageEdges:
    """Which passages hold which entities: edge i joins `chunk_ids[chunk[i]]` and `entity_ids[entity[i]]`.

    Mentions and definitions alike, one edge for each pair; `weight` is the entity's ln(1 + chunks / its chunks).
    Both lists are whole and sorted, and `entity_ids` is that of `EntityEdges`.
    """

    chunk_ids: list[str]
    entity_ids: list[str]
    chunk: Indices
    entity: Indices
    weight: Weights
