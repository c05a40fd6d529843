"""Builds a document's text block by block and keeps the spans of headings and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ekr.errors import ReadError
from ekr.reading import language
from ekr.reading.document import Document, Heading, MetadataValue, Table
from ekr.reading.limits import check_text_size
from ekr.text import clean, collapse

CELL_SEPARATOR = " | "

# Two blank lines set a block apart for the chunker: notes at the foot of a page, inside a sentence that
# goes on over it. Nothing but readers of paged formats writes them.
APART = "\n\n\n"

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n(?:[^\S\n]*\n)+")


def single_spaced(text: str) -> str:
    """The text with at most one blank line in a row."""
    return _BLANK_LINES.sub("\n\n", text)


class TextBuilder:
    """Blocks are separated by a blank line, rows of a table by a line end."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.headings: list[Heading] = []
        self.tables: list[Table] = []

    def paragraph(self, text: str) -> None:
        """Adds a block as it is, outer blank lines apart; nothing where it is blank."""
        self._block(single_spaced(clean(text).strip("\n").rstrip()))

    def item(self, text: str) -> None:
        """Adds a list item: a line of its own, close to the item before."""
        self._block(single_spaced(clean(text).strip("\n").rstrip()), separator="\n")

    def heading(self, level: int, text: str) -> None:
        """Adds a heading of one line; nothing where it is blank."""
        text = collapse(clean(text))
        if text:
            start = self._block(text)
            self.headings.append(Heading(level, text, start, start + len(text)))

    def table(self, rows: Sequence[Sequence[str]], *, header: bool) -> None:
        """Adds a table, one line a row; `header` says that the first row names the columns."""
        lines = [CELL_SEPARATOR.join(collapse(clean(cell)) for cell in row) for row in rows]
        lines = [line for line in lines if line.strip(" |")]
        if not lines:
            return
        text = "\n".join(lines)
        start = self._block(text)
        self.tables.append(Table(start, start + len(text), lines[0] if header and len(lines) > 1 else ""))

    def document(
        self,
        *,
        title: str,
        format: str,
        metadata: Mapping[str, MetadataValue],
        warnings: Sequence[str] = (),
        declared_language: str = language.UNDETERMINED,
    ) -> Document:
        """The document; its language is `declared_language` where the text is too short to tell.

        Raises ReadError when no block was added.
        """
        text = "".join(self._pieces)
        if not text.strip():
            raise ReadError("empty: no text")
        first = self.headings[0].text if self.headings else ""
        return Document(
            title=collapse(clean(title)) or first,
            text=text,
            format=format,
            language=language.detect(text, declared_language),
            headings=tuple(self.headings),
            tables=tuple(self.tables),
            metadata=dict(metadata),
            warnings=tuple(warnings),
        )

    def _block(self, text: str, separator: str = "\n\n") -> int:
        if not text.strip():
            return self._length
        if self._length:
            self._push(separator)
        start = self._length
        self._push(text)
        check_text_size(self._length)
        return start

    def _push(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)
