"""What an ingest did, document by document."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from ekr.timing import timed


@dataclass(frozen=True, slots=True)
class Problem:
    """A document that is not in, or in with a warning, and why."""

    document: str
    reason: str


@dataclass
class IngestReport:
    """The summary of one ingest. `failed` is what decides the exit code."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    failed: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    chunks: int = 0
    generation: int | None = None
    dry_run: bool = False
    timings: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Adds the wall time of the block to the stage."""
        return timed(self.timings, stage)

    def to_json(self) -> dict[str, Any]:
        """The object that `ekr ingest --json` prints; see docs/json.md."""
        return {
            "added": len(self.added),
            "updated": len(self.updated),
            "unchanged": self.unchanged,
            "removed": len(self.removed),
            "failed": _plain(self.failed),
            "skipped": _plain(self.skipped),
            "skipped_by_reason": dict(sorted(Counter(p.reason for p in self.skipped).items())),
            "warnings": _plain(self.warnings),
            "notes": self.notes,
            "documents": {"added": self.added, "updated": self.updated, "removed": self.removed},
            "chunks": self.chunks,
            "generation": self.generation,
            "dry_run": self.dry_run,
            "timings": {stage: round(seconds, 3) for stage, seconds in self.timings.items()},
        }


def _plain(problems: list[Problem]) -> list[dict[str, str]]:
    return [{"document": problem.document, "reason": problem.reason} for problem in problems]
