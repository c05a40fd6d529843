"""The pool: the items that steps widen and re-order before the cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ekr.retrieval.fusion import Fused
from ekr.retrieval.hits import TYPE_ORDER


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item in the pool. `origin` says what brought it: `fusion` or a step's name."""

    type: str
    id: str
    score: float
    origin: str = "fusion"

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the item."""
        return self.type, self.id

    def scored(self, score: float) -> Candidate:
        """A copy with another score."""
        return replace(self, score=score)


@dataclass
class Pool:
    """Candidates in rank order, without duplicates."""

    items: list[Candidate] = field(default_factory=list)

    @classmethod
    def of(cls, fused: Iterable[Fused]) -> Pool:
        """The pool that fusion hands to the steps."""
        return cls([Candidate(item.type, item.id, item.score) for item in fused])

    def append(self, candidates: Iterable[Candidate]) -> None:
        """Joins candidates at the end; those already there are passed over."""
        known = {item.key for item in self.items}
        for candidate in candidates:
            if candidate.key not in known:
                known.add(candidate.key)
                self.items.append(candidate)

    def ids(self) -> list[str]:
        """`type:id` of each item in order, for the trace."""
        return [f"{item.type}:{item.id}" for item in self.items]


def cut(items: list[Candidate], limit: int, counts: str) -> list[Candidate]:
    """The first `limit` items; where `counts` is "chunks", that many chunks, then every other type in order."""
    if counts == "items":
        return items[:limit]
    chunks = [item for item in items if item.type == "chunk"][:limit]
    others = [item for item in items if item.type != "chunk"]
    return chunks + sorted(others, key=lambda item: TYPE_ORDER.index(item.type))
