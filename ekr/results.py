"""What a query returns: typed items, references, answer and trace, and their documented JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ekr.retrieval.trace import Trace


@dataclass(frozen=True, slots=True)
class ParentText:
    """The parent chunk of a passage: what a reader sees around it."""

    id: str
    text: str
    page_start: int | None
    page_end: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """One ranked item. Fields that its type does not have are None."""

    type: str
    id: str
    rank: int
    score: float
    document: str | None = None
    document_id: str | None = None
    page_start: int | None = None
    page_end: int | None = None
    heading: str | None = None
    text: str | None = None
    parent: ParentText | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A passage that the model saw; `id` is the `[n]` of the answer, `cited` whether the answer cites it."""

    id: int
    document: str
    document_id: str
    page_start: int | None
    page_end: int | None
    heading: str | None
    text: str
    cited: bool


@dataclass(frozen=True)
class Result:
    """The outcome of one query.

    `answer` is None when retrieval alone was asked. `grounded` is True when the answer cites at least one
    passage that was in the context; `refused` when the documents do not hold the answer.
    """

    question: str
    recipe: str
    answer: str | None
    grounded: bool
    refused: bool
    references: tuple[Reference, ...]
    items: tuple[Item, ...]
    trace: Trace = field(repr=False)

    @property
    def degraded(self) -> list[dict[str, str]]:
        """Methods and steps that failed while the query went on."""
        return [{"stage": d.stage, "name": d.name, "error": d.error} for d in self.trace.degraded]

    def to_json(self) -> dict[str, Any]:
        """The object that `ekr query --json` prints; see docs/json.md."""
        return {
            "question": self.question,
            "recipe": self.recipe,
            "answer": self.answer,
            "grounded": self.grounded,
            "refused": self.refused,
            "references": [_plain(reference) for reference in self.references],
            "items": [_plain(item) for item in self.items],
            "degraded": self.degraded,
            "trace": self.trace.data(),
            "timings": {stage: round(seconds, 6) for stage, seconds in self.trace.timings.items()},
        }


def _plain(row: Any) -> dict[str, Any]:
    fields: Mapping[str, Any] = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {name: _plain(value) if isinstance(value, ParentText) else value for name, value in fields.items()}
