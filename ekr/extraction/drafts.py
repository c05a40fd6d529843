"""Entities while they are put together: each one's findings are rows of shared tables, counted when asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ekr.extraction.describe import Telling
from ekr.extraction.findings import PHRASE, PROPER, Findings
from ekr.extraction.records import Definition, stable_id
from ekr.extraction.tables import Rows, Table, changes, order_of, ordered, rows_of
from ekr.store.records import ChunkRecord


class Drafts:
    """The entities of a graph by number, in the order of their keys; chunks by number, in the order of their ids.

    `only_date` says of each draft whether it has no label but Date. `mentions` has the columns draft, chunk, start,
    end; `settle` sorts it, and fills `chunk_counts` with the number of chunks of each draft. `statements` has the
    columns source, type, target, chunk, start, end, number of the description, sorted by the first four, and
    `weights` beside.
    """

    def __init__(self, findings: Findings, kept: Sequence[int], passages: Sequence[ChunkRecord]) -> None:
        every = list(findings.keys)
        kept = sorted(kept, key=every.__getitem__)
        self.passages = passages
        self.keys = [every[key] for key in kept]
        self.ids = [stable_id("entity", key) for key in self.keys]
        self.numbers = {key: number for number, key in enumerate(self.keys)}
        self.definitions: list[Sequence[Definition]] = [findings.definitions.get(key, ()) for key in kept]
        self.descriptions = list(findings.descriptions)
        self.types = list(findings.types)
        self._kinds = [findings.kinds[key] for key in kept]
        self._spellings = list(findings.spellings)
        self._labels = list(findings.labels)
        dates = findings.only_dates()
        self.only_date = np.array([key in dates for key in kept], dtype=bool)
        place = np.full(len(every), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        self._rows = ordered(_placed(findings.entities.take(), place), 0)
        self._starts = np.searchsorted(self._rows[:, 0], np.arange(len(kept) + 1)).tolist()
        self._found = _placed(findings.mentions.take(), place)
        self._added = Table(4)
        self.mentions = self._found
        self.chunk_counts: list[int] = []
        self.statements, self.weights = _statements(findings, place)

    def __len__(self) -> int:
        return len(self.keys)

    def by_id(self) -> dict[str, int]:
        """Entity id → number."""
        return {identity: number for number, identity in enumerate(self.ids)}

    def is_phrase(self, draft: int) -> bool:
        """Whether it is a key noun phrase and nothing more."""
        return self._kinds[draft] == PHRASE

    def is_proper(self, draft: int) -> bool:
        """Whether a text has it as a proper name."""
        return bool(self._kinds[draft] & PROPER)

    def rows(self, draft: int) -> list[list[int]]:
        """Its findings: rows as `Findings.entities` has them."""
        found: list[list[int]] = self._rows[self._starts[draft] : self._starts[draft + 1]].tolist()
        return found

    def surfaces(self, draft: int, *, own: bool = False) -> Counter[str]:
        """How often each spelling was found or defined; with `own`, those of the key itself."""
        counts = Counter[str]()
        for row in self.rows(draft):
            if row[8] or not own:
                counts[self._spellings[row[2]]] += row[7]
        for definition in self.definitions[draft]:
            counts[definition.names[0]] += 1
        return counts

    def labels(self, draft: int) -> Counter[str]:
        """How often each label was given."""
        counts = Counter[str]()
        for row in self.rows(draft):
            counts[self._labels[row[3]]] += row[7]
        for definition in self.definitions[draft]:
            if definition.label != "Other" or not counts:
                counts[definition.label] += 1
        return counts

    def tellings(self, draft: int) -> list[Telling]:
        """The sentences that it was found in."""
        return [
            Telling(row[4], self.descriptions[row[9]] if row[9] >= 0 else self.passages[row[1]].text[row[5] : row[6]])
            for row in self.rows(draft)
        ]

    def mention(self, draft: int, chunk: int, start: int, end: int) -> None:
        """Add a mention; the same place counts once."""
        self._added.add(draft, chunk, start, end)

    def settle(self) -> None:
        """Sort the mentions and leave, of overlapping ones of one entity, the first and longest."""
        every = np.concatenate([self._found, self._added.take()])
        pairs = ordered(np.concatenate([self._rows[:, :2], every[:, :2]]), 0, 1)
        self.chunk_counts = np.bincount(pairs[changes(pairs, 0, 1), 0], minlength=len(self)).tolist()
        every[:, 3] *= -1
        every = ordered(every, 0, 1, 2, 3)
        every[:, 3] *= -1
        every = every[changes(every, 0, 1, 2, 3)]
        self.mentions = every[_apart(every)]
        del self._found


def _placed(rows: Rows, place: npt.NDArray[np.int32]) -> Rows:
    """The rows of keys that have a place, with the place for the key."""
    rows = rows[place[rows[:, 0]] >= 0]
    rows[:, 0] = place[rows[:, 0]]
    return rows


def _statements(findings: Findings, place: npt.NDArray[np.int32]) -> tuple[Rows, npt.NDArray[np.float64]]:
    rows = findings.relations.take()
    weights = np.array(findings.weights, dtype=np.float64)
    source, target = place[rows[:, 0]], place[rows[:, 2]]
    kept = np.flatnonzero((source >= 0) & (target >= 0) & (source != target))
    rows, weights = rows[kept], weights[kept]
    rows[:, 0], rows[:, 2] = source[kept], target[kept]
    order = order_of(rows, 0, 1, 2, 3)
    return rows[order], weights[order]


def _apart(rows: Rows) -> npt.NDArray[np.bool_]:
    kept = np.ones(len(rows), dtype=bool)
    last, after = (-1, -1), 0
    for index, (draft, chunk, start, end) in enumerate(rows_of(rows)):
        if (draft, chunk) == last and start < after:
            kept[index] = False
        else:
            last, after = (draft, chunk), end
    return kept
