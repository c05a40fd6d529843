"""Hits and ranked lists: what methods return and fusion merges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

TYPE_ORDER = ("entity", "relation", "chunk", "community", "value")


@dataclass(frozen=True, slots=True)
class Hit:
    """One found item: its identity is (type, id); `score` is on the scale of whatever found it."""

    type: str
    id: str
    score: float

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the item."""
        return self.type, self.id


@dataclass(frozen=True, slots=True)
class Value:
    """A row of a graph query: plain `cells` under `columns`, what it says in one line, its place, its passages."""

    columns: tuple[str, ...]
    cells: tuple[Any, ...]
    said: str
    title: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedList:
    """One list of a method, best first, ranks from 1. A method may return one list per item type."""

    method: str
    hits: tuple[Hit, ...]

    @classmethod
    def of(cls, method: str, type_: str, scored: Iterable[tuple[str, float]]) -> RankedList:
        """A list of items of one type from (id, score) pairs in rank order."""
        return cls(method, tuple(Hit(type_, id_, score) for id_, score in scored))

    def ranked(self) -> Iterator[tuple[int, Hit]]:
        """(rank, hit) pairs, ranks from 1."""
        return enumerate(self.hits, start=1)
