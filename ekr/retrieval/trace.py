"""What happened in a query: lists, steps, failures, timings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ekr.retrieval.fusion import Fused
from ekr.retrieval.hits import RankedList
from ekr.timing import timed

if TYPE_CHECKING:
    from ekr.extraction.keywords import Keywords

log = logging.getLogger(__name__)

KEPT_HITS = 50


@dataclass(frozen=True, slots=True)
class Degraded:
    """A method or step that failed while the query went on."""

    stage: str
    name: str
    error: str


@dataclass
class Trace:
    """Grows while a query runs; `data` is what `--json` carries. Used from several threads: appends only."""

    degraded: list[Degraded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lists: list[dict[str, Any]] = field(default_factory=list)
    fusion: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Adds the wall time of the block, in seconds, to `timings[stage]`."""
        return timed(self.timings, stage)

    def degrade(self, stage: str, name: str, error: BaseException | str) -> None:
        """Records a failure that the query survives, and says it on the log."""
        text = " ".join(str(error).split()) or type(error).__name__
        self.degraded.append(Degraded(stage, name, text))
        log.warning("%s %s failed: %s", stage, name, text)

    def note(self, text: str) -> None:
        """Records something that a person should know and that is no failure."""
        self.notes.append(text)

    def add_keywords(self, question: str, keywords: Keywords) -> None:
        """Records the keywords of a question, or of a part of it."""
        found = {
            "question": question, "high": list(keywords.high), "low": list(keywords.low), "by": keywords.by,
            "fallback": keywords.fallback,
        }  # fmt: skip
        self.extra.setdefault("keywords", []).append(found)

    def add_list(self, ranked: RankedList) -> None:
        """Records a method's list."""
        hits = [
            {"rank": rank, "type": hit.type, "id": hit.id, "score": round(hit.score, 6)}
            for rank, hit in ranked.ranked()
            if rank <= KEPT_HITS
        ]
        self.lists.append({"method": ranked.method, "found": len(ranked.hits), "hits": hits})

    def add_fusion(self, fused: Sequence[Fused], rrf_k: int) -> None:
        """Records the fused list with its arithmetic."""
        self.fusion = [
            {
                "rank": rank, "type": item.type, "id": item.id, "score": round(item.score, 6),
                "ranks": dict(item.ranks), "arithmetic": item.arithmetic(rrf_k),
            }
            for rank, item in enumerate(fused[:KEPT_HITS], start=1)
        ]  # fmt: skip

    def add_step(self, name: str, before: Sequence[str], after: Sequence[str], **details: Any) -> None:
        """Records the order of item ids before and after a step."""
        self.steps.append({"step": name, "before": list(before), "after": list(after), **details})

    def data(self) -> dict[str, Any]:
        """The trace as plain data."""
        shape: Mapping[str, Any] = {
            "lists": self.lists, "fusion": self.fusion, "steps": self.steps, "notes": self.notes,
        }  # fmt: skip
        return {**shape, **self.extra}
