"""What a query returns: typed items, references, answer and trace, and their documented JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
class Evidence:
    """A passage that supports an entity or a relation: where it is."""

    chunk_id: str
    document: str
    document_id: str
    page_start: int | None
    page_end: int | None
    heading: str | None


@dataclass(frozen=True, slots=True)
class Item:
    """One ranked item. Fields that its type does not have are None.

    `rank` counts from 1 over all items, or over those of the same type where the recipe's limit counts chunks.
    `label` is the first of an entity's `labels`. A value has as many cells in `row` as names in `columns`; its `name`
    says the row in one line.
    """

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
    name: str | None = None
    label: str | None = None
    labels: tuple[str, ...] | None = None
    source: str | None = None
    target: str | None = None
    relation_type: str | None = None
    description: str | None = None
    evidence: tuple[Evidence, ...] | None = None
    title: str | None = None
    summary: str | None = None
    columns: tuple[str, ...] | None = None
    row: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        """What names the item to a person, in one line."""
        if self.type == "chunk":
            return f"{self.document}: {self.text}"
        if self.type == "relation":
            return f"{self.source} – {self.relation_type} – {self.target}"
        return self.name or self.title or self.id

    def to_json(self) -> dict[str, Any]:
        """The object in `items`: the fields that every item has, then those of its type."""
        return {name: _plain(getattr(self, name)) for name in (*_EVERY_ITEM, *_OF_TYPE.get(self.type, ()))}


_EVERY_ITEM = (
    "type", "id", "rank", "score", "document", "document_id", "page_start", "page_end", "heading", "text", "parent",
)  # fmt: skip
_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    "entity": ("name", "label", "labels", "description", "evidence"),
    "relation": ("source", "target", "relation_type", "description", "evidence"),
    "community": ("title", "summary"),
    "value": ("columns", "row", "evidence"),
}


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
            "items": [item.to_json() for item in self.items],
            "degraded": self.degraded,
            "trace": self.trace.data(),
            "timings": {stage: round(seconds, 6) for stage, seconds in self.trace.timings.items()},
        }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    fields: Iterable[str] | None = getattr(value, "__dataclass_fields__", None)
    return value if fields is None else {name: _plain(getattr(value, name)) for name in fields}
