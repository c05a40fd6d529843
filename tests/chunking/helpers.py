"""A tokenizer that needs no model, and documents to cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ekr.reading import Document
from ekr.reading.document import Heading, Table

_PIECE = re.compile(r"\w{1,4}|[^\w\s]")


class PieceTokenizer:
    """Pieces of up to four letters, one a mark: as fine as a subword vocabulary, and exact."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(_PIECE.findall(text)) for text in texts]


def document(
    text: str,
    headings: Sequence[tuple[int, str]] = (),
    tables: Sequence[Table] = (),
    page_starts: Sequence[int] = (),
    language: str = "en",
) -> Document:
    """A document; each heading is found in the text after the one before it."""
    placed = []
    position = 0
    for level, title in headings:
        position = text.index(title, position)
        placed.append(Heading(level, title, position, position + len(title)))
        position += len(title)
    return Document(
        title="Test",
        text=text,
        format="text",
        language=language,
        headings=tuple(placed),
        tables=tuple(tables),
        page_starts=tuple(page_starts),
    )
