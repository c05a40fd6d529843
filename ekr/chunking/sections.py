"""A document cut at its headings: the span of each body and the breadcrumb above it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ekr.reading.document import Document, Heading

SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """The body `text[start:end]` under a breadcrumb ("A > B"), None before the first heading."""

    breadcrumb: str | None
    start: int
    end: int


def sections(document: Document) -> Iterator[Section]:
    """The sections in order; none is blank, and each character outside headings lies in exactly one.

    A heading with nothing under it, neither text nor a lower heading, is its own body: it stays findable.
    """
    headings = sorted(document.headings, key=lambda heading: heading.start)
    first = headings[0].start if headings else len(document.text)
    preface = _trimmed(document.text, None, 0, first)
    if preface is not None:
        yield preface
    open_headings: list[Heading] = []
    for index, heading in enumerate(headings):
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        open_headings.append(heading)
        following = headings[index + 1] if index + 1 < len(headings) else None
        breadcrumb = SEPARATOR.join(_step(above.text) for above in open_headings)
        end = following.start if following else len(document.text)
        body = _trimmed(document.text, breadcrumb, heading.end, end)
        if body is not None:
            yield body
        elif following is None or following.level <= heading.level:
            alone = _trimmed(document.text, breadcrumb, heading.start, heading.end)
            if alone is not None:
                yield alone


def _step(text: str) -> str:
    """A heading's text as one step of a breadcrumb, which the separator must not cut in two."""
    return text.replace(SEPARATOR, " › ")


def _trimmed(text: str, breadcrumb: str | None, start: int, end: int) -> Section | None:
    body = text[start:end]
    if not body.strip():
        return None
    return Section(breadcrumb, start + len(body) - len(body.lstrip()), start + len(body.rstrip()))
