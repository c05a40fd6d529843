"""PDF, through pdfium: paragraphs, headings, exact pages."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ekr.errors import ReadError
from ekr.reading import language
from ekr.reading.builder import APART
from ekr.reading.document import Document, Heading, MetadataValue
from ekr.reading.heading_levels import LineHeading
from ekr.reading.hyphenation import Hyphenation
from ekr.reading.limits import MAX_PDF_PAGES, check_size, check_text_size
from ekr.reading.pdf_headings import Body, body_style, find_headings
from ekr.reading.pdf_lines import Line, page_lines
from ekr.reading.pdf_paragraphs import order_page, starts_paragraph
from ekr.reading.pdf_streams import check_streams
from ekr.reading.running_heads import strip_running_heads
from ekr.text import clean, collapse

_FIELDS = {"Author": "author", "Subject": "subject", "Keywords": "keywords"}
# What PDF writers fill in where nobody did.
_PLACEHOLDERS = frozenset({"", "anonymous", "unspecified", "untitled", "(anonymous)", "(unspecified)"})
_PASSWORD_ERROR = 4


def read_pdf(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """The one document of a PDF. Raises ReadError: broken, password-protected, no text layer, too big."""
    import pypdfium2

    check_size(path)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        check_streams(data)
    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise ReadError(_open_problem(path, error)) from error
    try:
        yield _document(path, pdf)
    finally:
        pdf.close()


def _open_problem(path: Path, error: Exception) -> str:
    if getattr(error, "err_code", None) == _PASSWORD_ERROR or "password" in str(error).lower():
        return "password-protected PDF; remove its password first"
    with path.open("rb") as file:
        head = file.read(1024)
    if b"%PDF" not in head:
        return "not a PDF, although it is named .pdf; give it the suffix of its real format"
    return "broken PDF; open it in a viewer and save it anew"


def _document(path: Path, pdf: Any) -> Document:
    pages, sizes, unreadable = _pages(pdf)
    if not any(pages):
        if unreadable == len(pages):
            raise ReadError("broken PDF: no page can be read; open it in a viewer and save it anew")
        raise ReadError("no text layer; OCR it first")
    pages = strip_running_heads(pages, [height for _, height in sizes]) if len(pages) > 1 else pages
    if not any(pages):
        raise ReadError("empty: nothing but running heads")
    width = median(width for (width, _), lines in zip(sizes, pages, strict=True) if lines)
    body = body_style([line for lines in pages for line in lines], width)
    lines = [line for page in pages for line in order_page(page, body)]
    text, starts, headings = _assemble(lines, len(pages), body)
    warnings = [f"{unreadable} of {len(pages)} pages cannot be read"] if unreadable else []
    title, metadata = _metadata(pdf)
    return Document(
        title=title or (headings[0].text if headings else path.stem),
        text=text,
        format="pdf",
        language=language.detect(text),
        page_starts=tuple(starts),
        headings=tuple(headings),
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _pages(pdf: Any) -> tuple[list[list[Line]], list[tuple[float, float]], int]:
    """Lines and size (width, height) of every page, and how many could not be loaded (they count, as blank pages)."""
    import pypdfium2

    count = len(pdf)
    if count == 0:
        raise ReadError("empty: the PDF has no page")
    if count > MAX_PDF_PAGES:
        raise ReadError(f"claims {count:,} pages, more than the limit of {MAX_PDF_PAGES:,}; split it first")
    pages: list[list[Line]] = []
    sizes: list[tuple[float, float]] = []
    unreadable = 0
    characters = 0
    for index in range(count):
        try:
            page = pdf[index]
            textpage = page.get_textpage()
        except pypdfium2.PdfiumError:
            unreadable += 1
            pages.append([])
            sizes.append((1.0, 1.0))
            continue
        lines = page_lines(textpage, index + 1)
        sizes.append(page.get_size())
        textpage.close()
        page.close()
        pages.append(lines)
        characters += sum(len(line.text) for line in lines)
        check_text_size(characters)
    return pages, sizes, unreadable


def _assemble(lines: Sequence[Line], page_count: int, body: Body) -> tuple[str, list[int], list[Heading]]:
    """The document's text, the offset at which each page begins, and its headings."""
    hyphenation = Hyphenation(line.text for line in lines)
    writer = _Writer(page_count)
    found: dict[int, LineHeading] = {heading.first: heading for heading in find_headings(lines, body)}
    headings: list[Heading] = []
    index = 0
    while index < len(lines):
        heading = found.get(index)
        if heading is None:
            new = index == 0 or writer.after_heading or starts_paragraph(lines[index - 1], lines[index], body)
            writer.add(lines[index], hyphenation, new_paragraph=new, after=lines[index - 1] if index else None)
            writer.after_heading = False
            index += 1
            continue
        start = writer.begin_block()
        for part in range(heading.first, heading.last):
            before = lines[part - 1] if part > heading.first else None
            writer.add(lines[part], hyphenation, new_paragraph=before is None, after=before)
        text = writer.text_from(start)
        start += len(text) - len(text.lstrip())
        headings.append(Heading(heading.level, collapse(text), start, start + len(text.strip())))
        writer.after_heading = True
        index = heading.last
    text, starts = writer.finish()
    return text, starts, headings


class _Writer:
    """Builds the text piece by piece and notes where each page begins."""

    def __init__(self, page_count: int) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._page = 0
        self._page_count = page_count
        self._starts: list[int] = []
        self.after_heading = False

    def add(self, line: Line, hyphenation: Hyphenation, *, new_paragraph: bool, after: Line | None) -> None:
        """Appends a line: as a new paragraph, or joined with the line `after` which it comes."""
        text = clean(line.text)
        if new_paragraph or after is None or not self._pieces:
            apart = after is not None and after.note != line.note
            separator = "" if not self._length else APART if apart else "\n\n"
            self._push(separator)
        else:
            last = self._pieces[-1]
            joined = hyphenation.join(last, text)
            kept = joined[: len(joined) - len(text)]
            self._length += len(kept) - len(last)
            self._pieces[-1] = kept
        while self._page < line.page:
            self._starts.append(self._length)
            self._page += 1
        self._push(text)

    def begin_block(self) -> int:
        """The offset at which the next piece begins."""
        return self._length

    def text_from(self, start: int) -> str:
        """What has been written since `start`."""
        pieces: list[str] = []
        remaining = self._length - start
        for piece in reversed(self._pieces):
            if remaining <= 0:
                break
            pieces.append(piece)
            remaining -= len(piece)
        return "".join(reversed(pieces))

    def finish(self) -> tuple[str, list[int]]:
        """The text and the start of every page; pages after the last line begin at the end."""
        while self._page < self._page_count:
            self._starts.append(self._length)
            self._page += 1
        return "".join(self._pieces), self._starts

    def _push(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._length += len(text)


def _metadata(pdf: Any) -> tuple[str, dict[str, MetadataValue]]:
    raw = pdf.get_metadata_dict(skip_empty=True)
    metadata: dict[str, MetadataValue] = {
        name: clean(raw[key]).strip() for key, name in _FIELDS.items() if _says_something(raw.get(key, ""))
    }
    created = raw.get("CreationDate", "").removeprefix("D:")
    if len(created) >= 8 and created[:8].isdigit():
        metadata["created"] = f"{created[:4]}-{created[4:6]}-{created[6:8]}"
    title = collapse(clean(raw.get("Title", "")))
    return title if _says_something(title) else "", metadata


def _says_something(value: str) -> bool:
    return value.strip().casefold() not in _PLACEHOLDERS
