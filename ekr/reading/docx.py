"""DOCX: paragraphs and tables in document order, headings by style or outline level."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ekr.errors import ReadError
from ekr.reading.builder import TextBuilder
from ekr.reading.document import Document, MetadataValue
from ekr.reading.limits import MAX_UNPACKED_BYTES, check_size
from ekr.text import clean, collapse

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_PARTS = 20_000
_MAX_RATIO = 200
_SMALL = 32 * 1024 * 1024
_HEADING_STYLE = re.compile(r"^(?:heading|titre|überschrift)\s*([1-9])$", re.IGNORECASE)
_LIST_STYLE = re.compile(r"^list|^liste|^aufzählung", re.IGNORECASE)
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TEXT_TAGS = tuple(f"{_W}{name}" for name in ("t", "tab", "br", "cr", "noBreakHyphen", "p"))


def read_docx(path: Path, on_problem: Callable[[ReadError], None]) -> Iterator[Document]:
    """The one document of a DOCX. Raises ReadError: broken, encrypted, unpacks to too much, no text."""
    import docx

    check_size(path)
    _check_package(path)
    try:
        file = docx.Document(str(path))
        builder = TextBuilder()
        _Renderer(builder, file.styles).render(file)
        properties = file.core_properties
        title, metadata = collapse(clean(properties.title or "")), _metadata(properties)
    except (ReadError, RecursionError, MemoryError):
        raise
    except Exception as error:  # a damaged archive comes out of zipfile, zlib, lxml and python-docx as their own types
        raise ReadError("broken DOCX; open it in a word processor and save it anew") from error
    yield builder.document(
        title=title or (builder.headings[0].text if builder.headings else path.stem),
        format="docx",
        metadata=metadata,
    )


def _check_package(path: Path) -> None:
    """Looks at the archive's directory before anything is unpacked."""
    with path.open("rb") as file:
        if file.read(len(_OLE)) == _OLE:
            raise ReadError("password-protected, or an old .doc; save it as an open .docx")
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        # zipfile raises the last one for archives of a newer version than it reads.
        raise ReadError("broken DOCX: not a zip archive that can be read; save it anew") from error
    unpacked = sum(part.file_size for part in parts)
    packed = max(1, sum(part.compress_size for part in parts))
    if len(parts) > _MAX_PARTS:
        raise ReadError(f"holds {len(parts):,} parts, more than the limit of {_MAX_PARTS:,}")
    if unpacked > MAX_UNPACKED_BYTES or (unpacked > _SMALL and unpacked / packed > _MAX_RATIO):
        raise ReadError(f"unpacks to {unpacked:,} bytes from {packed:,}; refused as a zip bomb")
    if not any(part.filename == "[Content_Types].xml" for part in parts):
        raise ReadError("not a DOCX, although it is named .docx; give it the suffix of its real format")


def _metadata(properties: Any) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {}
    for name in ("author", "subject", "keywords", "category"):
        value = collapse(clean(getattr(properties, name, "") or ""))
        # The default template's own author says nothing of the document.
        if value and value != "python-docx":
            metadata[name] = value
    created = properties.created
    if created is not None:
        metadata["created"] = created.date().isoformat()
    return metadata


class _Renderer:
    """Adds the body's blocks to the builder; style lookups are kept, they are slow in python-docx."""

    def __init__(self, builder: TextBuilder, styles: Any) -> None:
        self._builder = builder
        self._styles: dict[str, tuple[int, bool]] = {}
        for style in styles:
            if style.type == 1:
                self._styles[style.style_id] = (_heading_level(style), bool(_LIST_STYLE.match(style.name or "")))
        self._default = next((style.style_id for style in styles if style.name == "Normal"), "")

    def render(self, container: Any) -> None:
        """Adds paragraphs and tables in order."""
        from docx.table import Table

        for block in container.iter_inner_content():
            if isinstance(block, Table):
                self._table(block)
            else:
                self._paragraph(block)

    def _paragraph(self, paragraph: Any) -> None:
        text = _text(paragraph._p)
        if not text.strip():
            return
        properties = paragraph._p.pPr
        style_id = paragraph._p.style or self._default
        level, listed = self._styles.get(style_id, (0, False))
        if properties is not None:
            outline = properties.find(f"{_W}outlineLvl")
            if outline is not None:
                level = _outline(outline) or level
            listed = listed or properties.find(f"{_W}numPr") is not None
        if level:
            self._builder.heading(level, text)
        elif listed:
            self._builder.item(f"- {text.strip()}")
        else:
            self._builder.paragraph(text)

    def _table(self, table: Any) -> None:
        rows = [_cells(row) for row in table._tbl.tr_lst]
        self._builder.table([row for row in rows if any(cell.strip() for cell in row)], header=True)


def _cells(row: Any) -> list[str]:
    """The text of a row's own cells; one that only continues a merged cell from above is empty."""
    # A nested table's cells belong to the text of the cell that holds it.
    own = [cell for cell in row.iter(f"{_W}tc") if next(cell.iterancestors(f"{_W}tr"), None) is row]
    return [_text(cell) for cell in own]


def _text(container: Any) -> str:
    """Runs, hyperlinks, insertions, fields and text boxes in order; deleted text is left out."""
    # Word writes a text box twice, the second time for readers older than it.
    doubles = {element for old in container.iter(_FALLBACK) for element in old.iter()}
    parts: list[str] = []
    for element in container.iter(*_TEXT_TAGS):
        if element in doubles:
            continue
        if element.tag == f"{_W}t":
            parts.append(element.text or "")
        elif element.tag == f"{_W}noBreakHyphen":
            parts.append("\u2011")
        elif element.tag == f"{_W}tab":
            # Tab stops in paragraph properties use the same name.
            parts.append("\t" if element.getparent().tag == f"{_W}r" else "")
        elif element is not container:
            parts.append("\n")
    return "".join(parts)


def _heading_level(style: Any) -> int:
    """1 to 9 for a heading style or one based on it, else 0."""
    seen = 0
    current = style
    while current is not None and seen < 20:
        name = current.name or ""
        match = _HEADING_STYLE.match(name)
        if match:
            return int(match[1])
        if name.lower() in {"title", "titre"}:
            return 1
        properties = current.element.pPr
        outline = properties.find(f"{_W}outlineLvl") if properties is not None else None
        if outline is not None:
            return _outline(outline)
        current = current.base_style
        seen += 1
    return 0


def _outline(element: Any) -> int:
    """Outline levels count from 0; 9 means body text."""
    value = element.get(f"{_W}val") or ""
    return int(value) + 1 if value.isdigit() and int(value) < 9 else 0
