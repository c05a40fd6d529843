"""What a reader returns: one document's text with its pages, headings and tables as character spans."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

MetadataValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `start` and `end` are offsets in the document's text, the body begins at `end`."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows are the lines of `text[start:end]`; `header` is its first row, or empty."""

    start: int
    end: int
    header: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document, cleaned: NFC, `\\n` line ends, no NUL, no lone surrogate.

    `page_starts[i]` is the offset at which physical page i + 1 begins; empty for formats without pages.
    `record_id` is the id of a JSONL record, else None. `language` is ISO 639-1, or `und`.
    """

    title: str
    text: str
    format: str
    language: str
    page_starts: tuple[int, ...] = ()
    headings: tuple[Heading, ...] = ()
    tables: tuple[Table, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    record_id: str | None = None
    warnings: tuple[str, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The physical page, from 1, that holds the character at `offset`; None without pages."""
        if not self.page_starts:
            return None
        return max(1, bisect_right(self.page_starts, offset))
