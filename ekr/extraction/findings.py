"""What the texts say of every name, read from raw records one at a time into tables of numbers."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ekr.extraction.clusters import Clusters
from ekr.extraction.names import key_of
from ekr.extraction.records import Definition, RawEntity, RawExtraction
from ekr.extraction.references import numbered_heading
from ekr.extraction.structure import unit_key
from ekr.extraction.tables import Numbering, Table

# Bits of what a key is found as.
PHRASE, PROPER, OTHER_KIND = 1, 2, 4
_BITS = {"phrase": PHRASE, "name": PROPER}


class Findings:
    """Keys, spellings, labels and relation types by number, and where each was found.

    `entities` has the columns key, chunk, spelling, label, telling, sentence start, sentence end, times, whether the
    spelling is one of the key itself, number of the description (-1 for none); `mentions` key, chunk, start, end;
    `relations` source, type, target, chunk, start, end, number of the description, with their `weights` beside.
    """

    def __init__(self, clusters: Clusters) -> None:
        self.keys = Numbering()
        self.spellings = Numbering()
        self.labels = Numbering()
        self.types = Numbering()
        self.descriptions = Numbering()
        self.entities = Table(10)
        self.mentions = Table(4)
        self.relations = Table(7)
        self.weights = array("d")
        # Of each key, as far as it has been found: the bits of its kinds.
        self.kinds: dict[int, int] = defaultdict(int)
        self.definitions: dict[int, list[Definition]] = defaultdict(list)
        self.chunks_read = 0
        self._clusters = clusters
        self._units: dict[str, str | None] = {}

    def read(self, raws: Iterable[RawExtraction], numbers: Mapping[str, int]) -> None:
        """Take what was found in chunks; `numbers` has the number of each chunk."""
        for raw in raws:
            chunk = numbers[raw.chunk_id]
            self.chunks_read += 1
            for entity in raw.entities:
                self._entity(raw.document_id, chunk, entity)
            for relation in raw.relations:
                source, target = (
                    self.keys[self._clusters.find(raw.document_id, name)] for name in (relation.source, relation.target)
                )
                said = self._description(relation.description)
                self.relations.add(source, self.types[relation.type], target, chunk, *relation.span, said)
                self.weights.append(relation.weight)

    def define(self, definitions: Sequence[Definition]) -> None:
        """Take definitions, in their order."""
        for definition in definitions:
            key = self.keys[self._defined_key(definition)]
            self.definitions[key].append(definition)
            self.kinds[key] |= _BITS.get(definition.kind, OTHER_KIND)

    def only_dates(self) -> set[int]:
        """Keys that no text and no definition gives another label than Date."""
        rows = self.entities.rows()
        is_date = rows[:, 3] == self.labels["Date"]
        others = set(np.unique(rows[~is_date, 0]).tolist())
        dates = set(np.unique(rows[is_date, 0]).tolist()) - others
        for key, definitions in self.definitions.items():
            labels = {"Date"} if key in dates else set()
            for definition in definitions:
                if definition.label != "Other" or not (labels or key in others):
                    labels.add(definition.label)
            if labels == {"Date"} and key not in others:
                dates.add(key)
            else:
                dates.discard(key)
        return dates

    def _entity(self, document_id: str, chunk: int, entity: RawEntity) -> None:
        name = entity.name
        text = self._clusters.find(document_id, name)
        if not text:
            return
        unit = self._unit(name)
        if unit is not None:
            text = scoped_key(unit, document_id)
        key = self.keys[text]
        self.kinds[key] |= _BITS.get(entity.kind, OTHER_KIND)
        said = self._description(entity.description)
        telling = entity.telling if said < 0 else 4
        own = key_of(name) == text
        label = self.labels[entity.label]
        times = len(entity.spans) or 1
        self.entities.add(key, chunk, self.spellings[name], label, telling, *entity.sentence, times, own, said)
        for start, end in entity.spans:
            self.mentions.add(key, chunk, start, end)

    def _unit(self, name: str) -> str | None:
        """The numbered unit that a name is and nothing else ("Article 6")."""
        if name not in self._units:
            unit = numbered_heading(name)
            self._units[name] = unit_key(unit[0], unit[1]) if unit is not None and not unit[2] else None
        return self._units[name]

    def _defined_key(self, definition: Definition) -> str:
        if definition.scoped:
            return scoped_key(definition.names[-1], definition.document_id)
        return self._clusters.find(definition.document_id, definition.names[0])

    def _description(self, text: str) -> int:
        return self.descriptions[text] if text else -1


def scoped_key(name: str, document_id: str) -> str:
    """The key of a name that holds inside one document only."""
    return f"{name}\x1f{document_id}"
